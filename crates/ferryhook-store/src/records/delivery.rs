//! Deliveries, in the events table under their event.

use ferryhook_core::{Connection, Delivery, Event, Id, Timestamp};

use super::{Shard, event};
use crate::key::{IndexKey, Key};
use crate::record::{Kind, Record};
use crate::tables::{Index, Table};

pub(crate) const PREFIX: &str = "DLV#";

pub(crate) fn key(of: Id<Event>, over: Id<Connection>) -> Key {
    Key::new(Table::Events, event::partition(of), format!("{PREFIX}{over}"))
}

impl Record for Delivery {
    const KIND: Kind = Kind::Delivery;

    fn key(&self) -> Key {
        key(self.event_id, self.connection_id)
    }

    fn indexes(&self) -> Vec<IndexKey> {
        let shard = Shard::of(self.event_id).partition();
        let entry = |due: Timestamp| IndexKey::new(Index::Due, shard, due.as_millis());
        self.due_at().map(entry).into_iter().collect()
    }

    fn expires_at(&self) -> Option<Timestamp> {
        self.expires_at
    }
}
