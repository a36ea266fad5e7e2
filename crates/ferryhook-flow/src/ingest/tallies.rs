//! Tallies: what came in, counted in memory and added to the store every few seconds.
//!
//! By source (for its owner to see), by account and day (for the plan), and by event for what came
//! again. A crash forgets the last few seconds of counting; no event depends on it. When nothing
//! came in, nothing is written.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use ferryhook_core::{Account, Event, Id, Source, Timestamp, Usage, User};
use ferryhook_store::{Store, StoreError};
use serde_json::json;

use super::limits;
use super::shards::{SHARDS, Shards};
use super::writes::{self, Write};

const DAY_MS: i64 = 24 * 60 * 60 * 1000;

/// Clones share the counts.
#[derive(Debug, Clone, Default)]
pub struct Tallies(Arc<Shards<Counts>>);

#[derive(Debug, Default)]
struct Counts {
    sources: HashMap<Id<Source>, OfSource>,
    /// By account and number of the day.
    days: HashMap<(Id<Account>, i64), OfDay>,
    /// By the event that came first.
    copies: HashMap<(Id<Source>, Id<Event>), u32>,
}

#[derive(Debug, Clone, Copy)]
struct OfSource {
    owner: Id<User>,
    events: u32,
    last_at: Timestamp,
}

#[derive(Debug, Clone, Default)]
struct OfDay {
    bytes: u64,
    refused: u64,
    by_hour: [u64; 24],
    /// Few accounts have many providers, so a list is found through fastest.
    by_platform: Vec<(String, u64)>,
}

impl Tallies {
    pub(super) fn count(&self, source: &Source, events: u32, bytes: usize, now: Timestamp) {
        let mut counts = self.0.of(source.id);
        add_source(
            &mut counts,
            source.id,
            OfSource { owner: source.user_id, events, last_at: now },
        );
        drop(counts);
        self.on_day(source.account_id, now, |day| {
            day.bytes = day.bytes.saturating_add(bytes as u64);
            day.by_hour[now.hour_of_day() as usize % 24] += u64::from(events);
            add_platform(&mut day.by_platform, &source.provider, u64::from(events));
        });
    }

    pub(super) fn count_copy(&self, source: Id<Source>, first: Id<Event>) {
        add_copies(&mut self.0.of(source), source, first, 1);
    }

    pub(super) fn count_refused(&self, account: Id<Account>, now: Timestamp) {
        self.on_day(account, now, |day| day.refused += 1);
    }

    fn on_day(&self, account: Id<Account>, now: Timestamp, change: impl FnOnce(&mut OfDay)) {
        let mut counts = self.0.of(account);
        let key = (account, now.as_millis().div_euclid(DAY_MS));
        if fits(&counts.days, &key) {
            change(counts.days.entry(key).or_default());
        }
    }

    /// Adds everything to the store. What could not be added is kept for the next time.
    pub(super) async fn flush(&self, store: &Store) {
        // In order, so that a run is repeatable: where a count lies here is up to chance.
        let mut all: (BTreeMap<_, _>, BTreeMap<_, _>, BTreeMap<_, _>) = Default::default();
        for mut counts in self.0.each() {
            let Counts { sources, days, copies } = std::mem::take(&mut *counts);
            all.0.extend(sources);
            all.1.extend(days);
            all.2.extend(copies);
        }
        let (sources, days, copies) = all;
        let mut writes: Vec<Write> = Vec::with_capacity(sources.len() + days.len() + copies.len());
        for (id, of) in sources {
            writes.push(Box::pin(self.clone().flush_source(store.clone(), id, of)));
        }
        for ((account, day), of) in days {
            writes.push(Box::pin(self.clone().flush_day(store.clone(), account, day, of)));
        }
        for ((of, first), times) in copies {
            writes.push(Box::pin(self.clone().flush_copies(store.clone(), of, first, times)));
        }
        if let Some((failed, error)) = writes::all(writes).await {
            tracing::warn!(%error, failed, "some counts were not stored; they are kept for later");
        }
    }

