//! Plans: a small catalogue that the operator edits.

use ferryhook_core::{Plan, limits};

use super::{Slice, TRIES_MAX};
use crate::batch::Batch;
use crate::query::{Page, Query};
use crate::record::{Kind, Stored};
use crate::records::plan;
use crate::records::unique::{self, Unique};
use crate::tables::Index;
use crate::{Store, StoreError};

/// Pages of the catalogue that are looked at; nobody sells so many.
const PAGES_MAX: usize = 10;

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

    /// The whole catalogue, which fits on a page or two.
    pub async fn all(&self) -> Result<Vec<Stored<Plan>>, StoreError> {
        let (mut plans, mut slice) = (Vec::new(), Slice::default().limit(limits::PAGE_MAX));
        for _ in 0..PAGES_MAX {
            let page = self.list(slice.clone()).await?;
            plans.extend(page.rows);
            if page.next.is_none() {
                break;
            }
            slice = slice.after(page.next);
        }
        Ok(plans)
    }

    /// The plan that new accounts get.
    pub async fn find_default(&self) -> Result<Option<Stored<Plan>>, StoreError> {
        Ok(self.all().await?.into_iter().find(|plan| plan.is_default))
    }

    /// Makes it the default, and those that were no longer: there is one at any time. `was` is what
    /// it was, if it is not new.
    pub async fn make_default(
        &self,
        was: Option<&Stored<Plan>>,
        now: &Plan,
    ) -> Result<(), StoreError> {
        let mut tries = 1;
        loop {
            match self.try_make_default(was, now).await {
                // Another was made the default meanwhile; that of the plan itself is for the caller.
                Err(StoreError::Refused { key, .. })
                    if key != plan::key(&now.id) && tries < TRIES_MAX =>
                {
                    tries += 1;
                }
                other => return other,
            }
        }
    }

    /// The catalogue does not tell of those that come into it just now, so a marker says which is
    /// the default: whoever finds it changed, or made, was second.
    async fn try_make_default(
        &self,
        was: Option<&Stored<Plan>>,
        now: &Plan,
    ) -> Result<(), StoreError> {
        let batch = match was {
            Some(was) => Batch::new().replace(was, now),
            None => Batch::new().insert(now),
        };
        let marker = self.0.find::<Unique>(&unique::key(unique::DEFAULT_PLAN)).await?;
        let ours = Unique::default_plan(&now.id);
        let mut batch = match &marker {
            Some(marker) => batch.replace(marker, &ours),
            None => batch.insert(&ours),
        };
        // Older catalogues have no marker, and seeded ones begin without.
        let catalogue = self.all().await?.into_iter().filter(|plan| plan.is_default);
        let listed = catalogue.map(|plan| plan.record.id);
        let mut formers: Vec<_> = marker.map(|marker| marker.record.owner_id).into_iter().collect();
        formers.extend(listed);
        formers.sort_unstable();
        formers.dedup();
        for former in formers.iter().filter(|former| **former != now.id) {
            if let Some(former) = self.find(former).await?.filter(|former| former.is_default) {
                let updated_at = now.updated_at;
                let less = Plan { is_default: false, updated_at, ..former.record.clone() };
                batch = batch.replace(&former, &less);
            }
        }
        self.0.commit(batch).await
    }

    pub async fn replace(&self, was: &Stored<Plan>, now: Plan) -> Result<Stored<Plan>, StoreError> {
        self.0.replace(was, now).await
    }
}
