//! Replays, in the events table under their account.
//!
//! While it runs a replay also stands in the due index, in one partition for all accounts: there
//! are few of them, and whoever starts has to find them all.

use ferryhook_core::replay::State;
use ferryhook_core::{Account, Id, Replay, Timestamp};

use crate::key::{IndexKey, Key};
use crate::record::{Kind, Record};
use crate::tables::{Index, Table};

pub(crate) const PREFIX: &str = "RPL#";
/// No connection's id is spelled like this.
pub(crate) const QUEUE: &str = "REPLAYS";

pub(crate) fn partition(of: Id<Account>) -> String {
    format!("ACC#{of}")
}

pub(crate) fn key(of: Id<Account>, id: Id<Replay>) -> Key {
    Key::new(Table::Events, partition(of), format!("{PREFIX}{id}"))
}

pub(crate) fn by_id(id: Id<Replay>) -> IndexKey {
    IndexKey::new(Index::EventById, format!("RPLID#{id}"), "REPLAY")
}

impl Record for Replay {
    const KIND: Kind = Kind::Replay;

    fn key(&self) -> Key {
        key(self.account_id, self.id)
    }

    fn indexes(&self) -> Vec<IndexKey> {
        let mut indexes = vec![by_id(self.id)];
        if let State::Running { lease_until } = self.state {
            indexes.push(IndexKey::new(Index::Due, QUEUE, lease_until.as_millis()));
        }
        indexes
    }

    fn expires_at(&self) -> Option<Timestamp> {
        self.expires_at
    }
}
