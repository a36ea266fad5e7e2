//! Notifications of a user.

use ferryhook_core::{Id, Notification, User, limits};

use super::Slice;
use crate::batch::Batch;
use crate::key::Part;
use crate::query::{Cursor, Page, Query};
use crate::record::{Kind, Record, Stored};
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

    /// The unread ones, newest first, then the others, newest first.
    pub async fn list_unread_first(
        &self,
        user: Id<User>,
        limit: usize,
        after: Option<Cursor>,
    ) -> Result<Page<Stored<Notification>>, StoreError> {
        let list = async |mark: &str, limit: usize, after: Option<Cursor>| {
            let query = Query::index(Kind::Notification, Index::NotificationUnread, user.as_str());
            let query = query.prefix(mark).newest_first().limit(limit).after(after);
            self.0.list::<Notification>(query).await
        };
        let is_behind = |after: &Cursor| {
            let sort = after.entry.as_ref().and_then(|entry| entry.sort.as_ref());
            matches!(sort, Some(Part::Text(sort)) if sort.starts_with(notification::READ))
        };
        if after.as_ref().is_some_and(is_behind) {
            return list(notification::READ, limit, after).await;
        }
        let mut unread = list(notification::UNREAD, limit, after).await?;
        if unread.next.is_some() {
            return Ok(unread);
        }
        let room = limit.saturating_sub(unread.rows.len());
        let read = list(notification::READ, room.max(1), None).await?;
        match unread.rows.last() {
            // Full, and there are others: they begin behind the last of these.
            Some(last) if room == 0 && (!read.rows.is_empty() || read.next.is_some()) => {
                let entry = last.record.indexes().into_iter().next();
                unread.next = Some(Cursor { key: last.record.key(), entry });
            }
            Some(_) if room == 0 => {}
            _ => {
                unread.rows.extend(read.rows);
                unread.next = read.next;
            }
        }
        Ok(unread)
    }

    /// How many are unread, as far as anybody counts.
    pub async fn count_unread(&self, user: Id<User>) -> Result<usize, StoreError> {
        let mut count = 0;
        let mut slice = Slice::newest_first().limit(limits::PAGE_MAX);
        loop {
            let page = self.list_unread(user, slice.clone()).await?;
            count += page.rows.len();
            match page.next {
                Some(next) if count < limits::PAGE_MAX => slice = slice.after(Some(next)),
                _ => return Ok(count),
            }
        }
    }

    /// Marks those that are unread now, a page at most; tells how many.
    pub async fn mark_all_read(&self, user: Id<User>) -> Result<usize, StoreError> {
        let slice = Slice::oldest_first().limit(limits::PAGE_MAX);
        let unread = self.list_unread(user, slice).await?.rows;
        let mut marked = 0;
        for some in unread.chunks(limits::batch::ACTIONS_MAX) {
            let now = self.0.now();
            let mark = |batch: Batch, was: &Stored<Notification>| {
                batch.replace(was, &was.record.clone().read(now))
            };
            match self.0.commit(some.iter().fold(Batch::new(), mark)).await {
                Ok(()) => marked += some.len(),
                Err(error) if error.is_refused() => {
                    // One of them was read, or has expired, in between.
                    for was in some {
                        match self.mark_read(was).await {
                            Ok(_) => marked += 1,
                            Err(error) if error.is_refused() => {}
                            Err(error) => return Err(error),
                        }
                    }
                }
                Err(error) => return Err(error),
            }
        }
        Ok(marked)
    }

    pub async fn mark_read(
        &self,
        was: &Stored<Notification>,
    ) -> Result<Stored<Notification>, StoreError> {
        let now = was.record.clone().read(self.0.now());
        self.0.replace(was, now).await
    }
}
