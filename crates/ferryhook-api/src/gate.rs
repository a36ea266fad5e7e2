//! The gate: what happens to every request before and after its handler.
//!
//! Who is it, may they do this here, and have they asked too often; afterwards, whether what they
//! changed was written down. A handler behind it is never reached by anyone who may not.

use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode, Uri, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use ferryhook_core::member::Role;
use ferryhook_core::permission::Refused;
use ferryhook_core::{Account, Id, Key, account, permission};
use ferryhook_store::Stored;

use crate::call;
use crate::caller::{Caller, Person, Proof, Standing, Who, prove, standing};
use crate::idempotency::{self, Identity};
use crate::problem::{Code, Problem};
use crate::route::{Access, Route};
use crate::router::App;
use crate::visit::Visit;

pub const ACCOUNT_HEADER: &str = "x-ferryhook-account";

/// The gate of one route.
#[derive(Debug, Clone)]
pub(crate) struct Gate {
    app: App,
    operation: &'static str,
    access: Access,
    is_mutating: bool,
}

impl Gate {
    pub(crate) fn of(app: &App, route: &Route) -> Self {
        let is_mutating = route.is_mutating();
        Self { app: app.clone(), operation: route.operation, access: route.access, is_mutating }
    }
}

pub(crate) async fn pass(State(gate): State<Gate>, mut request: Request, next: Next) -> Response {
    let visit = Visit::of(&request, &gate.app);
    request.extensions_mut().insert(visit.clone());
    let had = request.headers().get_all(header::IF_NONE_MATCH).iter().next().is_some();
    let asked = had.then(|| request.headers().clone());
    let address = request.uri().clone();
    let response = match admit(&gate, &visit, request, next).await {
        Ok(response) => response,
        Err(problem) => problem.into_response(),
    };
    if gate.is_mutating && response.status().is_success() && !visit.is_accounted() {
        debug_assert!(false, "{} changed something and wrote no activity", gate.operation);
        tracing::error!(operation = gate.operation, "a change was not written to the audit log");
    }
    let response = match asked {
        Some(headers) => unless_had(&headers, response),
        None => response,
    };
    linked(&address, response)
}

async fn admit(
    gate: &Gate,
    visit: &Visit,
    mut request: Request,
    next: Next,
) -> Result<Response, Problem> {
    let app = &gate.app;
    let needed = match gate.access {
        Access::Public => return Ok(next.run(request).await),
        Access::Person => None,
        Access::Role(role) => Some(role),
    };
    let proof = prove(app, request.headers()).await?;
    let pace = app.limiter.take(&proof)?;
    let identity = match needed {
        None => {
            let Proof::Person { user, session } = proof else { return Err(only_people()) };
            let id = user.id;
            let person = Person { user, session, visit: visit.clone() };
            request.extensions_mut().insert(person);
            Identity { name: id.to_string(), account: None }
        }
        Some(needed) => {
            let named = named_account(request.headers())?;
            let caller = enter(gate, needed, named, proof, visit).await?;
            let name = match caller.who {
                Who::User(id) => format!("{id}#{}", caller.account),
                Who::Key(id, _) => format!("{id}#{}", caller.account),
            };
            let account = Some(caller.account);
            request.extensions_mut().insert(caller);
            Identity { name, account }
        }
    };
    let mut response = match *request.method() == Method::POST {
        true => idempotency::run(app, &identity, visit, request, next).await?,
        false => next.run(request).await,
    };
    pace.tell(response.headers_mut());
    Ok(response)
}

fn named_account(headers: &HeaderMap) -> Result<Option<Id<Account>>, Problem> {
    let Some(text) = headers.get(ACCOUNT_HEADER) else { return Ok(None) };
    let id = text.to_str().ok().and_then(|text| text.parse().ok());
    id.map(Some).ok_or_else(elsewhere)
}

/// Into the account that the request is about, if they may do this there.
async fn enter(
    gate: &Gate,
    needed: Role,
    named: Option<Id<Account>>,
    proof: Proof,
    visit: &Visit,
) -> Result<Caller, Problem> {
    let app = &gate.app;
    let (user, who, home) = match &proof {
        Proof::Person { user, .. } => (user, Who::User(user.id), user.default_account_id),
        Proof::Key { key, user } => (user, Who::Key(key.id, user.id), key.account_id),
    };
    let account: Id<Account> = named.unwrap_or(home);
    let account = app.store.accounts().find(account).await?.ok_or_else(elsewhere)?;
    let theirs = standing(&app.store, user.id, &account).await?.ok_or_else(elsewhere)?;
    let theirs = match &proof {
        Proof::Person { .. } => theirs,
        Proof::Key { key, .. } => of_key(key, &account, theirs).ok_or_else(elsewhere)?,
    };
    if let Proof::Key { key, .. } = &proof {
        permission::check_key(key, needed, gate.operation).map_err(not_allowed)?;
    }
    permission::check(theirs.role, &theirs.permissions, needed, gate.operation)
        .map_err(not_allowed)?;
    if gate.is_mutating && account.status != account::Status::Active {
        return Err(Problem::new(
            Code::AccountSuspended,
            "This account is suspended: what it has can be read and not changed.",
        ));
    }
    let owner = account.user_id;
    Ok(Caller { account: account.id, owner, standing: theirs, who, visit: visit.clone() })
}

/// A key acts in its account with no more than its maker may there; one of an administrator also
/// in the accounts below.
fn of_key(key: &Key, account: &Stored<Account>, maker: Standing) -> Option<Standing> {
    let scope = key.permissions.role();
    if account.id != key.account_id && scope != Role::Admin {
        return None;
    }
    Some(Standing { role: scope.min(maker.role), permissions: maker.permissions })
}

fn not_allowed(refused: Refused) -> Problem {
    Problem::new(Code::Forbidden, format!("Not allowed: {refused}."))
}

/// In the same words for an account that is not theirs and for one that is not.
fn elsewhere() -> Problem {
    Problem::new(Code::Forbidden, "You have no place in this account.")
}

fn only_people() -> Problem {
    Problem::new(Code::Forbidden, "This is for people who have signed in, not for keys.")
}

/// 304 for whoever has this very state already.
fn unless_had(headers: &HeaderMap, mut response: Response) -> Response {
    let is_had = response.status() == StatusCode::OK
        && response.headers().get(header::ETAG).is_some_and(|tag| call::has(headers, tag));
    if is_had {
        *response.status_mut() = StatusCode::NOT_MODIFIED;
        *response.body_mut() = axum::body::Body::empty();
        response.headers_mut().remove(header::CONTENT_TYPE);
        response.headers_mut().remove(header::CONTENT_LENGTH);
    }
    response
}

/// The address of the next page, for clients that follow links.
fn linked(address: &Uri, mut response: Response) -> Response {
    let Some(call::NextCursor(cursor)) = response.extensions_mut().remove() else {
        return response;
    };
    let rest = address.query().unwrap_or_default().split('&');
    let rest = rest.filter(|pair| !pair.is_empty() && !pair.starts_with("cursor="));
    let query: Vec<_> = rest.map(str::to_owned).chain([format!("cursor={cursor}")]).collect();
    let link = format!("<{}?{}>; rel=\"next\"", address.path(), query.join("&"));
    if let Ok(link) = HeaderValue::from_str(&link) {
        response.headers_mut().insert(header::LINK, link);
    }
    response
}
