//! What the conformance suite cannot ask of every engine: crashes, damage, full disks, space.

use std::io;
use std::os::unix::fs::FileExt;
use std::sync::atomic::Ordering;

use ferryhook_core::Timestamp;
use ferryhook_core::env::ManualClock;
use serde::{Deserialize, Serialize};
use tempfile::TempDir;

use super::*;
use crate::key::IndexKey;
use crate::record::{Kind, Record, Stored};
use crate::tables::{Index, Table};

mod backups;
mod broken_tree;
mod changes;
mod damage;
mod full;
mod markers;
mod merging;
mod reads;
mod scrub;
mod space;
mod trouble;

/// Stands for an event: a small head, a body, two index entries.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Parcel {
    number: u64,
    status: String,
    body: String,
    #[serde(skip)]
    expires: Option<i64>,
}

impl Record for Parcel {
    const KIND: Kind = Kind::Event;
    const CONTENT: &'static [&'static str] = &["body"];

    fn key(&self) -> Key {
        key(self.number)
    }

    fn indexes(&self) -> Vec<IndexKey> {
        let place = format!("{:08}", self.number);
        vec![
            IndexKey::new(Index::Inbox, "a", place.clone()),
            IndexKey::new(Index::EventStatus, "a", format!("{}#{place}", self.status)),
        ]
    }

    fn expires_at(&self) -> Option<Timestamp> {
        self.expires.map(Timestamp::from_seconds)
    }
}

fn key(number: u64) -> Key {
    Key::new(Table::Events, "SRC#s", format!("EVT#{number:08}"))
}

fn parcel(number: u64) -> Parcel {
    let body = format!("{number}:").repeat(100);
    Parcel { number, status: "received".into(), body, expires: None }
}

const START: &str = "2026-01-01T00:00:00Z";

struct Bench {
    directory: TempDir,
    env: Env,
    clock: Arc<ManualClock>,
    config: EmbeddedConfig,
}

impl Bench {
    fn new() -> Self {
        let directory = tempfile::tempdir().unwrap();
        let (env, clock) = Env::manual(START);
        let config = EmbeddedConfig {
            segment_bytes: 64 * 1024,
            table_bytes_max: 64 * 1024,
            // Most of them are about space.
            changes_kept: Duration::ZERO,
            ..EmbeddedConfig::new(directory.path().join("data"))
        };
        Self { directory, env, clock, config }
    }

    fn open(&self) -> Embedded {
        self.try_open().unwrap()
    }

    fn try_open(&self) -> Result<Embedded, StoreError> {
        Embedded::open(self.config.clone(), self.env.clone())
    }

    fn now(&self) -> i64 {
        self.env.now().as_seconds()
    }
}

async fn insert(engine: &Embedded, parcel: &Parcel) -> Result<(), StoreError> {
    engine.commit(Batch::new().insert(parcel), Durability::Synced).await
}

async fn get(engine: &Embedded, number: u64) -> Option<Stored<Parcel>> {
    engine.get(&key(number)).await.unwrap().map(|row| Stored::from_row(row).unwrap())
}

/// All that a query finds, page by page.
async fn list(engine: &Embedded, query: Query) -> Vec<u64> {
    let mut numbers = Vec::new();
    let mut query = query.limit(7);
    loop {
        let page = engine.query(query.clone()).await.unwrap();
        let rows = page.rows.into_iter().map(|row| Stored::<Parcel>::from_row(row).unwrap());
        numbers.extend(rows.map(|parcel| parcel.number));
        match page.next {
            Some(next) => query = query.after(Some(next)),
            None => return numbers,
        }
    }
}

fn by_time() -> Query {
    Query::table(Kind::Event, "SRC#s")
}

fn inbox() -> Query {
    Query::index(Kind::Event, Index::Inbox, "a")
}

fn with_status(status: &str) -> Query {
    Query::index(Kind::Event, Index::EventStatus, "a").prefix(format!("{status}#"))
}

