//! `POST /v1/auth/change-password`: another password, for whoever knows the one they have. Every
//! other session ends.

use axum::extract::State;
use ferryhook_core::{Map, User};
use serde::Deserialize;
use utoipa::ToSchema;

use super::brake::Sort;
use super::{reproof, sessions};
use crate::call::{ApiResult, Done, Sent};
use crate::caller::Person;
use crate::mail::letters;
use crate::passwords;
use crate::problem::{Code, Problem};
use crate::router::App;

#[derive(Debug, Clone, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct PasswordChange {
    /// The one they have. Absent for somebody who has none yet, and has signed in through a
    /// platform within the last ten minutes.
    #[serde(default)]
    pub current_password: Option<String>,
    /// From 8 characters to 72 bytes.
    pub new_password: String,
}

pub async fn change(
    State(app): State<App>,
    person: Person,
    Sent(body): Sent<PasswordChange>,
) -> ApiResult<Done> {
    reproof::require_password(&app, &person, body.current_password.as_deref()).await?;
    passwords::check(&body.new_password, &person.user.email, "/newPassword")?;
    let hash = app.auth.passwords.hash(&body.new_password).await?;
    let id = person.id().to_string();
    let store = person.noting(&app, "password_changed", "user", &id, Map::new());
    sessions::end_others_with(&app, &store, &person, |user| User {
        password_hash: Some(hash.clone()),
        updated_at: app.env.now(),
        ..user
    })
    .await?;
    let user = &person.user;
    let _ = app.auth.mail.send(letters::password_changed(user, &app.auth.settings.base_url));
    Ok(Done)
}

/// Whoever found a browser open does not thereby know the password.
pub(crate) async fn prove(app: &App, person: &Person, password: &str) -> ApiResult<()> {
    let subject = person.user.id.to_string();
    let attempt = app.auth.brake.begin(Sort::Password, &subject, person.visit.address)?;
    let kept = person.user.password_hash.as_ref();
    let fits = password.len() <= passwords::BYTES_MAX;
    let is_right = fits && app.auth.passwords.is_right(password, kept).await?;
    if !is_right {
        return Err(Problem::new(Code::Forbidden, "This is not the password that you have."));
    }
    attempt.was_right();
    Ok(())
}
