//! A key for programs. The key itself is shown once and never kept; its hash finds this record.

use std::fmt;

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::id::Identified;
use crate::time::seconds;
use crate::{Account, Id, Map, Secret, Timestamp, User, limits};

pub mod plain;

pub use plain::PlainKey;

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Key {
    #[serde(rename = "keyId")]
    pub id: Id<Key>,
    pub user_id: Id<User>,
    pub account_id: Id<Account>,
    pub name: String,
    #[serde(rename = "keyHash")]
    pub hash: Secret,
    /// The first characters, by which people tell their keys apart.
    #[serde(rename = "keyPrefix")]
    pub prefix: String,
    pub permissions: Permissions,
    /// When present, the only operations the key may call, within its permissions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub operations: Option<Vec<String>>,
    pub status: Status,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_used_at: Option<Timestamp>,
    #[serde(default, with = "seconds::option", skip_serializing_if = "Option::is_none")]
    pub expires_at: Option<Timestamp>,
    pub created_at: Timestamp,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub metadata: Option<Map>,
}

impl Identified for Key {
    const PREFIX: &'static str = "key_";
}

impl Key {
    /// Whether it opens anything at `now`. An expiry counts from its moment on, also when nobody
    /// has yet marked the key as expired.
    pub fn is_usable(&self, now: Timestamp) -> bool {
        self.status == Status::Active && self.expires_at.is_none_or(|end| now < end)
    }

    /// How it stands at `now`, whatever anybody has marked.
    pub fn status_at(&self, now: Timestamp) -> Status {
        match self.status {
            Status::Active if !self.is_usable(now) => Status::Expired,
            status => status,
        }
    }

    /// Whether a use at `now` is worth writing down: once a minute will do for people.
    pub fn is_use_news(&self, now: Timestamp) -> bool {
        let is_old = |at: Timestamp| now.saturating_since(at) >= limits::KEY_USE_NOTED_EVERY;
        self.last_used_at.is_none_or(is_old)
    }
}

/// Each includes the ones before it.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, ToSchema,
)]
#[serde(rename_all = "snake_case")]
#[schema(as = KeyPermissions)]
pub enum Permissions {
    Read,
    Write,
    Admin,
}

impl fmt::Display for Permissions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Read => "read",
            Self::Write => "write",
            Self::Admin => "admin",
        })
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
#[schema(as = KeyStatus)]
pub enum Status {
    Active,
    Revoked,
    Expired,
}

#[cfg(test)]
mod tests;
