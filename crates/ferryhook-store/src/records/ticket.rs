//! Tickets, each found only by whoever has its text.

use ferryhook_core::{Secret, Ticket, Timestamp};

use crate::key::Key;
use crate::record::{Kind, Record};
use crate::tables::Table;

pub(crate) fn key(hash: &Secret) -> Key {
    Key::new(Table::Main, format!("TICKET#{}", hash.expose()), "TICKET")
}

impl Record for Ticket {
    const KIND: Kind = Kind::Ticket;

    fn key(&self) -> Key {
        key(&self.hash)
    }

    fn expires_at(&self) -> Option<Timestamp> {
        Some(self.expires_at)
    }
}
