//! Hooks: who is told when something happens in an account.

use ferryhook_core::plan_count::Counted;
use ferryhook_core::{Account, Hook, Id, limits};

use super::plan_counts::{Counting, one_less};
use super::{Announcement, RoomError, Slice, TRIES_MAX, only};
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
        self.create_within(hook, None).await.map_err(RoomError::unlimited)
    }

    /// Unless the account would then have more than `most`.
    pub async fn create_within(&self, hook: &Hook, most: Option<u32>) -> Result<(), RoomError> {
        let (account, counted) = (hook.account_id, Counted::Webhooks);
        let most = most.map(u64::from);
        let counting = Counting { account, counted, by: 1, most, owner: None };
        counting.commit(self.0, || Batch::new().insert(hook)).await
    }

    /// One by one, for an account that is older than its count.
    pub(super) async fn count(&self, account: Id<Account>) -> Result<u64, StoreError> {
        let (mut count, mut slice) = (0, Slice::default().limit(limits::PAGE_MAX));
        loop {
            let page = self.list_by_account(account, slice.clone()).await?;
            count += page.rows.len() as u64;
            if page.next.is_none() {
                return Ok(count);
            }
            slice = slice.after(page.next);
        }
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
        let mut refusal = None;
        for _ in 0..TRIES_MAX {
            let counted = one_less(self.0, was.account_id, Counted::Webhooks).await?;
            match self.0.commit(counted(Batch::new().delete(was))).await {
                Err(error) if error.refused_at(1) => refusal = Some(error), // counted meanwhile
                done => return done,
            }
        }
        refusal.map_or(Ok(()), Err)
    }
}