#[tokio::test]
async fn what_was_committed_is_there_after_reopening() {
    let bench = Bench::new();
    let engine = bench.open();
    for number in 0..500 {
        insert(&engine, &parcel(number)).await.unwrap();
    }
    drop(engine);
    let engine = bench.open();
    for number in 0..500 {
        assert_eq!(get(&engine, number).await.unwrap().record, parcel(number));
    }
    assert_eq!(list(&engine, by_time()).await, (0..500).collect::<Vec<_>>());
    assert_eq!(list(&engine, inbox().newest_first()).await, (0..500).rev().collect::<Vec<_>>());
}

/// It has its list of files locked for as long as the disk takes to write it.
#[tokio::test]
async fn commits_and_rows_do_not_wait_for_the_tree_to_write_its_list_of_files() {
    let bench = Bench::new();
    let engine = bench.open();
    for number in 0..500 {
        insert(&engine, &parcel(number)).await.unwrap();
    }
    while engine.shared.sealed_count() > 0 {
        tokio::task::yield_now().await; // tables that wait to be written out would fill the room
    }
    let (locked, is_locked) = std::sync::mpsc::channel();
    let (go_on, may_go_on) = std::sync::mpsc::channel::<()>();
    let shared = engine.shared.clone();
    let tree = std::thread::spawn(move || {
        let _files = shared.tree.get_version_history_lock();
        locked.send(()).unwrap();
        let _ = may_go_on.recv();
    });
    is_locked.recv().unwrap();
    let wait = std::time::Duration::from_secs(30);
    let again = tokio::time::timeout(wait, insert(&engine, &parcel(7))).await;
    assert!(again.expect("the writer waits").unwrap_err().is_refused());
    let new = tokio::time::timeout(wait, insert(&engine, &parcel(500))).await;
    new.expect("the writer waits").unwrap();
    assert_eq!(get(&engine, 7).await.unwrap().record, parcel(7));
    drop(go_on);
    tree.join().unwrap();
}

#[tokio::test]
async fn buffered_commits_are_on_disk_after_a_clean_stop() {
    let bench = Bench::new();
    let engine = bench.open();
    let batch = Batch::new().insert(&parcel(1));
    engine.commit(batch, Durability::Buffered).await.unwrap();
    assert!(get(&engine, 1).await.is_some(), "visible at once");
    drop(engine);
    assert!(get(&bench.open(), 1).await.is_some());
}

#[tokio::test]
async fn a_status_change_does_not_write_the_content_again() {
    let bench = Bench::new();
    let engine = bench.open();
    let mut big = parcel(1);
    big.body = "x".repeat(30_000);
    insert(&engine, &big).await.unwrap();
    let written = log_bytes(&bench);
    let was = get(&engine, 1).await.unwrap();
    let now = Parcel { status: "delivered".into(), ..was.record.clone() };
    engine.commit(Batch::new().replace(&was, &now), Durability::Synced).await.unwrap();
    assert!(log_bytes(&bench) - written < 500, "{} bytes", log_bytes(&bench) - written);
    assert_eq!(get(&engine, 1).await.unwrap().record, now);
    assert_eq!(list(&engine, with_status("received")).await, Vec::<u64>::new());
    assert_eq!(list(&engine, with_status("delivered")).await, [1]);
}

/// Bytes that are not zero at the end, in all segments: what was really written.
fn log_bytes(bench: &Bench) -> u64 {
    segments(bench)
        .into_iter()
        .map(|path| {
            let bytes = std::fs::read(path).unwrap();
            bytes.iter().rposition(|byte| *byte != 0).map_or(0, |last| last as u64 + 1)
        })
        .sum()
}

fn segments(bench: &Bench) -> Vec<PathBuf> {
    let directory = bench.config.directory.join("log");
    let numbers = log::list_segments(&directory).unwrap();
    numbers.into_iter().map(|number| log::segment_path(&directory, number)).collect()
}
