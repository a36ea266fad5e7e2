//! The local owner: whom everything belongs to while nobody can sign up.
//!
//! A user with the one account of this installation, made when something first needs an owner.

use ferryhook_core::account::{self, AccountType};
use ferryhook_core::member::{self, Role};
use ferryhook_core::{Account, Env, Id, Map, Member, User, user};
use ferryhook_store::{Store, StoreError, UniqueError};

/// No mail reaches it, so nobody can claim it by proving that they read its mail.
pub const EMAIL: &str = "owner@localhost";
const PLAN: &str = "self_hosted";

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Owner {
    pub user: Id<User>,
    pub account: Id<Account>,
}

impl From<&User> for Owner {
    fn from(user: &User) -> Self {
        Self { user: user.id, account: user.default_account_id }
    }
}

/// The owner, if something has needed one before.
pub async fn find(store: &Store) -> Result<Option<Owner>, StoreError> {
    let user = store.users().find_holder(EMAIL).await?;
    Ok(user.map(|user| Owner::from(&user.record)))
}

/// Finds the owner or makes one. Whoever does this at the same time gets the same owner: the
/// address can be taken once.
pub async fn ensure(store: &Store, env: &Env) -> Result<Owner, StoreError> {
    if let Some(owner) = find(store).await? {
        return Ok(owner);
    }
    let (user, account, member) = new(env);
    match store.users().sign_up(&user, &account, &member).await {
        Ok(()) => Ok(Owner::from(&user)),
        Err(UniqueError::Taken(what)) => find(store).await?.ok_or_else(|| {
            StoreError::Unavailable(format!("the owner's {what} was given up just now"), None)
        }),
        Err(UniqueError::Store(error)) => Err(error),
    }
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
    let account = Account {
        id: account_id,
        parent_account_id: None,
        path: "/local/".to_owned(),
        kind: AccountType::Conglomerate,
        name: "local".to_owned(),
        level: 0,
        child_count: 0,
        status: account::Status::Active,
        user_id,
        created_at: now,
        updated_at: now,
        metadata: None,
        settings: None,
    };
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
