//! A value that only one owner may have.
//!
//! No index can promise that, so the value is a row of its own: inserted in the commit that
//! claims it, deleted in the commit that gives it up.

use ferryhook_core::user::Identity;
use ferryhook_core::{Account, Id, User};
use serde::{Deserialize, Serialize};

use crate::key::Key;
use crate::record::{Kind, Record};
use crate::tables::Table;

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Unique {
    /// With its sort in front: `EMAIL#...`, `KEYHASH#...`.
    pub value: String,
    /// The id of the record that has it.
    pub owner_id: String,
    /// Under whom that record lies, where its id alone does not find it. Markers of keys that are
    /// older than this have none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub user_id: Option<Id<User>>,
}

impl Unique {
    pub(crate) fn email(email: &str, owner: &impl ToString) -> Self {
        Self { value: super::user::email_value(email), owner_id: owner.to_string(), user_id: None }
    }

    pub(crate) fn identity(identity: Identity, id: &str, owner: &impl ToString) -> Self {
        let value = super::user::identity_value(identity, id);
        Self { value, owner_id: owner.to_string(), user_id: None }
    }

    pub(crate) fn key_hash(key: &ferryhook_core::Key) -> Self {
        Self {
            value: super::key::hash_value(key.hash.expose()),
            owner_id: key.id.to_string(),
            user_id: Some(key.user_id),
        }
    }

    pub(crate) fn key_id(key: &ferryhook_core::Key) -> Self {
        Self { value: super::key::id_value(key.id), ..Self::key_hash(key) }
    }

    pub(crate) fn customer(customer: &str, owner: &impl ToString) -> Self {
        let value = super::subscription::customer_value(customer);
        Self { value, owner_id: owner.to_string(), user_id: None }
    }

    /// Which account is the installation's own.
    pub(crate) fn installation(account: Id<Account>) -> Self {
        Self { value: INSTALLATION.to_owned(), owner_id: account.to_string(), user_id: None }
    }

    /// Which plan new accounts get.
    pub(crate) fn default_plan(plan: &str) -> Self {
        Self { value: DEFAULT_PLAN.to_owned(), owner_id: plan.to_owned(), user_id: None }
    }
}

pub(crate) const DEFAULT_PLAN: &str = "PLAN#default";
pub(crate) const INSTALLATION: &str = "INSTALLATION#owner";

pub(crate) fn key(value: &str) -> Key {
    Key::new(Table::Main, format!("UNIQUE#{value}"), "UNIQUE")
}

impl Record for Unique {
    const KIND: Kind = Kind::Unique;
    const VERSION: u8 = 2;

    fn key(&self) -> Key {
        key(&self.value)
    }
}
