//! A tenant. Everything that is stored belongs to exactly one.
//!
//! Accounts form a tree: an administrator of a parent can act in its children.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

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
    /// Accounts directly beneath it, without those that are terminated.
    #[serde(default)]
    pub child_count: u32,
    /// Keys that were made in it and may still work: never too few. Absent until the next is made.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key_count: Option<u32>,
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

impl Account {
    /// The root of a tree, which belongs to `owner`.
    pub fn root(id: Id<Account>, name: &str, owner: Id<User>, now: Timestamp) -> Self {
        Self {
            id,
            parent_account_id: None,
            path: step("/", name),
            kind: AccountType::Conglomerate,
            name: name.to_owned(),
            level: 0,
            status: Status::Active,
            child_count: 0,
            key_count: None,
            user_id: owner,
            created_at: now,
            updated_at: now,
            metadata: None,
            settings: None,
        }
    }

    /// A new account beneath this one, whose owner it shares: one plan pays for the whole tree.
    pub fn child(&self, id: Id<Account>, name: &str, kind: AccountType, now: Timestamp) -> Self {
        Self {
            parent_account_id: Some(self.id),
            path: step(&self.path, name),
            kind,
            level: self.level.saturating_add(1),
            ..Self::root(id, name, self.user_id, now)
        }
    }

    /// The same under another name. Where it lies beneath stays; those beneath it have to follow.
    pub fn renamed(&self, name: &str, now: Timestamp) -> Self {
        let above = self.path.trim_end_matches('/').rfind('/').map_or(0, |end| end + 1);
        let path = step(self.path.get(..above).unwrap_or("/"), name);
        Self { name: name.to_owned(), path, updated_at: now, ..self.clone() }
    }

    /// The same beneath a parent whose path has changed.
    pub fn beneath(&self, parent: &Account) -> Self {
        Self { path: step(&parent.path, &self.name), ..self.clone() }
    }
}

/// One step further down. A slash in a name would look like two steps.
fn step(path: &str, name: &str) -> String {
    format!("{path}{}/", name.replace('/', "-"))
}

impl Identified for Account {
    const PREFIX: &'static str = "acc_";
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum AccountType {
    Conglomerate,
    Subsidiary,
    Division,
    Location,
}

/// From best to worst: an account is never better off than those above it.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, ToSchema,
)]
#[serde(rename_all = "snake_case")]
#[schema(as = AccountStatus)]
pub enum Status {
    Active,
    /// Refused at the door, with everything it owns kept.
    Suspended,
    Terminated,
}

#[cfg(test)]
mod tests;
