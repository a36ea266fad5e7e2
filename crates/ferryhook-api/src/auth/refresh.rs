//! `POST /v1/auth/refresh`: a new access token for whoever has the refresh token in their cookie.
//!
//! The refresh token is replaced each time. One that was replaced before is a copy in the wrong
//! hands: the session ends, for the thief and for the one who was robbed.

use axum::extract::State;
use axum::http::HeaderMap;
use ferryhook_core::session::Renewal;
use ferryhook_core::{Map, Session, User};
use ferryhook_store::Stored;

use super::SignedIn;
use super::cookies;
use super::entry::{self, Entered, WithCookie};
use crate::call::{ApiResult, Found};
use crate::problem::{Code, Problem};
use crate::router::App;
use crate::visit::{Deed, Visit};

/// How often it is tried when another window of the same browser does the same.
const TRIES_MAX: usize = 8;

pub async fn refresh(
    State(app): State<App>,
    visit: Visit,
    Headers(headers): Headers,
) -> ApiResult<WithCookie<Found<SignedIn>>> {
    cookies::require_own_site(&headers, &app.auth.settings.base_url)?;
    let shown = cookies::token(&visit, &headers).ok_or_else(signed_out)?;
    for _ in 0..TRIES_MAX {
        let was = app.store.sessions().find(shown.user, shown.session).await?;
        let was = was.ok_or_else(signed_out)?;
        let user = app.store.users().find(shown.user).await?.ok_or_else(signed_out)?;
        if !was.counts_for(&user, app.env.now()) {
            return Err(signed_out());
        }
        let (now, next) = match was.renew(&shown, &app.env) {
            Renewal::Renewed(now, next) => (now, next),
            Renewal::Refused => return Err(signed_out()),
            Renewal::Reused => {
                end_stolen(&app, &visit, &was, &user).await?;
                return Err(signed_out());
            }
        };
        match app.store.sessions().renew(&was, *now).await {
            Ok(session) => {
                // Who is signed in has not changed, only how they prove it next time.
                visit.nothing_changed();
                let entered = entry::entered(&app, &visit, &user, session.id, &next).await?;
                let Entered { body, cookie } = entered;
                return Ok(WithCookie::one(Found(body), cookie));
            }
            Err(error) if error.is_refused() => {}
            Err(error) => return Err(error.into()),
        }
    }
    Err(Problem::new(Code::Conflict, "Too many refreshed at the same time. Ask again."))
}

async fn end_stolen(
    app: &App,
    visit: &Visit,
    session: &Stored<Session>,
    user: &User,
) -> ApiResult<()> {
    let id = session.id;
    tracing::warn!(session.id = %id, user.id = %user.id, "an old refresh token was used: the session ends");
    let deed = Deed {
        event_type: "session_reuse_detected",
        resource: "session",
        id: id.as_str(),
        details: Map::new(),
    };
    let store = visit.noting_at_home(app, user, deed).await?;
    // Renewed or ended at this very moment: it has to go whatever else happens to it.
    let mut was = Some(session.clone());
    for _ in 0..TRIES_MAX {
        let Some(session) = was else { return Ok(()) };
        match store.sessions().end(&session).await {
            Err(error) if error.is_refused() => {
                was = store.sessions().find(session.user_id, id).await?;
            }
            ended => return Ok(ended?),
        }
    }
    Err(Problem::new(Code::Unavailable, "The session could not be ended. Ask again."))
}

fn signed_out() -> Problem {
    Problem::new(Code::Unauthorized, "Nobody is signed in here, or no longer. Sign in again.")
}

/// The headers, which say nothing that clients need to be told of.
#[derive(Debug, Clone)]
pub struct Headers(pub HeaderMap);

impl axum::extract::FromRequestParts<App> for Headers {
    type Rejection = Problem;

    async fn from_request_parts(
        parts: &mut axum::http::request::Parts,
        _: &App,
    ) -> Result<Self, Problem> {
        Ok(Self(parts.headers.clone()))
    }
}

impl crate::call::Describes for Headers {
    fn describe(_: &mut crate::openapi::Sketch) {}
}
