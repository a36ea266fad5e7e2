//! Types: the events of each type, counted in memory, and a few of them kept to learn from.
//!
//! Told of every event by the courier, before the sender's answer: that costs a lookup, and now and
//! then a copy of what the event brought. Written every few seconds and at a clean stop by
//! [`flush`]. A crash forgets what was told since; no event depends on it.

mod flush;

use std::collections::{HashMap, HashSet};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use bytes::Bytes;
use ferryhook_core::event_type::declared::Mismatch;
use ferryhook_core::event_type::{Mode, is_name};
use ferryhook_core::limits::TYPES_PER_ACCOUNT_MAX;
use ferryhook_core::{Account, Event, Id, Timestamp};

use crate::courier::lock;
use crate::limits;
use crate::shards::{SHARDS, Shards};

#[derive(Debug, Default)]
pub(crate) struct Types {
    waiting: Shards<HashMap<Id<Account>, HashMap<String, Waiting>>>,
    /// Of all samples that wait.
    sample_bytes: AtomicUsize,
    catalogues: Mutex<HashMap<Id<Account>, Catalogue>>,
    /// One flush at a time, so that whoever stops waits for the one under way.
    flushing: tokio::sync::Mutex<()>,
}

/// What was told of a type since the last flush.
#[derive(Debug, Default)]
struct Waiting {
    events: u64,
    first_at: Timestamp,
    last_at: Timestamp,
    mismatches: u64,
    /// The first of them.
    mismatch: Option<(Mode, Mismatch)>,
    samples: Vec<Sample>,
    /// How many more are wanted, and how many between two flushes.
    room: usize,
    allowance: usize,
    /// The store has it, so that counts can be added without reading.
    is_stored: bool,
}

impl Waiting {
    fn is_empty(&self) -> bool {
        self.events + self.mismatches == 0 && self.mismatch.is_none()
    }
}

#[derive(Debug)]
struct Sample {
    event: Id<Event>,
    json: Bytes,
}

/// The types of an account that the store has, as far as this process knows.
#[derive(Debug)]
struct Catalogue {
    names: HashSet<String>,
    read_at: Duration,
    /// It was said that there are too many.
    is_told: bool,
}

impl Types {
    /// It was taken in, and it is no copy.
    pub(crate) fn arrived(&self, event: &Event) {
        let Some(name) = &event.event_type else { return };
        self.of(event.account_id, name, |waiting| {
            if waiting.events == 0 {
                waiting.first_at = event.received_at;
            }
            waiting.events += 1;
            waiting.last_at = waiting.last_at.max(event.received_at);
            if waiting.room > 0
                && let Some(json) = self.sampled(event)
            {
                waiting.room -= 1;
                waiting.samples.push(Sample { event: event.id, json });
            }
        });
    }

    /// An event was not as declared.
    pub(crate) fn mismatched(&self, account: Id<Account>, name: &str, mode: Mode, wrong: Mismatch) {
        self.of(account, name, |waiting| {
            waiting.mismatches += 1;
            waiting.mismatch.get_or_insert((mode, wrong));
        });
    }

    /// Its types were changed by somebody else.
    pub(crate) fn forget(&self, account: Id<Account>) {
        lock(&self.catalogues).remove(&account);
    }

    /// What is beyond the bounds is not counted.
    fn of(&self, account: Id<Account>, name: &str, tell: impl FnOnce(&mut Waiting)) {
        let mut accounts = self.waiting.of(account);
        let is_full = accounts.len() >= limits::TALLIES_MAX / SHARDS;
        if is_full && !accounts.contains_key(&account) {
            return;
        }
        let types = accounts.entry(account).or_default();
        if let Some(waiting) = types.get_mut(name) {
            return tell(waiting);
        }
        // One more than there may be, so that somebody finds out and says so.
        if types.len() <= TYPES_PER_ACCOUNT_MAX && is_name(name) {
            let room = limits::TYPE_SAMPLES_YOUNG;
            let new = Waiting { room, allowance: room, ..Waiting::default() };
            tell(types.entry(name.to_owned()).or_insert(new));
        }
    }

    /// What it brought, if it may be JSON and there is room for it.
    fn sampled(&self, event: &Event) -> Option<Bytes> {
        let json = match &event.payload {
            Some(payload) => serde_json::to_vec(payload).ok()?.into(),
            None => {
                let body = event.body.as_bytes();
                let first = body.iter().find(|byte| !byte.is_ascii_whitespace())?;
                matches!(first, b'{' | b'[').then(|| body.clone())?
            }
        };
        let bytes = json.len();
        let waiting = self.sample_bytes.load(Ordering::Relaxed);
        if bytes > limits::TYPE_SAMPLE_BYTES_MAX || waiting + bytes > limits::TYPE_SAMPLES_BYTES_MAX
        {
            return None;
        }
        self.sample_bytes.fetch_add(bytes, Ordering::Relaxed);
        Some(json)
    }

    /// Everything that waits, in order, so that a run is repeatable. Types of which nothing was told
    /// since the last time are forgotten.
    fn take(&self) -> Vec<(Id<Account>, String, Waiting)> {
        let mut taken = Vec::new();
        for mut accounts in self.waiting.each() {
            accounts.retain(|account, types| {
                types.retain(|name, waiting| {
                    if waiting.is_empty() {
                        return false;
                    }
                    let Waiting { is_stored, allowance, .. } = *waiting;
                    let room = allowance;
                    let left = Waiting { is_stored, allowance, room, ..Waiting::default() };
                    let was = std::mem::replace(waiting, left);
                    taken.push((*account, name.clone(), was));
                    true
                });
                !types.is_empty()
            });
        }
        taken.sort_unstable_by(|one, other| (one.0, &one.1).cmp(&(other.0, &other.1)));
        let bytes = taken.iter().flat_map(|(_, _, waiting)| &waiting.samples);
        let bytes = bytes.map(|sample| sample.json.len()).sum();
        self.sample_bytes.fetch_sub(bytes, Ordering::Relaxed);
        taken
    }

    /// Whether the store has it now, and how many samples are wanted from now on.
    fn wants(&self, account: Id<Account>, name: &str, is_stored: bool, samples: usize) {
        let mut accounts = self.waiting.of(account);
        let waiting = accounts.get_mut(&account).and_then(|types| types.get_mut(name));
        if let Some(waiting) = waiting {
            waiting.is_stored = is_stored;
            (waiting.room, waiting.allowance) = (samples.min(waiting.room), samples);
        }
    }

    /// It is still to be told.
    fn put_off(&self, account: Id<Account>, name: &str, mismatch: (Mode, Mismatch)) {
        self.of(account, name, |waiting| waiting.mismatch = Some(mismatch));
    }

    /// It could not be written; its samples are lost.
    fn give_back(&self, account: Id<Account>, name: &str, not_written: Waiting) {
        let Waiting { events, first_at, last_at, mismatches, mismatch, .. } = not_written;
        self.of(account, name, |waiting| {
            if events > 0 {
                waiting.first_at = first_at;
                waiting.last_at = waiting.last_at.max(last_at);
            }
            waiting.events = waiting.events.saturating_add(events);
            waiting.mismatches = waiting.mismatches.saturating_add(mismatches);
            waiting.mismatch = mismatch.or(waiting.mismatch.take());
            waiting.is_stored = false;
        });
    }
}

#[cfg(test)]
mod tests;
