//! Replays of many events: asked for, taken by one who runs them, saved on the way, ended once.

use ferryhook_core::replay::State;
use ferryhook_core::{Account, Id, Replay, Timestamp};

use super::{Slice, TRIES_MAX, Window};
use crate::query::{Page, Query};
use crate::record::{Kind, Stored};
use crate::records::replay;
use crate::tables::Index;
use crate::{Store, StoreError};

#[derive(Debug, Clone, Copy)]
pub struct Replays<'a>(pub(crate) &'a Store);

impl Replays<'_> {
    pub async fn create(&self, replay: &Replay) -> Result<(), StoreError> {
        self.0.insert(replay).await
    }

    /// By its key, and so as it was last written.
    pub async fn find_of(
        &self,
        account: Id<Account>,
        id: Id<Replay>,
    ) -> Result<Option<Stored<Replay>>, StoreError> {
        self.0.find(&replay::key(account, id)).await
    }

    /// Through an index: lags a moment behind the last write on DynamoDB.
    pub async fn find(&self, id: Id<Replay>) -> Result<Option<Stored<Replay>>, StoreError> {
        self.0.find_by(replay::by_id(id)).await
    }

    /// In the order in which they were asked for.
    pub async fn list_by_account(
        &self,
        account: Id<Account>,
        slice: Slice,
    ) -> Result<Page<Stored<Replay>>, StoreError> {
        let query = Query::table(Kind::Replay, replay::partition(account));
        self.0.list(slice.of(query.prefix(replay::PREFIX))).await
    }

    /// Of all accounts those that are not over, by when whoever has them may be given up.
    pub async fn list_running(
        &self,
        window: Window,
        slice: Slice,
    ) -> Result<Page<Stored<Replay>>, StoreError> {
        let query = Query::index(Kind::Replay, Index::Due, replay::QUEUE);
        self.0.list(slice.of(window.numbers(query, Timestamp::as_millis))).await
    }

    /// Takes it until `until`. `None` if it is over, or another was faster.
    pub async fn lease(
        &self,
        was: &Stored<Replay>,
        until: Timestamp,
    ) -> Result<Option<Stored<Replay>>, StoreError> {
        if !was.is_running() {
            return Ok(None);
        }
        let state = State::Running { lease_until: until };
        match self.save(was, Replay { state, ..was.record.clone() }).await {
            Ok(leased) => Ok(Some(leased)),
            Err(error) if error.is_refused() => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// How far it has come, or how it has ended.
    pub async fn save(
        &self,
        was: &Stored<Replay>,
        now: Replay,
    ) -> Result<Stored<Replay>, StoreError> {
        self.0.replace(was, now).await
    }

    /// Ends it, whoever has it; one that is over stays as it is. `None` if there is none.
    pub async fn cancel(
        &self,
        account: Id<Account>,
        id: Id<Replay>,
    ) -> Result<Option<Stored<Replay>>, StoreError> {
        let mut tries = 0;
        loop {
            let Some(was) = self.find_of(account, id).await? else { return Ok(None) };
            if !was.is_running() {
                return Ok(Some(was));
            }
            let cancelled = was.cancel(self.0.now());
            tries += 1;
            match self.save(&was, cancelled).await {
                // Whoever runs it saved it in between.
                Err(error) if error.is_refused() && tries < TRIES_MAX => {}
                saved => return saved.map(Some),
            }
        }
    }
}
