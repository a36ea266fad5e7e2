//! The key that seals the secrets of one owner, wrapped by the master key.
//!
//! An owner is an account, or a user for what is theirs alone; what belongs to neither is sealed
//! with the installation's own key. A key is made once and stays; when the master key is rotated
//! it is wrapped anew and is the same inside.

use serde::{Deserialize, Serialize};

use crate::sealing::{KEY_BYTES, MasterKey, OpenError, Place, new_key_id};
use crate::{Env, Secret, Timestamp};

/// Owner of what belongs to no account and no user. No id is spelled like this.
pub const INSTALLATION: &str = "installation";

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct DataKey {
    pub owner_id: String,
    /// What was sealed with it says this.
    #[serde(rename = "keyId")]
    pub id: String,
    pub wrapped: Secret,
    /// Which master key it takes to unwrap it.
    pub master_id: String,
    /// Of the installation's own key only, while a rotation is under way: the master keys that
    /// other rows may still be wrapped by.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub former_master_ids: Vec<String>,
    pub created_at: Timestamp,
    pub updated_at: Timestamp,
}

impl DataKey {
    pub fn generate(owner: &str, master: &MasterKey, env: &Env) -> Self {
        let mut key = [0; KEY_BYTES];
        env.fill(&mut key);
        let (id, now) = (new_key_id(env), env.now());
        Self {
            wrapped: master.wrap(&key, Place(&place(owner, &id)), env),
            owner_id: owner.to_owned(),
            id,
            master_id: master.id().to_owned(),
            former_master_ids: Vec::new(),
            created_at: now,
            updated_at: now,
        }
    }

    pub fn unwrap(&self, master: &MasterKey) -> Result<[u8; KEY_BYTES], OpenError> {
        master.unwrap(&self.wrapped, Place(&place(&self.owner_id, &self.id)))
    }

    /// The same key, which is `key`, under another master.
    pub fn rewrap(&self, key: &[u8; KEY_BYTES], master: &MasterKey, env: &Env) -> Self {
        Self {
            wrapped: master.wrap(key, Place(&place(&self.owner_id, &self.id)), env),
            master_id: master.id().to_owned(),
            updated_at: env.now(),
            ..self.clone()
        }
    }
}

fn place<'a>(owner: &'a str, id: &'a str) -> [&'a str; 3] {
    ["data key", owner, id]
}
