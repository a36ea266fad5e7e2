//! What a case stands on: a store over the engine under test, a clock of its own, ids of its own.
//!
//! Cases of one engine may share its tables, because making tables is slow on a real server. So
//! a case uses only ids that its bench made and partitions that its bench named, and looks only
//! at its own rows where a partition belongs to everyone.

use std::any::Any;
use std::collections::BTreeSet;
use std::fmt::Debug;
use std::io::Write;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use ferryhook_core::env::{ManualClock, SeededEntropy};
use ferryhook_core::id::Identified;
use ferryhook_core::{Env, Id, Timestamp};
use ferryhook_store::engine::{Engine, Row};
use ferryhook_store::{
    Batch, Durability, Key, Page, Query, Slice, Store, StoreError, Stored, value,
};

use crate::probe::Probe;
use crate::yielding::Yielding;

pub(crate) struct Bench {
    pub(crate) store: Store,
    pub(crate) engine: Arc<dyn Engine>,
    pub(crate) env: Env,
    pub(crate) clock: Arc<ManualClock>,
    case: &'static str,
    /// What the engine needs to live, such as its directory.
    _keep: Box<dyn Any>,
}

/// An engine, and whatever must outlive it.
pub(crate) struct Opened {
    pub(crate) engine: Arc<dyn Engine>,
    pub(crate) keep: Box<dyn Any>,
}

/// Runs one case on a fresh bench. An engine that cannot be had here says why and skips the case.
pub(crate) fn run<F: Future<Output = ()>>(
    open: impl AsyncFnOnce(Env) -> Result<Opened, String>,
    case: &'static str,
    test: impl FnOnce(Bench) -> F,
) {
    // FNV-1a: any function of the name does, as long as it gives each case its own number.
    let seed = case.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    });
    // From the year 2100 on: a server that expires rows by its own clock has nothing to do.
    let start =
        Timestamp::from_seconds(4_102_444_800) + Duration::from_secs(60 * (seed % 1_000_000));
    let clock = Arc::new(ManualClock::new(start));
    let env = Env::new(clock.clone(), Arc::new(SeededEntropy::new(seed)));
    let runtime =
        tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    runtime.block_on(async {
        let opened = match open(env.clone()).await {
            Ok(opened) => opened,
            Err(reason) => return say_skipped(&reason),
        };
        let engine: Arc<dyn Engine> = Arc::new(Yielding(opened.engine));
        test(Bench {
            store: Store::new(engine.clone(), env.clone()),
            engine,
            env,
            clock,
            case,
            _keep: opened.keep,
        })
        .await;
    });
}

/// Once for each reason, and past the test harness, which keeps to itself what a test that did not
/// fail has printed.
fn say_skipped(reason: &str) {
    static SAID: Mutex<BTreeSet<String>> = Mutex::new(BTreeSet::new());
    let first = SAID.lock().unwrap().insert(reason.to_owned());
    if first {
        let _ = writeln!(std::io::stderr(), "\n!!! SKIPPED, NOT PASSED: {reason} !!!\n");
    }
}

impl Bench {
    pub(crate) fn now(&self) -> Timestamp {
        self.env.now()
    }

    pub(crate) fn later(&self, seconds: u64) -> Timestamp {
        self.now() + Duration::from_secs(seconds)
    }

    pub(crate) fn advance(&self, seconds: u64) {
        self.clock.advance(Duration::from_secs(seconds));
    }

    pub(crate) fn id<T: Identified>(&self) -> Id<T> {
        Id::new(&self.env)
    }

    /// A name that no other case uses.
    pub(crate) fn own(&self, name: &str) -> String {
        format!("{}/{name}", self.case)
    }

    /// A row in the case's own partition.
    pub(crate) fn probe(&self, sort: &str) -> Probe {
        self.probe_in("p", sort)
    }

    pub(crate) fn probe_in(&self, partition: &str, sort: &str) -> Probe {
        Probe::new(self.own(partition), sort)
    }

    pub(crate) async fn commit(&self, batch: Batch) -> Result<(), StoreError> {
        self.engine.commit(batch, Durability::Synced).await
    }

    pub(crate) async fn insert(&self, probe: &Probe) {
        self.commit(Batch::new().insert(probe)).await.unwrap();
    }

    pub(crate) async fn insert_all(&self, probes: &[Probe]) {
        for probes in probes.chunks(100) {
            let batch = probes.iter().fold(Batch::new(), Batch::insert);
            self.commit(batch).await.unwrap();
        }
    }

    pub(crate) async fn row(&self, key: &Key) -> Option<Row> {
        self.engine.get(key).await.unwrap()
    }

    pub(crate) async fn get(&self, probe: &Probe) -> Option<Stored<Probe>> {
        self.row(&ferryhook_store::Record::key(probe)).await.map(stored)
    }

    /// The row, which must be there.
    pub(crate) async fn read(&self, probe: &Probe) -> Stored<Probe> {
        self.get(probe).await.unwrap()
    }

    pub(crate) async fn page(&self, query: Query) -> Page<Stored<Probe>> {
        let page = self.engine.query(query).await.unwrap();
        Page { rows: page.rows.into_iter().map(stored).collect(), next: page.next }
    }

    /// The labels of all rows that the query finds, page after page.
    pub(crate) async fn labels(&self, query: Query) -> Vec<String> {
        let mut labels = Vec::new();
        let mut query = query;
        loop {
            let page = self.page(query.clone()).await;
            labels.extend(page.rows.into_iter().map(|row| row.record.label));
            match page.next {
                None => return labels,
                next => query = query.after(next),
            }
        }
    }
}

fn stored(row: Row) -> Stored<Probe> {
    Stored { revision: row.revision, record: value::from_item(row.item).unwrap() }
}

/// Everything a list has, page after page.
pub(crate) async fn all<T: Clone>(
    slice: Slice,
    list: impl AsyncFn(Slice) -> Result<Page<Stored<T>>, StoreError>,
) -> Vec<T> {
    let mut found = Vec::new();
    let mut slice = slice;
    loop {
        let page = list(slice.clone()).await.unwrap();
        found.extend(page.rows.into_iter().map(|row| row.record));
        match page.next {
            None => return found,
            next => slice = slice.after(next),
        }
    }
}

/// The engine under test refuses the batch because of the action at this place.
pub(crate) fn assert_refused_at(result: Result<(), StoreError>, place: usize) {
    match result {
        Err(error) if error.refused_at(place) => {}
        other => panic!("expected a refusal of action {place}, got {other:?}"),
    }
}

pub(crate) fn assert_out_of_bounds<T: Debug>(result: Result<T, StoreError>) {
    match result {
        Err(StoreError::OutOfBounds(_)) => {}
        other => panic!("expected to be out of bounds, got {other:?}"),
    }
}

pub(crate) fn assert_malformed<T: Debug>(result: Result<T, StoreError>) {
    match result {
        Err(StoreError::Malformed(_)) => {}
        other => panic!("expected to be malformed, got {other:?}"),
    }
}
