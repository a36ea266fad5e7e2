use super::*;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_backup_taken_under_load_holds_all_that_was_acknowledged_before_it() {
    let bench = Bench::new();
    let engine = Arc::new(bench.open());
    for number in 0..300 {
        insert(&engine, &parcel(number)).await.unwrap();
    }
    let stop = Arc::new(AtomicBool::new(false));
    let load = {
        let (engine, stop) = (engine.clone(), stop.clone());
        std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
            let mut number = 1000;
            while !stop.load(Ordering::SeqCst) {
                runtime.block_on(insert(&engine, &parcel(number))).unwrap();
                number += 1;
            }
            number
        })
    };
    let target = bench.directory.path().join("backup");
    let summary = engine.backup(&target).await.unwrap();
    assert!(summary.files > 3 && summary.bytes > 0);
    stop.store(true, Ordering::SeqCst);
    let last = load.join().unwrap();

    let restored = bench.directory.path().join("restored");
    assert_eq!(restore(&target, &restored).unwrap(), summary);
    let config = EmbeddedConfig { directory: restored, create: false, ..bench.config.clone() };
    let copy = Embedded::open(config, bench.env.clone()).unwrap();
    let found = list(&copy, by_time()).await;
    assert_eq!(list(&copy, inbox()).await, found, "index and rows agree");
    assert_eq!(found[..300], (0..300).collect::<Vec<_>>());
    let rest: Vec<u64> = (1000..1000 + found.len() as u64 - 300).collect();
    assert_eq!(found[300..], rest, "a prefix of what came meanwhile, without a hole");
    for number in &found {
        assert_eq!(get(&copy, *number).await.unwrap().record, parcel(*number));
    }
    insert(&copy, &parcel(9_999_999)).await.expect("the copy takes writes");
    let all = list(&engine, by_time()).await;
    assert_eq!(all.len() as u64, 300 + last - 1000, "the original went on");
}

#[tokio::test]
async fn a_backup_never_overwrites() {
    let bench = Bench::new();
    let engine = bench.open();
    let target = bench.directory.path().join("backup");
    engine.backup(&target).await.unwrap();
    assert!(engine.backup(&target).await.unwrap_err().to_string().contains("exists already"));
    let error = restore(&target, &bench.config.directory).unwrap_err();
    assert!(error.to_string().contains("is not empty"), "{error}");
}

#[tokio::test]
async fn a_damaged_or_incomplete_backup_is_refused() {
    let bench = Bench::new();
    let engine = bench.open();
    insert(&engine, &parcel(1)).await.unwrap();
    let target = bench.directory.path().join("backup");
    engine.backup(&target).await.unwrap();
    let segment = log::list_segments(&target.join("log")).unwrap()[0];
    let path = log::segment_path(&target.join("log"), segment);
    let whole = std::fs::read(&path).unwrap();
    let mut wrong = whole.clone();
    wrong[40] ^= 1;
    let restored = bench.directory.path().join("restored");
    std::fs::write(&path, &wrong).unwrap();
    assert!(matches!(restore(&target, &restored), Err(StoreError::Damaged(_))));
    assert!(!restored.exists(), "nothing half restored is left");
    std::fs::remove_file(&path).unwrap();
    assert!(restore(&target, &restored).is_err());
    std::fs::write(&path, &whole).unwrap();
    restore(&target, &restored).unwrap();
    std::fs::remove_file(target.join("BACKUP")).unwrap();
    let error = restore(&target, &bench.directory.path().join("other")).unwrap_err();
    assert!(error.to_string().contains("not a complete backup"), "{error}");
}

#[tokio::test]
async fn a_list_that_points_outside_is_refused() {
    let bench = Bench::new();
    let target = bench.directory.path().join("backup");
    bench.open().backup(&target).await.unwrap();
    let list = std::fs::read_to_string(target.join("BACKUP")).unwrap();
    std::fs::write(target.join("BACKUP"), list + "0000000000000000 0 ../outside\n").unwrap();
    let error = restore(&target, &bench.directory.path().join("restored")).unwrap_err();
    assert!(matches!(error, StoreError::Damaged(_)), "{error:?}");
}
