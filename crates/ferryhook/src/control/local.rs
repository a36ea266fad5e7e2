//! The key that the owner of the data directory uses on the API.
//!
//! Derived from the master key, so that it is the same after a restart and lies in no file. It is
//! an ordinary key of the installation's owner, listed and revocable like any other; one that was
//! revoked is followed by the next.

use ferryhook_api::owner;
use ferryhook_core::key::{Permissions, PlainKey, Status};
use ferryhook_core::{Env, Id, Key};
use ferryhook_store::vault::Vault;
use ferryhook_store::{Store, StoreError, UniqueError};

const NAME: &str = "command line on the server's machine";
/// Who revokes it this often does not want it.
const KEYS_MAX: u32 = 100;

#[derive(Debug, thiserror::Error)]
pub enum NoKey {
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error("the key of this machine's command line has been revoked too often; log in instead")]
    Unwanted,
}

pub async fn key(store: &Store, env: &Env, vault: &Vault) -> Result<PlainKey, NoKey> {
    for number in 1..=KEYS_MAX {
        let plain = PlainKey::derived(&vault.derive(&format!("local key {number}")));
        match store.keys().find_by_hash(plain.hash().expose()).await? {
            Some(key) if key.is_usable(env.now()) => return Ok(plain),
            Some(_) => continue,
            None => {}
        }
        let owner = owner::ensure(store, env).await?;
        let key = Key {
            id: Id::new(env),
            user_id: owner.user,
            account_id: owner.account,
            name: NAME.to_owned(),
            hash: plain.hash(),
            prefix: plain.prefix(),
            permissions: Permissions::Admin,
            operations: None,
            status: Status::Active,
            last_used_at: None,
            expires_at: None,
            created_at: env.now(),
            metadata: None,
        };
        return match store.keys().create(&key).await {
            // Somebody else asked at the same time.
            Ok(()) | Err(UniqueError::Taken(_)) => Ok(plain),
            Err(UniqueError::Store(error)) => Err(error.into()),
        };
    }
    Err(NoKey::Unwanted)
}
