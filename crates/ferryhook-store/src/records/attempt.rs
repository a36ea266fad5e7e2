//! Attempts, in the events table under their event. The connection is part of the key, because
//! each connection of an event has a first attempt.

use ferryhook_core::{Attempt, Timestamp};

use super::{event, padded};
use crate::key::Key;
use crate::record::{Kind, Record};
use crate::tables::Table;

pub(crate) const PREFIX: &str = "ATT#";

impl Record for Attempt {
    const KIND: Kind = Kind::Attempt;

    fn key(&self) -> Key {
        let number = padded::<2>(self.number.into());
        let sort = [PREFIX, &number, "#", self.connection_id.as_str()].concat();
        Key::new(Table::Events, event::partition(self.event_id), sort)
    }

    fn expires_at(&self) -> Option<Timestamp> {
        self.expires_at
    }
}
