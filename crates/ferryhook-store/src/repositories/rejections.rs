//! Rejections: what was refused at the door, by source and time.

use ferryhook_core::{Id, Rejection, Source, Timestamp};

use super::{Slice, Window};
use crate::batch::Batch;
use crate::query::{Page, Query};
use crate::record::{Kind, Stored};
use crate::records::{digits, rejection, source};
use crate::{Store, StoreError};

#[derive(Debug, Clone, Copy)]
pub struct Rejections<'a>(pub(crate) &'a Store);

impl Rejections<'_> {
    pub async fn record(&self, rejection: &Rejection) -> Result<(), StoreError> {
        self.0.insert(rejection).await
    }

    pub async fn find(
        &self,
        source: Id<Source>,
        rejected_at: Timestamp,
        id: Id<Rejection>,
    ) -> Result<Option<Stored<Rejection>>, StoreError> {
        self.0.find(&rejection::key(source, rejected_at, id)).await
    }

    pub async fn list_by_source(
        &self,
        source: Id<Source>,
        window: Window,
        slice: Slice,
    ) -> Result<Page<Stored<Rejection>>, StoreError> {
        let query = Query::table(Kind::Rejection, source::partition(source));
        let query = window.texts(query, rejection::PREFIX, digits);
        self.0.list(slice.of(query)).await
    }

    /// Really gone with the next [`Store::scrub`]. One that is gone already is no mistake.
    pub async fn erase(&self, was: &Stored<Rejection>) -> Result<(), StoreError> {
        let batch = Batch::new().delete(was).erasing(was.rejected_at);
        match self.0.commit(batch).await {
            Err(error) if error.is_refused() => Ok(()),
            done => done,
        }
    }

    pub async fn delete(&self, was: &Stored<Rejection>) -> Result<(), StoreError> {
        self.0.delete(was).await
    }
}
