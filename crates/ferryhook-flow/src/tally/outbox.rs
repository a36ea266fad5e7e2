//! What waits to be written: everything gathered so far, as the rows that it is added to.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::ops::Bound;

use ferryhook_core::rollup::{Counts, Interval, Scope};
use ferryhook_core::{Account, Connection, Event, Id, Map, Rollup, Source, Timestamp, Usage};
use ferryhook_store::{Store, StoreError};
use serde_json::json;

use super::Tally;
use super::gathered::{Arrived, Ended, Gathered, Hours, OfAccount, OfDay};
use crate::limits;
use crate::writes::Write;

/// In order, so that a run is repeatable: where a count was gathered is up to chance.
#[derive(Debug, Default)]
pub(super) struct Outbox {
    of_accounts: Rollups,
    of_others: Rollups,
    days: BTreeMap<(Id<Account>, Timestamp), Usage>,
    sources: BTreeMap<Id<Source>, Arrived>,
    connections: BTreeMap<(Id<Source>, Id<Connection>), Ended>,
    copies: BTreeMap<(Id<Source>, Id<Event>), u32>,
    turns: Turns,
}

type Rollups = BTreeMap<(Scope, Interval, Timestamp), Counts>;

#[derive(Debug, Default)]
struct Turns {
    rollups: Turn<(Scope, Interval, Timestamp)>,
    sources: Turn<Id<Source>>,
    connections: Turn<(Id<Source>, Id<Connection>)>,
}

/// Rows of a kind go in their order, and from the beginning again.
#[derive(Debug)]
struct Turn<K> {
    /// Who was last.
    last: Option<K>,
    /// How many had it together. No fewer do as long as someone waits.
    size: usize,
}

/// The sources of each account that took something in on its last day.
#[derive(Debug, Default)]
pub(super) struct Active(HashMap<Id<Account>, (Timestamp, HashSet<Id<Source>>)>);

impl Active {
    /// How many there are with this one.
    fn with(&mut self, account: Id<Account>, day: Timestamp, source: Id<Source>) -> u64 {
        if self.0.len() >= limits::TALLIES_MAX && !self.0.contains_key(&account) {
            self.0.retain(|_, (known, _)| *known >= day);
        }
        let (known, sources) = self.0.entry(account).or_default();
        if *known < day {
            (*known, *sources) = (day, HashSet::new());
        }
        if sources.len() < limits::ACTIVE_SOURCES_MAX {
            sources.insert(source);
        }
        sources.len() as u64
    }
}

impl Outbox {
    pub(super) fn take_in(&mut self, gathered: Gathered, active: &mut Active) {
        let Gathered { accounts, sources, connections, copies } = gathered;
        for (id, OfAccount { hours, days }) in accounts {
            for (hour, counts) in &hours.0 {
                if counts.events + counts.rejected > 0 {
                    self.add_day(of_hour(id, *hour, counts));
                }
            }
            days.into_iter().for_each(|day| self.add_day(of_day(id, day)));
            self.add_hours(Scope::Account(id), hours);
        }
        for (id, source) in sources {
            if let Some(arrived) = source.arrived {
                let day = Interval::Day.begin(arrived.last_at);
                let active_sources = active.with(arrived.account, day, id);
                self.add_day(Usage { active_sources, ..nothing(arrived.account, day) });
                self.add_arrived(id, arrived);
            }
            self.add_hours(Scope::Source(id), source.hours);
        }
        for (id, connection) in connections {
            self.add_ended((connection.source, id), connection.ended);
            self.add_hours(Scope::Connection(id), connection.hours);
        }
        for (of, times) in copies {
            self.add_copies(of, times);
        }
    }

    #[cfg(test)]
    pub(super) fn rollups_waiting(&self) -> usize {
        self.of_accounts.len() + self.of_others.len()
    }

    /// What is to be written next; the rest goes on gathering. Accounts do not wait: the first
    /// count of a day is made from all that was counted on the days before.
    pub(super) fn next(&mut self) -> Self {
        Self {
            of_accounts: std::mem::take(&mut self.of_accounts),
            of_others: self.turns.rollups.take(&mut self.of_others),
            days: std::mem::take(&mut self.days),
            sources: self.turns.sources.take(&mut self.sources),
            connections: self.turns.connections.take(&mut self.connections),
            copies: std::mem::take(&mut self.copies),
            turns: Turns::default(),
        }
    }

    fn add_hours(&mut self, scope: Scope, hours: Hours) {
        for (hour, counts) in hours.0 {
            for interval in [Interval::Hour, Interval::Day] {
                self.add_counts((scope, interval, interval.begin(hour)), &counts);
            }
        }
    }

