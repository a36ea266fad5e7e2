//! The installation's owner: whom everything belongs to until somebody signs in, and who runs it.
//!
//! A user with the installation's own account, made when something first needs an owner. It is
//! nobody until the first person claims it; then it is theirs, with all that was made before.

use ferryhook_core::member::{self, Role};
use ferryhook_core::{Account, Env, Id, Map, Member, Secret, User, user};
use ferryhook_store::repositories::Owned;
use ferryhook_store::{Store, StoreError, Stored, UniqueError};

/// No mail reaches it, so nobody can claim it by proving that they read its mail.
pub const EMAIL: &str = "owner@localhost";
const HOST: &str = "@localhost";
const PLAN: &str = "self_hosted";
/// How often a claim is tried while the owner's events are being counted.
const TRIES_MAX: usize = 16;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Owner {
    pub user: Id<User>,
    pub account: Id<Account>,
}

/// Why the installation was not handed over.
#[derive(Debug, thiserror::Error)]
pub enum ClaimError {
    #[error("the installation has an owner already")]
    Claimed,
    #[error("this e-mail address belongs to someone else")]
    EmailTaken,
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// The owner, if something has needed one before.
pub async fn find(store: &Store) -> Result<Option<Owner>, StoreError> {
    Ok(look(store).await?.map(|found| found.owner))
}

/// Finds the owner or makes one. Whoever does this at the same time gets the same owner: the
/// marker can be taken once.
pub async fn ensure(store: &Store, env: &Env) -> Result<Owner, StoreError> {
    if let Some(found) = look(store).await? {
        if !found.is_marked {
            store.installation().adopt(found.owner.account).await?;
        }
        return Ok(found.owner);
    }
    let (mut user, account, member) = new(env);
    for _ in 0..2 {
        match store.installation().found(&user, &account, &member).await {
            Ok(()) => return Ok(Owner { user: user.id, account: account.id }),
            Err(UniqueError::Taken(_)) => {}
            Err(UniqueError::Store(error)) => return Err(error),
        }
        if let Some(owner) = find(store).await? {
            return Ok(owner);
        }
        // A stranger has signed up under the address; any other does as well.
        user.email = format!("{}{HOST}", account.id);
    }
    Err(StoreError::Unavailable("the owner is being made by others".into(), None))
}

/// Whether a person has taken the installation over.
pub async fn is_claimed(store: &Store) -> Result<bool, StoreError> {
    Ok(look(store).await?.is_some_and(|found| !is_local(&found.user)))
}

/// Makes the owner a person, with everything that is there already. Once, and in one commit:
/// whoever comes second is told that there is an owner.
pub async fn claim(
    store: &Store,
    env: &Env,
    email: &str,
    name: &str,
    password_hash: Secret,
) -> Result<Owner, ClaimError> {
    for _ in 0..TRIES_MAX {
        let found = look(store).await?;
        let person = |local: &User| User {
            email: email.to_owned(),
            name: name.to_owned(),
            password_hash: Some(password_hash.clone()),
            email_verified: true,
            updated_at: env.now(),
            ..local.clone()
        };
        let (owner, done) = match &found {
            Some(found) if !is_local(&found.user) => return Err(ClaimError::Claimed),
            Some(Found { owner, user, is_marked }) => {
                let unmarked = (!is_marked).then_some(owner.account);
                let installation = store.installation();
                (*owner, installation.hand_over(user, &person(user), unmarked).await)
            }
            None => {
                let (local, account, member) = new(env);
                let owner = Owner { user: local.id, account: account.id };
                let user = person(&local);
                (owner, store.installation().found(&user, &account, &member).await)
            }
        };
        match done {
            Ok(()) => return Ok(owner),
            Err(UniqueError::Taken("installation")) => {} // made by somebody just now
            Err(UniqueError::Taken(_)) => return Err(ClaimError::EmailTaken),
            Err(UniqueError::Store(error)) if error.is_refused() => {} // changed just now
            Err(UniqueError::Store(error)) => return Err(error.into()),
        }
    }
    Err(StoreError::Unavailable("the owner is being changed by others".into(), None).into())
}

/// Whether this user runs the installation: an administrator of its own account.
pub async fn is_operator(store: &Store, user: Id<User>) -> Result<bool, StoreError> {
    let Some(owner) = find(store).await? else { return Ok(false) };
    let standing = store.members().standing(user, owner.account).await?;
    Ok(standing.is_some_and(|standing| standing.role == Role::Admin))
}

struct Found {
    owner: Owner,
    user: Stored<User>,
    is_marked: bool,
}

/// By the marker; data that is older than markers has the owner under its address.
async fn look(store: &Store) -> Result<Option<Found>, StoreError> {
    if let Some(Owned { account, user }) = store.installation().find().await? {
        let owner = Owner { user: user.id, account: account.id };
        return Ok(Some(Found { owner, user, is_marked: true }));
    }
    let older = store.users().find_holder(EMAIL).await?;
    Ok(older.filter(|user| is_local(user)).map(|user| {
        let owner = Owner { user: user.id, account: user.default_account_id };
        Found { owner, user, is_marked: false }
    }))
}

/// Nobody can sign in as it. One who signed up under its address is somebody.
fn is_local(user: &User) -> bool {
    let can_sign_in =
        user.password_hash.is_some() || user.github_id.is_some() || user.google_id.is_some();
    user.email.ends_with(HOST) && !can_sign_in
}

fn new(env: &Env) -> (User, Account, Member) {
    let now = env.now();
    let (user_id, account_id) = (Id::new(env), Id::new(env));
    let user = User {
        id: user_id,
        email: EMAIL.to_owned(),
        name: "Owner".to_owned(),
        first_name: None,
        last_name: None,
        password_hash: None,
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
    let account = Account::root(account_id, "local", user_id, now);
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
    (user, account, member)
}

#[cfg(test)]
mod tests;
