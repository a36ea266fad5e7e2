//! Changes that are read from the log: over restarts, crashes, relocation, scrubs, and time.

use std::collections::BTreeMap;
use std::sync::atomic::AtomicUsize;
use std::time::Duration;

use super::super::changes::SYNC_EVERY;
use super::*;
use crate::changes::{Change, ChangesError, PAGE_BYTES_MAX, Start, What};

impl Bench {
    fn keeping(kept: Duration) -> Self {
        let mut bench = Self::new();
        bench.config.changes_kept = kept;
        bench
    }
}

const HOUR: Duration = Duration::from_secs(3600);

async fn told(engine: &Embedded, start: Start) -> Result<Vec<Change>, StoreError> {
    let mut wanted = Wanted::new(Kind::Event, start).limit(97);
    let mut told = Vec::new();
    loop {
        let page = engine.changes(&wanted).await?;
        told.extend(page.changes);
        if page.is_end {
            return Ok(told);
        }
        wanted.start = Start::After(page.next);
    }
}

async fn end(engine: &Embedded) -> Place {
    engine.changes(&Wanted::new(Kind::Event, Start::Now)).await.unwrap().next
}

async fn change_status(engine: &Embedded, number: u64, status: &str) {
    let was = get(engine, number).await.unwrap();
    let now = Parcel { status: status.into(), ..was.record.clone() };
    engine.commit(Batch::new().replace(&was, &now), Durability::Buffered).await.unwrap();
}

/// Number and revision of what was written; the body is whole.
fn written(change: &Change) -> (u64, u64) {
    let (What::Inserted(row) | What::Changed(row)) = &change.what else { panic!("{change:?}") };
    let parcel = Stored::<Parcel>::from_row(row.clone()).unwrap();
    assert_eq!(parcel.body, super::parcel(parcel.number).body);
    (parcel.number, parcel.revision)
}

fn assert_grows(told: &[Change]) {
    let numbers: Vec<u128> = told.iter().map(|change| change.sequence.parse().unwrap()).collect();
    assert!(numbers.is_sorted_by(|one, next| one < next));
}

#[tokio::test]
async fn a_reader_goes_on_where_it_was_after_a_restart() {
    let bench = Bench::keeping(HOUR);
    let engine = bench.open();
    for number in 0..300 {
        insert(&engine, &parcel(number)).await.unwrap();
        change_status(&engine, number, "delivered").await;
    }
    let before = told(&engine, Start::Oldest).await.unwrap();
    assert_eq!(before.len(), 600);
    let place = end(&engine).await;
    drop(engine);
    let engine = bench.open();
    insert(&engine, &parcel(300)).await.unwrap();
    let all = told(&engine, Start::Oldest).await.unwrap();
    assert_eq!(all[..600], before);
    assert_grows(&all);
    assert_eq!(told(&engine, Start::After(place)).await.unwrap(), all[600..]);
    for (number, change) in all.iter().enumerate().step_by(37) {
        let rest = told(&engine, Start::After(change.place.clone())).await.unwrap();
        assert_eq!(rest, all[number + 1..]);
    }
}

/// What a crash takes back was never told, and its place is not given to something else.
#[tokio::test]
async fn a_torn_tail_was_never_told() {
    let bench = Bench::keeping(HOUR);
    let engine = bench.open();
    for number in 0..5 {
        insert(&engine, &parcel(number)).await.unwrap();
    }
    let before = told(&engine, Start::Oldest).await.unwrap();
    let place = end(&engine).await;
    // On its way to the disk; nobody has asked for it.
    let batch = Batch::new().insert(&parcel(5));
    engine.commit(batch, Durability::Buffered).await.unwrap();
    drop(engine);
    let path = segments(&bench).pop().unwrap();
    let bytes = std::fs::read(&path).unwrap();
    std::fs::write(&path, &bytes[..bytes.len() - 3]).unwrap();
    let engine = bench.open();
    assert_eq!(told(&engine, Start::Oldest).await.unwrap(), before);
    insert(&engine, &parcel(6)).await.unwrap();
    let behind = told(&engine, Start::After(place)).await.unwrap();
    assert_eq!(behind.iter().map(written).collect::<Vec<_>>(), [(6, 1)]);
    assert_grows(&told(&engine, Start::Oldest).await.unwrap());
}

