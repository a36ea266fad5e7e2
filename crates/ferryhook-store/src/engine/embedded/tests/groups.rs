//! Commits that are decided while the disk syncs the group before them.

use std::sync::atomic::AtomicUsize;
use std::sync::{Condvar, Mutex};

use tokio::task::JoinHandle;

use super::*;

/// A disk whose syncs take until they are told how they end.
#[derive(Default)]
struct Slow {
    /// What the next sync comes to, and then whether all others do well.
    ends: Mutex<(Option<bool>, bool)>,
    told: Condvar,
    syncs: AtomicUsize,
    looks: AtomicUsize,
}

impl Slow {
    fn faults(self: &Arc<Self>) -> Faults {
        let disk = self.clone();
        Faults::new(move |step| {
            match step {
                Step::Read => drop(disk.looks.fetch_add(1, Ordering::SeqCst)),
                Step::Sync => {
                    disk.syncs.fetch_add(1, Ordering::SeqCst);
                    let ends = disk.ends.lock().unwrap();
                    let waits = |ends: &mut (Option<bool>, bool)| *ends == (None, false);
                    let mut ends = disk.told.wait_while(ends, waits).unwrap();
                    if ends.0.take() == Some(false) {
                        return Err(io::Error::other("input/output error"));
                    }
                }
                Step::Create | Step::Write => {}
            }
            Ok(())
        })
    }

    fn ends(&self, well: bool) {
        self.ends.lock().unwrap().0 = Some(well);
        self.told.notify_all();
    }

    fn is_quick_again(&self) {
        self.ends.lock().unwrap().1 = true;
        self.told.notify_all();
    }
}

async fn until(reached: impl Fn() -> bool) {
    while !reached() {
        tokio::task::yield_now().await;
    }
}

type Outcome = JoinHandle<Result<(), StoreError>>;

fn commit(engine: &Arc<Embedded>, parcels: std::ops::Range<u64>) -> Outcome {
    let batch = parcels.fold(Batch::new(), |batch, number| batch.insert(&parcel(number)));
    let engine = engine.clone();
    tokio::spawn(async move { engine.commit(batch, Durability::Synced).await })
}

/// One group at the disk; behind it, decided, a copy of one of its rows and another row.
async fn under_way() -> (Bench, Arc<Slow>, Arc<Embedded>, [Outcome; 3]) {
    let disk = Arc::new(Slow::default());
    let mut bench = Bench::new();
    bench.config.faults = disk.faults();
    let engine = Arc::new(bench.open());
    let first = commit(&engine, 0..30);
    until(|| disk.syncs.load(Ordering::SeqCst) == 1).await;
    assert_eq!(disk.looks.load(Ordering::SeqCst), 30);
    let copy = commit(&engine, 0..1);
    let other = commit(&engine, 100..101);
    until(|| disk.looks.load(Ordering::SeqCst) == 32).await;
    assert!(get(&engine, 0).await.is_none(), "nobody sees it yet");
    assert!([&first, &copy, &other].iter().all(|outcome| !outcome.is_finished()));
    (bench, disk, engine, [first, copy, other])
}

#[tokio::test]
async fn what_comes_while_the_disk_is_busy_sees_what_the_disk_has() {
    let (bench, disk, engine, [first, copy, other]) = under_way().await;
    disk.ends(true);
    first.await.unwrap().unwrap();
    assert!(get(&engine, 0).await.is_some());
    until(|| disk.syncs.load(Ordering::SeqCst) == 2).await;
    assert!(!copy.is_finished() && !other.is_finished(), "they have a sync of their own");
    disk.ends(true);
    assert!(copy.await.unwrap().unwrap_err().is_refused());
    other.await.unwrap().unwrap();
    disk.is_quick_again();
    drop(engine);
    let numbers = list(&bench.open(), by_time()).await;
    assert_eq!(numbers, (0..30).chain([100]).collect::<Vec<_>>());
}

#[tokio::test]
async fn what_rests_on_a_group_that_failed_fails_as_well() {
    let (_bench, disk, engine, outcomes) = under_way().await;
    disk.ends(false);
    for outcome in outcomes {
        let error = outcome.await.unwrap().unwrap_err();
        assert!(matches!(error, StoreError::Unavailable(..)), "{error:?}");
    }
    assert_eq!(
        disk.syncs.load(Ordering::SeqCst),
        1,
        "a second sync could pretend that all is well"
    );
    assert!(get(&engine, 0).await.is_none() && get(&engine, 100).await.is_none());
    disk.is_quick_again();
}
