//! Commits that the embedded engine takes in one group: each sees what those before it did.
//!
//! The writer is held while it writes one commit, so that all that come meanwhile are one group.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use std::io;
use std::pin::Pin;
use std::sync::{Arc, Condvar, Mutex};

use ferryhook_core::{Env, Event, samples};
use ferryhook_store::batch::Patch;
use ferryhook_store::engine::Engine;
use ferryhook_store::engine::embedded::{Embedded, EmbeddedConfig, Faults, Step};
use ferryhook_store::value::from_item;
use ferryhook_store::{Batch, Durability, Index, Kind, Query, Record, StoreError, Stored};
use futures_util::future::{join_all, poll_immediate};

type Answers = Vec<Result<(), StoreError>>;

/// A door in front of the disk.
#[derive(Default)]
struct Door {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    closed: bool,
    someone_waits: bool,
    full: bool,
}

impl Door {
    fn faults(self: &Arc<Self>) -> Faults {
        let door = self.clone();
        Faults::new(move |step| match step {
            Step::Write => door.pass(),
            _ => Ok(()),
        })
    }

    fn pass(&self) -> io::Result<()> {
        let mut state = self.state.lock().unwrap();
        while state.closed {
            state.someone_waits = true;
            self.changed.notify_all();
            state = self.changed.wait(state).unwrap();
        }
        if state.full && !std::mem::take(&mut state.someone_waits) {
            return Err(io::Error::other("input/output error"));
        }
        state.someone_waits = false;
        Ok(())
    }

    fn close(&self) {
        self.state.lock().unwrap().closed = true;
    }

    fn wait_for_someone(&self) {
        let mut state = self.state.lock().unwrap();
        while !state.someone_waits {
            state = self.changed.wait(state).unwrap();
        }
    }

    /// Lets the one who waits through, and fails the next if told so.
    fn open(&self, then_full: bool) {
        let mut state = self.state.lock().unwrap();
        state.closed = false;
        state.full = then_full;
        self.changed.notify_all();
    }
}

struct Bench {
    engine: Embedded,
    door: Arc<Door>,
    _directory: tempfile::TempDir,
}

impl Bench {
    fn new() -> Self {
        let directory = tempfile::tempdir().unwrap();
        let door = Arc::new(Door::default());
        let config =
            EmbeddedConfig { faults: door.faults(), ..EmbeddedConfig::new(directory.path()) };
        let engine = Embedded::open(config, Env::fixed("2026-01-01T00:00:00Z")).unwrap();
        Self { engine, door, _directory: directory }
    }

    /// Commits these as one group, in order.
    async fn together(&self, batches: Vec<Batch>, then_full: bool) -> Answers {
        self.door.close();
        let mut first = self.engine.commit(Batch::new().insert(&event(0)), Durability::Synced);
        assert!(poll_immediate(Pin::new(&mut first)).await.is_none());
        self.door.wait_for_someone();
        let commits =
            batches.into_iter().map(|batch| self.engine.commit(batch, Durability::Synced));
        let mut commits = join_all(commits);
        assert!(poll_immediate(Pin::new(&mut commits)).await.is_none(), "all of them wait");
        self.door.open(then_full);
        first.await.unwrap();
        commits.await
    }

    async fn get(&self, event: &Event) -> Option<Event> {
        let row = self.engine.get(&event.key()).await.unwrap()?;
        Some(from_item(row.item).unwrap())
    }

    async fn typed(&self) -> Vec<Option<String>> {
        let query = Query::index(Kind::Event, Index::EventType, event(1).account_id.as_str());
        let page = self.engine.query(query).await.unwrap();
        let events = page.rows.into_iter().map(|row| from_item::<Event>(row.item).unwrap());
        events.filter(|found| found.id == event(1).id).map(|found| found.event_type).collect()
    }
}

fn event(number: u64) -> Event {
    let body = format!("{number}:").repeat(100);
    Event {
        id: format!("evt_{number:016}").parse().unwrap(),
        body: body.into(),
        ..samples::event()
    }
}

fn typed(event_type: &str) -> Event {
    Event { event_type: Some(event_type.to_owned()), ..event(1) }
}

fn count(event: &Event) -> Batch {
    Batch::new().patch(Patch::of(Kind::Event, event.key()).add("duplicateCount", 1))
}

/// The place of the content is not known yet when the patch is decided.
#[tokio::test]
async fn a_patch_behind_its_insert_keeps_the_content() {
    let bench = Bench::new();
    let event = event(1);
    let batches = vec![Batch::new().insert(&event), count(&event), count(&event)];
    for answer in bench.together(batches, false).await {
        answer.unwrap();
    }
    let expected = Event { duplicate_count: event.duplicate_count + 2, ..event.clone() };
    assert_eq!(bench.get(&event).await, Some(expected));
}

#[tokio::test]
async fn a_row_may_come_go_and_come_back_elsewhere() {
    let bench = Bench::new();
    let [first, second, third] = ["first", "second", "third"].map(typed);
    let stored = |event: &Event| Stored { record: event.clone(), revision: 1 };
    let batches = vec![
        Batch::new().insert(&first),
        Batch::new().delete(&stored(&first)),
        Batch::new().insert(&second),
        Batch::new().insert(&third),
        Batch::new().delete(&stored(&second)),
        Batch::new().insert(&third),
        count(&third),
    ];
    let answers = bench.together(batches, false).await;
    let refused: Vec<bool> = answers.iter().map(Result::is_err).collect();
    assert_eq!(refused, [false, false, false, true, false, false, false]);
    assert_eq!(bench.typed().await, [Some("third".to_owned())]);
    assert_eq!(bench.get(&third).await.unwrap().body, third.body);
}

#[tokio::test]
async fn all_sums_of_a_group_count() {
    let bench = Bench::new();
    let event = event(1);
    let mut batches = vec![Batch::new().insert(&event)];
    batches.extend((0..200).map(|_| count(&event)));
    assert!(bench.together(batches, false).await.into_iter().all(|answer| answer.is_ok()));
    let found = bench.get(&event).await.unwrap();
    assert_eq!(found.duplicate_count, event.duplicate_count + 200);
}

/// Told that it is a duplicate, the sender would never send it again.
#[tokio::test]
async fn nobody_is_refused_because_of_what_could_not_be_written() {
    let bench = Bench::new();
    let insert = || Batch::new().insert(&event(1));
    let answers = bench.together(vec![insert(), insert()], true).await;
    for answer in &answers {
        assert!(matches!(answer, Err(StoreError::Unavailable(..))), "{answer:?}");
    }
    assert_eq!(bench.get(&event(1)).await, None);
}
