//! Several at once, on several threads: exactly one wins, and nothing is counted twice or lost.

use std::sync::Arc;

use ferryhook_core::samples;
use ferryhook_store::batch::Patch;
use ferryhook_store::{Batch, Durability, Engine, Kind, Record, StoreError, UniqueError};
use tokio::task::JoinSet;

use crate::bench::Bench;

const AT_ONCE: i64 = 16;

/// Commits all batches at the same time and gives back what became of each.
async fn race(
    bench: &Bench,
    batches: impl Iterator<Item = Batch>,
    durability: Durability,
) -> Vec<Result<(), StoreError>> {
    let mut racers = JoinSet::new();
    for batch in batches {
        let engine: Arc<dyn Engine> = bench.engine.clone();
        racers.spawn(async move { engine.commit(batch, durability).await });
    }
    racers.join_all().await
}

fn winners(results: &[Result<(), StoreError>]) -> usize {
    for result in results {
        assert!(result.as_ref().err().is_none_or(StoreError::is_refused), "{result:?}");
    }
    results.iter().filter(|result| result.is_ok()).count()
}

pub(crate) async fn of_many_inserts_of_one_key_one_wins(bench: Bench) {
    let probe = bench.probe("a");
    let batches = (0..AT_ONCE).map(|count| Batch::new().insert(&probe.clone().count(count)));
    let results = race(&bench, batches, Durability::Synced).await;
    assert_eq!(winners(&results), 1);
    assert_eq!(bench.read(&probe).await.revision, 1);
}

pub(crate) async fn of_many_replacements_of_one_row_one_wins(bench: Bench) {
    let probe = bench.probe("a").mail("m");
    bench.insert(&probe).await;
    let was = bench.read(&probe).await;
    let batches = (1..=AT_ONCE).map(|count| {
        let now = probe.clone().count(count).mail(&format!("m{count}"));
        Batch::new().replace(&was, &now)
    });
    let results = race(&bench, batches, Durability::Synced).await;
    assert_eq!(winners(&results), 1);
    let read = bench.read(&probe).await;
    assert_eq!(read.revision, 2);
    let entries = bench.page(probe.mails()).await.rows;
    assert_eq!(entries, [read]);
}

pub(crate) async fn of_many_deletions_of_one_row_one_wins(bench: Bench) {
    let probe = bench.probe("a");
    bench.insert(&probe).await;
    let was = bench.read(&probe).await;
    let batches = (0..AT_ONCE).map(|_| Batch::new().delete(&was));
    let results = race(&bench, batches, Durability::Synced).await;
    assert_eq!(winners(&results), 1);
    assert_eq!(bench.get(&probe).await, None);
}

/// Sums ask for nothing but the row, so all of them succeed, in whatever order.
pub(crate) async fn concurrent_sums_are_all_counted(bench: Bench) {
    let probe = bench.probe("a");
    bench.insert(&probe).await;
    for durability in [Durability::Synced, Durability::Buffered] {
        let batches = (1..=AT_ONCE).map(|amount| {
            let patch = Patch::of(Kind::Event, probe.key()).add("count", amount);
            Batch::new().patch(patch)
        });
        for result in race(&bench, batches, durability).await {
            result.unwrap();
        }
    }
    let read = bench.read(&probe).await;
    assert_eq!(read.count, AT_ONCE * (AT_ONCE + 1));
    assert_eq!(read.revision, 1 + 2 * AT_ONCE.unsigned_abs());
}

/// Two rows that only ever change together are never seen, or left, apart.
pub(crate) async fn batches_on_the_same_rows_do_not_mix(bench: Bench) {
    let (left, right) = (bench.probe("left"), bench.probe("right"));
    bench.insert_all(&[left.clone(), right.clone()]).await;
    let (was_left, was_right) = (bench.read(&left).await, bench.read(&right).await);
    let batches = (1..=AT_ONCE).map(|count| {
        let (left, right) = (left.clone().count(count), right.clone().count(count));
        // Half of them name the rows the other way round.
        match count % 2 {
            0 => Batch::new().replace(&was_left, &left).replace(&was_right, &right),
            _ => Batch::new().replace(&was_right, &right).replace(&was_left, &left),
        }
    });
    let results = race(&bench, batches, Durability::Synced).await;
    assert_eq!(winners(&results), 1);
    assert_eq!(bench.read(&left).await.count, bench.read(&right).await.count);
}

