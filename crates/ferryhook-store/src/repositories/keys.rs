//! Keys for programs. Two keys never have the same hash.

use ferryhook_core::key::Status;
use ferryhook_core::{Account, Id, Key, Timestamp, User};

use super::{Slice, UniqueError};
use crate::batch::{Batch, Patch};
use crate::key::IndexKey;
use crate::query::{Page, Query};
use crate::record::{Kind, Record, Stored};
use crate::records::{Unique, key, user};
use crate::tables::Index;
use crate::{Store, StoreError};

#[derive(Debug, Clone, Copy)]
pub struct Keys<'a>(pub(crate) &'a Store);

impl Keys<'_> {
    pub async fn create(&self, key: &Key) -> Result<(), UniqueError> {
        let marker = Unique::key_hash(key.hash.expose(), &key.id);
        let batch = Batch::new().insert(&marker).insert(key);
        let committed = self.0.commit(batch).await;
        committed.map_err(UniqueError::at(0, "key"))
    }

    pub async fn find(
        &self,
        owner: Id<User>,
        id: Id<Key>,
    ) -> Result<Option<Stored<Key>>, StoreError> {
        self.0.find(&key::key(owner, id)).await
    }

    /// Through an index: on DynamoDB a key that was revoked a moment ago may still look active.
    pub async fn find_by_hash(&self, hash: &str) -> Result<Option<Stored<Key>>, StoreError> {
        let entry = IndexKey::new(Index::KeyByHash, key::hash_value(hash), "KEY");
        self.0.find_by(entry).await
    }

    pub async fn list_by_user(
        &self,
        owner: Id<User>,
        slice: Slice,
    ) -> Result<Page<Stored<Key>>, StoreError> {
        let query = Query::table(Kind::Key, user::partition(owner)).prefix(key::PREFIX);
        self.0.list(slice.of(query)).await
    }

    /// Sorted by status.
    pub async fn list_by_account(
        &self,
        account: Id<Account>,
        slice: Slice,
    ) -> Result<Page<Stored<Key>>, StoreError> {
        let query = Query::index(Kind::Key, Index::AccountStatus, account.as_str());
        self.0.list(slice.of(query)).await
    }

    pub async fn replace(&self, was: &Stored<Key>, now: Key) -> Result<Stored<Key>, StoreError> {
        self.0.replace(was, now).await
    }

    /// The row stays, and with it the hash: a revoked key is never handed out again.
    pub async fn revoke(&self, was: &Stored<Key>) -> Result<Stored<Key>, StoreError> {
        let now = Key { status: Status::Revoked, ..was.record.clone() };
        self.0.replace(was, now).await
    }

    pub async fn delete(&self, was: &Stored<Key>) -> Result<(), StoreError> {
        let marker = Unique::key_hash(was.hash.expose(), &was.id);
        let mut batch = Batch::new().delete(was);
        if let Some(marker) = self.0.find::<Unique>(&marker.key()).await? {
            batch = batch.delete(&marker);
        }
        self.0.commit(batch).await
    }

    /// Notes when it was used. A crash may forget the last time.
    pub async fn touch(
        &self,
        owner: Id<User>,
        id: Id<Key>,
        used_at: Timestamp,
    ) -> Result<(), StoreError> {
        let patch =
            Patch::of(Kind::Key, key::key(owner, id)).set("lastUsedAt", used_at.to_string());
        self.0.commit_buffered(Batch::new().patch(patch)).await
    }
}
