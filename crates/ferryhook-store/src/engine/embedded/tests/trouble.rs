use std::sync::atomic::{AtomicBool, AtomicUsize};

use ferryhook_core::env::{Clock, SeededEntropy};

use super::*;

/// A disk that can be told to fail at one step.
#[derive(Clone, Default)]
struct Disk {
    full: Arc<AtomicBool>,
    broken: Arc<AtomicBool>,
}

impl Disk {
    fn faults(&self) -> Faults {
        let disk = self.clone();
        Faults::new(move |step| {
            if matches!(step, Step::Create | Step::Grow) && disk.full.load(Ordering::SeqCst) {
                return Err(io::Error::from(io::ErrorKind::StorageFull));
            }
            if step == Step::Sync && disk.broken.load(Ordering::SeqCst) {
                return Err(io::Error::other("input/output error"));
            }
            Ok(())
        })
    }
}

#[tokio::test]
async fn a_full_disk_is_told_as_such_and_writing_goes_on_once_there_is_room() {
    let disk = Disk::default();
    let mut bench = Bench::new();
    bench.config.faults = disk.faults();
    let engine = bench.open();
    disk.full.store(true, Ordering::SeqCst);
    let mut acknowledged = Vec::new();
    let mut refused = 0;
    for number in 0..400 {
        match insert(&engine, &parcel(number)).await {
            Ok(()) => acknowledged.push(number),
            Err(StoreError::Full(_)) => refused += 1,
            Err(other) => panic!("{other}"),
        }
    }
    assert!(refused > 0 && !acknowledged.is_empty());
    assert!(get(&engine, acknowledged[0]).await.is_some(), "reading works");
    disk.full.store(false, Ordering::SeqCst);
    insert(&engine, &parcel(1000)).await.unwrap();
    acknowledged.push(1000);
    drop(engine);
    assert_eq!(list(&bench.open(), by_time()).await, acknowledged);
}

#[tokio::test]
async fn after_a_failed_sync_nothing_is_acknowledged_until_reopened() {
    let disk = Disk::default();
    let mut bench = Bench::new();
    bench.config.faults = disk.faults();
    let engine = bench.open();
    insert(&engine, &parcel(1)).await.unwrap();
    disk.broken.store(true, Ordering::SeqCst);
    let error = insert(&engine, &parcel(2)).await.unwrap_err();
    assert!(matches!(error, StoreError::Unavailable(..)), "{error:?}");
    disk.broken.store(false, Ordering::SeqCst);
    let error = insert(&engine, &parcel(3)).await.unwrap_err();
    assert!(error.to_string().contains("restart"), "{error}");
    assert!(engine.check().is_err());
    assert!(get(&engine, 1).await.is_some(), "reading works");
    assert!(get(&engine, 2).await.is_none(), "what was not acknowledged is not shown");
    drop(engine);
    let engine = bench.open();
    assert!(get(&engine, 1).await.is_some());
    insert(&engine, &parcel(3)).await.unwrap();
}

/// The second look into the tree fails: the first action's writes must not stay behind.
#[tokio::test]
async fn a_batch_that_cannot_be_decided_leaves_nothing_behind() {
    let reads = Arc::new(AtomicUsize::new(0));
    let mut bench = Bench::new();
    bench.config.faults = Faults::new({
        let reads = reads.clone();
        move |step| match step == Step::Read && reads.fetch_add(1, Ordering::SeqCst) == 1 {
            true => Err(io::Error::other("input/output error")),
            false => Ok(()),
        }
    });
    let engine = bench.open();
    let batch = Batch::new().insert(&parcel(1)).insert(&parcel(2));
    assert!(engine.commit(batch, Durability::Synced).await.is_err());
    insert(&engine, &parcel(3)).await.unwrap();
    assert_eq!(list(&engine, by_time()).await, [3]);
    assert_eq!(list(&engine, inbox()).await, [3]);
}

/// Ending a segment syncs it: a failure there is as final as any other failed sync.
#[tokio::test]
async fn a_sync_that_finds_the_disk_full_is_final() {
    let broken = Arc::new(AtomicBool::new(false));
    let mut bench = Bench::new();
    bench.config.faults = Faults::new({
        let broken = broken.clone();
        move |step| match step == Step::Sync && broken.load(Ordering::SeqCst) {
            true => Err(io::Error::from(io::ErrorKind::StorageFull)),
            false => Ok(()),
        }
    });
    let engine = bench.open();
    let batch = Batch::new().insert(&parcel(1));
    engine.commit(batch, Durability::Buffered).await.unwrap();
    broken.store(true, Ordering::SeqCst);
    let target = bench.directory.path().join("backup");
    assert!(engine.backup(&target).await.is_err(), "the backup ends the segment");
    broken.store(false, Ordering::SeqCst);
    assert!(insert(&engine, &parcel(2)).await.is_err(), "and nothing is acknowledged any more");
}

/// A power failure could otherwise leave files that point into a log that is shorter.
#[tokio::test]
async fn opening_syncs_the_log_before_its_rows_are_written_out() {
    let mut bench = Bench::new();
    let small = std::mem::replace(&mut bench.config.table_bytes_max, 64 * 1024 * 1024);
    bench.config.segment_bytes = 64 * 1024 * 1024;
    let engine = bench.open();
    for number in 0..1000 {
        insert(&engine, &parcel(number)).await.unwrap();
    }
    drop(engine);
    bench.config.table_bytes_max = small;
    bench.config.faults = Faults::new(|step| match step {
        Step::Sync => Err(io::Error::other("input/output error")),
        _ => Ok(()),
    });
    assert!(bench.try_open().is_err());
    let tables = bench.config.directory.join("tree/tables");
    assert_eq!(std::fs::read_dir(tables).unwrap().count(), 0);
}

