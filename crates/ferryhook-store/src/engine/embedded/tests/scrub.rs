//! What is erased is not in the data directory any more, whatever happens on the way.

use std::os::unix::fs::MetadataExt;
use std::sync::atomic::AtomicUsize;
use std::time::Duration;

use super::*;

/// Text that no compression can shorten, another for each number.
fn marker(number: u64) -> String {
    let mut state = number.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
    let mut letter = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        char::from(b'a' + u8::try_from(state % 26).unwrap())
    };
    (0..40).map(|_| letter()).collect()
}

/// One that has its own marker in its content, in an attribute and in the key of an entry.
fn marked(number: u64) -> Parcel {
    Parcel { status: marker(number), body: marker(number).repeat(20), ..parcel(number) }
}

async fn erase(engine: &Embedded, bench: &Bench, number: u64) {
    let was = get(engine, number).await.unwrap();
    let batch = Batch::new().delete(&was).erasing(bench.env.now());
    engine.commit(batch, Durability::Synced).await.unwrap();
}

/// The files below the data directory that have these bytes.
fn files_with(bench: &Bench, text: &str) -> Vec<PathBuf> {
    let mut open = vec![bench.config.directory.clone()];
    let mut with = Vec::new();
    while let Some(path) = open.pop() {
        if path.is_dir() {
            open.extend(std::fs::read_dir(path).unwrap().map(|entry| entry.unwrap().path()));
        } else if contains(&std::fs::read(&path).unwrap(), text.as_bytes()) {
            with.push(path);
        }
    }
    with
}

fn contains(bytes: &[u8], part: &[u8]) -> bool {
    bytes.windows(part.len()).any(|window| window == part)
}

/// Also in what the tree's files hold once it is unpacked.
fn is_in_tree(engine: &Embedded, text: &str) -> bool {
    let version = engine.shared.tree.current_version();
    version.iter_tables().any(|table| {
        table.scan().unwrap().any(|item| {
            let item = item.unwrap();
            contains(&item.key.user_key, text.as_bytes()) || contains(&item.value, text.as_bytes())
        })
    })
}

async fn change_status(engine: &Embedded, number: u64, status: &str) {
    let was = get(engine, number).await.unwrap();
    let now = Parcel { status: status.into(), ..was.record.clone() };
    engine.commit(Batch::new().replace(&was, &now), Durability::Buffered).await.unwrap();
}

#[tokio::test]
async fn what_was_erased_is_in_no_file_and_all_else_is_as_it_was() {
    let bench = Bench::new();
    let engine = bench.open();
    for number in 0..300 {
        insert(&engine, &marked(number)).await.unwrap();
    }
    // Old states of a row are in other places than the newest.
    for number in (0..300).step_by(3) {
        change_status(&engine, number, &format!("{}-again", marker(number))).await;
        change_status(&engine, number, &marker(number)).await;
    }
    let erased: Vec<u64> = (0..300).step_by(10).collect();
    for number in &erased {
        assert!(!files_with(&bench, &marker(*number)).is_empty());
        erase(&engine, &bench, *number).await;
    }
    engine.scrub().await.unwrap();
    for number in &erased {
        let files = files_with(&bench, &marker(*number));
        assert!(files.is_empty(), "{number} is in {files:?}");
        assert!(!is_in_tree(&engine, &marker(*number)), "{number} is in the tree");
    }
    let check = async |engine: &Embedded| {
        let left: Vec<u64> = (0..300).filter(|number| number % 10 != 0).collect();
        assert_eq!(list(engine, by_time()).await, left);
        for number in left {
            assert_eq!(get(engine, number).await.unwrap().record, marked(number));
            assert_eq!(list(engine, with_status(&marker(number))).await, [number]);
        }
    };
    check(&engine).await;
    drop(engine);
    check(&bench.open()).await;
}

/// It never left the memory table and the segment that is being written.
#[tokio::test]
async fn what_came_just_now_goes_as_well() {
    let mut bench = Bench::new();
    bench.config.table_bytes_max = 64 * 1024 * 1024;
    bench.config.segment_bytes = 64 * 1024 * 1024;
    let engine = bench.open();
    for number in 0..3 {
        insert(&engine, &marked(number)).await.unwrap();
    }
    erase(&engine, &bench, 1).await;
    engine.scrub().await.unwrap();
    assert_eq!(files_with(&bench, &marker(1)), Vec::<PathBuf>::new());
    assert!(!is_in_tree(&engine, &marker(1)));
    for number in [0, 2] {
        assert_eq!(get(&engine, number).await.unwrap().record, marked(number));
    }
    insert(&engine, &parcel(1)).await.expect("its name is free again");
    engine.scrub().await.unwrap();
    assert_eq!(get(&engine, 1).await.unwrap().record, parcel(1));
}

/// A row of the same name came before the scrub and lives.
#[tokio::test]
async fn what_took_its_place_stays() {
    let bench = Bench::new();
    let engine = bench.open();
    insert(&engine, &marked(1)).await.unwrap();
    erase(&engine, &bench, 1).await;
    let second = Parcel { body: marker(99), ..parcel(1) };
    insert(&engine, &second).await.unwrap();
    engine.scrub().await.unwrap();
    assert_eq!(files_with(&bench, &marker(1)), Vec::<PathBuf>::new());
    drop(engine);
    assert_eq!(get(&bench.open(), 1).await.unwrap().record, second);
}

