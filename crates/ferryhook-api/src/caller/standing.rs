//! Standing: what somebody may do in an account.
//!
//! It is a member's role, with the exceptions that were made for them. An administrator of an
//! account is one of all accounts below it. A key has what its scope and its maker have in common.

use ferryhook_core::member::Role;
use ferryhook_core::{Key, Map};
use ferryhook_store::{Store, StoreError, repositories};

#[derive(Debug, Clone, PartialEq)]
pub struct Standing {
    pub role: Role,
    /// Exceptions from what the role allows, by operation.
    pub permissions: Map,
}

/// What a key may where its maker stands like this. It acts in its own account, and that of an
/// administrator also in the accounts below: never where only its maker is at home.
pub(crate) async fn of_key(
    store: &Store,
    key: &Key,
    maker: &repositories::Standing,
) -> Result<Option<Standing>, StoreError> {
    let scope = key.permissions.role();
    if maker.account.id == key.account_id {
        let role = scope.min(maker.role);
        return Ok(Some(Standing { role, permissions: maker.permissions.clone() }));
    }
    if scope != Role::Admin || !maker.above.contains(&key.account_id) {
        return Ok(None);
    }
    let at_home = store.members().standing(key.user_id, key.account_id).await?;
    let is_admin = at_home.is_some_and(|standing| standing.role == Role::Admin);
    Ok(is_admin.then(|| Standing { role: Role::Admin, permissions: Map::new() }))
}
