//! A tenant. Everything that is stored belongs to exactly one.
//!
//! Accounts form a tree: an administrator of a parent can act in its children.

use serde::{Deserialize, Serialize};

use crate::id::Identified;
use crate::time::seconds;
use crate::{Id, Map, Timestamp, User};

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Account {
    #[serde(rename = "accountId")]
    pub id: Id<Account>,
    /// Absent at the root of a tree.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent_account_id: Option<Id<Account>>,
    /// The names from the root down to here, such as `/acme/retail/`.
    #[serde(rename = "accountPath")]
    pub path: String,
    #[serde(rename = "accountType")]
    pub kind: AccountType,
    #[serde(rename = "accountName")]
    pub name: String,
    /// Steps from the root, which is 0.
    pub level: u16,
    pub status: Status,
    /// The owner: its sources are kept under this user, and this user's plan pays for them.
    pub user_id: Id<User>,
    #[serde(with = "seconds")]
    pub created_at: Timestamp,
    #[serde(with = "seconds")]
    pub updated_at: Timestamp,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub metadata: Option<Map>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub settings: Option<Map>,
}

impl Identified for Account {
    const PREFIX: &'static str = "acc_";
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AccountType {
    Conglomerate,
    Subsidiary,
    Division,
    Location,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    Active,
    /// Refused at the door, with everything it owns kept.
    Suspended,
    Terminated,
}