    async fn flush_source(
        self,
        store: Store,
        id: Id<Source>,
        of: OfSource,
    ) -> Result<(), StoreError> {
        let counted = store.sources().count_events(of.owner, id, of.events, of.last_at).await;
        unless_gone(counted).inspect_err(|_| add_source(&mut self.0.of(id), id, of))
    }

    async fn flush_day(
        self,
        store: Store,
        account: Id<Account>,
        day: i64,
        of: OfDay,
    ) -> Result<(), StoreError> {
        let added = store.usage().add(&usage(account, day, &of)).await;
        added.inspect_err(|_| {
            self.on_day(account, Timestamp::from_millis(day * DAY_MS), |day| day.add(&of));
        })
    }

    async fn flush_copies(
        self,
        store: Store,
        source: Id<Source>,
        first: Id<Event>,
        times: u32,
    ) -> Result<(), StoreError> {
        // An event carries its time in its id, and both are part of its key.
        let Some(received_at) = first.made_at() else { return Ok(()) };
        let counted = store.events().count_duplicates(source, received_at, first, times).await;
        unless_gone(counted)
            .inspect_err(|_| add_copies(&mut self.0.of(source), source, first, times))
    }
}

/// What has expired or was erased has no count any more.
fn unless_gone(counted: Result<(), StoreError>) -> Result<(), StoreError> {
    match counted {
        Err(error) if error.is_refused() => Ok(()),
        other => other,
    }
}

fn add_source(counts: &mut Counts, id: Id<Source>, more: OfSource) {
    if fits(&counts.sources, &id) {
        let of = counts.sources.entry(id).or_insert(OfSource { events: 0, ..more });
        of.events = of.events.saturating_add(more.events);
        of.last_at = of.last_at.max(more.last_at);
    }
}

fn add_copies(counts: &mut Counts, source: Id<Source>, first: Id<Event>, more: u32) {
    if fits(&counts.copies, &(source, first)) {
        let times = counts.copies.entry((source, first)).or_default();
        *times = times.saturating_add(more);
    }
}

fn add_platform(platforms: &mut Vec<(String, u64)>, name: &str, more: u64) {
    match platforms.iter_mut().find(|(known, _)| known == name) {
        Some((_, events)) => *events = events.saturating_add(more),
        None => platforms.push((name.to_owned(), more)),
    }
}

/// A store that is away for long must not fill the memory: then some go uncounted.
fn fits<K: std::hash::Hash + Eq, V>(counts: &HashMap<K, V>, key: &K) -> bool {
    counts.len() < limits::TALLIES_MAX / SHARDS || counts.contains_key(key)
}

impl OfDay {
    fn add(&mut self, more: &OfDay) {
        self.bytes = self.bytes.saturating_add(more.bytes);
        self.refused = self.refused.saturating_add(more.refused);
        for (hour, more) in self.by_hour.iter_mut().zip(more.by_hour) {
            *hour = hour.saturating_add(more);
        }
        for (name, more) in &more.by_platform {
            add_platform(&mut self.by_platform, name, *more);
        }
    }
}

fn usage(account: Id<Account>, day: i64, of: &OfDay) -> Usage {
    let at = Timestamp::from_millis(day * DAY_MS);
    let platforms = of.by_platform.iter();
    Usage {
        account_id: account,
        day: at.day(),
        api_calls: 0,
        data_processed_bytes: of.bytes,
        storage_used_bytes: 0,
        sync_jobs: 0,
        active_users: 0,
        active_sources: 0,
        error_count: of.refused,
        by_platform: platforms.map(|(name, n)| (name.clone(), json!({ "events": n }))).collect(),
        by_user: None,
        hourly_counts: of.by_hour.to_vec(),
        updated_at: at,
    }
}
