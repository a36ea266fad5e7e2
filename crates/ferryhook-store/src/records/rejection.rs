//! Rejections, in the events table under their source, beside the events that were accepted.

use ferryhook_core::{Id, Rejection, Source, Timestamp};

use super::{digits, source};
use crate::key::Key;
use crate::record::{Kind, Record};
use crate::tables::Table;

pub(crate) const PREFIX: &str = "REJ#";

pub(crate) fn key(of: Id<Source>, at: Timestamp, id: Id<Rejection>) -> Key {
    let sort = format!("{PREFIX}{}#{id}", digits(at));
    Key::new(Table::Events, source::partition(of), sort)
}

impl Record for Rejection {
    const KIND: Kind = Kind::Rejection;
    const VERSION: u8 = 2;

    fn key(&self) -> Key {
        key(self.source_id, self.rejected_at, self.id)
    }

    fn expires_at(&self) -> Option<Timestamp> {
        self.expires_at
    }
}
