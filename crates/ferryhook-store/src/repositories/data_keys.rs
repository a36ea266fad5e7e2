//! Data keys, one for each owner. Made when the owner has its first secret.

use ferryhook_core::DataKey;

use super::Slice;
use crate::query::{Page, Query};
use crate::record::{Kind, Stored};
use crate::records::data_key;
use crate::{Store, StoreError};

#[derive(Debug, Clone, Copy)]
pub struct DataKeys<'a>(pub(crate) &'a Store);

impl DataKeys<'_> {
    /// Refused if the owner has one already: whoever was faster made the one that counts.
    pub async fn create(&self, key: &DataKey) -> Result<(), StoreError> {
        self.0.insert(key).await
    }

    pub async fn find(&self, owner: &str) -> Result<Option<Stored<DataKey>>, StoreError> {
        self.0.find(&data_key::key(owner)).await
    }

    /// The numbers of the shards, which together have every key.
    pub fn shards() -> impl Iterator<Item = u8> {
        0..data_key::SHARDS
    }

    pub async fn list(&self, shard: u8, slice: Slice) -> Result<Page<Stored<DataKey>>, StoreError> {
        let query = Query::table(Kind::DataKey, data_key::partition(shard));
        self.0.list(slice.of(query)).await
    }

    pub async fn replace(
        &self,
        was: &Stored<DataKey>,
        now: DataKey,
    ) -> Result<Stored<DataKey>, StoreError> {
        self.0.replace(was, now).await
    }
}