/// Sweeps until the oldest segment is gone; tables are written out beside, so it may take a few.
async fn sweep_oldest(bench: &Bench, engine: &Embedded) {
    let oldest = segments(bench)[0].clone();
    for number in 50_000..60_000 {
        engine.sweep().await.unwrap();
        if !oldest.exists() {
            return;
        }
        insert(engine, &parcel(number)).await.unwrap();
    }
    panic!("{oldest:?} is still there");
}

/// Rows that move to the end of the log have not changed; who asks for what went is told so.
#[tokio::test]
async fn what_the_upkeep_moves_is_no_change_and_what_it_takes_is_too_old() {
    let bench = Bench::keeping(HOUR);
    let engine = bench.open();
    let expires = Some(bench.now() + 60);
    for number in 0..400 {
        let expires = if number % 3 == 0 { None } else { expires };
        insert(&engine, &Parcel { expires, ..parcel(number) }).await.unwrap();
    }
    let first = told(&engine, Start::Oldest).await.unwrap()[0].place.clone();
    let place = end(&engine).await;
    bench.clock.advance(3 * HOUR);
    sweep_oldest(&bench, &engine).await;
    let behind = told(&engine, Start::After(place)).await.unwrap();
    assert!(behind.iter().all(|change| written(change).0 >= 50_000), "nothing is invented");
    assert_eq!(get(&engine, 0).await.unwrap().record, parcel(0));

    let refused = told(&engine, Start::After(first.clone())).await.unwrap_err();
    let StoreError::Changes(ChangesError::TooOld(old)) = refused else { panic!("{refused}") };
    assert_eq!(old, first);
    let oldest = told(&engine, Start::Oldest).await.unwrap();
    assert!(!oldest.is_empty());
    drop(engine);
    let engine = bench.open();
    assert!(told(&engine, Start::After(first)).await.is_err(), "also after a restart");
    assert_eq!(told(&engine, Start::Oldest).await.unwrap(), oldest);
}

#[tokio::test]
async fn changes_are_kept_for_their_time_although_all_of_it_is_dead() {
    let bench = Bench::keeping(24 * HOUR);
    let engine = bench.open();
    for number in 0..300 {
        insert(&engine, &parcel(number)).await.unwrap();
    }
    for number in 0..300 {
        let was = get(&engine, number).await.unwrap();
        engine.commit(Batch::new().delete(&was), Durability::Synced).await.unwrap();
    }
    let all = told(&engine, Start::Oldest).await.unwrap();
    assert_eq!(all.len(), 600);
    bench.clock.advance(23 * HOUR);
    for _ in 0..20 {
        engine.sweep().await.unwrap();
    }
    assert_eq!(told(&engine, Start::Oldest).await.unwrap(), all);
    bench.clock.advance(2 * HOUR);
    sweep_oldest(&bench, &engine).await;
    let gone = told(&engine, Start::After(all[0].place.clone())).await;
    assert!(matches!(gone, Err(StoreError::Changes(ChangesError::TooOld(_)))), "{gone:?}");
}

/// A change of a row whose content has moved since is told with it.
#[tokio::test]
async fn content_that_moved_is_found_again() {
    let bench = Bench::keeping(HOUR);
    let engine = bench.open();
    let expires = Some(bench.now() + 60);
    for number in 0..200 {
        let expires = if number == 7 { None } else { expires };
        insert(&engine, &Parcel { expires, ..parcel(number) }).await.unwrap();
    }
    bench.clock.advance(3 * HOUR);
    let place = end(&engine).await;
    change_status(&engine, 7, "delivered").await;
    sweep_oldest(&bench, &engine).await;
    let behind = told(&engine, Start::After(place)).await.unwrap();
    assert_eq!(written(&behind[0]), (7, 2));
}

