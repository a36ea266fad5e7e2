//! An account as clients see it.

use ferryhook_core::account::{AccountType, Status};
use ferryhook_core::id::{AccountId, UserId};
use ferryhook_core::member::Role;
use ferryhook_core::{Account, Map, Timestamp};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::call::{ETag, Tagged};

/// An account.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Account)]
pub struct AccountView {
    pub account_id: AccountId,
    /// Absent at the root of a tree.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent_account_id: Option<AccountId>,
    pub account_name: String,
    /// The names from the root down to here.
    pub account_path: String,
    pub account_type: AccountType,
    /// Steps from the root, which is 0.
    pub level: u16,
    /// Its own: an account is also closed while one above it is.
    pub status: Status,
    /// Accounts directly beneath it.
    pub child_count: u32,
    /// The owner, whose plan pays.
    pub user_id: UserId,
    /// What the caller is there.
    pub role: Role,
    /// Whether requests that name no account are about this one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub is_default: Option<bool>,
    #[schema(value_type = Object)]
    pub settings: Map,
    #[schema(value_type = Object)]
    pub metadata: Map,
    pub created_at: Timestamp,
    pub updated_at: Timestamp,
}

impl AccountView {
    pub fn of(account: &Account, role: Role) -> Self {
        Self {
            account_id: account.id,
            parent_account_id: account.parent_account_id,
            account_name: account.name.clone(),
            account_path: account.path.clone(),
            account_type: account.kind,
            level: account.level,
            status: account.status,
            child_count: account.child_count,
            user_id: account.user_id,
            role,
            is_default: None,
            settings: account.settings.clone().unwrap_or_default(),
            metadata: account.metadata.clone().unwrap_or_default(),
            created_at: account.created_at,
            updated_at: account.updated_at,
        }
    }

    /// Of what can be set.
    pub fn tag(&self) -> ETag {
        let Self { account_name, account_type, status, settings, metadata, .. } = self;
        ETag::of(&(account_name, account_type, status, settings, metadata))
    }

    pub fn tagged(self) -> Tagged<Self> {
        Tagged { tag: self.tag(), body: self }
    }
}
