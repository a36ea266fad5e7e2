//! What was counted since the last flush, as it is told: by account, source and connection.

use std::hash::Hash;

use ferryhook_core::quick::QuickMap;
use ferryhook_core::rollup::{Counts, Interval};
use ferryhook_core::{Account, Connection, Event, Id, Source, Timestamp, User};

use super::{Course, End};
use crate::limits;
use crate::shards::SHARDS;

#[derive(Debug, Default)]
pub(super) struct Gathered {
    pub(super) accounts: QuickMap<Id<Account>, OfAccount>,
    pub(super) sources: QuickMap<Id<Source>, OfSource>,
    pub(super) connections: QuickMap<Id<Connection>, OfConnection>,
    /// By the event that came first.
    pub(super) copies: QuickMap<(Id<Source>, Id<Event>), u32>,
}

#[derive(Debug, Default)]
pub(super) struct OfAccount {
    pub(super) hours: Hours,
    pub(super) days: Vec<OfDay>,
}

/// What a day has beside its hours. Few accounts have many platforms or people, so a list is
/// looked through fastest.
#[derive(Debug)]
pub(super) struct OfDay {
    pub(super) begins_at: Timestamp,
    pub(super) platforms: Vec<(String, u64)>,
    pub(super) users: Vec<(Id<User>, u64)>,
    pub(super) calls: u64,
}

#[derive(Debug, Default)]
pub(super) struct OfSource {
    /// Absent if nothing came in.
    pub(super) arrived: Option<Arrived>,
    pub(super) hours: Hours,
}

/// What the record of a source says about its events.
#[derive(Debug, Clone, Copy)]
pub(super) struct Arrived {
    pub(super) owner: Id<User>,
    pub(super) account: Id<Account>,
    pub(super) events: u32,
    pub(super) last_at: Timestamp,
}

#[derive(Debug)]
pub(super) struct OfConnection {
    pub(super) source: Id<Source>,
    pub(super) ended: Ended,
    pub(super) hours: Hours,
}

/// What the record of a connection says about its deliveries.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Ended {
    pub(super) delivered: u32,
    pub(super) failed: u32,
}

/// Counts by hour; mostly there is one.
#[derive(Debug, Default)]
pub(super) struct Hours(pub(super) Vec<(Timestamp, Counts)>);

impl Hours {
    fn at(&mut self, now: Timestamp) -> &mut Counts {
        let hour = Interval::Hour.begin(now);
        let place = match self.0.iter().rposition(|(known, _)| *known == hour) {
            Some(place) => place,
            None => {
                self.0.push((hour, Counts::default()));
                self.0.len() - 1
            }
        };
        &mut self.0[place].1
    }
}

impl Gathered {
    pub(super) fn arrived(&mut self, of: &Source, bytes: usize, is_filtered: bool, now: Timestamp) {
        let Some(source) = entry(&mut self.sources, of.id, OfSource::default) else { return };
        count_arrival(source.hours.at(now), bytes, is_filtered);
        let arrived = source.arrived.get_or_insert(Arrived {
            owner: of.user_id,
            account: of.account_id,
            events: 0,
            last_at: now,
        });
        arrived.events = arrived.events.saturating_add(1);
        arrived.last_at = arrived.last_at.max(now);
    }

    pub(super) fn arrived_in_account(
        &mut self,
        of: &Source,
        bytes: usize,
        is_filtered: bool,
        now: Timestamp,
    ) {
        let account = entry(&mut self.accounts, of.account_id, OfAccount::default);
        let Some(account) = account else { return };
        count_arrival(account.hours.at(now), bytes, is_filtered);
        let platforms = &mut account.day(now).platforms;
        match platforms.iter_mut().find(|(known, _)| *known == of.provider) {
            Some((_, events)) => *events += 1,
            None => platforms.push((of.provider.clone(), 1)),
        }
    }

    pub(super) fn of_account(
        &mut self,
        id: Id<Account>,
        now: Timestamp,
        count: impl FnOnce(&mut Counts),
    ) {
        if let Some(account) = entry(&mut self.accounts, id, OfAccount::default) {
            count(account.hours.at(now));
        }
    }

    pub(super) fn of_source(
        &mut self,
        of: &Source,
        now: Timestamp,
        count: impl FnOnce(&mut Counts),
    ) {
        self.of_known_source(of.id, now, count);
    }

    pub(super) fn of_known_source(
        &mut self,
        id: Id<Source>,
        now: Timestamp,
        count: impl FnOnce(&mut Counts),
    ) {
        if let Some(source) = entry(&mut self.sources, id, OfSource::default) {
            count(source.hours.at(now));
        }
    }

    pub(super) fn of_connection(
        &mut self,
        course: Course,
        end: Option<End>,
        now: Timestamp,
        count: impl FnOnce(&mut Counts),
    ) {
        let begin = || OfConnection {
            source: course.source,
            ended: Ended::default(),
            hours: Hours::default(),
        };
        let Some(connection) = entry(&mut self.connections, course.connection, begin) else {
            return;
        };
        count(connection.hours.at(now));
        let ended = &mut connection.ended;
        match end {
            Some(End::Delivered) => ended.delivered = ended.delivered.saturating_add(1),
            Some(End::Failed) => ended.failed = ended.failed.saturating_add(1),
            None => {}
        }
    }

    pub(super) fn repeated(&mut self, source: Id<Source>, first: Id<Event>) {
        if let Some(times) = entry(&mut self.copies, (source, first), u32::default) {
            *times = times.saturating_add(1);
        }
    }

    pub(super) fn called(&mut self, id: Id<Account>, by: Id<User>, now: Timestamp) {
        let Some(account) = entry(&mut self.accounts, id, OfAccount::default) else { return };
        let day = account.day(now);
        day.calls += 1;
        if let Some((_, calls)) = day.users.iter_mut().find(|(known, _)| *known == by) {
            *calls += 1;
        } else if day.users.len() < limits::USERS_COUNTED_MAX {
            day.users.push((by, 1));
        }
    }
}

impl OfAccount {
    fn day(&mut self, now: Timestamp) -> &mut OfDay {
        let begins_at = Interval::Day.begin(now);
        let place = match self.days.iter().rposition(|day| day.begins_at == begins_at) {
            Some(place) => place,
            None => {
                let (platforms, users) = (Vec::new(), Vec::new());
                self.days.push(OfDay { begins_at, platforms, users, calls: 0 });
                self.days.len() - 1
            }
        };
        &mut self.days[place]
    }
}

fn count_arrival(counts: &mut Counts, bytes: usize, is_filtered: bool) {
    counts.events += 1;
    counts.bytes = counts.bytes.saturating_add(bytes as u64);
    counts.filtered += u64::from(is_filtered);
}

/// A store that is away for long must not fill the memory: then some go uncounted.
fn entry<K: Hash + Eq, V>(
    counts: &mut QuickMap<K, V>,
    key: K,
    begin: impl FnOnce() -> V,
) -> Option<&mut V> {
    if counts.len() >= limits::TALLIES_MAX / SHARDS && !counts.contains_key(&key) {
        return None;
    }
    Some(counts.entry(key).or_insert_with(begin))
}
