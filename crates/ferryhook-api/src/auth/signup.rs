//! `POST /v1/auth/signup`: a new user, with an account that is theirs, or a place in the one they
//! were invited to.
//!
//! Where letters reach people, an address counts once its owner has answered one, and everybody
//! who signs up is told the same: look into your mail. Whoever has that address already finds a
//! letter that says so. Without a mail server the new user is in at once, and the price is that
//! an address that is taken has to be refused in so many words.

use axum::extract::State;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use ferryhook_core::member::{self, Role};
use ferryhook_core::session::Method;
use ferryhook_core::ticket::Purpose;
use ferryhook_core::{
    Account, Env, Id, Invitation, Map, Member, Secret, Ticket, User, limits, user,
};
use ferryhook_store::repositories::JoinError;
use ferryhook_store::{Stored, UniqueError};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::brake::Sort;
use super::entry::{self, Entered, WithCookie};
use super::{SignedIn, Signup};
use crate::billing::plans;
use crate::call::{Accepted, ApiResult, Created, Describes, Sent};
use crate::invitations;
use crate::mail::letters;
use crate::openapi::Sketch;
use crate::passwords;
use crate::problem::{Code, Problem};
use crate::router::App;
use crate::visit::{Deed, Visit};

/// The longest that a mail server has to take.
const EMAIL_BYTES_MAX: usize = 254;
/// Of a new user, where no plan is the default; an operator may give them another.
pub(crate) const PLAN: &str = "self_hosted";

/// Somebody who wants in.
#[derive(Debug, Clone, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct NewUser {
    pub email: String,
    /// From 8 characters to 72 bytes.
    pub password: String,
    /// What they are called; the address does without.
    #[serde(default)]
    pub name: Option<String>,
    /// What the account is called; the name does without.
    #[serde(default)]
    pub account_name: Option<String>,
    /// What an invitation brought, for a place in the account it is from.
    #[serde(default)]
    pub invitation_token: Option<String>,
}

/// A letter is on its way, or would be if there were somebody to get it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct LetterSent {
    /// What to do next, for people.
    pub message: String,
}

/// Either they are in, or a letter is on its way.
#[derive(Debug)]
pub enum SignedUp {
    In(Box<WithCookie<Created<SignedIn>>>),
    Asked(Accepted<LetterSent>),
}

impl IntoResponse for SignedUp {
    fn into_response(self) -> Response {
        match self {
            Self::In(answer) => answer.into_response(),
            Self::Asked(answer) => answer.into_response(),
        }
    }
}

impl Describes for SignedUp {
    fn describe(sketch: &mut Sketch) {
        sketch.gives::<SignedIn>(StatusCode::CREATED, "Signed up and in.");
        let about = "A letter asks whether the address is theirs; this server sends mail.";
        sketch.gives::<LetterSent>(StatusCode::ACCEPTED, about);
    }
}

pub async fn sign_up(
    State(app): State<App>,
    visit: Visit,
    Sent(body): Sent<NewUser>,
) -> ApiResult<SignedUp> {
    match (app.auth.settings.signup, &body.invitation_token) {
        (Signup::Open, _) | (Signup::Invite, Some(_)) => {}
        (Signup::Invite, None) => {
            return Err(closed("Accounts on this server are by invitation."));
        }
        (Signup::Off, _) => return Err(closed("This server takes no new accounts.")),
    }
    let email = email(&body.email)?;
    let invitation = match &body.invitation_token {
        Some(token) => Some(invitations::opened(&app, token, &email).await?),
        None => None,
    };
    passwords::check(&body.password, &email, "/password")?;
    let name = name(body.name.as_deref(), &email, "/name")?;
    let account_name = self::name(body.account_name.as_deref(), &name, "/accountName")?;
    let attempt = app.auth.brake.begin(Sort::SignUp, &email, visit.address)?;
    let hash = app.auth.passwords.hash(&body.password).await?;
    let mut home = Home::new(&app.env, email, name, &account_name, Some(hash));
    home.user.plan = plans::of_new_accounts(&app.store, PLAN).await?;
    let (home, made) = match &invitation {
        None => {
            let made = make(&app, &visit, &home).await;
            (home, made)
        }
        Some(invitation) => join(&app, &visit, home, invitation).await?,
    };
    if app.auth.settings.verifies_addresses {
        let is_new = match made {
            Ok(()) => true,
            Err(UniqueError::Taken(_)) => false,
            Err(UniqueError::Store(error)) => return Err(error.into()),
        };
        visit.nothing_changed(); // or it was noted: both are answered alike
        write(&app, home.user, is_new)?;
        let message = "If the address is yours, a letter is on its way to it.".to_owned();
        return Ok(SignedUp::Asked(Accepted(LetterSent { message })));
    }
    made.map_err(taken)?;
    attempt.did_not_count();
    if app.auth.mail.can_send() {
        write(&app, home.user.clone(), true)?;
    }
    let user = app.store.users().find(home.user.id).await?.ok_or_else(Problem::internal)?;
    let Entered { body, cookie } =
        entry::begin(&app, &visit, user, Method::Password, |user| user).await?;
    Ok(SignedUp::In(Box::new(WithCookie::one(Created(body), cookie))))
}

