//! Entry: the one way in. Whoever has proved who they are gets a session here.
//!
//! The session begins in the commit that notes the sign-in, and only if the user is still who they
//! were when they proved it: a password that was changed meanwhile, or a code that somebody else
//! used, lets nobody in.

use axum::http::{HeaderValue, header};
use axum::response::{IntoResponse, Response};
use ferryhook_core::session::{Method, Token};
use ferryhook_core::ticket::Purpose;
use ferryhook_core::{Id, Map, Secret, Session, Ticket, User};
use ferryhook_store::{Slice, Stored, UniqueError};

use super::cookies;
use super::view::{HomeAccount, SignedIn};
use crate::call::{ApiResult, Describes};
use crate::home;
use crate::openapi::Sketch;
use crate::problem::{Code, Problem};
use crate::router::App;
use crate::visit::{Deed, Visit};

/// How often a change is tried when something else about the user changes at the same time.
const TRIES_MAX: usize = 8;
/// One more ends the one that was unused for longest.
const SESSIONS_MAX: usize = 50;

/// An answer that also gives the browser something to keep, or takes it away.
#[derive(Debug, Clone)]
pub struct WithCookie<A> {
    pub answer: A,
    pub cookies: Vec<HeaderValue>,
}

impl<A> WithCookie<A> {
    pub(crate) fn none(answer: A) -> Self {
        Self { answer, cookies: Vec::new() }
    }

    pub(crate) fn one(answer: A, cookie: Option<HeaderValue>) -> Self {
        Self { answer, cookies: cookie.into_iter().collect() }
    }
}

impl<A: IntoResponse> IntoResponse for WithCookie<A> {
    fn into_response(self) -> Response {
        let mut response = self.answer.into_response();
        for cookie in self.cookies {
            response.headers_mut().append(header::SET_COOKIE, cookie);
        }
        response
    }
}

impl<A: Describes> Describes for WithCookie<A> {
    fn describe(sketch: &mut Sketch) {
        A::describe(sketch);
    }
}

/// Somebody who is in.
#[derive(Debug)]
pub(crate) struct Entered {
    pub(crate) body: SignedIn,
    pub(crate) cookie: Option<HeaderValue>,
}

/// Begins a session. `with` is what the proof changes of the user, such as a code that is used.
pub(crate) async fn begin(
    app: &App,
    visit: &Visit,
    mut user: Stored<User>,
    method: Method,
    with: impl Fn(User) -> User,
) -> ApiResult<Entered> {
    let mut tries = Tries::default();
    loop {
        let mut now = with(user.record.clone());
        now.last_login_at = Some(app.env.now());
        let address = visit.address.map(|address| address.to_string());
        let (session, token) = Session::begin(&now, method, address, visit.agent.clone(), &app.env);
        let mut details = Map::new();
        details.insert("method".to_owned(), serde_json::json!(method));
        let deed = Deed {
            event_type: "session_created",
            resource: "session",
            id: session.id.as_str(),
            details,
        };
        let store = visit.noting_at_home(app, &now, deed).await?;
        match store.sessions().begin(&user, now, &session).await {
            Ok(user) => {
                end_the_oldest(app, user.id).await?;
                return entered(app, visit, &user, session.id, &token).await;
            }
            Err(error) => user = tries.again(app, &user, error).await?,
        }
    }
}

/// Tries of one change. Events are counted to a user all the time, so that a change of anything
/// else may have to be made again.
#[derive(Debug, Default)]
pub(crate) struct Tries(usize);

impl Tries {
    /// The user to try again with, if it was refused for nothing that matters.
    pub(crate) async fn again(
        &mut self,
        app: &App,
        user: &Stored<User>,
        error: impl Into<UniqueError>,
    ) -> ApiResult<Stored<User>> {
        match error.into() {
            UniqueError::Store(error) if error.is_refused() => {}
            UniqueError::Store(error) => return Err(error.into()),
            UniqueError::Taken(_) => return Err(Problem::internal()),
        }
        self.0 += 1;
        let again = app.store.users().find(user.id).await?.ok_or_else(changed)?;
        match self.0 < TRIES_MAX && is_same_proof(user, &again) {
            true => Ok(again),
            false => Err(changed()),
        }
    }
}

/// What somebody who is in is told, with a fresh access token.
pub(crate) async fn entered(
    app: &App,
    visit: &Visit,
    user: &User,
    session: Id<Session>,
    token: &Token,
) -> ApiResult<Entered> {
    let access = app.auth.tokens.issue(user.id, session).await?;
    let account = home::of(app, user).await?.map(|home| HomeAccount {
        account_id: home.account.id,
        role: home.role,
        account_name: home.account.record.name,
    });
    let cookie = cookies::keep_token(visit, token);
    Ok(Entered { body: SignedIn::new(access, user, account), cookie })
}

/// Of everything that somebody proves themselves with, nothing has changed.
fn is_same_proof(one: &User, other: &User) -> bool {
    one.password_hash == other.password_hash
        && one.session_epoch == other.session_epoch
        && one.status == other.status
        && one.email == other.email
        && one.two_factor_enabled == other.two_factor_enabled
        && one.totp_secret == other.totp_secret
        && one.totp_last_step == other.totp_last_step
        && one.recovery_codes == other.recovery_codes
}

async fn end_the_oldest(app: &App, user: Id<User>) -> ApiResult<()> {
    let slice = Slice::default().limit(2 * SESSIONS_MAX);
    let mut sessions = app.store.sessions().list(user, slice).await?.rows;
    sessions.sort_unstable_by_key(|session| std::cmp::Reverse(session.last_used_at));
    for session in sessions.iter().skip(SESSIONS_MAX) {
        match app.store.sessions().end(session).await {
            Err(error) if !error.is_refused() => return Err(error.into()),
            _ => {}
        }
    }
    Ok(())
}

/// A ticket for whoever has proved one of two things, which they show with the second.
pub(crate) async fn await_second_factor(
    app: &App,
    user: &User,
    method: Method,
) -> ApiResult<Secret> {
    let (ticket, text) = Ticket::issue(Purpose::SecondFactor, Some(user), &app.env);
    let ticket = Ticket { method: Some(method), ..ticket };
    app.store.tickets().issue(&ticket).await?;
    Ok(text)
}

fn changed() -> Problem {
    Problem::new(Code::Conflict, "Something about this user changed just now. Sign in again.")
}
