//! Event types: what is counted is added without reading; what is learned is written only over what
//! it was learned from, together with what is said about it.

use ferryhook_core::{Account, EventType, Id, Timestamp, limits};

use super::{Announcement, Slice};
use crate::batch::{Batch, Patch};
use crate::query::{Page, Query};
use crate::record::{Kind, Stored};
use crate::records::event_type;
use crate::tables::Index;
use crate::{Store, StoreError};

#[derive(Debug, Clone, Copy)]
pub struct EventTypes<'a>(pub(crate) &'a Store);

impl EventTypes<'_> {
    pub async fn find(
        &self,
        account: Id<Account>,
        name: &str,
    ) -> Result<Option<Stored<EventType>>, StoreError> {
        self.0.find(&event_type::key(account, name)).await
    }

    /// By name.
    pub async fn list(
        &self,
        account: Id<Account>,
        slice: Slice,
    ) -> Result<Page<Stored<EventType>>, StoreError> {
        let partition = crate::records::erasure::partition(account);
        let query = Query::table(Kind::EventType, partition);
        self.0.list(slice.of(query.prefix(event_type::PREFIX))).await
    }

    /// Those with a schema of their owner, by name.
    pub async fn list_declared(
        &self,
        account: Id<Account>,
        slice: Slice,
    ) -> Result<Page<Stored<EventType>>, StoreError> {
        let partition = event_type::declared(account);
        let query = Query::index(Kind::EventType, Index::SourceOrConnectionById, partition);
        self.0.list(slice.of(query)).await
    }

    /// The names of all there are; one more than an account may have at most.
    pub async fn names(&self, account: Id<Account>) -> Result<Vec<String>, StoreError> {
        let (mut names, mut slice) = (Vec::new(), Slice::default().limit(limits::PAGE_MAX));
        while names.len() <= limits::TYPES_PER_ACCOUNT_MAX {
            let page = self.list(account, slice.clone()).await?;
            names.extend(page.rows.into_iter().map(|row| row.record.name));
            if page.next.is_none() {
                break;
            }
            slice = slice.after(page.next);
        }
        Ok(names)
    }

    pub async fn create(&self, new: &EventType) -> Result<(), StoreError> {
        self.0.insert(new).await
    }

    pub async fn replace(
        &self,
        was: &Stored<EventType>,
        now: EventType,
    ) -> Result<Stored<EventType>, StoreError> {
        self.0.replace(was, now).await
    }

    pub async fn delete(&self, was: &Stored<EventType>) -> Result<(), StoreError> {
        self.0.commit(Batch::new().delete(was)).await
    }

    /// Adds to what was counted. False where there is no such type any more. A crash may forget the
    /// last addition.
    pub async fn count(
        &self,
        account: Id<Account>,
        name: &str,
        (events, last_at): (u64, Timestamp),
        (mismatches, unchecked): (u64, u64),
    ) -> Result<bool, StoreError> {
        let mut patch = Patch::of(Kind::EventType, event_type::key(account, name));
        if events > 0 {
            patch = patch
                .add("count", i64::try_from(events).unwrap_or(i64::MAX))
                .set("lastSeenAt", last_at.to_string());
        }
        for (name, more) in [("mismatches", mismatches), ("unchecked", unchecked)] {
            if more > 0 {
                patch = patch.add(name, i64::try_from(more).unwrap_or(i64::MAX));
            }
        }
        match self.0.commit_buffered(Batch::new().patch(patch)).await {
            Ok(()) => Ok(true),
            Err(error) if error.is_refused() => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// What was learned, and what is to be said about it. False when another was faster: then it is
    /// to be learned again from what that one has written, and nothing was said.
    pub async fn learn(
        &self,
        was: Option<&Stored<EventType>>,
        now: &EventType,
        announcement: &Announcement,
    ) -> Result<bool, StoreError> {
        let batch = match was {
            Some(was) => Batch::new().replace(was, now),
            None => Batch::new().insert(now),
        };
        let is_said = announcement.event.is_some() || !announcement.notifications.is_empty();
        let written = match is_said {
            true => self.0.commit(batch.announcing(announcement)).await,
            false => self.0.commit_buffered(batch).await,
        };
        match written {
            Ok(()) => Ok(true),
            Err(error) if error.refused_at(0) => Ok(false),
            Err(error) => Err(error),
        }
    }
}
