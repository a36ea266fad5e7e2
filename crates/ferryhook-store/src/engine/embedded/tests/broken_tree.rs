//! A file of the tree that cannot be merged any more: what was half made of it goes away, and the
//! log gives its space back all the same.

use lsm_tree::AbstractTree;

use super::*;

/// A store whose first rows have all expired, with a damaged block in the middle of a file.
async fn damaged() -> (Bench, Embedded) {
    let bench = Bench::new();
    let engine = bench.open();
    for number in 0..1500 {
        let expires = Some(bench.now() + 60);
        insert(&engine, &Parcel { expires, ..parcel(number) }).await.unwrap();
    }
    for number in 2000..2500 {
        insert(&engine, &parcel(number)).await.unwrap();
    }
    engine.backup(&bench.directory.path().join("copy")).await.unwrap(); // writes tables out
    engine.sweep().await.unwrap(); // behind all merges that were due
    let largest = files(&bench).into_iter().max_by_key(|path| path.metadata().unwrap().len());
    let file = std::fs::OpenOptions::new().read(true).write(true).open(largest.unwrap()).unwrap();
    let middle = file.metadata().unwrap().len() / 2;
    let mut byte = [0];
    file.read_exact_at(&mut byte, middle).unwrap();
    file.write_all_at(&[byte[0] ^ 1], middle).unwrap();
    bench.clock.advance(Duration::from_secs(3 * 3600));
    (bench, engine)
}

fn files(bench: &Bench) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(bench.config.directory.join("tree/tables")).unwrap();
    entries.map(|entry| entry.unwrap().path()).collect()
}

#[tokio::test]
async fn a_merge_that_fails_leaves_no_files_behind() {
    let (bench, engine) = damaged().await;
    for _ in 0..10 {
        let error = engine.sweep().await.unwrap_err();
        assert!(matches!(error, StoreError::Damaged(_)), "{error:?}");
    }
    let mut left = files(&bench).len();
    for _ in 0..100 {
        if left == engine.shared.tree.table_count() {
            break;
        }
        let _ = engine.sweep().await; // others made files just now
        left = files(&bench).len();
    }
    assert_eq!(left, engine.shared.tree.table_count());
    assert!(get(&engine, 2499).await.is_some(), "and none that is needed went");
    drop(engine);
    assert!(get(&bench.open(), 2499).await.is_some());
}

/// Whoever reads keeps the files that they began with, also those that were merged meanwhile.
#[tokio::test]
async fn files_that_someone_still_looks_at_are_not_half_made() {
    let bench = Bench::new();
    let engine = bench.open();
    for number in 0..1000 {
        insert(&engine, &parcel(number)).await.unwrap();
    }
    engine.backup(&bench.directory.path().join("copy")).await.unwrap();
    engine.sweep().await.unwrap(); // behind all merges that were due
    let before = files(&bench);
    let reader = engine.shared.snapshot();
    let oldest = engine.shared.oldest_read();
    engine.shared.tree.major_compact(u64::MAX, oldest).unwrap();
    assert!(engine.shared.show_files(|_| true));
    engine.shared.note_half_made();
    engine.shared.clear_half_made().unwrap();
    let kept = before.iter().filter(|path| path.exists()).count();
    assert!(kept > 0, "the reader's files are still there");
    drop(reader);
    engine.shared.free_unseen();
    engine.shared.note_half_made();
    for _ in 0..10_000 {
        engine.shared.clear_half_made().unwrap();
        if files(&bench).len() == engine.shared.tree.table_count() {
            break;
        }
        tokio::task::yield_now().await; // somebody made files just now, or merged them
        engine.shared.note_half_made();
    }
    assert_eq!(files(&bench).len(), engine.shared.tree.table_count());
    assert_eq!(list(&engine, by_time()).await, (0..1000).collect::<Vec<_>>());
}

#[tokio::test]
async fn the_log_gives_its_space_back_all_the_same() {
    let (bench, engine) = damaged().await;
    let before = segments(&bench).len();
    for _ in 0..100 {
        let _ = engine.sweep().await; // the damage is told
        if segments(&bench).len() * 2 < before {
            return;
        }
    }
    panic!("{before} segments before, now {}", segments(&bench).len());
}
