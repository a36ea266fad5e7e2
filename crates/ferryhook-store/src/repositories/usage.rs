//! Usage: what was counted in memory, added to the day's row every few seconds.

use ferryhook_core::{Account, Id, Usage};

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
                Some(was) => {
                    let mut sum = was.record.clone();
                    sum.add(more);
                    Batch::new().replace(&was, &sum)
                }
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
