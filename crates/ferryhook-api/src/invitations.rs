//! Invitations into an account: given out, taken back, accepted.
//!
//! Whoever has the token, and signs in with the address it was meant for, gets the place. A token
//! that does not, for whatever reason, is answered like one that never was.

pub mod view;

use std::time::Duration;

use axum::extract::State;
use ferryhook_core::invitation::{Status, Token};
use ferryhook_core::member::Role;
use ferryhook_core::{Account, Id, Invitation};
use ferryhook_store::Stored;
use ferryhook_store::repositories::{InviteError, JoinError};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use crate::accounts::AccountView;
use crate::auth::signup;
use crate::call::{ApiResult, Asked, Created, Done, Found, In, Listed, Sent};
use crate::caller::{Caller, Person};
use crate::mail::letters;
use crate::members::may_give;
use crate::page::{self, Sort};
use crate::problem::{Code, Problem};
use crate::router::App;
use crate::visit::{self, Deed};

pub use view::InvitationView;

const MINUTE: Duration = Duration::from_secs(60);
const DAY: Duration = Duration::from_secs(24 * 60 * 60);
const BY_ACCOUNT_A_MINUTE: (u64, Duration) = (30, MINUTE);
/// In all of their accounts together.
const BY_CALLER_A_MINUTE: (u64, Duration) = (20, MINUTE);
const BY_CALLER_A_DAY: (u64, Duration) = (200, DAY);

#[derive(Debug, Clone, Serialize, Deserialize, IntoParams)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct InvitationsQuery {
    /// How many at once.
    #[param(minimum = 1, maximum = 100)]
    #[serde(skip_serializing)]
    limit: Option<u32>,
    #[serde(skip_serializing)]
    cursor: Option<String>,
}

/// Whom to invite, and as what.
#[derive(Debug, Clone, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct NewInvitation {
    #[schema(format = "email", max_length = 254)]
    email: String,
    role: Role,
}

/// What was sent to the one who is invited.
#[derive(Debug, Clone, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Acceptance {
    token: String,
}

pub async fn list(
    State(app): State<App>,
    _caller: Caller,
    In(account): In<Id<Account>>,
    Asked(query): Asked<InvitationsQuery>,
) -> ApiResult<Listed<InvitationView>> {
    let list = app.cursors.of("invitations.list", account, &query);
    let after = list.open(query.cursor.as_deref())?;
    let slice = page::slice(query.limit, after, Sort::Asc)?;
    let page = app.store.invitations().list_by_account(account, slice).await?;
    let now = app.env.now();
    Ok(Listed(list.page(page, |invitation| InvitationView::of(&invitation, now))))
}

pub async fn create(
    State(app): State<App>,
    caller: Caller,
    In(account): In<Id<Account>>,
    Sent(body): Sent<NewInvitation>,
) -> ApiResult<Created<InvitationView>> {
    may_give(&caller, body.role)?;
    let email = signup::email(&body.email)?;
    if let Some(user) = app.store.users().find_holder(&email).await?
        && app.store.members().find(user.id, account).await?.is_some()
    {
        return Err(Problem::new(Code::Conflict, "They are a member of the account already."));
    }
    slowly(&app, &caller)?;
    let (invitation, token) = Invitation::new(account, &email, body.role, caller.user(), &app.env);
    let view = InvitationView::of(&invitation, app.env.now());
    let details = visit::details(None::<&InvitationView>, Some(&view));
    let id = invitation.id;
    let store = caller.noting(&app, "invitation_created", "invitation", id.as_str(), details);
    store.invitations().create(&invitation).await?;
    let auth = &app.auth;
    if auth.mail.can_send() {
        let letter = letters::invitation(&email, &auth.settings.base_url, &token.text());
        if let Err(error) = auth.mail.send(letter) {
            tracing::warn!(%error, invitation.id = %id, "an invitation was not sent by mail");
        }
    }
    Ok(Created(InvitationView { token: Some(token.text().expose().to_owned()), ..view }))
}

