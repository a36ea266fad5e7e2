//! Rollups that several servers add to, and the counts that plans are held by.

use std::collections::BTreeMap;

use ferryhook_core::plan_count::Counted;
use ferryhook_core::rollup::{Counts, Interval, Scope};
use ferryhook_core::{Account, Hook, Id, Rollup, Source, Timestamp, limits, samples};
use ferryhook_store::repositories::{Edit, RoomError};
use ferryhook_store::{Batch, Store};
use tokio::task::JoinSet;

use crate::bench::{Bench, assert_out_of_bounds};

const AT_ONCE: usize = 8;

/// A server of its own over the same engine.
fn another(bench: &Bench) -> Store {
    Store::new(bench.engine.clone(), bench.env.clone())
}

fn counts(events: u64) -> Counts {
    let mut counts = Counts { events, bytes: 10 * events, ..Counts::default() };
    counts.record_attempt(200, 12);
    counts.record_attempt(503, 900);
    counts
}

fn hour(bench: &Bench, scope: Scope, hours_ago: i64, counts: Counts) -> Rollup {
    let at = Timestamp::from_millis(bench.now().as_millis() - hours_ago * 3_600_000);
    Rollup::new(scope, Interval::Hour, at, counts)
}

pub(crate) async fn rollups_are_begun_and_added_to(bench: Bench) {
    let rollups = bench.store.rollups();
    let (one, other) = (Scope::Account(bench.id()), Scope::Source(bench.id()));
    rollups.add(&[hour(&bench, one, 0, counts(2))]).await.unwrap();
    // One row is there, one is not.
    let mut new = counts(5);
    new.record_attempt(404, 3);
    let more = [hour(&bench, one, 0, new.clone()), hour(&bench, other, 0, counts(1))];
    rollups.add(&more).await.unwrap();
    let at = Interval::Hour.begin(bench.now());
    let found = rollups.list(one, Interval::Hour, at, at).await.unwrap();
    new.add(&counts(2));
    assert_eq!(found.iter().map(|row| &row.counts).collect::<Vec<_>>(), [&new]);
    assert_eq!(rollups.list(other, Interval::Hour, at, at).await.unwrap(), more[1..]);
}

pub(crate) async fn rollups_are_listed_by_time_and_interval(bench: Bench) {
    let rollups = bench.store.rollups();
    let scope = Scope::Connection(bench.id());
    let rows: Vec<_> = (0..5).rev().map(|ago| hour(&bench, scope, ago, counts(1))).collect();
    rollups.add(&rows).await.unwrap();
    let day = Rollup::new(scope, Interval::Day, bench.now(), counts(5));
    rollups.add(std::slice::from_ref(&day)).await.unwrap();
    let (from, to) = (rows[1].begins_at, rows[3].begins_at);
    let found = rollups.list(scope, Interval::Hour, from, to).await.unwrap();
    assert_eq!(found, rows[1..=3]);
    let found = rollups.list(scope, Interval::Day, day.begins_at, day.begins_at).await.unwrap();
    assert_eq!(found, [day]);
}

/// As many rows as are added to at once, each with as many counts as may be added at once, until the rows
/// have all that there are.
pub(crate) async fn the_largest_rollups_fit_into_a_commit(bench: Bench) {
    let mut full = counts(1);
    (0..=u16::MAX).for_each(|status| full.record_attempt(status, u32::from(status) * 64));
    (0..16).for_each(|millis| full.record_attempt(200, millis));
    let scopes: Vec<_> = (0..limits::ROLLUPS_AT_ONCE).map(|_| Scope::Source(bench.id())).collect();
    let rollups = bench.store.rollups();
    let parts = full.clone().parts(limits::ROLLUP_COUNTS_AT_ONCE);
    for part in parts.iter().chain(&parts) {
        let rows: Vec<_> =
            scopes.iter().map(|scope| hour(&bench, *scope, 0, part.clone())).collect();
        rollups.add(&rows).await.unwrap();
    }
    let at = Interval::Hour.begin(bench.now());
    let found = rollups.list(scopes[7], Interval::Hour, at, at).await.unwrap();
    let mut twice = full.clone();
    twice.add(&full);
    assert_eq!(found[0].counts, twice);
    assert_out_of_bounds(rollups.add(&[hour(&bench, scopes[0], 0, full)]).await);
}

/// Several servers add at once, also to rows that none of them has begun.
pub(crate) async fn rollups_from_several_servers_add_up(bench: Bench) {
    let scopes = [Scope::Account(bench.id()), Scope::Source(bench.id())];
    let mut racers = JoinSet::new();
    for _ in 0..AT_ONCE {
        let rows = scopes.map(|scope| hour(&bench, scope, 0, counts(3)));
        let store = another(&bench);
        racers.spawn(async move {
            store.rollups().add(&rows).await.unwrap();
            store.rollups().add(&rows).await.unwrap();
        });
    }
    racers.join_all().await;
    let at = Interval::Hour.begin(bench.now());
    for scope in scopes {
        let found = bench.store.rollups().list(scope, Interval::Hour, at, at).await.unwrap();
        let told: BTreeMap<_, _> = found[0].counts.named().collect();
        let times = 2 * AT_ONCE as u64;
        assert_eq!(
            (told["events"], told["code503"], told["attempts"]),
            (3 * times, times, 2 * times)
        );
    }
}

