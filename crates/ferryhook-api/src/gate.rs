//! The gate: what happens to every request before and after its handler.
//!
//! Who is it, may they do this here, and have they asked too often; afterwards, whether what they
//! changed was written down. A handler behind it is never reached by anyone who may not.

use std::sync::Arc;

use axum::RequestExt;
use axum::extract::{RawPathParams, Request, State};
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode, Uri, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use ferryhook_core::member::Role;
use ferryhook_core::permission::Refused;
use ferryhook_core::{Account, Id, account, permission};

use crate::call;
use crate::caller::{Caller, Person, Proof, Standing, Who, of_key, prove};
use crate::home;
use crate::idempotency::{self, Identity};
use crate::problem::{Code, Problem};
use crate::route::{Access, Route, Traffic};
use crate::router::App;
use crate::visit::Visit;

pub const ACCOUNT_HEADER: &str = "x-ferryhook-account";
/// Routes with this in their path say there which account they are about.
const ACCOUNT_PARAMETER: &str = "accountId";

/// The gate of one route.
#[derive(Debug, Clone)]
pub(crate) struct Gate {
    app: App,
    operation: &'static str,
    access: Access,
    is_mutating: bool,
    is_traffic: bool,
}

impl Gate {
    pub(crate) fn of(app: &App, route: &Route) -> Self {
        Self {
            app: app.clone(),
            operation: route.operation,
            access: route.access,
            is_mutating: route.is_mutating(),
            is_traffic: route.traffic != Traffic::None,
        }
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
    let pace = match gate.is_traffic {
        true => None,
        false => Some(app.limiter.take(&proof, gate.operation)?),
    };
    let identity = match needed {
        None => {
            let Proof::Person { user, session } = proof else { return Err(only_people()) };
            let id = user.id;
            let home = home::of(app, &user).await?.map(|home| home.account.id);
            let person = Person { user, session, home, visit: visit.clone() };
            request.extensions_mut().insert(person);
            Identity { name: id.to_string(), account: None }
        }
        Some(needed) => {
            let named = Named::by(&mut request).await?;
            let caller = enter(gate, needed, named, proof, visit).await?;
            let name = match caller.who {
                Who::User(id) => format!("{id}#{}", caller.account),
                Who::Key(id, _) => format!("{id}#{}", caller.account),
            };
            let account = Some(caller.account);
            app.works.called(caller.account, caller.user());
            request.extensions_mut().insert(caller);
            Identity { name, account }
        }
    };
    let mut response = match *request.method() == Method::POST && !gate.is_traffic {
        true => idempotency::run(app, &identity, visit, request, next).await?,
        false => next.run(request).await,
    };
    if let Some(pace) = pace {
        pace.tell(response.headers_mut());
    }
    Ok(response)
}

/// Whether who was let in for this would be let in now, for an answer that goes on.
pub(crate) async fn is_still_open(
    app: &App,
    headers: &HeaderMap,
    caller: &Caller,
    needed: Role,
    operation: &'static str,
) -> bool {
    let gate = Gate {
        app: app.clone(),
        operation,
        access: Access::Role(needed),
        is_mutating: false,
        is_traffic: false,
    };
    let Ok(proof) = prove(app, headers).await else { return false };
    let named = Named::Header(caller.account);
    enter(&gate, needed, named, proof, &caller.visit).await.is_ok()
}

/// The account that a request is about: the one in its path, or else in its header, or else the
/// one that is theirs.
#[derive(Debug, Clone, Copy)]
enum Named {
    Path(Id<Account>),
    Header(Id<Account>),
    Nowhere,
}

impl Named {
    async fn by(request: &mut Request) -> Result<Self, Problem> {
        let path = request.extract_parts::<RawPathParams>().await.ok();
        let mut path = path.iter().flatten();
        if let Some((_, text)) = path.find(|(name, _)| *name == ACCOUNT_PARAMETER) {
            return text.parse().map(Self::Path).map_err(|_| Problem::not_found());
        }
        let Some(text) = request.headers().get(ACCOUNT_HEADER) else { return Ok(Self::Nowhere) };
        let id = text.to_str().ok().and_then(|text| text.parse().ok());
        id.map(Self::Header).ok_or_else(elsewhere)
    }

    /// They have no place there. In the same words for an account that is not.
    fn refused(self) -> Problem {
        match self {
            Self::Path(_) => Problem::not_found(),
            Self::Header(_) | Self::Nowhere => elsewhere(),
        }
    }
}

/// Into the account that the request is about, if they may do this there.
async fn enter(
    gate: &Gate,
    needed: Role,
    named: Named,
    proof: Proof,
    visit: &Visit,
) -> Result<Caller, Problem> {
    let app = &gate.app;
    let (user, who, home) = match &proof {
        Proof::Person { user, .. } => (user, Who::User(user.id), user.default_account_id),
        Proof::Key { key, user } => (user, Who::Key(key.id, user.id), key.account_id),
    };
    let account = match named {
        Named::Path(id) | Named::Header(id) => id,
        Named::Nowhere => home,
    };
    let found = app.store.members().standing(user.id, account).await?;
    let found = found.ok_or_else(|| named.refused())?;
    let theirs = match &proof {
        Proof::Person { .. } => {
            Standing { role: found.role, permissions: found.permissions.clone() }
        }
        Proof::Key { key, .. } => {
            let theirs = of_key(&app.store, key, &found).await?.ok_or_else(|| named.refused())?;
            permission::check_key(key, needed, gate.operation).map_err(not_allowed)?;
            theirs
        }
    };
    permission::check(theirs.role, &theirs.permissions, needed, gate.operation)
        .map_err(not_allowed)?;
    if gate.is_mutating && found.status != account::Status::Active {
        return Err(Problem::new(
            Code::AccountSuspended,
            "This account is suspended: what it has can be read and not changed.",
        ));
    }
    let owner = found.account.user_id;
    let limits = match proof {
        Proof::Person { .. } => None,
        Proof::Key { key, .. } => Some(Arc::new(key.record)),
    };
    Ok(Caller { account, owner, standing: theirs, who, limits, visit: visit.clone() })
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
