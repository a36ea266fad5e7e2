//! Accounts, each in a partition of its own, found from their parent by type.

use ferryhook_core::{Account, Id};

use super::word;
use crate::key::{IndexKey, Key};
use crate::record::{Kind, Record};
use crate::tables::{Index, Table};

pub(crate) fn key(id: Id<Account>) -> Key {
    Key::alone(Table::Accounts, id.as_str())
}

impl Record for Account {
    const KIND: Kind = Kind::Account;
    const VERSION: u8 = 3;

    fn key(&self) -> Key {
        key(self.id)
    }

    fn indexes(&self) -> Vec<IndexKey> {
        let entry = |parent: Id<Account>| {
            IndexKey::new(Index::AccountParent, parent.as_str(), word(self.kind))
        };
        self.parent_account_id.map(entry).into_iter().collect()
    }
}