/// Takes it back. Once it was accepted there is a member to be removed instead.
pub async fn revoke(
    State(app): State<App>,
    caller: Caller,
    In((account, id)): In<(Id<Account>, Id<Invitation>)>,
) -> ApiResult<Done> {
    let was = app.store.invitations().find(account, id).await?;
    let was = was.ok_or_else(Problem::not_found)?;
    match was.status {
        Status::Revoked => {
            caller.nothing_changed();
            return Ok(Done);
        }
        Status::Accepted => {
            return Err(Problem::new(Code::Conflict, "The invitation was accepted already."));
        }
        Status::Pending | Status::Expired => {}
    }
    let before = InvitationView::of(&was, app.env.now());
    let after = InvitationView { status: Status::Revoked, ..before.clone() };
    let details = visit::details(Some(&before), Some(&after));
    let store = caller.noting(&app, "invitation_revoked", "invitation", id.as_str(), details);
    store.invitations().revoke(&was).await?;
    Ok(Done)
}

/// Takes the place that the token gives.
pub async fn accept(
    State(app): State<App>,
    person: Person,
    Sent(body): Sent<Acceptance>,
) -> ApiResult<Found<AccountView>> {
    let token = Token::parse(&body.token).ok_or_else(Problem::not_found)?;
    let was = app.store.invitations().find_by_token(&token).await?;
    let was = was.ok_or_else(Problem::not_found)?;
    let account = app.store.accounts().find(was.account_id).await?;
    let account = account.ok_or_else(Problem::not_found)?;
    let before = InvitationView::of(&was, app.env.now());
    let after = InvitationView { status: Status::Accepted, ..before.clone() };
    let details = visit::details(Some(&before), Some(&after));
    let deed = Deed {
        event_type: "invitation_accepted",
        resource: "invitation",
        id: was.id.as_str(),
        details,
    };
    let store = person.visit.noting(&app, was.account_id, Some(person.id()), deed);
    let member = store.invitations().accept(&was, &person.user).await?;
    Ok(Found(AccountView::of(&account, member.role)))
}

/// The invitation that a new user of this address brings.
pub(crate) async fn opened(
    app: &App,
    token: &str,
    email: &str,
) -> Result<Stored<Invitation>, Problem> {
    let found = match Token::parse(token) {
        Some(token) => app.store.invitations().find_by_token(&token).await?,
        None => None,
    };
    let said = "opens no invitation for this address: it may be used, taken back or out of date";
    let found = found.filter(|invitation| invitation.is_for(email));
    found.ok_or_else(|| Problem::invalid("/invitationToken", said))
}

/// A letter goes to a stranger each time: more than a team needs, and not enough to annoy the world.
/// What an account may in a day is counted in the store, so that no restart forgets it.
fn slowly(app: &App, caller: &Caller) -> Result<(), Problem> {
    let brake = &app.auth.brake;
    let what = "invitations";
    brake.pace(what, caller.account().as_str(), &[BY_ACCOUNT_A_MINUTE])?;
    brake.pace(what, caller.user().as_str(), &[BY_CALLER_A_MINUTE, BY_CALLER_A_DAY])
}

impl From<InviteError> for Problem {
    fn from(error: InviteError) -> Self {
        match error {
            InviteError::Store(error) => error.into(),
            InviteError::TooManyOpen => Self::new(Code::Conflict, format!("Not done: {error}.")),
            InviteError::TooManyToday { wait } => {
                let said = format!("Not done: {error}. Retry-After says when to go on.");
                Self::too_fast(said, wait.as_secs().max(1))
            }
        }
    }
}

impl From<JoinError> for Problem {
    fn from(error: JoinError) -> Self {
        match error {
            JoinError::Store(error) => error.into(),
            JoinError::Void => Self::not_found(),
            JoinError::Full { most } => {
                let said = format!("The plan of this account has room for {most} members.");
                Self::new(Code::PlanLimitReached, said)
            }
            JoinError::Closed => Self::new(Code::AccountSuspended, format!("Not done: {error}.")),
            JoinError::Member | JoinError::EmailTaken => {
                Self::new(Code::Conflict, format!("Not done: {error}."))
            }
        }
    }
}

#[cfg(test)]
mod tests;
