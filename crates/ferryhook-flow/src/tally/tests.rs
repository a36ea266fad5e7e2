use ferryhook_core::rollup::{Counts, Interval, Scope};
use ferryhook_core::{Env, Rollup, samples};

use super::*;
use crate::limits;
use crate::probe::Probe;

fn course() -> Course {
    let connection = samples::connection();
    Course {
        account: connection.account_id,
        source: connection.source_id,
        connection: connection.id,
    }
}

fn answered(status: u16) -> Option<Tried> {
    Some(Tried { status, latency_ms: 12 })
}

async fn hour(store: &Store, scope: Scope, env: &Env) -> Counts {
    let now = Interval::Hour.begin(env.now());
    let found = store.rollups().list(scope, Interval::Hour, now, now).await.unwrap();
    found.into_iter().next().map_or_else(Counts::default, |row: Rollup| row.counts)
}

#[tokio::test]
async fn deliveries_are_counted_for_their_connection_source_and_account() {
    let env = Env::fixed("2026-01-01T00:00:00Z");
    let (probe, store) = Probe::new(&env);
    let connection = samples::connection();
    store.connections().create(&connection).await.unwrap();
    let (tally, now) = (Tally::default(), env.now());
    (0..5).for_each(|_| tally.carried(course(), answered(200), Some(End::Delivered), now));
    tally.carried(course(), answered(500), None, now);
    tally.carried(course(), answered(0), Some(End::Failed), now);
    tally.carried(course(), None, None, now);
    tally.flush(&store).await;
    let before = probe.commits();
    tally.flush(&store).await;
    assert_eq!(probe.commits(), before, "nothing new, nothing written");

    let Course { account, source, connection: id } = course();
    for scope in [Scope::Account(account), Scope::Source(source), Scope::Connection(id)] {
        let counts = hour(&store, scope, &env).await;
        assert_eq!((counts.delivered, counts.failed, counts.attempts), (5, 1, 7), "{scope}");
        assert_eq!((counts.latency.count(), counts.latency_mean()), (6, Some(12.0)));
        let codes: Vec<_> = counts.codes.iter().map(|(code, n)| format!("{code}:{n}")).collect();
        assert_eq!(codes, ["none:1", "200:5", "500:1"]);
    }
    let counted = store.connections().find_of(source, id).await.unwrap().unwrap();
    assert_eq!(counted.delivery_count - connection.delivery_count, 5);
    assert_eq!(counted.failure_count - connection.failure_count, 1);
}

/// Counts outlive a store that is away, and are not counted twice.
#[tokio::test]
async fn counts_are_kept_while_the_store_is_away() {
    let env = Env::fixed("2026-01-01T00:00:00Z");
    let (probe, store) = Probe::new(&env);
    let source = samples::source();
    store.sources().create(&source).await.unwrap();
    let (tally, now) = (Tally::default(), env.now());
    tally.arrived(&source, 10, false, now);
    tally.called(source.account_id, source.user_id, now);
    probe.is_away(true);
    tally.flush(&store).await;
    tally.flush(&store).await;
    probe.is_away(false);
    tally.arrived(&source, 10, true, now);
    tally.repeated(&source, None, now);
    tally.refused(&source, now);
    tally.flush(&store).await;
    for scope in [Scope::Account(source.account_id), Scope::Source(source.id)] {
        let counts = hour(&store, scope, &env).await;
        assert_eq!((counts.events, counts.bytes, counts.filtered), (2, 20, 1));
        assert_eq!((counts.duplicates, counts.rejected), (1, 1));
    }
    let day = store.usage().find(source.account_id, "2026-01-01").await.unwrap().unwrap();
    assert_eq!((day.api_calls, day.active_users, day.active_sources), (1, 1, 1));
    assert_eq!((day.data_processed_bytes, day.error_count, day.hourly_counts[0]), (20, 1, 2));
    assert_eq!(day.by_platform[&source.provider]["events"], 2);
    let users = day.by_user.as_ref().unwrap();
    assert_eq!(users[source.user_id.as_str()]["apiCalls"], 1);
    let counted = store.sources().find(source.id).await.unwrap().unwrap();
    assert_eq!(counted.event_count - source.event_count, 2);
}

