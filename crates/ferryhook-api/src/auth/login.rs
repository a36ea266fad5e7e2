//! `POST /v1/auth/login`, and `/v1/auth/login/totp` for whoever has a second factor.
//!
//! A wrong password, an address that nobody has and a user who is suspended are answered in the
//! same words after the same time.

use axum::extract::State;
use ferryhook_core::session::Method;
use ferryhook_core::ticket::Purpose;
use ferryhook_core::{Ticket, User, totp, user};
use ferryhook_store::Stored;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::SignedIn;
use super::brake::Sort;
use super::entry::{self, Entered, WithCookie};
use crate::call::{ApiResult, Found, Sent};
use crate::passwords;
use crate::problem::{Code, Problem};
use crate::router::App;
use crate::visit::Visit;

#[derive(Debug, Clone, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Login {
    pub email: String,
    pub password: String,
}

/// The second of two proofs.
#[derive(Debug, Clone, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct SecondFactorCode {
    /// As the first proof was answered.
    pub second_factor: String,
    /// Six digits of the app, or a recovery code.
    pub code: String,
}

/// Either they are in, or they have a second factor to show.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
#[serde(untagged)]
pub enum LoginAnswer {
    In(Box<SignedIn>),
    SecondFactor(SecondFactorAsked),
}

/// The password was right; the code of the app is still missing.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct SecondFactorAsked {
    /// To be sent with the code to `/v1/auth/login/totp`.
    pub second_factor: String,
    /// How long it counts, in seconds.
    pub expires_in: u64,
}

pub async fn log_in(
    State(app): State<App>,
    visit: Visit,
    Sent(body): Sent<Login>,
) -> ApiResult<WithCookie<Found<LoginAnswer>>> {
    let attempt = app.auth.brake.begin(Sort::Password, &body.email, visit.address)?;
    let user = app.store.users().find_holder(&body.email).await?;
    let kept = user.as_ref().and_then(|user| user.password_hash.clone());
    // A longer one is nobody's, and is not worth the work.
    let fits = body.password.len() <= passwords::BYTES_MAX;
    let password = if fits { body.password.as_str() } else { "" };
    let is_right = app.auth.passwords.is_right(password, kept.as_ref()).await?;
    let user = user.filter(|user| is_right && fits && user.status == user::Status::Active);
    let user = user.ok_or_else(refused)?;
    attempt.was_right();
    if app.auth.settings.verifies_addresses && !user.email_verified {
        return Err(Problem::new(
            Code::Forbidden,
            "Open the link in the letter that was sent to this address first. Another letter is \
             sent by /v1/auth/verify-email/resend.",
        ));
    }
    finish(&app, &visit, user, Method::Password).await
}

/// In, or asked for the second factor.
pub(crate) async fn finish(
    app: &App,
    visit: &Visit,
    user: Stored<User>,
    method: Method,
) -> ApiResult<WithCookie<Found<LoginAnswer>>> {
    if user.two_factor_enabled {
        let ticket = entry::await_second_factor(app, &user, method).await?;
        visit.nothing_changed();
        return Ok(WithCookie::none(Found(LoginAnswer::SecondFactor(SecondFactorAsked {
            second_factor: ticket.expose().to_owned(),
            expires_in: Purpose::SecondFactor.lives().as_secs(),
        }))));
    }
    let Entered { body, cookie } = entry::begin(app, visit, user, method, |user| user).await?;
    Ok(WithCookie::one(Found(LoginAnswer::In(Box::new(body))), cookie))
}

pub async fn log_in_with_code(
    State(app): State<App>,
    visit: Visit,
    Sent(body): Sent<SecondFactorCode>,
) -> ApiResult<WithCookie<Found<SignedIn>>> {
    let hash = Ticket::hash_of(&body.second_factor, Purpose::SecondFactor).ok_or_else(too_late)?;
    let tickets = app.store.tickets();
    let ticket = tickets.find(&hash).await?.ok_or_else(too_late)?;
    let id = ticket.user_id.ok_or_else(too_late)?;
    let user = app.store.users().find(id).await?.filter(|user| {
        ticket.is_for(user) && user.status == user::Status::Active && user.two_factor_enabled
    });
    let user = user.ok_or_else(too_late)?;
    // A new ticket costs a guesser only a password that they know.
    let attempt = app.auth.brake.begin(Sort::Code, user.id.as_str(), visit.address)?;
    // Counted before the code is looked at: many at once are no way around the few tries.
    tickets.try_once(&hash).await?.ok_or_else(too_late)?;
    let used = use_code(&user, &body.code, &app).ok_or_else(wrong_code)?;
    if !tickets.use_up(&hash).await? {
        return Err(too_late());
    }
    attempt.was_right();
    let method = ticket.method.unwrap_or(Method::Password);
    let Entered { body, cookie } =
        entry::begin(&app, &visit, user, method, move |user| used.of(user)).await?;
    Ok(WithCookie::one(Found(body), cookie))
}

/// What a code that is right uses up.
#[derive(Debug, Clone)]
pub(crate) enum Used {
    Step(u64),
    Recovery(Vec<ferryhook_core::Secret>),
}

impl Used {
    pub(crate) fn of(&self, user: User) -> User {
        match self {
            Self::Step(step) => User { totp_last_step: Some(*step), ..user },
            Self::Recovery(left) => User { recovery_codes: left.clone(), ..user },
        }
    }
}

/// Whether it is a code of this user that was not used before.
pub(crate) fn use_code(user: &User, code: &str, app: &App) -> Option<Used> {
    let secret = user.totp_secret.as_ref()?;
    let step = totp::check(secret, code, app.env.now(), user.totp_last_step).map(Used::Step);
    step.or_else(|| totp::without(code, &user.recovery_codes).map(Used::Recovery))
}

fn refused() -> Problem {
    Problem::new(Code::Unauthorized, "The address or the password is wrong.")
}

fn too_late() -> Problem {
    Problem::new(Code::Unauthorized, "This sign-in has run out of time or tries. Begin again.")
}

fn wrong_code() -> Problem {
    Problem::new(Code::Unauthorized, "The code is wrong, too old, or was used already.")
}
