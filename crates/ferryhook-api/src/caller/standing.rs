//! Standing: what somebody may do in an account.
//!
//! It is a member's role, with the exceptions that were made for them. An administrator of an
//! account is one of all accounts below it.

use ferryhook_core::member::{self, Role};
use ferryhook_core::{Account, Id, Map, User};
use ferryhook_store::{Store, StoreError, Stored};

use crate::limits;

#[derive(Debug, Clone, PartialEq)]
pub struct Standing {
    pub role: Role,
    /// Exceptions from what the role allows, by operation.
    pub permissions: Map,
}

/// Nothing for whoever has no place there: an account that is not theirs is like one that is not.
pub async fn standing(
    store: &Store,
    user: Id<User>,
    account: &Stored<Account>,
) -> Result<Option<Standing>, StoreError> {
    if let Some(member) = store.members().find(user, account.id).await?
        && member.status == member::Status::Active
    {
        let permissions = member.record.permissions;
        return Ok(Some(Standing { role: member.record.role, permissions }));
    }
    let mut above = account.parent_account_id;
    for _ in 0..limits::ACCOUNT_DEPTH_MAX {
        let Some(id) = above else { return Ok(None) };
        if let Some(member) = store.members().find(user, id).await?
            && member.status == member::Status::Active
            && member.role == Role::Admin
        {
            let permissions = member.record.permissions;
            return Ok(Some(Standing { role: Role::Admin, permissions }));
        }
        above = store.accounts().find(id).await?.and_then(|parent| parent.parent_account_id);
    }
    Ok(None)
}
