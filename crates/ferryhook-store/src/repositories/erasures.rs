//! Erasures: asked for, taken by one who runs them, saved on the way, ended once.
//!
//! What an erasure looked for leaves the store with its end like everything it erased: the row
//! that said it is scrubbed with the rest.

use ferryhook_core::{Account, Erasure, Id, Timestamp};

use super::{Slice, TRIES_MAX};
use crate::batch::Batch;
use crate::query::{Page, Query};
use crate::record::{Kind, Stored};
use crate::records::erasure;
use crate::tables::Index;
use crate::{Store, StoreError};

#[derive(Debug, Clone, Copy)]
pub struct Erasures<'a>(pub(crate) &'a Store);

impl Erasures<'_> {
    pub async fn create(&self, erasure: &Erasure) -> Result<(), StoreError> {
        self.0.insert(erasure).await
    }

    pub async fn find(
        &self,
        account: Id<Account>,
        id: Id<Erasure>,
    ) -> Result<Option<Stored<Erasure>>, StoreError> {
        self.0.find(&erasure::key(account, id)).await
    }

    /// In the order in which they were asked for.
    pub async fn list_by_account(
        &self,
        account: Id<Account>,
        slice: Slice,
    ) -> Result<Page<Stored<Erasure>>, StoreError> {
        let query = Query::table(Kind::Erasure, erasure::partition(account));
        self.0.list(slice.of(query.prefix(erasure::PREFIX))).await
    }

    /// Of all accounts those that are not over, in the order in which they were asked for.
    pub async fn list_open(&self, slice: Slice) -> Result<Page<Stored<Erasure>>, StoreError> {
        let query = Query::index(Kind::Erasure, Index::SourceOrConnectionById, erasure::OPEN);
        self.0.list_full(slice.of(query)).await
    }

    /// Takes it until `until`. `None` if it is over, or another was faster.
    pub async fn lease(
        &self,
        was: &Stored<Erasure>,
        until: Timestamp,
    ) -> Result<Option<Stored<Erasure>>, StoreError> {
        if was.is_over() {
            return Ok(None);
        }
        match self.save(was, was.lease(until)).await {
            Ok(leased) => Ok(Some(leased)),
            Err(error) if error.is_refused() => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// How far it has come, or how it has ended.
    pub async fn save(
        &self,
        was: &Stored<Erasure>,
        now: Erasure,
    ) -> Result<Stored<Erasure>, StoreError> {
        let mut batch = Batch::new().replace(was, &now);
        if was.names_someone() && !now.names_someone() {
            batch = batch.erasing(was.created_at);
        }
        self.0.commit(batch).await?;
        Ok(was.followed_by(now))
    }

    /// Has nothing more erased, whoever has it; one that is over stays as it is. `None` if there
    /// is none.
    pub async fn cancel(
        &self,
        account: Id<Account>,
        id: Id<Erasure>,
    ) -> Result<Option<Stored<Erasure>>, StoreError> {
        let mut tries = 0;
        loop {
            let Some(was) = self.find(account, id).await? else { return Ok(None) };
            let cancelled = was.cancel(self.0.now());
            if cancelled == was.record {
                return Ok(Some(was));
            }
            tries += 1;
            match self.save(&was, cancelled).await {
                // Whoever runs it saved it in between.
                Err(error) if error.is_refused() && tries < TRIES_MAX => {}
                saved => return saved.map(Some),
            }
        }
    }
}
