//! Usage, a row for each account and day, and by day across accounts.

use ferryhook_core::{Account, Id, Usage};

use crate::key::{IndexKey, Key};
use crate::record::{Kind, Record};
use crate::tables::{Index, Table};

pub(crate) fn key(of: Id<Account>, day: &str) -> Key {
    Key::new(Table::Usage, of.as_str(), day)
}

impl Record for Usage {
    const KIND: Kind = Kind::Usage;

    fn key(&self) -> Key {
        key(self.account_id, &self.day)
    }

    fn indexes(&self) -> Vec<IndexKey> {
        let account = self.account_id.as_str();
        vec![IndexKey::new(Index::UsageDate, &*self.day, account)]
    }
}
