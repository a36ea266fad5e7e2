//! Quota: how many events of this month (UTC) an account may still take in.
//!
//! What is left of a month lies in one row of the store, for all servers. A server takes a block of
//! it, smaller as the end comes near and one by one at last, and lets events in from there in
//! memory: so no two servers let in the same one, and most events ask no store. What a server has
//! taken and nobody needs is given back, after a while and at a clean stop; a crash costs the
//! account what was left of a block.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use ferryhook_core::{Account, Env, Id, Timestamp};
use ferryhook_store::{Slice, Store, StoreError};

use super::limits;
use crate::shards::{SHARDS, Shards};

/// Days of a month, with room to spare.
const DAYS_MAX: usize = 40;
/// How often a block is taken for one request.
const TRIES_MAX: usize = 8;

/// Clones share what was taken.
#[derive(Debug, Clone, Default)]
pub(super) struct Quotas(Arc<Inner>);

#[derive(Debug, Default)]
struct Inner {
    months: Shards<HashMap<Id<Account>, Month>>,
    /// What the row of a month, known by its end, is to be changed by.
    owed: Shards<HashMap<(Id<Account>, Timestamp), i64>>,
    /// Of which months blocks were taken since somebody last asked, and what their plans have.
    moved: Shards<HashMap<Id<Account>, u64>>,
    /// Held by whoever takes a block, so that a thousand requests do not take a thousand.
    turns: Shards<Arc<tokio::sync::Mutex<()>>>,
}

#[derive(Debug, Clone)]
struct Month {
    ends_at: Timestamp,
    most: u64,
    /// Of the block.
    left: u64,
    used_up_until: Option<Duration>,
    used_at: Duration,
}

/// Leave to take in some events. What is not spent goes back into the block.
#[derive(Debug)]
pub(super) struct Grant {
    quotas: Quotas,
    account: Id<Account>,
    month_ends_at: Timestamp,
    left: u64,
}

impl Quotas {
    /// Leave for this many events, or none for any of them.
    pub(super) async fn take(
        &self,
        store: &Store,
        env: &Env,
        account: Id<Account>,
        most: u64,
        events: u64,
    ) -> Result<Option<Grant>, StoreError> {
        let asked = Asked { account, most, events, now: env.now(), passed: env.elapsed() };
        if let Some(answer) = self.answer(asked) {
            return Ok(answer);
        }
        let turn = self.0.turns.of(account).clone();
        let _turn = turn.lock().await;
        // Others may be faster to use up what was taken.
        for _ in 0..TRIES_MAX {
            if let Some(answer) = self.answer(asked) {
                return Ok(answer);
            }
            let needed = events.saturating_sub(self.left(account)).max(1);
            let taken = Box::pin(take_block(store, asked, needed)).await?;
            self.0.moved.of(account).insert(account, most);
            if let Some(month) = self.0.months.of(account).get_mut(&account) {
                month.left = month.left.saturating_add(taken);
                if taken < needed {
                    month.used_up_until = Some(asked.passed + limits::USED_UP_FOR);
                }
            }
        }
        Ok(self.answer(asked).flatten())
    }

    /// As far as memory knows.
    fn answer(&self, asked: Asked) -> Option<Option<Grant>> {
        let mut months = self.0.months.of(asked.account);
        let mut owed = Vec::new();
        let month = current(&mut months, asked, |account, ends_at, left| {
            owed.push((account, ends_at, left));
        });
        for (account, ends_at, left) in owed {
            self.owe(account, ends_at, -signed(left));
        }
        month.used_at = asked.passed;
        if let Some(left) = month.left.checked_sub(asked.events) {
            month.left = left;
            let (account, month_ends_at) = (asked.account, month.ends_at);
            let quotas = self.clone();
            return Some(Some(Grant { quotas, account, month_ends_at, left: asked.events }));
        }
        let is_used_up = month.used_up_until.is_some_and(|until| asked.passed < until);
        is_used_up.then_some(None)
    }

    fn left(&self, account: Id<Account>) -> u64 {
        self.0.months.of(account).get(&account).map_or(0, |month| month.left)
    }

    /// Something was let in without leave, by someone who may.
    pub(super) fn let_in(&self, account: Id<Account>, now: Timestamp, events: u64) {
        self.owe(account, now.next_month(), signed(events));
    }

    fn owe(&self, account: Id<Account>, ends_at: Timestamp, by: i64) {
        if by != 0 {
            let mut owed = self.0.owed.of(account);
            let sum = owed.entry((account, ends_at)).or_default();
            *sum = sum.saturating_add(by);
        }
    }

    fn give_back(&self, account: Id<Account>, ends_at: Timestamp, events: u64) {
        let mut months = self.0.months.of(account);
        match months.get_mut(&account).filter(|month| month.ends_at == ends_at) {
            Some(month) => month.left = month.left.saturating_add(events),
            None => {
                drop(months);
                self.owe(account, ends_at, -signed(events));
            }
        }
    }

