use std::time::Duration;

use super::*;

fn disk_bytes(path: &Path) -> u64 {
    std::fs::read_dir(path)
        .unwrap()
        .map(|entry| {
            let entry = entry.unwrap();
            match entry.file_type().unwrap().is_dir() {
                true => disk_bytes(&entry.path()),
                false => entry.metadata().unwrap().len(),
            }
        })
        .sum()
}

#[tokio::test]
async fn what_has_expired_is_gone_at_once_from_every_list() {
    let bench = Bench::new();
    let engine = bench.open();
    let short = Parcel { expires: Some(bench.now() + 60), ..parcel(1) };
    insert(&engine, &short).await.unwrap();
    insert(&engine, &parcel(2)).await.unwrap();
    bench.clock.advance(Duration::from_secs(59));
    assert_eq!(list(&engine, inbox()).await, [1, 2]);
    bench.clock.advance(Duration::from_secs(1));
    assert!(get(&engine, 1).await.is_none());
    assert_eq!(list(&engine, by_time()).await, [2]);
    assert_eq!(list(&engine, inbox()).await, [2]);
    insert(&engine, &parcel(1)).await.expect("its name is free again");
}

/// Every second row expires, spread over all segments, so the living have to move.
#[tokio::test]
async fn the_space_of_expired_rows_comes_back_and_the_living_keep_their_content() {
    let bench = Bench::new();
    let engine = bench.open();
    let expires = Some(bench.now() + 3600);
    for number in 0..2000 {
        let expires = if number % 2 == 0 { expires } else { None };
        let body = format!("{number} ").repeat(400);
        insert(&engine, &Parcel { expires, body, ..parcel(number) }).await.unwrap();
    }
    let before = disk_bytes(&bench.config.directory);
    bench.clock.advance(Duration::from_secs(3 * 3600));
    let mut number = 10_000;
    for _ in 0..6 {
        // Writes go on, and move the checkpoint over what the sweep may take.
        for _ in 0..30 {
            number += 1;
            insert(&engine, &parcel(number)).await.unwrap();
        }
        engine.sweep().await.unwrap();
    }
    let after = disk_bytes(&bench.config.directory);
    assert!(after * 100 < before * 60, "{before} bytes before, {after} after");
    for number in (1..2000).step_by(2) {
        let found = get(&engine, number).await.unwrap();
        assert_eq!(found.body, format!("{number} ").repeat(400));
    }
    drop(engine);
    let engine = bench.open();
    let odd: Vec<u64> = (1..2000).step_by(2).chain(10_001..=number).collect();
    assert_eq!(list(&engine, by_time()).await, odd);
    assert_eq!(get(&engine, 1999).await.unwrap().body, "1999 ".repeat(400));
}

#[tokio::test]
async fn deleted_content_gives_its_space_back() {
    let bench = Bench::new();
    let engine = bench.open();
    for number in 0..500 {
        insert(&engine, &Parcel { body: "x".repeat(1000), ..parcel(number) }).await.unwrap();
    }
    let segments_before = segments(&bench).len();
    for number in 0..400 {
        let was = get(&engine, number).await.unwrap();
        engine.commit(Batch::new().delete(&was), Durability::Synced).await.unwrap();
    }
    for number in 1000..1100 {
        insert(&engine, &parcel(number)).await.unwrap();
    }
    // What was deleted is remembered over a restart.
    drop(engine);
    let engine = bench.open();
    for number in 2000..2100 {
        insert(&engine, &parcel(number)).await.unwrap();
    }
    for _ in 0..10_000 {
        engine.sweep().await.unwrap();
        if segments(&bench).len() < segments_before {
            break;
        }
    }
    assert!(segments(&bench).len() < segments_before, "segments went");
    assert_eq!(get(&engine, 450).await.unwrap().body, "x".repeat(1000));
}

/// Nobody asks for a sweep: a busy store finds the time by itself.
#[tokio::test]
async fn a_busy_store_gives_expired_space_back_by_itself() {
    let bench = Bench::new();
    let engine = bench.open();
    let body = "x".repeat(1000);
    for number in 0..500 {
        let expires = Some(bench.now() + 60);
        insert(&engine, &Parcel { expires, body: body.clone(), ..parcel(number) }).await.unwrap();
    }
    let oldest = segments(&bench)[0].clone();
    bench.clock.advance(Duration::from_secs(3 * 3600));
    for number in 1000..20_000 {
        if !oldest.exists() {
            return;
        }
        insert(&engine, &Parcel { body: body.clone(), ..parcel(number) }).await.unwrap();
        bench.clock.advance(Duration::from_secs(1));
    }
    panic!("{oldest:?} is still there");
}

/// Nothing is written any more, and still the space comes back.
#[tokio::test]
async fn an_idle_store_gives_expired_space_back() {
    let bench = Bench::new();
    let engine = bench.open();
    for number in 0..300 {
        let expires = Some(bench.now() + 60);
        insert(&engine, &Parcel { expires, body: "x".repeat(1000), ..parcel(number) })
            .await
            .unwrap();
    }
    let before = disk_bytes(&bench.config.directory);
    bench.clock.advance(Duration::from_secs(3 * 3600));
    let mut after = before;
    // The tables are written out beside; some sweeps come too early.
    for _ in 0..10_000 {
        engine.sweep().await.unwrap();
        after = disk_bytes(&bench.config.directory);
        if after * 2 < before {
            return;
        }
    }
    panic!("{before} bytes before, {after} after");
}

/// A server that dies again and again before it has much to write would otherwise find more to
/// read with every start.
#[tokio::test]
async fn a_start_with_much_to_read_again_saves_the_next_one_from_it() {
    let mut bench = Bench::new();
    let small = std::mem::replace(&mut bench.config.table_bytes_max, 64 * 1024 * 1024);
    let engine = bench.open();
    for number in 0..2000 {
        insert(&engine, &parcel(number)).await.unwrap();
    }
    drop(engine);
    let directory = bench.config.directory.join("tree/tables");
    let tables = || std::fs::read_dir(&directory).unwrap().count();
    assert_eq!(tables(), 0, "all of it is in the log only");

    bench.config.table_bytes_max = small;
    drop(bench.open());
    let first = bench.open();
    first.sweep().await.unwrap();
    drop(first);
    let written = tables();
    for _ in 0..5 {
        drop(bench.open());
        assert!(tables() <= written, "{} tables, then {}", written, tables());
    }
    let engine = bench.open();
    assert_eq!(list(&engine, inbox()).await, (0..2000).collect::<Vec<_>>());
}
