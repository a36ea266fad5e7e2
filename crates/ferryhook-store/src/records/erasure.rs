//! Erasures, in the main table under their account.
//!
//! As long as it is not over an erasure also stands in an index of that table, in one partition
//! for all accounts: there are few of them, and whoever starts has to find them all.

use ferryhook_core::{Account, Erasure, Id, Timestamp};

use crate::key::{IndexKey, Key};
use crate::record::{Kind, Record};
use crate::tables::{Index, Table};

pub(crate) const PREFIX: &str = "ERASE#";
/// No source's or connection's id is spelled like this.
pub(crate) const OPEN: &str = "ERASURES";

pub(crate) fn partition(of: Id<Account>) -> String {
    format!("ACC#{of}")
}

pub(crate) fn key(of: Id<Account>, id: Id<Erasure>) -> Key {
    Key::new(Table::Main, partition(of), format!("{PREFIX}{id}"))
}

impl Record for Erasure {
    const KIND: Kind = Kind::Erasure;

    fn key(&self) -> Key {
        key(self.account_id, self.id)
    }

    fn indexes(&self) -> Vec<IndexKey> {
        match self.is_over() {
            true => Vec::new(),
            false => vec![IndexKey::new(Index::SourceOrConnectionById, OPEN, self.id.as_str())],
        }
    }

    fn expires_at(&self) -> Option<Timestamp> {
        self.expires_at
    }
}
