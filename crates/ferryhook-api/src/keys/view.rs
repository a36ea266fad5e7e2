//! A key as clients see it: by its first characters, but for the moment in which it is made.

use ferryhook_core::id::{AccountId, KeyId, UserId};
use ferryhook_core::key::{Permissions, Status};
use ferryhook_core::{Key, Timestamp};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::call::{ETag, Tagged};

/// A key for programs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = ApiKey)]
pub struct KeyView {
    pub key_id: KeyId,
    pub account_id: AccountId,
    /// Who made it, and what it may at most.
    pub user_id: UserId,
    pub name: String,
    /// Its first characters.
    pub key_prefix: String,
    pub permissions: Permissions,
    /// The only operations it may do; absent where it may do all of its permissions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub operations: Option<Vec<String>>,
    pub status: Status,
    /// To the minute.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_used_at: Option<Timestamp>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires_at: Option<Timestamp>,
    pub created_at: Timestamp,
    /// The key itself. Shown once, in the answer to its creation.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key: Option<String>,
}

impl KeyView {
    /// Without the key itself.
    pub fn of(key: &Key, now: Timestamp) -> Self {
        Self {
            key_id: key.id,
            account_id: key.account_id,
            user_id: key.user_id,
            name: key.name.clone(),
            key_prefix: key.prefix.clone(),
            permissions: key.permissions,
            operations: key.operations.clone(),
            status: key.status_at(now),
            last_used_at: key.last_used_at,
            expires_at: key.expires_at,
            created_at: key.created_at,
            key: None,
        }
    }

    /// Of what can be set.
    pub fn tag(&self) -> ETag {
        ETag::of(&(&self.name, &self.operations, self.status))
    }

    pub fn tagged(self) -> Tagged<Self> {
        Tagged { tag: self.tag(), body: self }
    }
}
