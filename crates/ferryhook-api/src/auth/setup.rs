//! Setting up: the first start prints a link, and whoever opens it becomes the owner of this
//! installation.
//!
//! There is no default password. Until somebody has claimed it, the installation belongs to an
//! owner whom nobody can be: everything made meanwhile is theirs afterwards. A link is good once
//! and for half an hour; the next start prints another, as long as the owner has no password.

use axum::extract::State;
use ferryhook_core::session::Method;
use ferryhook_core::ticket::Purpose;
use ferryhook_core::{Env, Map, Ticket};
use ferryhook_store::{Store, StoreError};
use serde::Deserialize;
use utoipa::ToSchema;

use super::SignedIn;
use super::brake::Sort;
use super::entry::{self, Entered, WithCookie};
use super::signup;
use super::verify_email::void;
use crate::call::{ApiResult, Created, Sent};
use crate::owner::{self, ClaimError};
use crate::passwords;
use crate::problem::{Code, Problem};
use crate::router::App;
use crate::visit::{Deed, Visit};

pub const PATH: &str = "/setup";

/// Whoever claims the installation.
#[derive(Debug, Clone, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct SetUp {
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
    if owner::is_claimed(store).await? {
        return Ok(None);
    }
    let (ticket, text) = Ticket::issue(Purpose::SetUp, None, env);
    store.tickets().issue(&ticket).await?;
    Ok(Some(format!("{base_url}{PATH}?token={}", text.expose())))
}

pub async fn claim(
    State(app): State<App>,
    visit: Visit,
    Sent(body): Sent<SetUp>,
) -> ApiResult<WithCookie<Created<SignedIn>>> {
    let Entered { body, cookie } = enter(&app, &visit, &body).await?;
    Ok(WithCookie::one(Created(body), cookie))
}

pub(crate) async fn enter(app: &App, visit: &Visit, body: &SetUp) -> ApiResult<Entered> {
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
    let owner = owner::ensure(&app.store, &app.env).await?;
    let deed = Deed {
        event_type: "installation_claimed",
        resource: "user",
        id: owner.user.as_str(),
        details: Map::new(),
    };
    let store = visit.noting(app, owner.account, Some(owner.user), deed);
    let owner = owner::claim(&store, &app.env, &email, &name, hash).await.map_err(refused)?;
    attempt.was_right();
    let user = app.store.users().find(owner.user).await?.ok_or_else(Problem::internal)?;
    entry::begin(app, visit, user, Method::Password, |user| user).await
}

fn refused(error: ClaimError) -> Problem {
    match error {
        ClaimError::Claimed => {
            Problem::new(Code::Conflict, "This installation has an owner already.")
        }
        ClaimError::EmailTaken => {
            Problem::new(Code::Conflict, "This e-mail address has an account already.")
        }
        ClaimError::Store(error) => error.into(),
    }
}