/// The disk fails at each step in turn, for good, as if the process had been killed there.
#[tokio::test]
async fn a_scrub_that_was_cut_off_anywhere_is_made_up_for_after_the_next_start() {
    let mut step = 0;
    loop {
        let mut bench = Bench::new();
        let left = Arc::new(AtomicUsize::new(usize::MAX));
        let steps = left.clone();
        let count = move |left: usize| Some(left.saturating_sub(1));
        bench.config.faults = Faults::new(move |_| {
            match steps.fetch_update(Ordering::SeqCst, Ordering::SeqCst, count) {
                Ok(0) => Err(io::Error::other("pulled the plug")),
                _ => Ok(()),
            }
        });
        let engine = bench.open();
        for number in 0..30 {
            insert(&engine, &marked(number)).await.unwrap();
        }
        erase(&engine, &bench, 7).await;
        erase(&engine, &bench, 25).await;
        left.store(step, Ordering::SeqCst);
        let scrubbed = engine.scrub().await;
        drop(engine);
        if scrubbed.is_ok() {
            assert!(step > 5, "nothing was in the way after {step} steps");
            break;
        }
        bench.config.faults = Faults::default();
        let engine = bench.open();
        engine.scrub().await.unwrap();
        for number in [7, 25] {
            let files = files_with(&bench, &marker(number));
            assert!(files.is_empty(), "step {step}: {number} is in {files:?}");
        }
        let left: Vec<u64> = (0..30).filter(|number| ![7, 25].contains(number)).collect();
        assert_eq!(list(&engine, inbox()).await, left, "step {step}");
        for number in left {
            assert_eq!(get(&engine, number).await.unwrap().record, marked(number));
        }
        step += 1;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_scrub_and_a_backup_do_not_disturb_each_other() {
    let bench = Bench::new();
    let engine = bench.open();
    for number in 0..300 {
        insert(&engine, &marked(number)).await.unwrap();
    }
    for number in 0..10 {
        erase(&engine, &bench, number).await;
    }
    let target = bench.directory.path().join("backup");
    let (scrubbed, backed_up) = tokio::join!(engine.scrub(), engine.backup(&target));
    (scrubbed.unwrap(), backed_up.unwrap());
    for number in 0..10 {
        assert_eq!(files_with(&bench, &marker(number)), Vec::<PathBuf>::new());
    }
    let restored = bench.directory.path().join("restored");
    restore(&target, &restored).unwrap();
    let config = EmbeddedConfig { directory: restored, ..bench.config.clone() };
    let engine = Embedded::open(config, bench.env.clone()).unwrap();
    assert_eq!(list(&engine, inbox()).await, (10..300).collect::<Vec<_>>());
    for number in 10..300 {
        assert_eq!(get(&engine, number).await.unwrap().record, marked(number));
    }
}

/// Commits and sweeps go on while one scrub follows the other.
#[tokio::test(flavor = "multi_thread")]
async fn a_scrub_does_not_disturb_those_who_write() {
    let bench = Bench::new();
    let engine = bench.open();
    for number in 0..200 {
        insert(&engine, &marked(number)).await.unwrap();
    }
    let write = async {
        for number in 200..600 {
            insert(&engine, &marked(number)).await.unwrap();
        }
    };
    let scrub = async {
        for number in 0..8 {
            erase(&engine, &bench, number * 20).await;
            engine.scrub().await.unwrap();
            engine.sweep().await.unwrap();
        }
    };
    tokio::join!(write, scrub);
    for number in 0..600 {
        let found = get(&engine, number).await.map(|found| found.record);
        match number < 160 && number % 20 == 0 {
            true => assert_eq!(found, None),
            false => assert_eq!(found, Some(marked(number))),
        }
    }
}

/// The log of a year is not read again for what came today.
#[tokio::test]
async fn what_was_written_long_before_is_left_alone() {
    let bench = Bench::new();
    let engine = bench.open();
    for number in 0..300 {
        insert(&engine, &marked(number)).await.unwrap();
    }
    let old = segments(&bench);
    bench.clock.advance(Duration::from_secs(24 * 3600));
    for number in 300..400 {
        insert(&engine, &marked(number)).await.unwrap();
    }
    let inodes = || -> Vec<u64> {
        old[..old.len() - 1].iter().map(|path| std::fs::metadata(path).unwrap().ino()).collect()
    };
    let before = inodes();
    assert!(before.len() > 2, "{} segments", before.len());
    // Its key is one that the older ones would have to be looked through for.
    erase(&engine, &bench, 5).await;
    erase(&engine, &bench, 350).await;
    engine.scrub().await.unwrap();
    assert_eq!(inodes(), before);
    assert_eq!(files_with(&bench, &marker(350)), Vec::<PathBuf>::new());
}

/// A backup that a crash ended has left links to files that are gone elsewhere.
#[tokio::test]
async fn what_a_backup_left_behind_goes_too() {
    let bench = Bench::new();
    let engine = bench.open();
    insert(&engine, &marked(1)).await.unwrap();
    let staging = bench.config.directory.join("backup.staging");
    std::fs::create_dir_all(&staging).unwrap();
    std::fs::hard_link(&segments(&bench)[0], staging.join("00000001.log")).unwrap();
    erase(&engine, &bench, 1).await;
    engine.scrub().await.unwrap();
    assert_eq!(files_with(&bench, &marker(1)), Vec::<PathBuf>::new());
    std::fs::create_dir_all(&staging).unwrap();
    drop(engine);
    drop(bench.open());
    assert!(!staging.exists());
}