/// Two servers, each with many requests under way: what they may let in is never more than the
/// month has, and all of it is had.
pub(crate) async fn a_month_is_never_taken_twice(bench: Bench) {
    const MOST: u64 = 500;
    let account: Id<Account> = bench.id();
    let mut racers = JoinSet::new();
    for _ in 0..AT_ONCE {
        let (store, now) = (another(&bench), bench.now());
        racers.spawn(async move {
            let mut had = 0;
            loop {
                let block = |room: u64| (room / 8).max(1);
                match store.plan_counts().take_events(account, now, MOST, block, Some(20)).await {
                    Ok(Some(0)) => return had,
                    Ok(taken) => had += taken.unwrap(),
                    Err(error) => assert!(error.is_refused(), "{error}"), // the others were faster
                }
            }
        });
    }
    let had: u64 = racers.join_all().await.into_iter().sum();
    assert_eq!(had, MOST - 20);
    let counts = bench.store.plan_counts();
    counts.adjust_events(account, bench.now(), -5).await.unwrap();
    let again = counts.take_events(account, bench.now(), MOST, |room| room, None).await;
    assert_eq!(again.unwrap(), Some(5), "what was given back is there for others");
    let next = bench.now().next_month();
    let unknown = counts.take_events(account, next, MOST, |room| room, None).await;
    assert_eq!(unknown.unwrap(), None, "the next month begins with whoever asks first");
}

fn sources(bench: &Bench, count: usize) -> Vec<Source> {
    let (account_id, user_id) = (bench.id(), bench.id());
    let one = || Source { id: bench.id(), account_id, user_id, ..samples::source() };
    (0..count).map(|_| one()).collect()
}

/// One too many is not made, whichever server is asked.
pub(crate) async fn a_plan_has_room_for_so_many_sources(bench: Bench) {
    let all = sources(&bench, 2 * AT_ONCE);
    let mut racers = JoinSet::new();
    for source in all.clone() {
        let store = another(&bench);
        racers.spawn(async move {
            let edits = [Edit::CreateSource(source)];
            loop {
                match store.sources().edit_within(&edits, Some(5)).await {
                    Err(RoomError::Store(error)) if error.is_refused() => {} // asks again
                    other => return other,
                }
            }
        });
    }
    let made = racers.join_all().await;
    let full = |made: &&Result<_, _>| matches!(made, Err(RoomError::Full { most: 5 }));
    assert_eq!(made.iter().filter(|made| made.is_ok()).count(), 5);
    assert_eq!(made.iter().filter(full).count(), 2 * AT_ONCE - 5);
    let counts = bench.store.plan_counts();
    let (account, owner) = (all[0].account_id, all[0].user_id);
    let count = async || counts.find(account, Counted::Sources).await.unwrap().unwrap().count;
    assert_eq!(count().await, 5);

    let there = bench.store.sources().list_by_user(owner, Default::default()).await.unwrap().rows;
    assert_eq!(there.len(), 5);
    bench.store.sources().delete(&there[0]).await.unwrap();
    assert_eq!(count().await, 4);
    let last = all.iter().find(|one| there.iter().all(|there| there.id != one.id)).unwrap();
    bench.store.sources().edit_within(&[Edit::CreateSource(last.clone())], Some(5)).await.unwrap();
}

/// An account that is older than its count is counted once, as it is.
pub(crate) async fn what_was_there_before_the_count_is_counted(bench: Bench) {
    let all = sources(&bench, 3);
    for source in &all[..2] {
        // As an older version did.
        bench.commit(Batch::new().insert(source)).await.unwrap();
    }
    let edits = [Edit::CreateSource(all[2].clone())];
    let refused = bench.store.sources().edit_within(&edits, Some(2)).await;
    assert!(matches!(refused, Err(RoomError::Full { most: 2 })));
    bench.store.sources().edit_within(&edits, Some(3)).await.unwrap();
    let counts = bench.store.plan_counts();
    let count = counts.find(all[0].account_id, Counted::Sources).await.unwrap();
    assert_eq!(count.unwrap().count, 3);
}

pub(crate) async fn hooks_are_counted(bench: Bench) {
    let account_id: Id<Account> = bench.id();
    let hooks = bench.store.hooks();
    let hook = || Hook { id: bench.id(), account_id, ..samples::hook() };
    let (first, second) = (hook(), hook());
    hooks.create_within(&first, Some(1)).await.unwrap();
    let full = hooks.create_within(&second, Some(1)).await;
    assert!(matches!(full, Err(RoomError::Full { most: 1 })));
    let was = hooks.find(first.id).await.unwrap().unwrap();
    hooks.delete(&was).await.unwrap();
    hooks.create_within(&second, Some(1)).await.unwrap();
}
