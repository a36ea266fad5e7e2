//! Runs of syncs: started, then replaced as they go on and end.

use ferryhook_core::run::Status;
use ferryhook_core::{Id, Run, Source, Timestamp};

use super::{Slice, Window};
use crate::query::{Page, Query};
use crate::record::{Kind, Stored};
use crate::records::{run, word};
use crate::tables::Index;
use crate::{Store, StoreError};

#[derive(Debug, Clone, Copy)]
pub struct Runs<'a>(pub(crate) &'a Store);

impl Runs<'_> {
    pub async fn start(&self, run: &Run) -> Result<(), StoreError> {
        self.0.insert(run).await
    }

    pub async fn find(
        &self,
        source: Id<Source>,
        id: Id<Run>,
    ) -> Result<Option<Stored<Run>>, StoreError> {
        self.0.find(&run::key(source, id)).await
    }

    /// In order of their start.
    pub async fn list_by_source(
        &self,
        source: Id<Source>,
        slice: Slice,
    ) -> Result<Page<Stored<Run>>, StoreError> {
        let query = Query::table(Kind::Run, source.as_str());
        self.0.list(slice.of(query)).await
    }

    /// Of all accounts: for the operator and the scheduler.
    pub async fn list_by_status(
        &self,
        status: Status,
        started: Window,
        slice: Slice,
    ) -> Result<Page<Stored<Run>>, StoreError> {
        let query = Query::index(Kind::Run, Index::RunStatus, word(status));
        let query = started.numbers(query, Timestamp::as_seconds);
        self.0.list(slice.of(query)).await
    }

    pub async fn replace(&self, was: &Stored<Run>, now: Run) -> Result<Stored<Run>, StoreError> {
        self.0.replace(was, now).await
    }
}
