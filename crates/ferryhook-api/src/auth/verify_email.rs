//! `POST /v1/auth/verify-email`: the address is theirs, as the letter proves. And another letter,
//! for whoever has lost the first.

use axum::extract::State;
use ferryhook_core::ticket::Purpose;
use ferryhook_core::{Map, Ticket, User};
use serde::Deserialize;
use utoipa::ToSchema;

use super::brake::Sort;
use super::entry::Tries;
use super::signup::LetterSent;
use crate::call::{Accepted, ApiResult, Done, Sent};
use crate::mail::{NotSent, letters};
use crate::problem::{Code, Problem};
use crate::router::App;
use crate::visit::{Deed, Visit};

/// What is in the link of a letter.
#[derive(Debug, Clone, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct TicketShown {
    pub token: String,
}

/// To whom a letter should go.
#[derive(Debug, Clone, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Addressee {
    pub email: String,
}

pub async fn verify(
    State(app): State<App>,
    visit: Visit,
    Sent(body): Sent<TicketShown>,
) -> ApiResult<Done> {
    redeem(&app, &visit, &body.token).await?;
    Ok(Done)
}

pub(crate) async fn redeem(app: &App, visit: &Visit, token: &str) -> ApiResult<()> {
    let attempt = app.auth.brake.begin(Sort::Ticket, token, visit.address)?;
    let hash = Ticket::hash_of(token, Purpose::VerifyEmail).ok_or_else(void)?;
    let ticket = app.store.tickets().find(&hash).await?.ok_or_else(void)?;
    let id = ticket.user_id.ok_or_else(void)?;
    let user = app.store.users().find(id).await?;
    let user = user.filter(|user| ticket.email.as_deref() == Some(&user.email));
    let mut user = user.ok_or_else(void)?;
    let deed = Deed {
        event_type: "email_verified",
        resource: "user",
        id: id.as_str(),
        details: Map::new(),
    };
    let store = visit.noting_at_home(app, &user, deed).await?;
    let mut tries = Tries::default();
    loop {
        let now = User { email_verified: true, updated_at: app.env.now(), ..user.record.clone() };
        match store.tickets().redeem(&ticket, &user, now).await {
            Ok(_) => break,
            Err(error) if error.refused_at(0) => return Err(void()),
            Err(error) => user = tries.again(app, &user, error).await?,
        }
    }
    attempt.was_right();
    Ok(())
}

pub async fn resend(
    State(app): State<App>,
    visit: Visit,
    Sent(body): Sent<Addressee>,
) -> ApiResult<Accepted<LetterSent>> {
    if !app.auth.mail.can_send() {
        return Err(NotSent::Nowhere.into());
    }
    let _letter = app.auth.brake.begin(Sort::Letter, &body.email, visit.address)?;
    let inner = app.clone();
    app.auth.errands.run("verification letter", async move {
        let user = inner.store.users().find_holder(&body.email).await?;
        let Some(user) = user.filter(|user| !user.email_verified) else { return Ok(()) };
        let (ticket, text) = Ticket::issue(Purpose::VerifyEmail, Some(&user), &inner.env);
        inner.store.tickets().issue(&ticket).await?;
        let base = &inner.auth.settings.base_url;
        Ok(inner.auth.mail.send(letters::verify_email(&user, base, &text))?)
    })?;
    visit.nothing_changed();
    let message = "If the address waits to be confirmed, a letter is on its way to it.".to_owned();
    Ok(Accepted(LetterSent { message }))
}

pub(crate) fn void() -> Problem {
    let detail = "This link is not valid: it was used, is too old, or a newer one has replaced it.";
    Problem::new(Code::Validation, detail)
}
