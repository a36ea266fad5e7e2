//! Keys for programs, in the main table under the user who made them. They do not expire as rows:
//! people want to see that a key has run out.

use ferryhook_core::{Id, User};

use super::{user, word};
use crate::key::{IndexKey, Key};
use crate::record::{Kind, Record};
use crate::tables::{Index, Table};

pub(crate) const PREFIX: &str = "KEY#";

pub(crate) fn key(owner: Id<User>, id: Id<ferryhook_core::Key>) -> Key {
    Key::new(Table::Main, user::partition(owner), format!("{PREFIX}{id}"))
}

/// The account's keys are found by their id, and lie under whoever made them.
pub(crate) fn id_value(id: Id<ferryhook_core::Key>) -> String {
    format!("KEYID#{id}")
}

pub(crate) fn hash_value(hash: &str) -> String {
    format!("KEYHASH#{hash}")
}

impl Record for ferryhook_core::Key {
    const KIND: Kind = Kind::Key;

    fn key(&self) -> Key {
        key(self.user_id, self.id)
    }

    fn indexes(&self) -> Vec<IndexKey> {
        let account = self.account_id.to_string();
        vec![
            IndexKey::new(Index::KeyByHash, hash_value(self.hash.expose()), "KEY"),
            IndexKey::new(Index::AccountStatus, account, word(self.status)),
        ]
    }
}