async fn make(app: &App, visit: &Visit, home: &Home) -> Result<(), UniqueError> {
    let Home { user, account, member } = home;
    let deed = Deed {
        event_type: "user_created",
        resource: "user",
        id: user.id.as_str(),
        details: Map::new(),
    };
    let store = visit.noting(app, account.id, Some(user.id), deed);
    store.users().sign_up(user, account, member).await
}

/// Into the account they were invited to, which is where they will work. They get one of their own
/// where everybody does.
async fn join(
    app: &App,
    visit: &Visit,
    mut home: Home,
    invitation: &Stored<Invitation>,
) -> ApiResult<(Home, Result<(), UniqueError>)> {
    let account = invitation.account_id;
    home.user.default_account_id = account;
    home.member.is_default = false;
    let id = home.user.id;
    let details = Map::from_iter([("invitationId".to_owned(), invitation.id.as_str().into())]);
    let deed = Deed { event_type: "user_created", resource: "user", id: id.as_str(), details };
    let store = visit.noting(app, account, Some(id), deed);
    let has_own = app.auth.settings.signup == Signup::Open;
    let own = has_own.then_some((&home.account, &home.member));
    let made = match store.invitations().sign_up(invitation, &home.user, own).await {
        Ok(_) => Ok(()),
        Err(JoinError::EmailTaken) => Err(UniqueError::Taken("e-mail address")),
        Err(error) => return Err(error.into()),
    };
    Ok((home, made))
}

/// The letter, beside the request: how long it takes to find out to whom tells nothing.
fn write(app: &App, user: User, is_new: bool) -> ApiResult<()> {
    let inner = app.clone();
    app.auth.errands.run("sign-up letter", async move {
        let (auth, store) = (&inner.auth, &inner.store);
        let base = &auth.settings.base_url;
        if is_new {
            let (ticket, text) = Ticket::issue(Purpose::VerifyEmail, Some(&user), &inner.env);
            store.tickets().issue(&ticket).await?;
            auth.mail.send(letters::verify_email(&user, base, &text))?;
            return Ok(());
        }
        let Some(known) = store.users().find_holder(&user.email).await? else { return Ok(()) };
        let (ticket, text) = Ticket::issue(Purpose::ResetPassword, Some(&known), &inner.env);
        store.tickets().issue(&ticket).await?;
        auth.mail.send(letters::known_already(&known, base, &text))?;
        Ok(())
    })
}

/// A user with an account of their own.
#[derive(Debug, Clone)]
pub(crate) struct Home {
    pub(crate) user: User,
    pub(crate) account: Account,
    pub(crate) member: Member,
}

impl Home {
    pub(crate) fn new(
        env: &Env,
        email: String,
        name: String,
        account_name: &str,
        password_hash: Option<Secret>,
    ) -> Self {
        let now = env.now();
        let (user_id, account_id) = (Id::new(env), Id::new(env));
        let user = User {
            id: user_id,
            email,
            name,
            first_name: None,
            last_name: None,
            password_hash,
            status: user::Status::Active,
            email_verified: false,
            two_factor_enabled: false,
            totp_secret: None,
            totp_last_step: None,
            recovery_codes: Vec::new(),
            session_epoch: 0,
            plan: PLAN.to_owned(),
            stripe_customer_id: None,
            stripe_sub_id: None,
            github_id: None,
            google_id: None,
            usage_this_month: 0,
            usage_period_start: now,
            last_login_at: None,
            preferences: None,
            default_account_id: account_id,
            created_at: now,
            updated_at: now,
        };
        let account = Account::root(account_id, account_name, user_id, now);
        let member = Member {
            user_id,
            account_id,
            role: Role::Admin,
            permissions: Map::new(),
            is_default: true,
            joined_at: now,
            invited_by: None,
            status: member::Status::Active,
        };
        Self { user, account, member }
    }
}

/// An address, as it is kept. Whether mail reaches it is found out by sending some.
pub(crate) fn email(text: &str) -> ApiResult<String> {
    let text = text.trim();
    let is_plain = |c: char| !c.is_control() && !c.is_whitespace() && !"<>,;:\"()[]\\".contains(c);
    let parts = text.rsplit_once('@');
    let is_one = parts.is_some_and(|(name, host)| {
        !name.is_empty() && !host.is_empty() && !name.contains('@') && !host.starts_with('.')
    });
    if !is_one || text.len() > EMAIL_BYTES_MAX || !text.chars().all(is_plain) {
        return Err(Problem::invalid("/email", "must be an address such as ada@example.com"));
    }
    Ok(text.to_owned())
}

/// A name of one line; what stands in for it where none was given.
pub(crate) fn name(given: Option<&str>, otherwise: &str, pointer: &str) -> ApiResult<String> {
    let name = given.map(str::trim).filter(|name| !name.is_empty());
    let name = name.unwrap_or_else(|| otherwise.split('@').next().unwrap_or(otherwise));
    let max = limits::NAME_CHARACTERS_MAX;
    if name.chars().count() > max || name.chars().any(char::is_control) {
        let message = format!("must be one line of at most {max} characters");
        return Err(Problem::invalid(pointer, message));
    }
    Ok(name.to_owned())
}

fn taken(error: UniqueError) -> Problem {
    match error {
        UniqueError::Taken(what) => {
            Problem::new(Code::Conflict, format!("This {what} has an account already."))
        }
        UniqueError::Store(error) => error.into(),
    }
}

fn closed(detail: &str) -> Problem {
    Problem::new(Code::Forbidden, detail)
}
