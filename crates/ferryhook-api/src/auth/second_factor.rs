//! `/v1/auth/totp`: a second factor, for whoever wants one.
//!
//! Offered first, and on only once a code was right: an app that was set up wrongly must not lock
//! anybody out. Each step needs proof once more ([`reproof`]): whoever found a session must not
//! make it theirs. Turned on, it ends every other session, which began without it. Taking it off
//! needs the password and a code, and is a POST because a DELETE with a body is lost by some
//! clients. Either is told in a letter.

use axum::extract::State;
use ferryhook_core::{Map, User, totp};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::brake::Sort;
use super::entry::Tries;
use super::login::use_code;
use super::{reproof, sessions};
use crate::call::{ApiResult, Created, Done, Found, MaybeSent, Sent};
use crate::caller::Person;
use crate::mail::letters;
use crate::problem::{Code, Problem};
use crate::router::App;

/// To be typed or scanned into an app. Shown once.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct TotpOffer {
    pub secret: String,
    /// The same as apps read it from a picture.
    pub otpauth_url: String,
}

#[derive(Debug, Clone, Default, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct TotpEnrolment {
    /// Not needed within ten minutes after signing in.
    #[serde(default)]
    pub password: Option<String>,
}

#[derive(Debug, Clone, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct TotpCode {
    /// Six digits.
    pub code: String,
    /// Not needed within ten minutes after signing in.
    #[serde(default)]
    pub password: Option<String>,
}

/// Each is good once, for the day the app is gone. Shown once.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct RecoveryCodes {
    pub recovery_codes: Vec<String>,
}

#[derive(Debug, Clone, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct TotpRemoval {
    /// Absent for somebody who has none, and has signed in within the last ten minutes.
    #[serde(default)]
    pub password: Option<String>,
    /// Six digits, or a recovery code.
    pub code: String,
}

pub async fn enrol(
    State(app): State<App>,
    person: Person,
    MaybeSent(body): MaybeSent<TotpEnrolment>,
) -> ApiResult<Created<TotpOffer>> {
    if person.user.two_factor_enabled {
        return Err(Problem::new(Code::Conflict, "A second factor is on already."));
    }
    reproof::require(&app, &person, body.unwrap_or_default().password.as_deref()).await?;
    let secret = totp::generate(&app.env);
    let otpauth_url = totp::url(&secret, &person.user.email);
    change(&app, &person, "second_factor_offered", |user| User {
        totp_secret: Some(secret.clone()),
        totp_last_step: None,
        ..user
    })
    .await?;
    Ok(Created(TotpOffer { secret: secret.expose().to_owned(), otpauth_url }))
}

pub async fn confirm(
    State(app): State<App>,
    person: Person,
    Sent(body): Sent<TotpCode>,
) -> ApiResult<Found<RecoveryCodes>> {
    let user = &person.user.record;
    if user.two_factor_enabled {
        return Err(Problem::new(Code::Conflict, "A second factor is on already."));
    }
    let Some(secret) = &user.totp_secret else {
        return Err(Problem::new(Code::Conflict, "There is no offer to confirm: enrol first."));
    };
    reproof::require(&app, &person, body.password.as_deref()).await?;
    let attempt = app.auth.brake.begin(Sort::Code, user.id.as_str(), person.visit.address)?;
    let step = totp::check(secret, &body.code, app.env.now(), None);
    let step = step.ok_or_else(|| Problem::invalid("/code", "is wrong or too old"))?;
    attempt.was_right();
    let codes = totp::recovery_codes(&app.env);
    let id = person.id().to_string();
    let store = person.noting(&app, "second_factor_enabled", "user", &id, Map::new());
    sessions::end_others_with(&app, &store, &person, |user| User {
        two_factor_enabled: true,
        totp_last_step: Some(step),
        recovery_codes: codes.iter().map(|code| totp::recovery_hash(code.expose())).collect(),
        updated_at: app.env.now(),
        ..user
    })
    .await?;
    // It has happened, whether or not there is room for a letter about it.
    let _ = app.auth.mail.send(letters::second_factor_on(user, &app.auth.settings.base_url));
    let recovery_codes = codes.iter().map(|code| code.expose().to_owned()).collect();
    Ok(Found(RecoveryCodes { recovery_codes }))
}

pub async fn remove(
    State(app): State<App>,
    person: Person,
    Sent(body): Sent<TotpRemoval>,
) -> ApiResult<Done> {
    let user = &person.user.record;
    if !user.two_factor_enabled {
        return Err(Problem::new(Code::Conflict, "No second factor is on."));
    }
    reproof::require_password(&app, &person, body.password.as_deref()).await?;
    let attempt = app.auth.brake.begin(Sort::Code, user.id.as_str(), person.visit.address)?;
    if use_code(user, &body.code, &app).is_none() {
        return Err(Problem::new(Code::Forbidden, "The code is wrong, too old, or was used."));
    }
    attempt.was_right();
    change(&app, &person, "second_factor_disabled", |user| User {
        two_factor_enabled: false,
        totp_secret: None,
        totp_last_step: None,
        recovery_codes: Vec::new(),
        updated_at: app.env.now(),
        ..user
    })
    .await?;
    let _ = app.auth.mail.send(letters::second_factor_off(user, &app.auth.settings.base_url));
    Ok(Done)
}

async fn change(
    app: &App,
    person: &Person,
    event_type: &str,
    change: impl Fn(User) -> User,
) -> ApiResult<()> {
    let id = person.id().to_string();
    let store = person.noting(app, event_type, "user", &id, Map::new());
    let mut user = person.user.clone();
    let mut tries = Tries::default();
    loop {
        match store.users().replace(&user, change(user.record.clone())).await {
            Ok(_) => return Ok(()),
            Err(error) => user = tries.again(app, &user, error).await?,
        }
    }
}
