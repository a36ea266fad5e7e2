//! Replays of many events: how many it would be, do it, how far is it, stop it.

use ferryhook_core::replay::{BadSelection, Position, Selection};
use ferryhook_core::{Account, Id, Replay, limits};
use ferryhook_flow::replay::{self, Count, CountError, OrderError};
use ferryhook_store::Slice;

use super::orders::ReplayMany;
use super::view::{ReplayJob, ReplayList};
use super::{Complaint, Desk};

impl Desk {
    pub(super) async fn count_replay(
        &self,
        order: &ReplayMany,
        after: Option<Position>,
    ) -> Result<Count, Complaint> {
        let selection = self.selection(order).await?;
        let Some(account) = self.account().await? else {
            return Ok(Count { matched: 0, looked_at: 0, next: None });
        };
        Ok(replay::count(&self.store, account, &selection, after).await?)
    }

    pub(super) async fn replay_many(&self, order: &ReplayMany) -> Result<ReplayJob, Complaint> {
        let account = self.require_account().await?;
        let selection = self.selection(order).await?;
        let source = match &selection {
            Selection::Filter { filter } => filter.source_id,
            Selection::Ids { .. } => None,
        };
        let to = self.find_connections(source, &order.to).await?;
        let replay = Replay::new(account, selection, to, order.rate_per_second, &self.env)?;
        match &self.courier {
            Some(courier) => courier.replay_many(&replay).await?,
            None => replay::jobs::order(&self.store, &replay).await?,
        }
        Ok(self.job(&replay))
    }

    async fn selection(&self, order: &ReplayMany) -> Result<Selection, Complaint> {
        if !order.ids.is_empty() {
            return Ok(Selection::ids(order.ids.clone())?);
        }
        let filter = self.filter(&order.wanted).await?;
        Ok(Selection::filter(filter, self.env.now())?)
    }

    pub(super) async fn list_replays(&self, limit: usize) -> Result<ReplayList, Complaint> {
        let Some(account) = self.account().await? else {
            return Ok(ReplayList { data: Vec::new(), has_more: false });
        };
        let slice = Slice::newest_first().limit(limit.clamp(1, limits::PAGE_MAX));
        let page = self.store.replays().list_by_account(account, slice).await?;
        let data = page.rows.iter().map(|row| self.job(row)).collect();
        Ok(ReplayList { data, has_more: page.next.is_some() })
    }

    pub(super) async fn show_replay(&self, id: Id<Replay>) -> Result<ReplayJob, Complaint> {
        let account = self.require_account().await?;
        let found = self.store.replays().find_of(account, id).await?;
        Ok(self.job(&found.ok_or_else(|| unknown(id))?.record))
    }

    /// One that is over stays as it is.
    pub(super) async fn cancel_replay(&self, id: Id<Replay>) -> Result<ReplayJob, Complaint> {
        let account = self.require_account().await?;
        let cancelled = self.store.replays().cancel(account, id).await?;
        Ok(self.job(&cancelled.ok_or_else(|| unknown(id))?.record))
    }

    async fn require_account(&self) -> Result<Id<Account>, Complaint> {
        let nobody = || Complaint::NotFound("there is nothing here yet to replay".to_owned());
        self.account().await?.ok_or_else(nobody)
    }

    fn job(&self, replay: &Replay) -> ReplayJob {
        ReplayJob::new(replay, self.courier.is_none())
    }
}

fn unknown(id: Id<Replay>) -> Complaint {
    Complaint::NotFound(format!("there is no replay {id}"))
}

impl From<BadSelection> for Complaint {
    fn from(error: BadSelection) -> Self {
        Self::Refused(error.to_string())
    }
}

impl From<OrderError> for Complaint {
    fn from(error: OrderError) -> Self {
        Self::Refused(error.to_string())
    }
}

impl From<CountError> for Complaint {
    fn from(error: CountError) -> Self {
        Self::Refused(error.to_string())
    }
}