    fn add_counts(&mut self, key: (Scope, Interval, Timestamp), more: &Counts) {
        let rollups = match key.0 {
            Scope::Account(_) => &mut self.of_accounts,
            Scope::Source(_) | Scope::Connection(_) => &mut self.of_others,
        };
        if let Some(counts) = entry(rollups, key) {
            counts.get_or_insert_default().add(more);
        }
    }

    fn add_day(&mut self, more: Usage) {
        let begins_at = Interval::Day.begin(more.updated_at);
        let key = (more.account_id, begins_at);
        if let Some(usage) = self.days.get_mut(&key) {
            usage.add(&more);
        } else if self.days.len() < limits::ROWS_WAITING_MAX {
            self.days.insert(key, more);
        }
    }

    fn add_arrived(&mut self, id: Id<Source>, more: Arrived) {
        if let Some(arrived) = entry(&mut self.sources, id) {
            let arrived = arrived.get_or_insert(Arrived { events: 0, ..more });
            arrived.events = arrived.events.saturating_add(more.events);
            arrived.last_at = arrived.last_at.max(more.last_at);
        }
    }

    fn add_ended(&mut self, of: (Id<Source>, Id<Connection>), more: Ended) {
        if more.delivered + more.failed == 0 {
            return;
        }
        if let Some(ended) = entry(&mut self.connections, of) {
            let ended = ended.get_or_insert_default();
            ended.delivered = ended.delivered.saturating_add(more.delivered);
            ended.failed = ended.failed.saturating_add(more.failed);
        }
    }

    fn add_copies(&mut self, of: (Id<Source>, Id<Event>), more: u32) {
        if let Some(times) = entry(&mut self.copies, of) {
            let times = times.get_or_insert_default();
            *times = times.saturating_add(more);
        }
    }

    /// One for each row that has counts of its own, and one for many rollups. What fails is given
    /// back to `tally`.
    pub(super) fn writes(self, store: &Store, tally: &Tally) -> Vec<Write> {
        let mut writes: Vec<Write> = Vec::new();
        for rollups in commits_of(self.of_accounts.into_iter().chain(self.of_others)) {
            let (store, tally) = (store.clone(), tally.clone());
            writes.push(Box::pin(async move {
                let added = store.rollups().add(&rollups).await;
                added.inspect_err(|_| {
                    tally.keep(|outbox| {
                        for Rollup { scope, interval, begins_at, counts, .. } in &rollups {
                            outbox.add_counts((*scope, *interval, *begins_at), counts);
                        }
                    });
                })
            }));
        }
        for usage in self.days.into_values() {
            let (store, tally) = (store.clone(), tally.clone());
            writes.push(Box::pin(async move {
                let added = match tally.kept_before(&store, &usage).await {
                    Ok(kept) => {
                        let storage_used_bytes = usage.storage_used_bytes.saturating_add(kept);
                        store.usage().add(&Usage { storage_used_bytes, ..usage.clone() }).await
                    }
                    Err(error) => Err(error),
                };
                added.inspect_err(|_| tally.keep(|outbox| outbox.add_day(usage)))
            }));
        }
        for (id, of) in self.sources {
            let (store, tally) = (store.clone(), tally.clone());
            writes.push(Box::pin(async move {
                let sources = store.sources();
                let counted = sources.count_events(of.owner, id, of.events, of.last_at).await;
                let keep = |_: &_| tally.keep(|outbox| outbox.add_arrived(id, of));
                unless_gone(counted).inspect_err(keep)
            }));
        }
        for ((source, id), of) in self.connections {
            let (store, tally) = (store.clone(), tally.clone());
            writes.push(Box::pin(async move {
                let connections = store.connections();
                let counted = connections.count_deliveries(source, id, of.delivered, of.failed);
                let keep = |_: &_| tally.keep(|outbox| outbox.add_ended((source, id), of));
                unless_gone(counted.await).inspect_err(keep)
            }));
        }
        for ((source, first), times) in self.copies {
            // An event carries its time in its id, and both are part of its key.
            let Some(received_at) = first.made_at() else { continue };
            let (store, tally) = (store.clone(), tally.clone());
            writes.push(Box::pin(async move {
                let events = store.events();
                let counted = events.count_duplicates(source, received_at, first, times).await;
                let keep = |_: &_| tally.keep(|outbox| outbox.add_copies((source, first), times));
                unless_gone(counted).inspect_err(keep)
            }));
        }
        writes
    }
}

impl<K> Default for Turn<K> {
    fn default() -> Self {
        Self { last: None, size: 0 }
    }
}

