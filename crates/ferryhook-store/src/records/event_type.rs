//! Event types, in the main table under their account.
//!
//! The few that are declared also stand in an index of that table, in a partition of their account:
//! whoever loads a source needs those and no others.

use ferryhook_core::{Account, EventType, Id};

use super::erasure::partition;
use crate::key::{IndexKey, Key};
use crate::record::{Kind, Record};
use crate::tables::{Index, Table};

pub(crate) const PREFIX: &str = "TYPE#";

pub(crate) fn key(of: Id<Account>, name: &str) -> Key {
    Key::new(Table::Main, partition(of), format!("{PREFIX}{name}"))
}

/// No source's or connection's id is spelled like this.
pub(crate) fn declared(of: Id<Account>) -> String {
    format!("DECLARED#{of}")
}

impl Record for EventType {
    const KIND: Kind = Kind::EventType;
    /// 2 has `unchecked` and `lastSource`.
    const VERSION: u8 = 2;

    fn key(&self) -> Key {
        key(self.account_id, &self.name)
    }

    fn indexes(&self) -> Vec<IndexKey> {
        let entry = || {
            let partition = declared(self.account_id);
            IndexKey::new(Index::SourceOrConnectionById, partition, self.name.as_str())
        };
        self.declared.is_some().then(entry).into_iter().collect()
    }
}
