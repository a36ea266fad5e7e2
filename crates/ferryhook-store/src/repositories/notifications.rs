//! Notifications of a user.

use ferryhook_core::{Id, Notification, User};

use super::Slice;
use crate::query::{Page, Query};
use crate::record::{Kind, Stored};
use crate::records::notification;
use crate::tables::Index;
use crate::{Store, StoreError};

#[derive(Debug, Clone, Copy)]
pub struct Notifications<'a>(pub(crate) &'a Store);

impl Notifications<'_> {
    pub async fn create(&self, notification: &Notification) -> Result<(), StoreError> {
        self.0.insert(notification).await
    }

    pub async fn find(
        &self,
        user: Id<User>,
        id: Id<Notification>,
    ) -> Result<Option<Stored<Notification>>, StoreError> {
        self.0.find(&notification::key(user, id)).await
    }

    pub async fn list(
        &self,
        user: Id<User>,
        slice: Slice,
    ) -> Result<Page<Stored<Notification>>, StoreError> {
        let query = Query::table(Kind::Notification, user.as_str());
        self.0.list(slice.of(query)).await
    }

    pub async fn list_unread(
        &self,
        user: Id<User>,
        slice: Slice,
    ) -> Result<Page<Stored<Notification>>, StoreError> {
        let query = Query::index(Kind::Notification, Index::NotificationUnread, user.as_str());
        self.0.list(slice.of(query.prefix(notification::UNREAD))).await
    }

    pub async fn mark_read(
        &self,
        was: &Stored<Notification>,
    ) -> Result<Stored<Notification>, StoreError> {
        let now = was.record.clone().read(self.0.now());
        self.0.replace(was, now).await
    }
}