/// Ticks until it is asked by the upkeep, where it breaks.
struct Trap {
    clock: Arc<ManualClock>,
    is_set: AtomicBool,
}

impl Clock for Trap {
    fn now(&self) -> Timestamp {
        self.clock.now()
    }

    fn elapsed(&self) -> Duration {
        let is_upkeep = std::thread::current().name() == Some("store-upkeep");
        assert!(!(is_upkeep && self.is_set.load(Ordering::SeqCst)), "the clock is broken");
        self.clock.elapsed()
    }
}

#[tokio::test]
async fn a_thread_that_panics_is_told() {
    let mut bench = Bench::new();
    let trap = Arc::new(Trap { clock: bench.clock.clone(), is_set: AtomicBool::new(false) });
    bench.env = Env::new(trap.clone(), Arc::new(SeededEntropy::new(0)));
    let engine = bench.open();
    insert(&engine, &parcel(1)).await.unwrap();
    trap.is_set.store(true, Ordering::SeqCst);
    let _ = engine.sweep().await;
    let told = async {
        while engine.check().is_ok() {
            tokio::task::yield_now().await;
        }
    };
    let wait = Duration::from_secs(30);
    tokio::time::timeout(wait, told).await.expect("nobody tells of it");
    assert!(insert(&engine, &parcel(2)).await.is_err());
    assert!(get(&engine, 1).await.is_some(), "reading works");
}

/// Who would make room has failed: it will never come.
#[tokio::test]
async fn nobody_waits_for_room_behind_a_failure() {
    let engine = Bench::new().open();
    engine.shared.fail("the flush panicked");
    let (done, answer) = std::sync::mpsc::channel();
    let shared = engine.shared.clone();
    std::thread::spawn(move || done.send(shared.wait_for_room(0)));
    let answer = answer.recv_timeout(Duration::from_secs(30)).expect("it waits");
    assert!(answer.unwrap_err().to_string().contains("restart"));
}

#[tokio::test]
async fn restarting_leaves_no_empty_segments_behind() {
    let bench = Bench::new();
    insert(&bench.open(), &parcel(1)).await.unwrap();
    for _ in 0..20 {
        drop(bench.open());
    }
    let bytes: u64 = segments(&bench).iter().map(|path| path.metadata().unwrap().len()).sum();
    assert!(segments(&bench).len() <= 3 && bytes < 5000, "{:?}: {bytes}", segments(&bench));
    assert_eq!(list(&bench.open(), by_time()).await, [1]);
}

#[tokio::test]
async fn a_missing_tree_is_told_and_not_replaced_by_an_empty_one() {
    let bench = Bench::new();
    let engine = bench.open();
    for number in 0..500 {
        insert(&engine, &parcel(number)).await.unwrap();
    }
    engine.backup(&bench.directory.path().join("backup")).await.unwrap(); // writes tables out
    drop(engine);
    assert!(bench.config.directory.join("CHECKPOINT").exists());
    std::fs::remove_dir_all(bench.config.directory.join("tree")).unwrap();
    let error = bench.try_open().unwrap_err();
    assert!(error.to_string().contains("the tree is missing"), "{error}");
}

#[tokio::test]
async fn a_directory_in_use_is_refused() {
    let bench = Bench::new();
    let _engine = bench.open();
    let error = bench.try_open().unwrap_err();
    assert!(error.to_string().ends_with("is in use by another Ferryhook process"), "{error}");
}

#[test]
fn a_missing_directory_is_refused_unless_it_may_be_made() {
    let mut bench = Bench::new();
    bench.config.create = false;
    let error = bench.try_open().unwrap_err();
    assert!(error.to_string().starts_with("there is no data directory"), "{error}");
    assert!(!bench.config.directory.exists(), "and nothing was made");
}

#[test]
fn a_directory_of_a_newer_version_is_refused() {
    let bench = Bench::new();
    drop(bench.open());
    std::fs::write(bench.config.directory.join("FORMAT"), "ferryhook-data 4\n").unwrap();
    let error = bench.try_open().unwrap_err();
    assert!(error.to_string().contains("written by a newer Ferryhook (format 4"), "{error}");
}

#[test]
fn a_directory_that_is_not_ours_is_left_alone() {
    let bench = Bench::new();
    std::fs::create_dir(&bench.config.directory).unwrap();
    std::fs::write(bench.config.directory.join("letters.txt"), "dear").unwrap();
    let error = bench.try_open().unwrap_err();
    assert!(error.to_string().contains("is not a Ferryhook data directory"), "{error}");
    assert_eq!(std::fs::read_dir(&bench.config.directory).unwrap().count(), 1);
}

#[test]
fn a_file_in_the_place_of_the_directory_is_refused() {
    let bench = Bench::new();
    std::fs::write(&bench.config.directory, "").unwrap();
    assert!(bench.try_open().unwrap_err().to_string().ends_with("is not a directory"));
}

#[test]
fn nonsense_in_the_small_files_is_told() {
    for (file, text) in [("FORMAT", "hello"), ("CHECKPOINT", "x y"), ("CHECKPOINT", "7 16 0\n")] {
        let bench = Bench::new();
        drop(bench.open());
        std::fs::write(bench.config.directory.join(file), text).unwrap();
        let error = bench.try_open().unwrap_err();
        assert!(error.to_string().contains(file), "{error}");
    }
}
