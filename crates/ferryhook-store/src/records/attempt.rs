//! Attempts, in the events table under their event. The connection is part of the key, because
//! each connection of an event has a first attempt.

use ferryhook_core::{Attempt, Timestamp};

use super::event;
use crate::key::Key;
use crate::record::{Kind, Record};
use crate::tables::Table;

pub(crate) const PREFIX: &str = "ATT#";

impl Record for Attempt {
    const KIND: Kind = Kind::Attempt;

    fn key(&self) -> Key {
        let sort = format!("{PREFIX}{:02}#{}", self.number, self.connection_id);
        Key::new(Table::Events, event::partition(self.event_id), sort)
    }

    fn expires_at(&self) -> Option<Timestamp> {
        self.expires_at
    }
}