pub(crate) async fn of_many_users_with_one_address_one_signs_up(bench: Bench) {
    let mut racers = JoinSet::new();
    for place in 0..AT_ONCE {
        let mut user = samples::user();
        user.id = bench.id();
        let name = bench.own("Ada");
        user.email = match place % 2 {
            0 => format!("{name}@example.com"),
            _ => format!("{}@Example.COM", name.to_uppercase()),
        };
        let store = bench.store.clone();
        racers.spawn(async move { store.users().create(&user).await });
    }
    let results = racers.join_all().await;
    let created = results.iter().filter(|result| result.is_ok()).count();
    let taken = |result: &&Result<_, _>| matches!(result, Err(UniqueError::Taken(_)));
    assert_eq!(created, 1);
    assert_eq!(results.iter().filter(taken).count(), results.len() - 1);
}

pub(crate) async fn of_many_keys_with_one_hash_one_is_created(bench: Bench) {
    let mut racers = JoinSet::new();
    for _ in 0..AT_ONCE {
        let mut key = samples::key();
        (key.id, key.user_id) = (bench.id(), bench.id());
        key.hash = ferryhook_core::Secret::new(bench.own("hash"));
        let store = bench.store.clone();
        racers.spawn(async move { store.keys().create(&key).await });
    }
    let results = racers.join_all().await;
    assert_eq!(results.iter().filter(|result| result.is_ok()).count(), 1);
}

pub(crate) async fn of_many_who_return_with_one_state_one_takes_it(bench: Bench) {
    let mut state = samples::oauth_state();
    let name = bench.own("state");
    state.state = ferryhook_core::Secret::new(&*name);
    state.expires_at = bench.later(600);
    bench.store.oauth_states().create(&state).await.unwrap();
    let mut racers = JoinSet::new();
    for _ in 0..AT_ONCE {
        let (store, name) = (bench.store.clone(), name.clone());
        racers.spawn(async move { store.oauth_states().take(&name).await.unwrap() });
    }
    let taken = racers.join_all().await;
    assert_eq!(taken.into_iter().flatten().count(), 1);
}

pub(crate) async fn usage_from_several_nodes_adds_up(bench: Bench) {
    let mut usage = samples::usage();
    usage.account_id = bench.id();
    let mut racers = JoinSet::new();
    for _ in 0..4 {
        let (store, usage) = (bench.store.clone(), usage.clone());
        racers.spawn(async move { store.usage().add(&usage).await.unwrap() });
    }
    racers.join_all().await;
    let found = bench.store.usage().find(usage.account_id, &usage.day).await;
    let found = found.unwrap().unwrap();
    assert_eq!(found.api_calls, 4 * usage.api_calls);
    assert_eq!(found.by_platform["stripe"]["events"], 160);
}

pub(crate) async fn of_many_workers_one_leases_a_delivery(bench: Bench) {
    let mut delivery = samples::delivery();
    delivery.event_id = bench.id();
    delivery.expires_at = None;
    delivery.state = ferryhook_core::delivery::State::Waiting { next_attempt_at: bench.now() };
    let deliveries = bench.store.deliveries();
    deliveries.create(&delivery).await.unwrap();
    let was = deliveries.find(delivery.event_id, delivery.connection_id);
    let was = was.await.unwrap().unwrap();
    let until = bench.later(30);
    let mut racers = JoinSet::new();
    for _ in 0..AT_ONCE {
        let (store, was) = (bench.store.clone(), was.clone());
        racers.spawn(async move { store.deliveries().lease(&was, until).await.unwrap() });
    }
    let leased = racers.join_all().await;
    assert_eq!(leased.into_iter().flatten().count(), 1);
}