#[tokio::test]
async fn what_was_scrubbed_is_not_told() {
    let bench = Bench::keeping(HOUR);
    let engine = bench.open();
    for number in 0..20 {
        insert(&engine, &parcel(number)).await.unwrap();
    }
    let places: Vec<_> = told(&engine, Start::Oldest).await.unwrap();
    let was = get(&engine, 7).await.unwrap();
    let batch = Batch::new().delete(&was).erasing(bench.env.now());
    engine.commit(batch, Durability::Synced).await.unwrap();
    engine.scrub().await.unwrap();
    let left = told(&engine, Start::Oldest).await.unwrap();
    let (removal, others) = left.split_last().unwrap();
    assert!(others.iter().all(|change| change.key != key(7)), "{left:?}");
    assert_eq!(others.len(), 19);
    assert_eq!((&removal.what, &removal.key), (&What::Removed, &key(7)), "but that it went");
    // Its place still is one.
    let rest = told(&engine, Start::After(places[7].place.clone())).await.unwrap();
    assert_eq!(rest, left[7..]);
}

#[tokio::test]
async fn places_inside_of_something_are_refused() {
    let bench = Bench::keeping(HOUR);
    let engine = bench.open();
    for number in 0..3 {
        insert(&engine, &parcel(number)).await.unwrap();
    }
    let first: u128 = told(&engine, Start::Oldest).await.unwrap()[0].sequence.parse().unwrap();
    for wrong in [first + 1, first - 1, first + (1 << 32), first + (1 << 64)] {
        let refused = told(&engine, Start::After(Place::new(wrong.to_string()))).await;
        let unknown = matches!(refused, Err(StoreError::Changes(ChangesError::Unknown(_))));
        assert!(unknown, "{wrong}: {refused:?}");
    }
}

#[tokio::test]
async fn a_store_that_keeps_none_says_so() {
    let bench = Bench::keeping(Duration::ZERO);
    let refused = told(&bench.open(), Start::Oldest).await;
    assert!(matches!(refused, Err(StoreError::Changes(ChangesError::NotKept))), "{refused:?}");
}

#[tokio::test]
async fn a_directory_of_the_version_before_begins_its_changes_now() {
    let bench = Bench::keeping(HOUR);
    drop(bench.open());
    let format = bench.config.directory.join("FORMAT");
    std::fs::write(&format, "ferryhook-data 1\n").unwrap();
    drop(bench.open());
    assert_eq!(std::fs::read_to_string(format).unwrap(), "ferryhook-data 3\n");
}

/// Small ops that carry large bodies: a page has as many as it can hold, and none is left out.
#[tokio::test]
async fn a_page_ends_where_it_carries_enough() {
    const ROWS: u64 = 12;
    let mut bench = Bench::keeping(HOUR);
    bench.config.segment_bytes = 64 * 1024 * 1024;
    let engine = bench.open();
    for number in 0..ROWS {
        let body = "x".repeat(PAGE_BYTES_MAX / 4);
        insert(&engine, &Parcel { body, ..parcel(number) }).await.unwrap();
    }
    let mut start = Start::After(end(&engine).await);
    for number in 0..ROWS {
        change_status(&engine, number, "delivered").await;
    }
    let mut told = Vec::new();
    while told.len() < ROWS as usize {
        let wanted = Wanted::new(Kind::Event, start).limit(100);
        let page = engine.changes(&wanted).await.unwrap();
        let bytes: usize = page.changes.iter().map(|change| change.what.bytes()).sum();
        assert!(bytes < PAGE_BYTES_MAX + PAGE_BYTES_MAX / 2, "{bytes} bytes");
        start = Start::After(page.next);
        told.extend(page.changes);
    }
    let rows: Vec<_> = told.iter().map(|change| change.key.clone()).collect();
    assert_eq!(rows, (0..ROWS).map(key).collect::<Vec<_>>());
}

