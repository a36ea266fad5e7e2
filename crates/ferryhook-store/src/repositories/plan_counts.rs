//! Plan counts: the rows by which the limits of plans are held, whoever asks and wherever.
//!
//! What is made or deleted carries the count along in its own commit ([`Counting`]). Events, of
//! which there are too many for that, are taken in blocks beforehand ([`PlanCounts::take_events`])
//! and what was not used is given back.

use ferryhook_core::plan_count::Counted;
use ferryhook_core::{Account, Id, Plan, PlanCount, Timestamp, User, limits};

use super::TRIES_MAX;
use crate::batch::{Batch, Condition, Patch};
use crate::record::{Kind, Stored};
use crate::records::plan_count;
use crate::{Store, StoreError};

#[derive(Debug, Clone, Copy)]
pub struct PlanCounts<'a>(pub(crate) &'a Store);

/// Why something was not made.
#[derive(Debug, thiserror::Error)]
pub enum RoomError {
    #[error("there is room for {most}")]
    Full { most: u64 },
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl PlanCounts<'_> {
    /// The plan that pays for an account: that of its owner.
    pub async fn plan_of(&self, account: Id<Account>) -> Result<Option<Stored<Plan>>, StoreError> {
        let Some(account) = self.0.accounts().find(account).await? else { return Ok(None) };
        let Some(owner) = self.0.users().find(account.user_id).await? else { return Ok(None) };
        self.0.plans().find(&owner.plan).await
    }

    pub async fn find(
        &self,
        account: Id<Account>,
        counted: Counted,
    ) -> Result<Option<Stored<PlanCount>>, StoreError> {
        self.0.find(&plan_count::key(account, counted, None)).await
    }

    /// How many there are, whether anybody has counted them yet or not. `owner` is who the sources of
    /// the account are kept under.
    pub async fn standing(
        &self,
        account: Id<Account>,
        counted: Counted,
        owner: Id<User>,
    ) -> Result<u64, StoreError> {
        match self.find(account, counted).await? {
            Some(found) => Ok(u64::try_from(found.count).unwrap_or(0)),
            None => {
                let of = Counting { account, counted, by: 0, most: None, owner: Some(owner) };
                of.there(self.0).await
            }
        }
    }

    /// Of the month that `at` lies in. What servers have taken and not used yet is in it.
    pub async fn find_events(
        &self,
        account: Id<Account>,
        at: Timestamp,
    ) -> Result<Option<Stored<PlanCount>>, StoreError> {
        self.0.find(&plan_count::key(account, Counted::Events, Some(&at.month()))).await
    }

    /// Takes as many events of the month as `block` says of the room that is left, which is all the
    /// caller may let in; 0 when there is no room. `None` when nobody has counted this month yet:
    /// whoever asks first says what it has had.
    pub async fn take_events(
        &self,
        account: Id<Account>,
        at: Timestamp,
        most: u64,
        block: impl Fn(u64) -> u64,
        used: Option<u64>,
    ) -> Result<Option<u64>, StoreError> {
        let mut refusal = None;
        for _ in 0..TRIES_MAX {
            let found = self.find_events(account, at).await?;
            let count = match (&found, used) {
                (Some(found), _) => u64::try_from(found.count).unwrap_or(0),
                (None, Some(used)) => used,
                (None, None) => return Ok(None),
            };
            let room = most.saturating_sub(count);
            let taken = block(room).min(room);
            if taken == 0 {
                return Ok(Some(0));
            }
            let batch = match &found {
                Some(was) => {
                    let key = plan_count::key(account, Counted::Events, was.month.as_deref());
                    let patch = Patch::of(Kind::PlanCount, key).add("count", signed(taken));
                    Batch::new().patch(patch.when(Condition::Revision(was.revision)))
                }
                None => Batch::new().insert(&month(account, at, count.saturating_add(taken))),
            };
            match self.0.commit_buffered(batch).await {
                Ok(()) => return Ok(Some(taken)),
                Err(error) if error.is_refused() => refusal = Some(error), // another server took some
                Err(error) => return Err(error),
            }
        }
        refusal.map_or(Ok(Some(0)), Err)
    }

    /// Gives back what was taken and not used, or adds what was let in without asking. Nothing if
    /// nobody has counted that month.
    pub async fn adjust_events(
        &self,
        account: Id<Account>,
        at: Timestamp,
        by: i64,
    ) -> Result<(), StoreError> {
        let key = plan_count::key(account, Counted::Events, Some(&at.month()));
        let patch = Patch::of(Kind::PlanCount, key).add("count", by);
        match self.0.commit_buffered(Batch::new().patch(patch)).await {
            Err(error) if error.is_refused() => Ok(()),
            other => other,
        }
    }
}

