//! Connections. A deleted one stays as a row, so that its deliveries keep their meaning, and is
//! found by its id; lists leave it out.

use ferryhook_core::connection::Status;
use ferryhook_core::{Account, Connection, Id, Source};

use super::{Announcement, Slice, only};
use crate::batch::{Batch, Patch};
use crate::query::{Page, Query};
use crate::record::{Kind, Stored};
use crate::records::{Shard, connection, source};
use crate::tables::Index;
use crate::{Store, StoreError};

#[derive(Debug, Clone, Copy)]
pub struct Connections<'a>(pub(crate) &'a Store);

impl Connections<'_> {
    pub async fn create(&self, connection: &Connection) -> Result<(), StoreError> {
        self.0.insert(connection).await
    }

    /// Through an index: lags a moment behind the last write on DynamoDB.
    pub async fn find(&self, id: Id<Connection>) -> Result<Option<Stored<Connection>>, StoreError> {
        self.0.find_by(connection::by_id(id)).await
    }

    /// By its key, and so as it was last written.
    pub async fn find_of(
        &self,
        source: Id<Source>,
        id: Id<Connection>,
    ) -> Result<Option<Stored<Connection>>, StoreError> {
        self.0.find(&connection::key(source, id)).await
    }

    pub async fn list_by_source(
        &self,
        source: Id<Source>,
        slice: Slice,
    ) -> Result<Page<Stored<Connection>>, StoreError> {
        let query = Query::table(Kind::Connection, source::partition(source));
        let query = query.prefix(connection::PREFIX);
        Ok(only(self.0.list(slice.of(query)).await?, is_there))
    }

    /// Sorted by status.
    pub async fn list_by_account(
        &self,
        account: Id<Account>,
        slice: Slice,
    ) -> Result<Page<Stored<Connection>>, StoreError> {
        let query = Query::index(Kind::Connection, Index::AccountStatus, account.as_str());
        Ok(only(self.0.list(slice.of(query)).await?, is_there))
    }

    /// Of all accounts, deleted ones too: whoever looks after the queues of their deliveries must
    /// not miss one.
    pub async fn list_lanes(
        &self,
        shard: Shard,
        slice: Slice,
    ) -> Result<Page<Stored<Connection>>, StoreError> {
        let query = Query::index(Kind::Connection, Index::KeyByHash, connection::lanes(shard));
        self.0.list(slice.of(query)).await
    }

    pub async fn replace(
        &self,
        was: &Stored<Connection>,
        now: Connection,
    ) -> Result<Stored<Connection>, StoreError> {
        self.0.replace(was, now).await
    }

    /// Pauses it without having been asked to, and says so.
    pub async fn disable(
        &self,
        was: &Stored<Connection>,
        now: &Connection,
        announcement: &Announcement,
    ) -> Result<(), StoreError> {
        self.0.commit(Batch::new().replace(was, now).announcing(announcement)).await
    }

    pub async fn delete(&self, was: &Stored<Connection>) -> Result<Stored<Connection>, StoreError> {
        let now =
            Connection { status: Status::Deleted, updated_at: self.0.now(), ..was.record.clone() };
        self.0.replace(was, now).await
    }

    /// Counts deliveries that were settled. A crash may forget the last few.
    pub async fn count_deliveries(
        &self,
        source: Id<Source>,
        id: Id<Connection>,
        delivered: u32,
        failed: u32,
    ) -> Result<(), StoreError> {
        let patch = Patch::of(Kind::Connection, connection::key(source, id))
            .add("deliveryCount", delivered.into())
            .add("failureCount", failed.into());
        self.0.commit_buffered(Batch::new().patch(patch)).await
    }
}

fn is_there(connection: &Connection) -> bool {
    connection.status != Status::Deleted
}
