//! A value that only one owner may have.
//!
//! No index can promise that, so the value is a row of its own: inserted in the commit that
//! claims it, deleted in the commit that gives it up.

use ferryhook_core::user::Identity;
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
}

impl Unique {
    pub(crate) fn email(email: &str, owner: &impl ToString) -> Self {
        Self { value: super::user::email_value(email), owner_id: owner.to_string() }
    }

    pub(crate) fn identity(identity: Identity, id: &str, owner: &impl ToString) -> Self {
        Self { value: super::user::identity_value(identity, id), owner_id: owner.to_string() }
    }

    pub(crate) fn key_hash(hash: &str, owner: &impl ToString) -> Self {
        Self { value: super::key::hash_value(hash), owner_id: owner.to_string() }
    }
}

pub(crate) fn key(value: &str) -> Key {
    Key::new(Table::Main, format!("UNIQUE#{value}"), "UNIQUE")
}

impl Record for Unique {
    const KIND: Kind = Kind::Unique;

    fn key(&self) -> Key {
        key(&self.value)
    }
}
