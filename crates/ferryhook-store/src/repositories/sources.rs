//! Sources. A deleted one stays as a row, so that its events keep their origin, and is found by
//! its id; lists leave it out unless they ask for that status.

use ferryhook_core::source::Status;
use ferryhook_core::{Account, Connection, Id, Source, Timestamp, User};

use super::{Slice, TRIES_MAX, only};
use crate::batch::{Batch, Patch};
use crate::query::{Page, Query};
use crate::record::{Kind, Stored};
use crate::records::{Unique, source, unique, user, word};
use crate::tables::Index;
use crate::{Store, StoreError};

/// One step of a change to sources and connections.
#[derive(Debug, Clone)]
pub enum Edit {
    CreateSource(Source),
    ReplaceSource(Stored<Source>, Source),
    CreateConnection(Connection),
    ReplaceConnection(Stored<Connection>, Connection),
}

#[derive(Debug, Clone, Copy)]
pub struct Sources<'a>(pub(crate) &'a Store);

impl Sources<'_> {
    pub async fn create(&self, source: &Source) -> Result<(), StoreError> {
        self.0.insert(source).await
    }

    /// The source that an account's apps post to: the one there is, or `new`, however many ask at
    /// once. One that was deleted has a successor.
    pub async fn for_triggers(&self, new: &Source) -> Result<Source, StoreError> {
        let marker = unique::key(&unique::trigger_source(new.account_id));
        let mut refusal = None;
        for _ in 0..TRIES_MAX {
            let held = self.0.find::<Unique>(&marker).await?;
            let batch = Batch::new().insert(new);
            let own = Unique::trigger_source(new);
            let batch = match &held {
                None => batch.insert(&own),
                Some(held) => match self.marked(held).await? {
                    Some(source) => return Ok(source),
                    None => batch.replace(held, &own),
                },
            };
            match self.0.commit(batch).await {
                Ok(()) => return Ok(new.clone()),
                Err(error) if error.is_refused() => refusal = Some(error),
                Err(error) => return Err(error),
            }
        }
        Err(refusal.unwrap_or_else(|| StoreError::Unavailable("no try was made".into(), None)))
    }

    async fn marked(&self, held: &Unique) -> Result<Option<Source>, StoreError> {
        let (Ok(id), Some(owner)) = (held.owner_id.parse(), held.user_id) else { return Ok(None) };
        let found = self.find_owned(owner, id).await?;
        Ok(found.map(|found| found.record).filter(is_there))
    }

    /// Through an index: for ingest, which knows nothing but the address.
    pub async fn find(&self, id: Id<Source>) -> Result<Option<Stored<Source>>, StoreError> {
        self.0.find_by(source::by_id(id)).await
    }

    /// By its key, and so as it was last written.
    pub async fn find_owned(
        &self,
        owner: Id<User>,
        id: Id<Source>,
    ) -> Result<Option<Stored<Source>>, StoreError> {
        self.0.find(&source::key(owner, id)).await
    }

    pub async fn list_by_user(
        &self,
        owner: Id<User>,
        slice: Slice,
    ) -> Result<Page<Stored<Source>>, StoreError> {
        let query = Query::table(Kind::Source, user::partition(owner)).prefix(source::PREFIX);
        Ok(only(self.0.list(slice.of(query)).await?, is_there))
    }

    /// Sorted by platform.
    pub async fn list_by_account(
        &self,
        account: Id<Account>,
        slice: Slice,
    ) -> Result<Page<Stored<Source>>, StoreError> {
        let query = Query::index(Kind::Source, Index::AccountPlatform, account.as_str());
        Ok(only(self.0.list(slice.of(query)).await?, is_there))
    }

    pub async fn list_by_platform(
        &self,
        account: Id<Account>,
        platform: &str,
        slice: Slice,
    ) -> Result<Page<Stored<Source>>, StoreError> {
        let query = Query::index(Kind::Source, Index::AccountPlatform, account.as_str());
        let page = self.0.list(slice.of(query.exactly(platform))).await?;
        Ok(only(page, is_there))
    }

    pub async fn list_by_status(
        &self,
        account: Id<Account>,
        status: Status,
        slice: Slice,
    ) -> Result<Page<Stored<Source>>, StoreError> {
        let query = Query::index(Kind::Source, Index::AccountStatus, account.as_str());
        self.0.list(slice.of(query.exactly(word(status)))).await
    }

    pub async fn replace(
        &self,
        was: &Stored<Source>,
        now: Source,
    ) -> Result<Stored<Source>, StoreError> {
        self.0.replace(was, now).await
    }

    pub async fn delete(&self, was: &Stored<Source>) -> Result<Stored<Source>, StoreError> {
        let now =
            Source { status: Status::Deleted, updated_at: self.0.now(), ..was.record.clone() };
        self.0.replace(was, now).await
    }

    /// Several steps, all or none; as many as a commit may have.
    pub async fn edit(&self, edits: &[Edit]) -> Result<(), StoreError> {
        let batch = edits.iter().fold(Batch::new(), |batch, edit| match edit {
            Edit::CreateSource(source) => batch.insert(source),
            Edit::ReplaceSource(was, now) => batch.replace(was, now),
            Edit::CreateConnection(connection) => batch.insert(connection),
            Edit::ReplaceConnection(was, now) => batch.replace(was, now),
        });
        self.0.commit(batch).await
    }

    /// Counts events that have arrived. A crash may forget the last few.
    pub async fn count_events(
        &self,
        owner: Id<User>,
        id: Id<Source>,
        events: u32,
        last_at: Timestamp,
    ) -> Result<(), StoreError> {
        let patch = Patch::of(Kind::Source, source::key(owner, id))
            .add("eventCount", events.into())
            .set("lastEventAt", last_at.to_string());
        self.0.commit_buffered(Batch::new().patch(patch)).await
    }
}

fn is_there(source: &Source) -> bool {
    source.status != Status::Deleted
}
