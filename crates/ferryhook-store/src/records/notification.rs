//! Notifications, under the user they are for. Their ids sort by time.

use ferryhook_core::{Id, Notification, Timestamp, User};

use crate::key::{IndexKey, Key};
use crate::record::{Kind, Record};
use crate::tables::{Index, Table};

/// What the index has in front of the time, for those that are unread.
pub(crate) const UNREAD: &str = "0#";
pub(crate) const READ: &str = "1#";

pub(crate) fn key(of: Id<User>, id: Id<Notification>) -> Key {
    Key::new(Table::Notifications, of.as_str(), id.as_str())
}

impl Record for Notification {
    const KIND: Kind = Kind::Notification;

    fn key(&self) -> Key {
        key(self.user_id, self.id)
    }

    fn indexes(&self) -> Vec<IndexKey> {
        let mark = if self.is_read { READ } else { UNREAD };
        let sort = format!("{mark}{:010}", self.created_at.as_seconds());
        let user = self.user_id.as_str();
        vec![IndexKey::new(Index::NotificationUnread, user, sort)]
    }

    fn expires_at(&self) -> Option<Timestamp> {
        self.expires_at
    }
}
