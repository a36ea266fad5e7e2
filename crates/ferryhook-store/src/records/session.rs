//! Sessions, in the main table under their user.

use ferryhook_core::{Id, Session, Timestamp, User};

use super::user;
use crate::key::Key;
use crate::record::{Kind, Record};
use crate::tables::Table;

pub(crate) const PREFIX: &str = "SESS#";

pub(crate) fn key(of: Id<User>, id: Id<Session>) -> Key {
    Key::new(Table::Main, user::partition(of), format!("{PREFIX}{id}"))
}

impl Record for Session {
    const KIND: Kind = Kind::Session;

    fn key(&self) -> Key {
        key(self.user_id, self.id)
    }

    fn expires_at(&self) -> Option<Timestamp> {
        Some(self.expires_at)
    }
}
