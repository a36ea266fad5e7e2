//! How many bytes of an account's events were kept when a day began, as far as its plan keeps them.
//! Looked up once for each account and day, from the days before.

use std::collections::HashMap;
use std::time::Duration;

use ferryhook_core::rollup::{Interval, Scope};
use ferryhook_core::{Account, Id, Timestamp, Usage, limits as bounds};
use ferryhook_store::{Store, StoreError};

use super::Tally;
use crate::courier::lock;
use crate::limits;

#[derive(Debug, Default)]
pub(super) struct KeptBefore(HashMap<Id<Account>, (Timestamp, u64)>);

impl Tally {
    /// Before the day of this row.
    pub(super) async fn kept_before(
        &self,
        store: &Store,
        usage: &Usage,
    ) -> Result<u64, StoreError> {
        let (account, day) = (usage.account_id, Interval::Day.begin(usage.updated_at));
        let known = lock(&self.0.kept_before).0.get(&account).copied();
        if let Some((_, bytes)) = known.filter(|(known, _)| *known == day) {
            return Ok(bytes);
        }
        let plan = store.plan_counts().plan_of(account).await?;
        let retention = plan.and_then(|plan| plan.retention());
        let retention = retention.unwrap_or(bounds::ROLLUP_DAYS_KEPT);
        let from = Interval::Day.begin(day - retention.min(bounds::ROLLUP_DAYS_KEPT));
        let scope = Scope::Account(account);
        let to = day - Duration::from_millis(1);
        let days = store.rollups().list(scope, Interval::Day, from, to).await?;
        let bytes = days.iter().fold(0, |sum: u64, day| sum.saturating_add(day.counts.bytes));
        let mut kept = lock(&self.0.kept_before);
        if kept.0.len() >= limits::TALLIES_MAX {
            kept.0.clear(); // to be looked up again by whoever is still busy
        }
        kept.0.insert(account, (day, bytes));
        Ok(bytes)
    }
}
