//! Plans: a small catalogue that the operator edits.

use ferryhook_core::Plan;

use super::{Slice, TRIES_MAX};
use crate::batch::Batch;
use crate::query::{Page, Query};
use crate::record::{Kind, Stored};
use crate::records::plan;
use crate::tables::Index;
use crate::{Store, StoreError};

#[derive(Debug, Clone, Copy)]
pub struct Plans<'a>(pub(crate) &'a Store);

impl Plans<'_> {
    /// Adds those that are not there yet and leaves the others as the operator has them. Several
    /// servers may start, and do this, at the same time.
    pub async fn seed(&self, plans: &[Plan]) -> Result<(), StoreError> {
        let mut refusal = None;
        for _ in 0..TRIES_MAX {
            let mut batch = Batch::new();
            for plan in plans {
                if self.find(&plan.id).await?.is_none() {
                    batch = batch.insert(plan);
                }
            }
            if batch.is_empty() {
                return Ok(());
            }
            match self.0.commit(batch).await {
                Err(error) if error.is_refused() => refusal = Some(error),
                other => return other,
            }
        }
        refusal.map_or(Ok(()), Err)
    }

    pub async fn create(&self, plan: &Plan) -> Result<(), StoreError> {
        self.0.insert(plan).await
    }

    pub async fn find(&self, id: &str) -> Result<Option<Stored<Plan>>, StoreError> {
        self.0.find(&plan::key(id)).await
    }

    /// Also those that are not on offer any more.
    pub async fn list(&self, slice: Slice) -> Result<Page<Stored<Plan>>, StoreError> {
        let query = Query::index(Kind::Plan, Index::PlanCatalogue, plan::CATALOGUE);
        self.0.list(slice.of(query)).await
    }

    pub async fn replace(&self, was: &Stored<Plan>, now: Plan) -> Result<Stored<Plan>, StoreError> {
        self.0.replace(was, now).await
    }
}
