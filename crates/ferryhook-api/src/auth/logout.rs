//! `POST /v1/auth/logout`: ends the session of this browser.
//!
//! Whoever shows any token of the session may end it, also one that no longer renews it. Without
//! a session there is nothing to end, and that is answered alike.

use axum::extract::State;
use ferryhook_core::Map;

use super::cookies::{self, Cookie};
use super::entry::WithCookie;
use super::refresh::Headers;
use crate::call::{ApiResult, Done};
use crate::router::App;
use crate::visit::{Deed, Visit};

pub async fn log_out(
    State(app): State<App>,
    visit: Visit,
    Headers(headers): Headers,
) -> ApiResult<WithCookie<Done>> {
    cookies::require_own_site(&headers, &app.auth.settings.base_url)?;
    let answer = WithCookie::one(Done, cookies::forget(Cookie::Refresh, &visit));
    visit.nothing_changed();
    let Some(shown) = cookies::token(&visit, &headers) else { return Ok(answer) };
    let session = app.store.sessions().find(shown.user, shown.session).await?;
    let user = app.store.users().find(shown.user).await?;
    if let (Some(session), Some(user)) = (session, user)
        && session.is_named_by(&shown)
    {
        let id = session.id;
        let deed = Deed {
            event_type: "session_ended",
            resource: "session",
            id: id.as_str(),
            details: Map::new(),
        };
        let store = visit.noting_at_home(&app, &user, deed).await?;
        match store.sessions().end(&session).await {
            // Renewed or ended at this moment by another window; the second is what was wanted.
            Err(error) if error.is_refused() => {
                if let Some(session) = store.sessions().find(shown.user, id).await? {
                    store.sessions().end(&session).await?;
                }
            }
            ended => ended?,
        }
    }
    Ok(answer)
}
