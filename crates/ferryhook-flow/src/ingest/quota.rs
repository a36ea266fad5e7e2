//! Quota: how many events an account has taken in this month (UTC).
//!
//! Counted in memory, beginning with what the days of the month say in the store. Other nodes
//! write to those days as well, so they are looked at again every few minutes; until then each
//! node may let in a little more than the plan has.

use std::collections::HashMap;
use std::time::Duration;

use ferryhook_core::{Account, Env, Id, Timestamp, Usage};
use ferryhook_store::{Slice, Store, StoreError};
use serde_json::Value;

use super::limits;
use super::shards::{SHARDS, Shards};

/// Days of a month, with room to spare.
const DAYS_MAX: usize = 40;

#[derive(Debug, Default)]
pub(super) struct Quotas(Shards<HashMap<Id<Account>, Month>>);

#[derive(Debug, Clone, PartialEq)]
struct Month {
    /// `2026-01`
    name: String,
    events: u64,
    read_at: Duration,
}

impl Quotas {
    /// Whether the account may take in one more.
    pub(super) async fn has_room(
        &self,
        store: &Store,
        env: &Env,
        account: Id<Account>,
        limit: u64,
    ) -> Result<bool, StoreError> {
        let (name, now) = (month_of(env.now()), env.elapsed());
        if let Some(month) = self.0.of(account).get(&account)
            && month.name == name
            && now.saturating_sub(month.read_at) < limits::MONTH_FRESH_FOR
        {
            return Ok(month.events < limit);
        }
        let stored = stored(store, account, &name).await?;
        let mut months = self.0.of(account);
        if months.len() >= limits::MONTHS_MAX / SHARDS && !months.contains_key(&account) {
            let some = months.keys().next().copied();
            some.map(|some| months.remove(&some));
        }
        // What was counted here and is not stored yet must not be forgotten by looking.
        let known = months.get(&account).filter(|month| month.name == name);
        let events = known.map_or(stored, |month| month.events.max(stored));
        months.insert(account, Month { name, events, read_at: now });
        Ok(events < limit)
    }

    pub(super) fn count(&self, account: Id<Account>, events: u64) {
        if let Some(month) = self.0.of(account).get_mut(&account) {
            month.events = month.events.saturating_add(events);
        }
    }
}

async fn stored(store: &Store, account: Id<Account>, month: &str) -> Result<u64, StoreError> {
    let (first, last) = (format!("{month}-01"), format!("{month}-31"));
    let mut slice = Slice::default().limit(DAYS_MAX);
    let mut events = 0u64;
    loop {
        let page = store.usage().list_days(account, &first, &last, slice.clone()).await?;
        for day in &page.rows {
            events = events.saturating_add(events_of(day));
        }
        match page.next {
            None => return Ok(events),
            next => slice = slice.after(next),
        }
    }
}

/// A day says it by platform; see [`Tallies`](super::tallies::Tallies).
fn events_of(day: &Usage) -> u64 {
    let events = |platform: &Value| platform.get("events").and_then(Value::as_u64);
    day.by_platform.values().filter_map(events).fold(0, u64::saturating_add)
}

fn month_of(now: Timestamp) -> String {
    let mut day = now.day();
    day.truncate("2026-01".len());
    day
}

/// Until the first of the next month.
pub(super) fn until_next_month(now: Timestamp) -> Duration {
    let month = month_of(now);
    let (year, month) = month.split_once('-').unwrap_or_default();
    let (year, month) = (year.parse().unwrap_or(0u32), month.parse().unwrap_or(0u32));
    let (year, month) = if month == 12 { (year + 1, 1) } else { (year, month + 1) };
    let next = format!("{year:04}-{month:02}-01T00:00:00Z");
    next.parse().map_or(Duration::ZERO, |next: Timestamp| next.saturating_since(now))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn months_end() {
        let until = |now: &str| until_next_month(now.parse().unwrap()).as_secs();
        assert_eq!(until("2026-01-31T23:59:00Z"), 60);
        assert_eq!(until("2026-12-31T23:00:00Z"), 3600);
        assert_eq!(until("2028-02-29T00:00:00Z"), 86_400);
    }
}
