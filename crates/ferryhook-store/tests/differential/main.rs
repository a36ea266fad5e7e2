//! The same random steps on the embedded engine and on the reference: nobody may tell them apart.
//!
//! A step is up to eight commits. The reference does them one by one; the embedded engine gets
//! them all at once, so that they meet in its groups. Between steps time passes, the embedded
//! engine sweeps, or it is closed and opened. `FERRYHOOK_DIFFERENTIAL_SEED` repeats a run,
//! `FERRYHOOK_DIFFERENTIAL_STEPS` says how long it is.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use ferryhook_core::env::ManualClock;
use ferryhook_core::{Delivery, Env, Event, Notification, Schedule};
use ferryhook_store::batch::Patch;
use ferryhook_store::engine::embedded::{Embedded, EmbeddedConfig};
use ferryhook_store::engine::memory::Memory;
use ferryhook_store::engine::{Engine, Row};
use ferryhook_store::query::Range;
use ferryhook_store::value::{Value, from_item};
use ferryhook_store::{
    Batch, Condition, Durability, Index, Key, Order, Part, Query, StoreError, Stored,
};
use futures_util::future::join_all;

#[path = "../crash/dice.rs"]
mod dice;
mod moments;
mod things;

use dice::Dice;
use things::Thing;

const STEPS: u64 = 2500;
/// More would not be asked in order.
const COMMITS_MAX: u64 = 8;

#[tokio::test]
async fn nobody_can_tell_it_from_the_reference() {
    let number = |name| std::env::var(name).ok()?.parse::<u64>().ok();
    let steps = number("FERRYHOOK_DIFFERENTIAL_STEPS").unwrap_or(STEPS);
    let seed = number("FERRYHOOK_DIFFERENTIAL_SEED").unwrap_or_else(|| {
        let mut seed = [0; 8];
        Env::system().fill(&mut seed);
        u64::from_le_bytes(seed)
    });
    println!("FERRYHOOK_DIFFERENTIAL_SEED={seed}");
    let mut pair = Pair::new(Dice(seed));
    for step in 0..steps {
        pair.step = step;
        pair.commit_some().await;
        pair.ask_something().await;
        pair.pass().await;
        if step % 100 == 99 {
            pair.compare_all().await;
        }
    }
    pair.compare_all().await;
}

/// Adds one action to a batch; can be done twice, once for each engine.
type Act = Box<dyn Fn(Batch) -> Batch>;

struct Pair {
    dice: Dice,
    env: Env,
    clock: Arc<ManualClock>,
    memory: Memory,
    /// Absent only while it is opened again.
    embedded: Option<Embedded>,
    place: tempfile::TempDir,
    step: u64,
}

impl Pair {
    fn new(dice: Dice) -> Self {
        let (env, clock) = Env::manual("2026-01-01T00:00:00Z");
        let place = tempfile::tempdir().unwrap();
        let memory = Memory::new(env.clone());
        let mut pair = Self { dice, env, clock, memory, embedded: None, place, step: 0 };
        pair.reopen();
        pair
    }

    fn reopen(&mut self) {
        self.embedded = None;
        let config = EmbeddedConfig {
            segment_bytes: 32 * 1024,
            table_bytes_max: 16 * 1024,
            cache_bytes: 256 * 1024,
            changes_kept: Duration::ZERO,
            ..EmbeddedConfig::new(self.directory())
        };
        self.embedded = Some(Embedded::open(config, self.env.clone()).unwrap());
    }

    fn directory(&self) -> PathBuf {
        self.place.path().join("data")
    }

    fn embedded(&self) -> &Embedded {
        self.embedded.as_ref().unwrap()
    }

    /// Time goes on, space comes back, the store is closed and opened: nothing to be seen of it.
    async fn pass(&mut self) {
        match self.dice.roll(120) {
            0..=20 => {
                let seconds = self.dice.roll(200);
                self.clock.advance(Duration::from_secs(seconds));
            }
            21 => self.clock.advance(Duration::from_secs(2 * 3600)),
            22..=25 => drop(self.embedded().sweep().await.unwrap()),
            26 => self.reopen(),
            27 => {
                self.reopen();
                self.reopen();
            }
            28 => {
                let copy = self.place.path().join("copy");
                self.embedded().backup(&copy).await.unwrap();
                std::fs::remove_dir_all(copy).unwrap();
            }
            _ => {}
        }
    }

