//! A user's place in an account: the role, and how they came to it.

use std::fmt;

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::time::seconds;
use crate::{Account, Id, Map, Timestamp, User};

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Member {
    pub user_id: Id<User>,
    pub account_id: Id<Account>,
    pub role: Role,
    /// Exceptions to what the role allows.
    pub permissions: Map,
    pub is_default: bool,
    #[serde(with = "seconds")]
    pub joined_at: Timestamp,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub invited_by: Option<Id<User>>,
    pub status: Status,
}

/// From least to most, so that `>=` asks whether a role suffices.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, ToSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    Viewer,
    Member,
    Manager,
    Admin,
}

impl Role {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Viewer => "viewer",
            Self::Member => "member",
            Self::Manager => "manager",
            Self::Admin => "admin",
        }
    }
}

impl fmt::Display for Role {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
#[schema(as = MemberStatus)]
pub enum Status {
    Active,
    /// Invited and not yet there.
    Pending,
    Suspended,
}
