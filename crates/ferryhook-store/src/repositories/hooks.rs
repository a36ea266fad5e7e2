//! Hooks: who is told when something happens in an account.

use ferryhook_core::{Account, Hook, Id};

use super::{Announcement, Slice, only};
use crate::batch::Batch;
use crate::query::{Page, Query};
use crate::record::{Kind, Stored};
use crate::records::{Shard, hook};
use crate::tables::Index;
use crate::{Store, StoreError};

#[derive(Debug, Clone, Copy)]
pub struct Hooks<'a>(pub(crate) &'a Store);

impl Hooks<'_> {
    pub async fn create(&self, hook: &Hook) -> Result<(), StoreError> {
        self.0.insert(hook).await
    }

    pub async fn find(&self, id: Id<Hook>) -> Result<Option<Stored<Hook>>, StoreError> {
        self.0.find(&hook::key(id)).await
    }

    /// The inactive ones first.
    pub async fn list_by_account(
        &self,
        account: Id<Account>,
        slice: Slice,
    ) -> Result<Page<Stored<Hook>>, StoreError> {
        let query = Query::index(Kind::Hook, Index::HookActive, account.as_str());
        self.0.list(slice.of(query)).await
    }

    pub async fn list_active(
        &self,
        account: Id<Account>,
        slice: Slice,
    ) -> Result<Page<Stored<Hook>>, StoreError> {
        let query = Query::index(Kind::Hook, Index::HookActive, account.as_str());
        self.0.list(slice.of(query.exactly(1))).await
    }

    /// The active ones that asked to hear of this.
    pub async fn list_subscribed(
        &self,
        account: Id<Account>,
        event: &str,
        slice: Slice,
    ) -> Result<Page<Stored<Hook>>, StoreError> {
        let page = self.list_active(account, slice).await?;
        let asked = |hook: &Hook| hook.events.iter().any(|wanted| wanted == event);
        Ok(only(page, asked))
    }

    pub async fn replace(&self, was: &Stored<Hook>, now: Hook) -> Result<Stored<Hook>, StoreError> {
        self.0.replace(was, now).await
    }

    /// Of all accounts: for whoever looks after the queues of their deliveries.
    pub async fn list_lanes(
        &self,
        shard: Shard,
        slice: Slice,
    ) -> Result<Page<Stored<Hook>>, StoreError> {
        let query = Query::index(Kind::Hook, Index::HookLanes, shard.partition());
        self.0.list(slice.of(query)).await
    }

    /// Turns it off, and says so.
    pub async fn disable(
        &self,
        was: &Stored<Hook>,
        now: &Hook,
        announcement: &Announcement,
    ) -> Result<(), StoreError> {
        self.0.commit(Batch::new().replace(was, now).announcing(announcement)).await
    }

    pub async fn delete(&self, was: &Stored<Hook>) -> Result<(), StoreError> {
        self.0.delete(was).await
    }
}