/// Whoever reads must not make every buffered commit as dear as one that is synced; but they are
/// told of all of them.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn those_who_read_ask_for_few_syncs() {
    const READERS: usize = 8;
    const CHANGES: u64 = 400;
    let syncs = Arc::new(AtomicUsize::new(0));
    let mut bench = Bench::keeping(HOUR);
    bench.config.segment_bytes = 64 * 1024 * 1024;
    bench.config.table_bytes_max = 64 * 1024 * 1024;
    bench.config.faults = Faults::new({
        let syncs = syncs.clone();
        move |step| {
            syncs.fetch_add(usize::from(step == Step::Sync), Ordering::Relaxed);
            Ok(())
        }
    });
    let env = Env::system();
    let engine = Arc::new(Embedded::open(bench.config.clone(), env.clone()).unwrap());
    insert(&engine, &parcel(1)).await.unwrap();
    let place = end(&engine).await;
    let (begun, before) = (env.elapsed(), syncs.load(Ordering::Relaxed));
    let mut readers = tokio::task::JoinSet::new();
    for _ in 0..READERS {
        let (engine, mut place) = (engine.clone(), place.clone());
        readers.spawn(async move {
            let mut revision = 1;
            while revision < CHANGES + 1 {
                let wanted = Wanted::new(Kind::Event, Start::After(place)).limit(50);
                let page = engine.changes(&wanted).await.unwrap();
                for change in &page.changes {
                    revision += 1;
                    assert_eq!(written(change), (1, revision));
                }
                if page.is_end && revision < CHANGES + 1 {
                    engine.changed(&page.next).await.unwrap();
                }
                place = page.next;
            }
        });
    }
    for number in 0..CHANGES {
        change_status(&engine, 1, &number.to_string()).await;
    }
    readers.join_all().await;
    let syncs = syncs.load(Ordering::Relaxed) - before;
    let allowed = (env.elapsed() - begun).as_millis() / SYNC_EVERY.as_millis() + 2;
    assert!(syncs as u128 <= allowed, "{syncs} syncs, {allowed} allowed");
}

/// Those at the end of the log read each frame once between them.
#[tokio::test]
async fn readers_at_the_end_share_what_was_read() {
    let bench = Bench::keeping(HOUR);
    let engine = bench.open();
    let place = end(&engine).await;
    for number in 0..20 {
        insert(&engine, &parcel(number)).await.unwrap();
    }
    let first = told(&engine, Start::After(place.clone())).await.unwrap();
    // The files of the others are not looked at.
    for path in segments(&bench) {
        std::fs::write(path, "").unwrap();
    }
    assert_eq!(told(&engine, Start::After(place)).await.unwrap(), first);
}

/// Writers and a reader at the same time: each row's changes come in order, and none is missing.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_reader_at_the_end_misses_nothing() {
    const WRITERS: u64 = 4;
    const ROWS: u64 = 150;
    let bench = Bench::keeping(HOUR);
    let engine = Arc::new(bench.open());
    let mut place = end(&engine).await;
    let mut writers = tokio::task::JoinSet::new();
    for writer in 0..WRITERS {
        let engine = engine.clone();
        writers.spawn(async move {
            for number in (0..ROWS).map(|row| row * WRITERS + writer) {
                insert(&engine, &parcel(number)).await.unwrap();
                change_status(&engine, number, "retrying").await;
                change_status(&engine, number, "delivered").await;
            }
        });
    }
    let mut seen = BTreeMap::<u64, u64>::new();
    let mut count = 0;
    while count < WRITERS * ROWS * 3 {
        let wanted = Wanted::new(Kind::Event, Start::After(place)).limit(50);
        let page = engine.changes(&wanted).await.unwrap();
        for (number, revision) in page.changes.iter().map(written) {
            let before = seen.insert(number, revision).unwrap_or(0);
            assert_eq!(before + 1, revision);
            count += 1;
        }
        if page.is_end && count < WRITERS * ROWS * 3 {
            engine.changed(&page.next).await.unwrap();
        }
        place = page.next;
    }
    writers.join_all().await;
    assert!(seen.len() as u64 == WRITERS * ROWS && seen.values().all(|revision| *revision == 3));
}
