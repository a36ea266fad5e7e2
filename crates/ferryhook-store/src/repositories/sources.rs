//! Sources. A deleted one stays as a row, so that its events keep their origin, and is found by
//! its id; lists leave it out unless they ask for that status.

use ferryhook_core::plan_count::Counted;
use ferryhook_core::source::Status;
use ferryhook_core::{Account, Connection, Id, Source, Timestamp, User, limits};

use super::plan_counts::Counting;
use super::{RoomError, Slice, only};
use crate::batch::{Batch, Patch};
use crate::query::{Page, Query};
use crate::record::{Kind, Stored};
use crate::records::{Shard, source, user, word};
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
        self.edit(&[Edit::CreateSource(source.clone())]).await
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

    /// Of all accounts, deleted ones too: for whoever looks after what they hold.
    pub async fn list_everywhere(
        &self,
        shard: Shard,
        slice: Slice,
    ) -> Result<Page<Stored<Source>>, StoreError> {
        let query = Query::index(Kind::Source, Index::KeyByHash, source::everywhere(shard));
        self.0.list(slice.of(query)).await
    }

    pub async fn replace(
        &self,
        was: &Stored<Source>,
        now: Source,
    ) -> Result<Stored<Source>, StoreError> {
        self.edit(&[Edit::ReplaceSource(was.clone(), now.clone())]).await?;
        Ok(was.followed_by(now))
    }

    pub async fn delete(&self, was: &Stored<Source>) -> Result<Stored<Source>, StoreError> {
        let now =
            Source { status: Status::Deleted, updated_at: self.0.now(), ..was.record.clone() };
        self.replace(was, now).await
    }

    /// Several steps in one account, all or none; at most [`limits::EDITS_MAX`].
    pub async fn edit(&self, edits: &[Edit]) -> Result<(), StoreError> {
        self.edit_within(edits, None).await.map_err(RoomError::unlimited)
    }

    /// The same, unless the account would then have more sources than `most`.
    pub async fn edit_within(&self, edits: &[Edit], most: Option<u32>) -> Result<(), RoomError> {
        let batch = || {
            edits.iter().fold(Batch::new(), |batch, edit| match edit {
                Edit::CreateSource(source) => batch.insert(source),
                Edit::ReplaceSource(was, now) => batch.replace(was, now),
                Edit::CreateConnection(connection) => batch.insert(connection),
                Edit::ReplaceConnection(was, now) => batch.replace(was, now),
            })
        };
        let by = edits.iter().map(more).sum();
        let Some(source) = edits.iter().find(|edit| more(edit) != 0).and_then(source) else {
            return Ok(self.0.commit(batch()).await?);
        };
        let counting = Counting {
            account: source.account_id,
            counted: Counted::Sources,
            by,
            most: most.map(u64::from),
            owner: Some(source.user_id),
        };
        counting.commit(self.0, batch).await
    }

    /// Those that a plan counts, one by one.
    pub(super) async fn count(
        &self,
        owner: Id<User>,
        account: Id<Account>,
    ) -> Result<u64, StoreError> {
        let (mut count, mut after) = (0, None);
        loop {
            let slice = Slice::default().limit(limits::PAGE_MAX).after(after);
            let page = self.list_by_user(owner, slice).await?;
            let ours = page.rows.iter().filter(|row| row.account_id == account);
            count += ours.filter(|row| is_counted(row)).count() as u64;
            after = page.next;
            if after.is_none() {
                return Ok(count);
            }
        }
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

/// How many sources of its account there are more once this is done.
fn more(edit: &Edit) -> i64 {
    let one = |source: &Source| i64::from(is_counted(source));
    match edit {
        Edit::CreateSource(source) => one(source),
        Edit::ReplaceSource(was, now) => one(now) - one(was),
        Edit::CreateConnection(_) | Edit::ReplaceConnection(..) => 0,
    }
}

fn source(edit: &Edit) -> Option<&Source> {
    match edit {
        Edit::CreateSource(source) | Edit::ReplaceSource(_, source) => Some(source),
        Edit::CreateConnection(_) | Edit::ReplaceConnection(..) => None,
    }
}

fn is_counted(source: &Source) -> bool {
    is_there(source) && !source.is_built_in()
}

fn is_there(source: &Source) -> bool {
    source.status != Status::Deleted
}