fn month(account: Id<Account>, at: Timestamp, count: u64) -> PlanCount {
    let ends_at = at.next_month();
    PlanCount {
        account_id: account,
        counted: Counted::Events,
        month: Some(at.month()),
        count: signed(count),
        expires_at: Some(ends_at + limits::MONTH_COUNT_KEPT),
    }
}

fn signed(count: u64) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}

/// By how much a commit changes what an account has of something.
#[derive(Debug, Clone, Copy)]
pub(super) struct Counting {
    pub(super) account: Id<Account>,
    pub(super) counted: Counted,
    pub(super) by: i64,
    /// What the plan allows; only asked for when there will be more.
    pub(super) most: Option<u64>,
    /// Under whom the sources of the account are kept.
    pub(super) owner: Option<Id<User>>,
}

impl Counting {
    /// Commits what `batch` makes together with the count, which is the last action, so that other
    /// refusals keep their places.
    pub(super) async fn commit(
        self,
        store: &Store,
        batch: impl Fn() -> Batch,
    ) -> Result<(), RoomError> {
        if self.by == 0 {
            return Ok(store.commit(batch()).await?);
        }
        let mut refusal = None;
        for _ in 0..TRIES_MAX {
            let batch = batch();
            let place = batch.actions().len();
            let batch = self.added_to(store, batch).await?;
            match store.commit(batch).await {
                Err(error) if error.refused_at(place) => refusal = Some(error),
                done => return Ok(done?),
            }
        }
        Err(refusal.map_or_else(busy, RoomError::Store))
    }

    async fn added_to(self, store: &Store, batch: Batch) -> Result<Batch, RoomError> {
        let Self { account, counted, by, most, .. } = self;
        let found = store.plan_counts().find(account, counted).await?;
        let standing = match &found {
            Some(found) => found.record.clone(),
            None => PlanCount::standing(account, counted, signed(self.there(store).await?)),
        };
        let most = most.filter(|_| by > 0);
        if let Some(most) = most.filter(|most| !standing.has_room(by, *most)) {
            return Err(RoomError::Full { most });
        }
        let Some(found) = found else {
            let count = standing.count.saturating_add(by);
            return Ok(batch.insert(&PlanCount { count, ..standing }));
        };
        // Where there is no limit, nobody is refused because somebody else was counted.
        let condition = match most {
            Some(_) => Condition::Revision(found.revision),
            None => Condition::Exists,
        };
        let key = plan_count::key(account, counted, None);
        Ok(batch.patch(Patch::of(Kind::PlanCount, key).add("count", by).when(condition)))
    }
}

impl Counting {
    /// How many there are, one by one: for an account that is older than its count. Whatever is made
    /// meanwhile brings a count along, and then this one is refused.
    async fn there(self, store: &Store) -> Result<u64, StoreError> {
        match (self.counted, self.owner) {
            (Counted::Sources, Some(owner)) => store.sources().count(owner, self.account).await,
            (Counted::Users, _) => store.members().count(self.account).await,
            (Counted::Webhooks, _) => store.hooks().count(self.account).await,
            (Counted::Sources, None) | (Counted::Events, _) => Ok(0),
        }
    }
}

/// What counts one less beside a deletion. Where nothing was counted yet, the commit is refused if
/// somebody has begun to meanwhile.
pub(super) async fn one_less(
    store: &Store,
    account: Id<Account>,
    counted: Counted,
) -> Result<impl Fn(Batch) -> Batch, StoreError> {
    let key = plan_count::key(account, counted, None);
    let is_there = store.find::<PlanCount>(&key).await?.is_some();
    Ok(move |batch: Batch| match is_there {
        true => batch.patch(Patch::of(Kind::PlanCount, key.clone()).add("count", -1)),
        false => batch.require(key.clone(), Condition::Absent),
    })
}

/// The count that a new account begins with: its first member.
pub(super) fn first_member(account: Id<Account>) -> PlanCount {
    PlanCount::standing(account, Counted::Users, 1)
}

fn busy() -> RoomError {
    StoreError::Unavailable("the account is being changed by others".into(), None).into()
}

impl RoomError {
    /// For what was done without a limit.
    pub(super) fn unlimited(self) -> StoreError {
        match self {
            Self::Store(error) => error,
            full @ Self::Full { .. } => StoreError::Unavailable(full.to_string(), None),
        }
    }
}
