//! The tree through all generations of merges, on real files.

use std::collections::BTreeMap;

use super::*;
use crate::engine::embedded::merges::Step;

const ROWS: u64 = 400;

/// Writes, changes, deletes and lets expire, and remembers what should be there.
async fn stir(engine: &Embedded, bench: &Bench, model: &mut BTreeMap<u64, String>, round: u64) {
    for step in 0..60 {
        let number = (round * 7919 + step * 104_729) % ROWS;
        let status = format!("round{round}");
        let was = get(engine, number).await;
        let batch = match (&was, step % 5) {
            (Some(was), 0) => {
                model.remove(&number);
                Batch::new().delete(was)
            }
            (was, kind) => {
                let expires = (kind == 1).then(|| bench.now() - 100);
                match expires {
                    Some(_) => drop(model.remove(&number)),
                    None => drop(model.insert(number, status.clone())),
                }
                let now = Parcel { status, expires, ..parcel(number) };
                match was {
                    Some(was) => Batch::new().replace(was, &now),
                    None => Batch::new().insert(&now),
                }
            }
        };
        engine.commit(batch, Durability::Buffered).await.unwrap();
    }
}

async fn check(engine: &Embedded, model: &BTreeMap<u64, String>) {
    let numbers: Vec<u64> = model.keys().copied().collect();
    assert_eq!(list(engine, by_time()).await, numbers);
    let newest_first: Vec<u64> = numbers.iter().rev().copied().collect();
    assert_eq!(list(engine, inbox().newest_first()).await, newest_first);
    for number in 0..ROWS {
        let status = get(engine, number).await.map(|parcel| parcel.record.status);
        assert_eq!(status.as_ref(), model.get(&number), "{number}");
    }
}

/// Ends the table and waits until all there is to merge is merged.
async fn write_out(engine: &Embedded) {
    let requests = lock(&engine.requests).clone().unwrap();
    tokio::task::spawn_blocking(move || sealer(requests.downgrade())()).await.unwrap().unwrap();
    let is_busy = || {
        let runs = upkeep::runs_of(&engine.shared.tree);
        let is_due = merges::shallow(&runs).is_some() || merges::deep(&runs).is_some();
        engine.shared.sealed_count() > 0 || is_due
    };
    while is_busy() {
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn every_generation_tells_the_same_as_none() {
    let bench = Bench::new();
    let mut model = BTreeMap::new();
    let mut engine = bench.open();
    let mut seen = [0; merges::LEVELS];
    for round in 0..140 {
        stir(&engine, &bench, &mut model, round).await;
        write_out(&engine).await;
        for (most, runs) in seen.iter_mut().zip(upkeep::runs_of(&engine.shared.tree)) {
            *most = runs.max(*most);
        }
        if round % 20 == 19 {
            check(&engine, &model).await;
            drop(engine);
            engine = bench.open();
            check(&engine, &model).await;
        }
    }
    assert!(seen[0] >= 7 && seen[2] >= 3 && seen[4] >= 3 && seen[6] >= 1, "{seen:?}");
    let bottom = upkeep::strategy_of(Step::Merge { from: 6, to: 6 });
    engine.shared.tree.compact(bottom, engine.shared.oldest_read()).unwrap();
    engine.shared.show_files(|_| true);
    check(&engine, &model).await;
    // Where much was deleted, it does not wait until the bottom is full.
    model.clear();
    for number in list(&engine, by_time()).await {
        let was = get(&engine, number).await.unwrap();
        let batch = Batch::new().delete(&was);
        engine.commit(batch, Durability::Buffered).await.unwrap();
    }
    write_out(&engine).await;
    engine.sweep().await.unwrap();
    let version = engine.shared.tree.current_version();
    let bottom = version.iter_levels().last().unwrap();
    let deletions = bottom.iter().flat_map(|run| run.iter()).map(|table| table.tombstone_count());
    assert_eq!(deletions.sum::<u64>(), 0);
    check(&engine, &model).await;
}

/// The tree notes how many there are in one byte.
#[tokio::test]
#[expect(
    clippy::await_holding_lock,
    clippy::readonly_write_lock,
    reason = "nobody merges meanwhile"
)]
async fn tables_that_nobody_merges_stop_commits_before_they_are_too_many() {
    let mut bench = Bench::new();
    bench.config.table_bytes_max = 4 * 1024;
    let engine = bench.open();
    let merging = engine.shared.merging.write().unwrap();
    let mut refused = None;
    for number in 0..100_000 {
        if let Err(error) = insert(&engine, &parcel(number)).await {
            refused = Some((number, error));
            break;
        }
    }
    let (count, error) = refused.expect("no end of tables");
    assert!(error.to_string().contains("wait to be merged"), "{error}");
    assert!(engine.shared.tree.current_version().l0().run_count() <= 200);
    drop(merging);
    let mut tries = 0;
    while let Err(error) = insert(&engine, &parcel(count)).await {
        assert!(error.to_string().contains("wait to be merged"), "{error}");
        tries += 1;
        assert!(tries < 1_000_000, "never again");
        tokio::task::yield_now().await;
    }
    assert_eq!(list(&engine, by_time()).await.len() as u64, count + 1);
}