    /// How much is spoken for of the months that something was taken of since this was last asked,
    /// and how much there is.
    pub(super) async fn counted(&self, store: &Store, env: &Env) -> Vec<(Id<Account>, u64, u64)> {
        let mut moved = Vec::new();
        self.0.moved.each().for_each(|mut some| moved.extend(some.drain()));
        let mut counted = Vec::with_capacity(moved.len());
        for (account, most) in moved {
            match store.plan_counts().find_events(account, env.now()).await {
                Ok(Some(month)) => {
                    counted.push((account, u64::try_from(month.count).unwrap_or(0), most));
                }
                Ok(None) => {}
                Err(error) => {
                    tracing::warn!(%error, account.id = %account, "a month's count is not known");
                }
            }
        }
        counted
    }

    /// Gives back what nobody has needed for a while; at the end, everything.
    pub(super) async fn flush(&self, store: &Store, env: &Env, is_last: bool) {
        let passed = env.elapsed();
        let mut idle = Vec::new();
        for mut months in self.0.months.each() {
            months.retain(|account, month| {
                let rests = passed.saturating_sub(month.used_at) >= limits::BLOCK_IDLE;
                if is_last || rests {
                    idle.push((*account, month.ends_at, month.left));
                }
                !(is_last || rests)
            });
        }
        for (account, ends_at, left) in idle {
            self.owe(account, ends_at, -signed(left));
        }
        let mut owed = Vec::new();
        self.0.owed.each().for_each(|mut some| owed.extend(some.drain()));
        owed.sort_unstable();
        for ((account, ends_at), by) in owed {
            // Any moment of that month names it.
            let at = Timestamp::from_millis(ends_at.as_millis() - 1);
            if let Err(error) = store.plan_counts().adjust_events(account, at, by).await {
                tracing::warn!(%error, account.id = %account, "the month's count has to wait");
                self.owe(account, ends_at, by);
            }
        }
    }
}

#[derive(Debug, Clone, Copy)]
struct Asked {
    account: Id<Account>,
    most: u64,
    events: u64,
    now: Timestamp,
    passed: Duration,
}

/// The month as it is known, or as it begins. What another month or another plan has left over is
/// handed to `left_over`.
fn current(
    months: &mut HashMap<Id<Account>, Month>,
    asked: Asked,
    mut left_over: impl FnMut(Id<Account>, Timestamp, u64),
) -> &mut Month {
    let Asked { account, most, now, passed, .. } = asked;
    if months.len() >= limits::MONTHS_MAX / SHARDS && !months.contains_key(&account) {
        let some = months.iter().find(|(_, month)| month.left == 0).map(|(id, _)| *id);
        let some = some.or_else(|| months.keys().next().copied());
        if let Some((some, month)) = some.and_then(|some| months.remove_entry(&some)) {
            left_over(some, month.ends_at, month.left);
        }
    }
    let begin =
        || Month { ends_at: now.next_month(), most, left: 0, used_up_until: None, used_at: passed };
    let month = months.entry(account).or_insert_with(begin);
    if month.most != most || now >= month.ends_at {
        left_over(account, month.ends_at, month.left);
        *month = begin();
    }
    month
}

async fn take_block(store: &Store, asked: Asked, needed: u64) -> Result<u64, StoreError> {
    let Asked { account, most, now, .. } = asked;
    let block = |room: u64| (room / limits::BLOCK_SHARE).clamp(1, limits::BLOCK_MAX).max(needed);
    let counts = store.plan_counts();
    if let Some(taken) = counts.take_events(account, now, most, block, None).await? {
        return Ok(taken);
    }
    let used = used(store, account, now).await?;
    Ok(counts.take_events(account, now, most, block, Some(used)).await?.unwrap_or(0))
}

/// What the days of the month say, for a month that began before anybody counted it as a whole.
async fn used(store: &Store, account: Id<Account>, now: Timestamp) -> Result<u64, StoreError> {
    let month = now.month();
    let (first, last) = (format!("{month}-01"), format!("{month}-31"));
    let mut slice = Slice::default().limit(DAYS_MAX);
    let mut events = 0u64;
    loop {
        let page = store.usage().list_days(account, &first, &last, slice.clone()).await?;
        for day in &page.rows {
            events = events.saturating_add(day.events());
        }
        match page.next {
            None => return Ok(events),
            next => slice = slice.after(next),
        }
    }
}

impl Grant {
    /// An event was let in.
    pub(super) fn spend(&mut self) {
        self.left = self.left.saturating_sub(1);
    }

    pub(super) fn join(&mut self, mut other: Self) {
        self.left += std::mem::take(&mut other.left);
    }
}

impl Drop for Grant {
    fn drop(&mut self) {
        if self.left > 0 {
            self.quotas.give_back(self.account, self.month_ends_at, self.left);
        }
    }
}

fn signed(events: u64) -> i64 {
    i64::try_from(events).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests;
