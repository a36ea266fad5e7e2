//! A full disk: nothing is lost, nothing stops for good, and what is dead can go.

use std::sync::atomic::AtomicBool;

use super::*;

/// A disk that can be told to be full, and tells of frames that were written where no room had
/// been taken: those make their file longer, and on a full disk they would be the end.
#[derive(Clone, Default)]
struct Disk {
    full: Arc<AtomicBool>,
    outside: Arc<AtomicBool>,
    /// The newest segment and its length before a frame was written.
    before: Arc<Mutex<Option<(u32, u64)>>>,
}

impl Disk {
    fn faults(&self, bench: &Bench) -> Faults {
        let (disk, directory) = (self.clone(), bench.config.directory.join("log"));
        Faults::new(move |step| {
            let newest = || {
                let number = *log::list_segments(&directory).unwrap().last()?;
                let file = log::segment_path(&directory, number).metadata().ok()?;
                Some((number, file.len()))
            };
            match step {
                Step::Create | Step::Grow if disk.full.load(Ordering::SeqCst) => {
                    return Err(io::Error::from(io::ErrorKind::StorageFull));
                }
                Step::Write => *lock(&disk.before) = newest(),
                Step::Sync => {
                    if let (Some(before), Some(after)) = (lock(&disk.before).take(), newest()) {
                        let grew = before.0 == after.0 && before.1 < after.1;
                        disk.outside.fetch_or(grew, Ordering::SeqCst);
                    }
                }
                _ => {}
            }
            Ok(())
        })
    }

    fn is_full(&self, full: bool) {
        self.full.store(full, Ordering::SeqCst);
    }

    fn wrote_outside(&self) -> bool {
        self.outside.load(Ordering::SeqCst)
    }
}

fn bench() -> (Bench, Disk) {
    let (mut bench, disk) = (Bench::new(), Disk::default());
    bench.config.faults = disk.faults(&bench);
    (bench, disk)
}

fn large(number: u64) -> Parcel {
    Parcel { body: "x".repeat(20_000), ..parcel(number) }
}

/// Until one is refused; tells the number of that one, and why.
async fn insert_until_refused(engine: &Embedded, from: u64) -> (u64, StoreError) {
    for number in from..from + 10_000 {
        if let Err(error) = insert(engine, &large(number)).await {
            return (number, error);
        }
    }
    panic!("the disk is never full");
}

#[tokio::test]
async fn no_frame_is_written_where_no_room_was_taken() {
    let (bench, disk) = bench();
    let engine = bench.open();
    for number in 0..50 {
        insert(&engine, &large(number)).await.unwrap();
    }
    assert!(segments(&bench).len() > 5);
    assert!(!disk.wrote_outside());
}

#[tokio::test]
async fn a_segment_that_gets_no_successor_keeps_its_room() {
    let (bench, disk) = bench();
    let engine = bench.open();
    insert(&engine, &parcel(1)).await.unwrap();
    disk.is_full(true);
    let target = bench.directory.path().join("backup");
    let error = engine.backup(&target).await.unwrap_err();
    assert!(matches!(error, StoreError::Full(_)), "{error:?}");
    insert(&engine, &parcel(2)).await.expect("there is room for it");
    assert!(!disk.wrote_outside());
    assert_eq!(list(&engine, by_time()).await, [1, 2]);
}

/// The last frame of a segment needs more room than there is: that is no failed write yet.
#[tokio::test]
async fn a_frame_that_finds_no_room_stops_nothing_for_good() {
    let (bench, disk) = bench();
    let engine = bench.open();
    disk.is_full(true);
    let (refused, error) = insert_until_refused(&engine, 0).await;
    assert!(refused > 0 && matches!(error, StoreError::Full(_)), "{error:?}");
    engine.check().unwrap();
    disk.is_full(false);
    insert(&engine, &large(refused)).await.unwrap();
    drop(engine);
    assert_eq!(list(&bench.open(), by_time()).await, (0..=refused).collect::<Vec<_>>());
}

/// All that these hold has expired, and the tree's files have its rows.
async fn dead_segments(bench: &Bench, engine: &Embedded) {
    for number in 0..50 {
        let expires = Some(bench.now() + 60);
        insert(engine, &Parcel { expires, ..large(number) }).await.unwrap();
    }
    let copy = bench.directory.path().join("copy");
    engine.backup(&copy).await.unwrap(); // writes tables out
    for number in 100..150 {
        insert(engine, &large(number)).await.unwrap();
    }
    engine.backup(&bench.directory.path().join("another")).await.unwrap();
    while engine.directory.checkpoint().unwrap().segment < 10 {
        tokio::task::yield_now().await;
    }
    bench.clock.advance(Duration::from_secs(3 * 3600));
}

async fn sweep_until_fewer(bench: &Bench, engine: &Embedded) {
    let before = segments(bench).len();
    for _ in 0..1000 {
        let _ = engine.sweep().await; // some of it needs room
        if segments(bench).len() + 5 < before {
            return;
        }
    }
    panic!("{before} segments before, now {}", segments(bench).len());
}

#[tokio::test]
async fn what_is_dead_can_go_when_the_log_is_full() {
    let (bench, disk) = bench();
    let engine = bench.open();
    dead_segments(&bench, &engine).await;
    disk.is_full(true);
    let (refused, _) = insert_until_refused(&engine, 1000).await;
    // Until not even the smallest commit goes through.
    let mut number = refused;
    while insert(&engine, &parcel(number)).await.is_ok() {
        number += 1;
    }
    sweep_until_fewer(&bench, &engine).await;
    assert!(!disk.wrote_outside());
    assert!(get(&engine, 149).await.is_some(), "what lives stays");
    disk.is_full(false);
    insert(&engine, &parcel(9999)).await.unwrap();
    drop(engine);
    let living: Vec<u64> = (100..150).chain(1000..number).chain([9999]).collect();
    assert_eq!(list(&bench.open(), by_time()).await, living);
}

#[tokio::test]
async fn what_is_dead_can_go_when_no_table_can_be_written_out() {
    let (bench, _) = bench();
    let engine = bench.open();
    dead_segments(&bench, &engine).await;
    // Where the next tables would come to lie.
    let tables = bench.config.directory.join("tree/tables");
    let taken: Vec<PathBuf> = (0..2000).map(|number| tables.join(number.to_string())).collect();
    let taken: Vec<PathBuf> =
        taken.into_iter().filter(|path| std::fs::create_dir(path).is_ok()).collect();
    insert_until_refused(&engine, 1000).await;
    engine.check().unwrap();
    sweep_until_fewer(&bench, &engine).await;
    for path in taken {
        std::fs::remove_dir(path).unwrap();
    }
    while insert(&engine, &parcel(99_999)).await.is_err() {
        tokio::task::yield_now().await; // writing out is tried again now and then
    }
    assert!(get(&engine, 149).await.is_some(), "what lives stays");
}
