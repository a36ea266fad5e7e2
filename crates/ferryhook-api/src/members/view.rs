//! A member as clients see them.

use ferryhook_core::id::{AccountId, UserId};
use ferryhook_core::member::{Role, Status};
use ferryhook_core::{Map, Member, Timestamp, User};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::call::{ETag, Tagged};

/// A user's place in an account.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Member)]
pub struct MemberView {
    pub user_id: UserId,
    pub account_id: AccountId,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub email: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    pub role: Role,
    /// Exceptions to the role, by operation.
    #[schema(value_type = Object)]
    pub permissions: Map,
    pub status: Status,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub invited_by: Option<UserId>,
    pub joined_at: Timestamp,
}

impl MemberView {
    pub fn of(member: &Member, user: Option<&User>) -> Self {
        Self {
            user_id: member.user_id,
            account_id: member.account_id,
            email: user.map(|user| user.email.clone()),
            name: user.map(|user| user.name.clone()),
            role: member.role,
            permissions: member.permissions.clone(),
            status: member.status,
            invited_by: member.invited_by,
            joined_at: member.joined_at,
        }
    }

    /// The same person in this place.
    pub fn with(self, member: &Member) -> Self {
        let Self { email, name, .. } = self;
        Self { email, name, ..Self::of(member, None) }
    }

    /// Of what can be set.
    pub fn tag(&self) -> ETag {
        ETag::of(&(self.role, &self.permissions, self.status))
    }

    pub fn tagged(self) -> Tagged<Self> {
        Tagged { tag: self.tag(), body: self }
    }
}
