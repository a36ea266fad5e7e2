//! `POST /v1/auth/forgot-password`: a letter with a link, if there is anybody to send it to.
//!
//! Whether there is, is found out after the answer was given.

use axum::extract::State;
use ferryhook_core::ticket::Purpose;
use ferryhook_core::{Map, Ticket, user};

use super::brake::Sort;
use super::signup::LetterSent;
use super::verify_email::Addressee;
use crate::call::{Accepted, ApiResult, Sent};
use crate::mail::{NotSent, letters};
use crate::router::App;
use crate::visit::{Deed, Visit};

pub async fn ask(
    State(app): State<App>,
    visit: Visit,
    Sent(body): Sent<Addressee>,
) -> ApiResult<Accepted<LetterSent>> {
    if !app.auth.mail.can_send() {
        return Err(NotSent::Nowhere.into());
    }
    let _letter = app.auth.brake.begin(Sort::Letter, &body.email, visit.address)?;
    let (inner, seen) = (app.clone(), visit.clone());
    app.auth.errands.run("password letter", async move {
        let user = inner.store.users().find_holder(&body.email).await?;
        let user = user.filter(|user| user.status == user::Status::Active);
        let Some(user) = user else { return Ok(()) };
        let (ticket, text) = Ticket::issue(Purpose::ResetPassword, Some(&user), &inner.env);
        let deed = Deed {
            event_type: "password_reset_requested",
            resource: "user",
            id: user.id.as_str(),
            details: Map::new(),
        };
        let store = seen.noting_at_home(&inner, &user, deed).await?;
        store.tickets().issue(&ticket).await?;
        let base = &inner.auth.settings.base_url;
        Ok(inner.auth.mail.send(letters::reset_password(&user, base, &text))?)
    })?;
    visit.nothing_changed();
    let message = "If the address has an account, a letter is on its way to it.".to_owned();
    Ok(Accepted(LetterSent { message }))
}
