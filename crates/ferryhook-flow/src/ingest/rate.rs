//! Rate: how many events a source may send in a minute, whichever minute one looks at.
//!
//! Two buckets, this minute's and the last one's, the latter weighted by how much of it still lies
//! within the past sixty seconds. In process and of constant cost: a flood must not find its
//! limit in a store.

use std::collections::HashMap;
use std::time::Duration;

use ferryhook_core::{Id, Source};

use super::limits;
use super::shards::{SHARDS, Shards};

pub(super) const WINDOW: Duration = Duration::from_secs(60);
const WINDOW_MS: u64 = WINDOW.as_millis() as u64;

#[derive(Debug, Default)]
pub(super) struct Rates(Shards<HashMap<Id<Source>, Buckets>>);

#[derive(Debug, Clone, Copy, Default)]
struct Buckets {
    /// Which minute `current` counts.
    minute: u64,
    current: u64,
    last: u64,
}

/// What one who is over the limit is told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Standing {
    pub(super) limit: u64,
    pub(super) remaining: u64,
    /// Until one more would be taken.
    pub(super) wait_seconds: u64,
}

impl Rates {
    /// Takes one request in, unless the source has had its share.
    pub(super) fn take(&self, id: Id<Source>, limit: u64, now: Duration) -> Result<(), Standing> {
        let mut windows = self.0.of(id);
        if windows.len() >= limits::WINDOWS_MAX / SHARDS && !windows.contains_key(&id) {
            make_room(&mut windows, now);
        }
        let buckets = windows.entry(id).or_default();
        buckets.turn(now);
        buckets.take(limit, now)
    }

    /// A request has turned out to hold this many more.
    pub(super) fn add(&self, id: Id<Source>, more: u64) {
        if let Some(buckets) = self.0.of(id).get_mut(&id) {
            buckets.current = buckets.current.saturating_add(more);
        }
    }
}

/// Lets go of those that have been quiet, and of some other if all are busy.
fn make_room(windows: &mut HashMap<Id<Source>, Buckets>, now: Duration) {
    let minute = minute(now);
    let quiet = windows.iter().find(|(_, buckets)| buckets.minute + 1 < minute);
    match quiet.or_else(|| windows.iter().next()).map(|(id, _)| *id) {
        Some(id) => drop(windows.remove(&id)),
        None => unreachable!("it is full"),
    }
}

impl Buckets {
    fn turn(&mut self, now: Duration) {
        let minute = minute(now);
        match minute.saturating_sub(self.minute) {
            0 => {}
            1 => *self = Self { minute, current: 0, last: self.current },
            _ => *self = Self { minute, current: 0, last: 0 },
        }
    }

    fn take(&mut self, limit: u64, now: Duration) -> Result<(), Standing> {
        let left_ms = WINDOW_MS - into_minute_ms(now);
        let used = self.current.saturating_add(weighted(self.last, left_ms));
        if used < limit {
            self.current += 1;
            return Ok(());
        }
        let wait_ms = self.wait_ms(limit, left_ms);
        let wait_seconds = wait_ms.div_ceil(1000).clamp(1, 2 * WINDOW.as_secs());
        Err(Standing { limit, remaining: limit.saturating_sub(used), wait_seconds })
    }

    /// How long until there is room for one: as the last minute fades, or as this one will.
    fn wait_ms(&self, limit: u64, left_ms: u64) -> u64 {
        if limit == 0 {
            return WINDOW_MS;
        }
        match self.current < limit {
            true => left_ms.saturating_sub(fades_at(self.last, limit - self.current - 1)),
            false => left_ms + WINDOW_MS.saturating_sub(fades_at(self.current, limit - 1)),
        }
    }
}

/// What is left of a bucket with `left_ms` of its minute within sight, rounded up.
fn weighted(count: u64, left_ms: u64) -> u64 {
    let weighted = u128::from(count) * u128::from(left_ms);
    u64::try_from(weighted.div_ceil(u128::from(WINDOW_MS))).unwrap_or(u64::MAX)
}

/// With how much left in sight a bucket weighs no more than `most`.
fn fades_at(count: u64, most: u64) -> u64 {
    if count <= most {
        return WINDOW_MS;
    }
    u64::try_from(u128::from(most) * u128::from(WINDOW_MS) / u128::from(count)).unwrap_or(0)
}

fn minute(now: Duration) -> u64 {
    now.as_secs() / WINDOW.as_secs()
}

fn into_minute_ms(now: Duration) -> u64 {
    u64::try_from(now.as_millis() % u128::from(WINDOW_MS)).unwrap_or(0)
}

#[cfg(test)]
mod tests;