    /// What comes later in a step is made from what the reference has by then.
    async fn commit_some(&mut self) {
        let mut expected = Vec::new();
        let mut batches = Vec::new();
        for _ in 0..=self.dice.roll(COMMITS_MAX) {
            let mut acts = Vec::new();
            let count = match self.dice.roll(20) {
                0 => 0,
                1..=12 => 1,
                _ => self.dice.roll(6),
            };
            for _ in 0..count {
                acts.push(self.some_act().await);
            }
            let batch = || acts.iter().fold(Batch::new(), |batch, act| act(batch));
            let done = self.memory.commit(batch(), Durability::Synced).await;
            expected.push(told(&done));
            batches.push((batch(), self.dice.roll(3)));
        }
        let commits = batches.into_iter().map(|(batch, buffered)| match buffered {
            0 => self.embedded().commit(batch, Durability::Buffered),
            _ => self.embedded().commit(batch, Durability::Synced),
        });
        let found: Vec<_> = join_all(commits).await.iter().map(told).collect();
        assert_eq!(found, expected, "step {}", self.step);
    }

    async fn some_act(&mut self) -> Act {
        match self.dice.roll(6) {
            0..=1 => self.act::<Event>().await,
            2 => self.act::<Delivery>().await,
            3 => self.act::<Schedule>().await,
            4 => self.act::<Notification>().await,
            _ => self.act::<ferryhook_core::Key>().await,
        }
    }

