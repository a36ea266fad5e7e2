//! `POST /v1/auth/reset-password`: a new password for whoever has the letter. Every session ends.

use axum::extract::State;
use ferryhook_core::ticket::Purpose;
use ferryhook_core::{Map, Ticket, User};
use serde::Deserialize;
use utoipa::ToSchema;

use super::brake::Sort;
use super::entry::Tries;
use super::sessions;
use super::verify_email::void;
use crate::call::{ApiResult, Done, Sent};
use crate::mail::letters;
use crate::passwords;
use crate::router::App;
use crate::visit::{Deed, Visit};

#[derive(Debug, Clone, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct NewPassword {
    /// From the link in the letter.
    pub token: String,
    /// From 8 characters to 72 bytes.
    pub password: String,
}

pub async fn reset(
    State(app): State<App>,
    visit: Visit,
    Sent(body): Sent<NewPassword>,
) -> ApiResult<Done> {
    redeem(&app, &visit, &body).await?;
    Ok(Done)
}

pub(crate) async fn redeem(app: &App, visit: &Visit, body: &NewPassword) -> ApiResult<()> {
    let attempt = app.auth.brake.begin(Sort::Ticket, &body.token, visit.address)?;
    let hash = Ticket::hash_of(&body.token, Purpose::ResetPassword).ok_or_else(void)?;
    let ticket = app.store.tickets().find(&hash).await?.ok_or_else(void)?;
    let id = ticket.user_id.ok_or_else(void)?;
    let user = app.store.users().find(id).await?;
    let mut user = user.filter(|user| ticket.is_for(user)).ok_or_else(void)?;
    passwords::check(&body.password, &user.email, "/password")?;
    let hash = app.auth.passwords.hash(&body.password).await?;
    let deed = Deed {
        event_type: "password_reset",
        resource: "user",
        id: id.as_str(),
        details: Map::new(),
    };
    let store = visit.noting_at_home(app, &user, deed).await?;
    let mut tries = Tries::default();
    loop {
        let now = User {
            password_hash: Some(hash.clone()),
            // Whoever has the letter reads the mail. Letters that reach nobody prove nothing.
            email_verified: user.email_verified || app.auth.settings.verifies_addresses,
            session_epoch: user.session_epoch.saturating_add(1),
            updated_at: app.env.now(),
            ..user.record.clone()
        };
        match store.tickets().redeem(&ticket, &user, now).await {
            Ok(_) => break,
            Err(error) if error.refused_at(0) => return Err(void()),
            Err(error) => user = tries.again(app, &user, error).await?,
        }
    }
    attempt.was_right();
    sessions::sweep(app, id, None).await?;
    // It has happened, whether or not there is room for a letter about it.
    let _ = app.auth.mail.send(letters::password_changed(&user, &app.auth.settings.base_url));
    Ok(())
}