#[tokio::test]
async fn what_was_counted_for_nobody_is_forgotten() {
    let env = Env::fixed("2026-01-01T00:00:00Z");
    let (probe, store) = Probe::new(&env);
    let tally = Tally::default();
    tally.carried(course(), None, Some(End::Delivered), env.now());
    tally.flush(&store).await;
    let commits = probe.commits();
    tally.flush(&store).await;
    assert_eq!(probe.commits(), commits);
}

/// What is kept of the days before counts to a day's storage.
#[tokio::test]
async fn storage_has_the_days_before() {
    let env = Env::fixed("2026-01-20T00:00:00Z");
    let (_, store) = Probe::new(&env);
    let source = samples::source();
    let before = "2026-01-18T00:00:00Z".parse().unwrap();
    let (tally, scope) = (Tally::default(), Scope::Account(source.account_id));
    let rollup = Rollup::new(scope, Interval::Day, before, Counts::event(1000));
    store.rollups().add(&[rollup]).await.unwrap();
    for _ in 0..2 {
        tally.arrived(&source, 10, false, env.now());
        tally.flush(&store).await;
    }
    let day = store.usage().find(source.account_id, "2026-01-20").await.unwrap().unwrap();
    assert_eq!((day.storage_used_bytes, day.data_processed_bytes), (1020, 20));
}

/// A store that is away for long does not fill the memory.
#[test]
fn what_waits_has_a_bound() {
    let (tally, now) = (Tally::default(), samples::CREATED);
    for place in 0..2 * limits::TALLIES_MAX {
        let id = format!("acc_{place:016}").parse().unwrap();
        tally.called(id, samples::user().id, now);
    }
    let waiting: usize = tally.0.gathered.each().map(|gathered| gathered.accounts.len()).sum();
    assert_eq!(waiting, limits::TALLIES_MAX);
}

/// Where many sources are busy a flush stays small, accounts do not wait, and nothing is counted
/// twice or not at all.
#[tokio::test]
async fn many_take_turns() {
    let env = Env::fixed("2026-01-01T00:00:00Z");
    let (_, store) = Probe::new(&env);
    let (tally, now) = (Tally::default(), env.now());
    let many = 2 * limits::ROWS_AT_ONCE;
    let id = |place| format!("src_{place:016}").parse().unwrap();
    let sources: Vec<_> =
        (0..many).map(|place| Source { id: id(place), ..samples::source() }).collect();
    for source in &sources {
        store.sources().create(source).await.unwrap();
    }
    let arrive = || sources.iter().for_each(|source| tally.arrived(source, 10, false, now));
    let account = Scope::Account(samples::source().account_id);
    arrive();
    tally.flush_some(&store).await;
    // By hour and day.
    let left = lock(&tally.0.waiting).rollups_waiting();
    assert_eq!(left, 2 * many - limits::ROWS_AT_ONCE);
    assert_eq!(hour(&store, account, &env).await.events, many as u64);

    let turns = 2 * many / limits::ROWS_AT_ONCE;
    for _ in 1..turns {
        arrive();
        tally.flush_some(&store).await;
    }
    for source in &sources {
        assert!(hour(&store, Scope::Source(source.id), &env).await.events > 0, "{}", source.id);
    }
    tally.flush(&store).await;
    for source in &sources {
        let counted = hour(&store, Scope::Source(source.id), &env).await.events;
        assert_eq!(counted, turns as u64);
        let now = store.sources().find(source.id).await.unwrap().unwrap();
        assert_eq!(now.event_count - source.event_count, counted);
    }
    assert_eq!(hour(&store, account, &env).await.events, (turns * many) as u64);
}