impl<K: Ord + Copy> Turn<K> {
    /// Those whose turn it is.
    fn take<V>(&mut self, from: &mut BTreeMap<K, V>) -> BTreeMap<K, V> {
        self.size = self.size.max(turn_of(from.len()));
        if self.size >= from.len() {
            *self = Self::default();
            return std::mem::take(from);
        }
        let behind = self.last.map_or(Bound::Unbounded, Bound::Excluded);
        let keys = from.range((behind, Bound::Unbounded)).chain(from.iter()).map(|(key, _)| *key);
        let keys: Vec<K> = keys.take(self.size).collect();
        self.last = keys.last().copied();
        keys.into_iter().filter_map(|key| from.remove_entry(&key)).collect()
    }
}

/// How many of those that wait have their turn at once.
fn turn_of(waiting: usize) -> usize {
    let by_turns = waiting.div_ceil(limits::ROW_TURNS).max(limits::ROWS_AT_ONCE);
    by_turns.max(waiting.saturating_sub(limits::ROWS_WAITING_MAX / 2))
}

/// As many as fit into each commit. A row with more counts than can be added at once is added to by
/// several, because no commit names a row twice.
fn commits_of(
    rollups: impl Iterator<Item = ((Scope, Interval, Timestamp), Counts)>,
) -> Vec<Vec<Rollup>> {
    use ferryhook_core::limits::{ROLLUP_COUNTS_AT_ONCE, ROLLUPS_AT_ONCE};
    let mut rounds: Vec<Vec<Rollup>> = Vec::new();
    for ((scope, interval, at), counts) in rollups {
        for (round, part) in counts.parts(ROLLUP_COUNTS_AT_ONCE).into_iter().enumerate() {
            if rounds.len() == round {
                rounds.push(Vec::new());
            }
            rounds[round].push(Rollup::new(scope, interval, at, part));
        }
    }
    let commits = rounds.iter().flat_map(|round| round.chunks(ROLLUPS_AT_ONCE));
    commits.map(<[Rollup]>::to_vec).collect()
}

/// What has expired or was erased has no count any more.
fn unless_gone(counted: Result<(), StoreError>) -> Result<(), StoreError> {
    match counted {
        Err(error) if error.is_refused() => Ok(()),
        other => other,
    }
}

/// The place of a key, or of a new one while there is room.
fn entry<K: Ord, V>(map: &mut BTreeMap<K, V>, key: K) -> Option<Entry<'_, K, V>> {
    let has_room = map.len() < limits::ROWS_WAITING_MAX || map.contains_key(&key);
    has_room.then(|| Entry(map, key))
}

struct Entry<'a, K, V>(&'a mut BTreeMap<K, V>, K);

impl<'a, K: Ord, V> Entry<'a, K, V> {
    fn get_or_insert(self, begin: V) -> &'a mut V {
        self.0.entry(self.1).or_insert(begin)
    }

    fn get_or_insert_default(self) -> &'a mut V
    where
        V: Default,
    {
        self.0.entry(self.1).or_default()
    }
}

fn of_hour(account: Id<Account>, hour: Timestamp, counts: &Counts) -> Usage {
    let mut hourly_counts = vec![0; 24];
    hourly_counts[hour.hour_of_day() as usize % 24] = counts.events;
    Usage {
        data_processed_bytes: counts.bytes,
        storage_used_bytes: counts.bytes,
        error_count: counts.rejected,
        hourly_counts,
        ..nothing(account, hour)
    }
}

fn of_day(account: Id<Account>, day: OfDay) -> Usage {
    let OfDay { begins_at, platforms, users, calls } = day;
    let platforms = platforms.into_iter();
    let users: Map =
        users.iter().map(|(id, calls)| (id.to_string(), json!({ "apiCalls": calls }))).collect();
    Usage {
        api_calls: calls,
        active_users: users.len() as u64,
        by_platform: platforms.map(|(name, n)| (name, json!({ "events": n }))).collect(),
        by_user: (!users.is_empty()).then_some(users),
        ..nothing(account, begins_at)
    }
}

fn nothing(account: Id<Account>, at: Timestamp) -> Usage {
    Usage {
        account_id: account,
        day: at.day(),
        api_calls: 0,
        data_processed_bytes: 0,
        storage_used_bytes: 0,
        sync_jobs: 0,
        active_users: 0,
        active_sources: 0,
        error_count: 0,
        by_platform: Map::new(),
        by_user: None,
        hourly_counts: Vec::new(),
        updated_at: at,
    }
}

#[cfg(test)]
mod tests;
