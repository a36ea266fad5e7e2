//! Usage: what was counted in memory, added to the day's row every few seconds.

use ferryhook_core::{Account, Id, Map, Usage};
use serde_json::Value;

use super::{Slice, TRIES_MAX};
use crate::batch::Batch;
use crate::query::{Page, Query};
use crate::record::{Kind, Stored};
use crate::records::usage;
use crate::tables::Index;
use crate::{Store, StoreError};

#[derive(Debug, Clone, Copy)]
pub struct UsageDays<'a>(pub(crate) &'a Store);

impl UsageDays<'_> {
    /// Adds to the day's row, or begins it. A crash may forget the last addition.
    ///
    /// The row has counts inside maps, which no patch reaches, so it is read, added to and
    /// written back; other nodes do the same, hence the tries.
    pub async fn add(&self, more: &Usage) -> Result<(), StoreError> {
        let mut refusal = None;
        for _ in 0..TRIES_MAX {
            let batch = match self.find(more.account_id, &more.day).await? {
                None => Batch::new().insert(more),
                Some(was) => Batch::new().replace(&was, &sum(&was, more)),
            };
            match self.0.commit_buffered(batch).await {
                Err(error) if error.is_refused() => refusal = Some(error),
                other => return other,
            }
        }
        refusal.map_or(Ok(()), Err)
    }

    pub async fn find(
        &self,
        account: Id<Account>,
        day: &str,
    ) -> Result<Option<Stored<Usage>>, StoreError> {
        self.0.find(&usage::key(account, day)).await
    }

    /// From the first to the last of these days, both included.
    pub async fn list_days(
        &self,
        account: Id<Account>,
        first: &str,
        last: &str,
        slice: Slice,
    ) -> Result<Page<Stored<Usage>>, StoreError> {
        let query = Query::table(Kind::Usage, account.as_str());
        let query = query.between(Some(first.into()), Some(last.into()));
        self.0.list(slice.of(query)).await
    }

    /// All accounts that used anything on this day.
    pub async fn list_by_date(
        &self,
        day: &str,
        slice: Slice,
    ) -> Result<Page<Stored<Usage>>, StoreError> {
        let query = Query::index(Kind::Usage, Index::UsageDate, day);
        self.0.list(slice.of(query)).await
    }
}

/// Counts add up. What is a level rather than a count (storage, users, sources) has its highest
/// value of the day.
fn sum(was: &Usage, more: &Usage) -> Usage {
    let by_user = match (was.by_user.clone(), more.by_user.as_ref()) {
        (Some(mut was), Some(more)) => {
            add_map(&mut was, more);
            Some(was)
        }
        (was, more) => was.or_else(|| more.cloned()),
    };
    let mut by_platform = was.by_platform.clone();
    add_map(&mut by_platform, &more.by_platform);
    let hours = was.hourly_counts.len().max(more.hourly_counts.len());
    let at = |counts: &[u64], hour: usize| counts.get(hour).copied().unwrap_or(0);
    let hourly = (0..hours)
        .map(|hour| at(&was.hourly_counts, hour).saturating_add(at(&more.hourly_counts, hour)));
    Usage {
        account_id: was.account_id,
        day: was.day.clone(),
        api_calls: was.api_calls.saturating_add(more.api_calls),
        data_processed_bytes: was.data_processed_bytes.saturating_add(more.data_processed_bytes),
        storage_used_bytes: was.storage_used_bytes.max(more.storage_used_bytes),
        sync_jobs: was.sync_jobs.saturating_add(more.sync_jobs),
        active_users: was.active_users.max(more.active_users),
        active_sources: was.active_sources.max(more.active_sources),
        error_count: was.error_count.saturating_add(more.error_count),
        by_platform,
        by_user,
        hourly_counts: hourly.collect(),
        updated_at: was.updated_at.max(more.updated_at),
    }
}

fn add_map(was: &mut Map, more: &Map) {
    for (name, more) in more {
        match was.get_mut(name) {
            None => {
                was.insert(name.clone(), more.clone());
            }
            Some(Value::Object(was)) => {
                if let Value::Object(more) = more {
                    add_map(was, more);
                }
            }
            Some(was) => {
                if let (Some(a), Some(b)) = (was.as_u64(), more.as_u64()) {
                    *was = a.saturating_add(b).into();
                }
            }
        }
    }
}
