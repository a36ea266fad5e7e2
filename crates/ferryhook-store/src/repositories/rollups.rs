//! Rollups: what was counted in memory, added to the rows of its hour and its day.
//!
//! A count is an attribute that the engine adds to by itself. Several servers add to the same rows
//! without reading them and without losing anything; only who comes first in an hour has to look
//! whether the row is there.

use ferryhook_core::rollup::{Interval, Scope};
use ferryhook_core::{Rollup, Timestamp, limits};

use super::TRIES_MAX;
use crate::batch::{Batch, Patch};
use crate::query::Query;
use crate::record::{Kind, Record, Stored};
use crate::records::rollup;
use crate::{Store, StoreError};

#[derive(Debug, Clone, Copy)]
pub struct Rollups<'a>(pub(crate) &'a Store);

impl Rollups<'_> {
    /// Adds all of these in one commit, or none. No two of them are of the same scope and time; there
    /// are at most [`limits::ROLLUPS_AT_ONCE`], none of them with more counts than
    /// [`limits::ROLLUP_COUNTS_AT_ONCE`].
    pub async fn add(&self, more: &[Rollup]) -> Result<(), StoreError> {
        let most = limits::ROLLUP_COUNTS_AT_ONCE;
        if more.iter().any(|more| more.counts.named().count() > most) {
            let said = format!("a rollup is added to by at most {most} counts at once");
            return Err(StoreError::OutOfBounds(said));
        }
        let mut is_there = vec![true; more.len()];
        let mut refusal = None;
        for _ in 0..TRIES_MAX {
            let each = more.iter().zip(&is_there);
            let batch = each.fold(Batch::new(), |batch, (more, is_there)| match is_there {
                true => batch.patch(adding(more)),
                false => batch.insert(more),
            });
            if batch.is_empty() {
                return Ok(());
            }
            match self.0.commit_buffered(batch).await {
                Err(error) if error.is_refused() => refusal = Some(error),
                other => return other,
            }
            for (more, is_there) in more.iter().zip(&mut is_there) {
                *is_there = self.0.find::<Rollup>(&more.key()).await?.is_some();
            }
        }
        refusal.map_or(Ok(()), Err)
    }

    /// Those that begin between these moments, both included, oldest first. How many there can be
    /// is bounded by how long they are kept.
    pub async fn list(
        &self,
        scope: Scope,
        interval: Interval,
        from: Timestamp,
        to: Timestamp,
    ) -> Result<Vec<Rollup>, StoreError> {
        let ends = [from, to].map(|at| Some(rollup::sort(interval, at).into()));
        let [from, to] = ends;
        let query = Query::table(Kind::Rollup, rollup::partition(scope)).between(from, to);
        let mut query = query.limit(limits::PAGE_MAX);
        let mut found = Vec::new();
        loop {
            let page = self.0.list::<Rollup>(query.clone()).await?;
            found.extend(page.rows.into_iter().map(|Stored { record, .. }| record));
            if page.next.is_none() {
                return Ok(found);
            }
            query.after = page.next;
        }
    }
}

fn adding(more: &Rollup) -> Patch {
    let patch = Patch::of(Kind::Rollup, more.key());
    more.counts.named().fold(patch, |patch, (name, count)| {
        patch.add(name, i64::try_from(count).unwrap_or(i64::MAX))
    })
}
