//! Setting up: the first start prints a link, and whoever opens it becomes the owner of this
//! installation.
//!
//! There is no default password. Until somebody has claimed it, the installation belongs to an
//! owner whom nobody can be: everything made meanwhile is theirs afterwards. A link is good once
//! and for half an hour; the next start prints another, as long as the owner has no password.

use axum::extract::State;
use ferryhook_core::session::Method;
use ferryhook_core::ticket::Purpose;
use ferryhook_core::{Env, Map, Ticket, User};
use ferryhook_store::{Store, StoreError, Stored, UniqueError};
use serde::Deserialize;
use utoipa::ToSchema;

use super::SignedIn;
use super::brake::Sort;
use super::entry::{self, Entered, WithCookie};
use super::signup;
use super::verify_email::void;
use crate::call::{ApiResult, Created, Sent};
use crate::owner;
use crate::passwords;
use crate::problem::{Code, Problem};
use crate::router::App;
use crate::visit::{Deed, Visit};

pub const PATH: &str = "/setup";

/// Whoever claims the installation.
#[derive(Debug, Clone, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Claim {
    /// From the link.
    pub token: String,
    pub email: String,
    /// From 8 characters to 72 bytes.
    pub password: String,
    #[serde(default)]
    pub name: Option<String>,
}

/// A link, if the installation waits for its owner.
pub async fn link(store: &Store, env: &Env, base_url: &str) -> Result<Option<String>, StoreError> {
    let owner = owner::ensure(store, env).await?;
    let user = store.users().find(owner.user).await?;
    if user.is_none_or(|user| user.password_hash.is_some()) {
        return Ok(None);
    }
    let (ticket, text) = Ticket::issue(Purpose::SetUp, None, env);
    store.tickets().issue(&ticket).await?;
    Ok(Some(format!("{base_url}{PATH}?token={}", text.expose())))
}

pub async fn claim(
    State(app): State<App>,
    visit: Visit,
    Sent(body): Sent<Claim>,
) -> ApiResult<WithCookie<Created<SignedIn>>> {
    let Entered { body, cookie } = enter(&app, &visit, &body).await?;
    Ok(WithCookie::one(Created(body), cookie))
}

pub(crate) async fn enter(app: &App, visit: &Visit, body: &Claim) -> ApiResult<Entered> {
    let attempt = app.auth.brake.begin(Sort::Ticket, &body.token, visit.address)?;
    let hash = Ticket::hash_of(&body.token, Purpose::SetUp).ok_or_else(void)?;
    let ticket = app.store.tickets().find(&hash).await?.ok_or_else(void)?;
    let email = signup::email(&body.email)?;
    passwords::check(&body.password, &email, "/password")?;
    let name = signup::name(body.name.as_deref(), &email, "/name")?;
    let hash = app.auth.passwords.hash(&body.password).await?;
    // First the ticket: of two who have the link, one gets to be the owner.
    match app.store.tickets().take(&ticket).await {
        Err(error) if error.is_refused() => return Err(void()),
        taken => taken?,
    }
    let user = unclaimed(app).await?;
    let now = User {
        email,
        name,
        password_hash: Some(hash),
        // They have the machine's own word for it, which is more than a letter.
        email_verified: true,
        updated_at: app.env.now(),
        ..user.record.clone()
    };
    let deed = Deed {
        event_type: "installation_claimed",
        resource: "user",
        id: user.id.as_str(),
        details: Map::new(),
    };
    let store = visit.noting(app, now.default_account_id, Some(now.id), deed);
    let user = store.users().replace(&user, now).await.map_err(|error| match error {
        UniqueError::Taken(what) => {
            Problem::new(Code::Conflict, format!("This {what} has an account already."))
        }
        UniqueError::Store(error) => error.into(),
    })?;
    attempt.was_right();
    entry::begin(app, visit, user, Method::Password, |user| user).await
}

async fn unclaimed(app: &App) -> ApiResult<Stored<User>> {
    let owner = owner::ensure(&app.store, &app.env).await?;
    let user = app.store.users().find(owner.user).await?.ok_or_else(Problem::internal)?;
    match user.password_hash {
        Some(_) => Err(Problem::new(Code::Conflict, "This installation has an owner already.")),
        None => Ok(user),
    }
}
