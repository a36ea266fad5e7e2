//! Attempts: written once, by the verb that settles a delivery or alone.

use ferryhook_core::{Attempt, Event, Id};

use super::Slice;
use crate::batch::Batch;
use crate::query::{Page, Query};
use crate::record::{Kind, Stored};
use crate::records::{attempt, event};
use crate::{Store, StoreError};

#[derive(Debug, Clone, Copy)]
pub struct Attempts<'a>(pub(crate) &'a Store);

impl Attempts<'_> {
    /// An attempt that moves no delivery, such as the test of a connection. A crash may forget it.
    pub async fn record(&self, attempt: &Attempt) -> Result<(), StoreError> {
        self.0.commit_buffered(Batch::new().insert(attempt)).await
    }

    /// By number, and within a number by connection.
    pub async fn list_by_event(
        &self,
        event: Id<Event>,
        slice: Slice,
    ) -> Result<Page<Stored<Attempt>>, StoreError> {
        let query = Query::table(Kind::Attempt, event::partition(event));
        self.0.list(slice.of(query.prefix(attempt::PREFIX))).await
    }
}
