//! Types: the events of each type, counted in memory, and a few of them kept to learn from.
//!
//! Told of every event by the courier, before the sender's answer: that costs a lookup and two
//! additions, and now and then a copy of what the event brought, which is made without a lock.
//! Written every few seconds and at a clean stop by [`flush`], which also looks at those that are to
//! be warned of. A crash forgets what was told since; no event depends on it.

mod flush;
mod sample;

use std::collections::{HashMap, HashSet};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use ferryhook_core::event_type::declared::Mismatch;
use ferryhook_core::event_type::{Mode, is_name};
use ferryhook_core::limits::TYPES_PER_ACCOUNT_MAX;
use ferryhook_core::{Account, Event, Id, Timestamp};

use crate::courier::lock;
use crate::limits;
use crate::routes::Declaration;
use crate::shards::{SHARDS, Shards};
use sample::Sample;

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
    /// Events that nobody will look at though they should be as declared.
    unchecked: u64,
    samples: Vec<Sample>,
    /// How many more can be looked at whether they are as declared.
    checks: usize,
    /// How many more are wanted, and how many between two flushes.
    room: usize,
    allowance: usize,
    /// The store has it, so that counts can be added without reading.
    is_stored: bool,
}

impl Waiting {
    fn is_empty(&self) -> bool {
        let told = self.events + self.mismatches + self.unchecked;
        told == 0 && self.mismatch.is_none() && self.samples.is_empty()
    }
}

/// The types of an account that the store has, as far as this process knows.
#[derive(Debug, Default)]
struct Catalogue {
    names: HashSet<String>,
    read_at: Duration,
    /// Somebody has changed them since.
    is_stale: bool,
    /// It was said that there are too many.
    is_told: bool,
}

impl Types {
    /// It was taken in, and it is no copy. `declared` is what it is to be like, where it is to be
    /// warned of.
    pub(crate) fn arrived(&self, event: &Event, declared: Option<&Arc<Declaration>>) {
        let Some(name) = &event.event_type else { return };
        let (mut is_taught, mut is_checked) = (false, false);
        self.of(event.account_id, name, |waiting| {
            if waiting.events == 0 {
                waiting.first_at = event.received_at;
            }
            waiting.events += 1;
            waiting.last_at = waiting.last_at.max(event.received_at);
            is_taught = spent(&mut waiting.room);
            if declared.is_some() {
                is_checked = spent(&mut waiting.checks);
                waiting.unchecked += u64::from(!is_checked);
            }
        });
        if is_taught || is_checked {
            let check = declared.filter(|_| is_checked).cloned();
            self.keep(event, name, is_taught, check);
        }
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
        if let Some(catalogue) = lock(&self.catalogues).get_mut(&account) {
            catalogue.is_stale = true;
        }
    }

    /// Whether there was room for it.
    fn of(&self, account: Id<Account>, name: &str, tell: impl FnOnce(&mut Waiting)) -> bool {
        let mut accounts = self.waiting.of(account);
        let is_full = accounts.len() >= limits::TALLIES_MAX / SHARDS;
        if is_full && !accounts.contains_key(&account) {
            return false;
        }
        let types = accounts.entry(account).or_default();
        if let Some(waiting) = types.get_mut(name) {
            tell(waiting);
            return true;
        }
        // One more than there may be, so that somebody finds out and says so.
        let has_room =
            types.len() <= TYPES_PER_ACCOUNT_MAX || self.may_be_known(account, name, types.len());
        if !has_room || !is_name(name) {
            return false;
        }
        let (room, checks) = (limits::TYPE_SAMPLES_YOUNG, limits::TYPE_CHECKS);
        let new = Waiting { room, checks, allowance: room, ..Waiting::default() };
        tell(types.entry(name.to_owned()).or_insert(new));
        true
    }

    /// However many others come that nobody has heard of, those of the account are counted.
    fn may_be_known(&self, account: Id<Account>, name: &str, waiting: usize) -> bool {
        match lock(&self.catalogues).get(&account) {
            Some(catalogue) => catalogue.names.contains(name),
            None => waiting < limits::TYPES_WAITING_MAX,
        }
    }

    /// To be looked at by the flush.
    fn keep(&self, event: &Event, name: &str, is_taught: bool, check: Option<Arc<Declaration>>) {
        let is_checked = check.is_some();
        let room = || {
            let waiting = self.sample_bytes.load(Ordering::Relaxed);
            limits::TYPE_SAMPLES_BYTES_MAX.saturating_sub(waiting)
        };
        let sample = Sample::of(event, is_taught, check).filter(|one| one.json.len() <= room());
        let Some(sample) = sample else {
            let unchecked = u64::from(is_checked);
            self.of(event.account_id, name, |waiting| waiting.unchecked += unchecked);
            return;
        };
        let bytes = sample.json.len();
        self.sample_bytes.fetch_add(bytes, Ordering::Relaxed);
        if !self.of(event.account_id, name, |waiting| waiting.samples.push(sample)) {
            self.sample_bytes.fetch_sub(bytes, Ordering::Relaxed);
        }
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
                    let checks = limits::TYPE_CHECKS;
                    let left = Waiting { is_stored, allowance, room, checks, ..Waiting::default() };
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
        let Waiting { events, first_at, last_at, mismatches, mismatch, unchecked, .. } =
            not_written;
        self.of(account, name, |waiting| {
            if events > 0 {
                waiting.first_at = first_at;
                waiting.last_at = waiting.last_at.max(last_at);
            }
            waiting.events = waiting.events.saturating_add(events);
            waiting.mismatches = waiting.mismatches.saturating_add(mismatches);
            waiting.unchecked = waiting.unchecked.saturating_add(unchecked);
            waiting.mismatch = mismatch.or(waiting.mismatch.take());
            waiting.is_stored = false;
        });
    }
}

/// Whether there was one left.
fn spent(room: &mut usize) -> bool {
    let is_wanted = *room > 0;
    *room = room.saturating_sub(1);
    is_wanted
}

#[cfg(test)]
mod tests;
