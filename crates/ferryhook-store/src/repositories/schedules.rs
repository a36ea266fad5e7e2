//! Schedules. They fall due on whole minutes, and are looked up minute by minute.

use ferryhook_core::{Id, Schedule, Source, Timestamp};

use super::{Slice, only};
use crate::query::{Page, Query};
use crate::record::{Kind, Stored};
use crate::records::schedule;
use crate::tables::Index;
use crate::{Store, StoreError};

#[derive(Debug, Clone, Copy)]
pub struct Schedules<'a>(pub(crate) &'a Store);

impl Schedules<'_> {
    pub async fn create(&self, schedule: &Schedule) -> Result<(), StoreError> {
        on_the_minute(schedule)?;
        self.0.insert(schedule).await
    }

    pub async fn find(
        &self,
        source: Id<Source>,
        id: Id<Schedule>,
    ) -> Result<Option<Stored<Schedule>>, StoreError> {
        self.0.find(&schedule::key(source, id)).await
    }

    pub async fn list_by_source(
        &self,
        source: Id<Source>,
        slice: Slice,
    ) -> Result<Page<Stored<Schedule>>, StoreError> {
        let query = Query::table(Kind::Schedule, source.as_str());
        self.0.list(slice.of(query)).await
    }

    /// The active ones that are due in the minute of `at`, in no particular order. Not those of
    /// earlier minutes: whoever was away asks for each minute they missed.
    pub async fn list_due(
        &self,
        at: Timestamp,
        slice: Slice,
    ) -> Result<Page<Stored<Schedule>>, StoreError> {
        let minute = at.minute().as_seconds();
        let query = Query::index(Kind::Schedule, Index::ScheduleNextRun, minute);
        let page = self.0.list(slice.of(query)).await?;
        Ok(only(page, |schedule: &Schedule| schedule.is_active))
    }

    /// After it ran: refused if another node was faster, so that only one of them runs it.
    pub async fn advance(
        &self,
        was: &Stored<Schedule>,
        next_run_at: Timestamp,
    ) -> Result<Stored<Schedule>, StoreError> {
        let now = self.0.now();
        let advanced =
            Schedule { next_run_at, last_run_at: Some(now), updated_at: now, ..was.record.clone() };
        self.replace(was, advanced).await
    }

    pub async fn replace(
        &self,
        was: &Stored<Schedule>,
        now: Schedule,
    ) -> Result<Stored<Schedule>, StoreError> {
        on_the_minute(&now)?;
        self.0.replace(was, now).await
    }

    pub async fn delete(&self, was: &Stored<Schedule>) -> Result<(), StoreError> {
        self.0.delete(was).await
    }
}

/// One between two minutes would be stored and never found due.
fn on_the_minute(schedule: &Schedule) -> Result<(), StoreError> {
    let at = schedule.next_run_at;
    match at == at.minute() {
        true => Ok(()),
        false => Err(StoreError::Malformed(format!("{at} is no whole minute"))),
    }
}