    async fn act<T: Thing + 'static>(&mut self) -> Act {
        let fresh = T::some(&mut self.dice, self.env.now());
        let key = fresh.key();
        let found = self.memory.get(&key).await.unwrap();
        let revision = found.as_ref().map_or(1, |row| row.revision);
        let current = found.map(|row| from_item::<T>(row.item).unwrap());
        let what = self.dice.roll(10);
        // Whoever has the wrong revision is refused, whatever else he believes.
        let wrong = if self.dice.roll(8) == 0 { 1000 } else { 0 };
        match (what, current) {
            (0..=2, Some(record)) => {
                let changed = record.changed(&mut self.dice, self.env.now());
                let was = Stored { record, revision: revision + wrong };
                Box::new(move |batch| batch.replace(&was, &changed))
            }
            (3, Some(record)) => {
                let was = Stored { record, revision: revision + wrong };
                Box::new(move |batch| batch.delete(&was))
            }
            (4..=6, _) => {
                let patch = self.some_patch(T::KIND, key, revision);
                Box::new(move |batch| batch.patch(patch.clone()))
            }
            (7, _) => {
                let condition = match self.dice.roll(3) {
                    0 => Condition::Absent,
                    _ => self.some_condition(revision),
                };
                Box::new(move |batch| batch.require(key.clone(), condition.clone()))
            }
            _ => Box::new(move |batch| batch.insert(&fresh)),
        }
    }

    fn some_condition(&mut self, revision: u64) -> Condition {
        match self.dice.roll(5) {
            0..=1 => Condition::Exists,
            2 => Condition::Revision(revision + self.dice.roll(2)),
            3 => Condition::Is("note".into(), self.some_note()),
            _ => Condition::Is("tally".into(), (self.dice.roll(3) as i64).into()),
        }
    }

    fn some_note(&mut self) -> Value {
        match self.dice.roll(4) {
            0 => Value::Null,
            1 => Value::Bool(true),
            2 => 7.into(),
            _ => "text".into(),
        }
    }

    /// Of attributes that no record has, so that it stays readable.
    fn some_patch(&mut self, kind: ferryhook_store::Kind, key: Key, revision: u64) -> Patch {
        let mut patch = Patch::of(kind, key);
        if self.dice.roll(2) == 0 {
            patch = patch.when(self.some_condition(revision));
        }
        for name in ["note", "tally", "extra"] {
            patch = match self.dice.roll(8) {
                0..=1 => patch.set(name, self.some_note()),
                2..=4 => patch.add(name, self.dice.roll(3) as i64 - 1),
                5 => patch.remove(name),
                6 if self.dice.roll(4) == 0 => patch.add(name, i64::MAX),
                _ => patch,
            };
        }
        patch
    }

    async fn ask_something(&mut self) {
        match self.dice.roll(5) {
            0 => self.ask::<Event>().await,
            1 => self.ask::<Delivery>().await,
            2 => self.ask::<Schedule>().await,
            3 => self.ask::<Notification>().await,
            _ => self.ask::<ferryhook_core::Key>().await,
        }
    }

    /// One random question, answered page by page to the end.
    async fn ask<T: Thing>(&mut self) {
        let key = T::some(&mut self.dice, self.env.now()).key();
        let [memory, embedded] = [&self.memory as &dyn Engine, self.embedded()];
        let (expected, found) =
            (memory.get(&key).await.unwrap(), embedded.get(&key).await.unwrap());
        assert_eq!(found, expected, "step {}: {key}", self.step);

        let places = T::entries().len() as u64 + 3;
        let mut query = match T::entries().get(self.dice.roll(places) as usize) {
            Some((index, partition)) => Query::index(T::KIND, *index, partition.clone()),
            None => {
                let partitions = T::partitions();
                let place = self.dice.roll(partitions.len() as u64) as usize;
                Query::table(T::KIND, partitions[place].clone())
            }
        };
        let rows = rows(&self.memory, query.clone()).await.unwrap_or_default();
        query.range = self.some_range::<T>(query.index, rows);
        query.limit = self.dice.roll(7) as usize;
        if self.dice.roll(2) == 0 {
            query = query.newest_first();
        }
        self.compare(query).await;
    }

    /// A range with ends among those that exist.
    fn some_range<T: Thing>(&mut self, index: Option<Index>, rows: Vec<Row>) -> Range {
        let mut ends = Vec::new();
        for row in rows {
            let record = from_item::<T>(row.item).unwrap();
            match index {
                None => ends.extend(record.key().sort.map(Part::Text)),
                Some(index) => {
                    let entry = record.indexes().into_iter().find(|entry| entry.index == index);
                    ends.extend(entry.and_then(|entry| entry.sort));
                }
            }
        }
        let mut end = || {
            let place = self.dice.roll(ends.len() as u64 + 1) as usize;
            ends.get(place).cloned()
        };
        let (one, other) = (end(), end());
        match (self.dice.roll(3), one) {
            (0, _) | (1, None) => Range::All,
            (1, Some(Part::Text(text))) => {
                let part = self.dice.roll(text.len() as u64 + 1) as usize;
                Range::Prefix(text[..part].to_owned())
            }
            (_, one) => Range::Between(one, other),
        }
    }

    async fn compare(&self, query: Query) {
        let expected = rows(&self.memory, query.clone()).await;
        let found = rows(self.embedded(), query.clone()).await;
        match (found, expected) {
            (Ok(found), Ok(expected)) => {
                assert_eq!(found, expected, "step {}: {query:?}", self.step)
            }
            (Err(found), Err(expected)) => assert_eq!(
                told::<()>(&Err(found)),
                told::<()>(&Err(expected)),
                "step {}: {query:?}",
                self.step
            ),
            (found, expected) => {
                panic!("step {}: {query:?}: {found:?}, and not {expected:?}", self.step)
            }
        }
    }

    async fn compare_all(&self) {
        self.compare_kind::<Event>().await;
        self.compare_kind::<Delivery>().await;
        self.compare_kind::<Schedule>().await;
        self.compare_kind::<Notification>().await;
        self.compare_kind::<ferryhook_core::Key>().await;
    }

    async fn compare_kind<T: Thing>(&self) {
        let tables = T::partitions().into_iter().map(|partition| Query::table(T::KIND, partition));
        let indexes = T::entries().into_iter();
        let indexes = indexes.map(|(index, partition)| Query::index(T::KIND, index, partition));
        for query in tables.chain(indexes) {
            for order in [Order::Ascending, Order::Descending] {
                self.compare(Query { order, limit: 3, ..query.clone() }).await;
            }
        }
    }
}

async fn rows(engine: &dyn Engine, mut query: Query) -> Result<Vec<Row>, StoreError> {
    let mut rows = Vec::new();
    loop {
        let page = engine.query(query.clone()).await?;
        assert!(page.rows.len() <= query.limit);
        rows.extend(page.rows);
        query.after = page.next;
        if query.after.is_none() {
            return Ok(rows);
        }
    }
}

/// What a caller can tell of an answer.
fn told<T>(answer: &Result<T, StoreError>) -> String {
    match answer {
        Ok(_) => "done".to_owned(),
        Err(StoreError::Refused { action, key, .. }) => format!("refused: {action} {key}"),
        Err(StoreError::OutOfBounds(_)) => "out of bounds".to_owned(),
        Err(StoreError::Malformed(_)) => "malformed".to_owned(),
        Err(other) => panic!("{other:?}"),
    }
}
