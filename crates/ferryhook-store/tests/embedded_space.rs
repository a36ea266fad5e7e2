//! Space that the embedded engine takes back: never from under a row that still lives.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use ferryhook_core::env::ManualClock;
use ferryhook_core::{Env, Event, Timestamp, samples};
use ferryhook_store::engine::Engine;
use ferryhook_store::engine::embedded::{Embedded, EmbeddedConfig};
use ferryhook_store::value::from_item;
use ferryhook_store::{Batch, Durability, Record, Stored};

struct Bench {
    engine: Embedded,
    env: Env,
    clock: Arc<ManualClock>,
    directory: tempfile::TempDir,
}

impl Bench {
    fn new() -> Self {
        let directory = tempfile::tempdir().unwrap();
        let (env, clock) = Env::manual("2026-01-01T00:00:00Z");
        let engine = open(directory.path().join("data"), &env);
        Self { engine, env, clock, directory }
    }

    async fn insert(&self, event: &Event) {
        let batch = Batch::new().insert(event);
        self.engine.commit(batch, Durability::Synced).await.unwrap();
    }

    async fn get(&self, event: &Event) -> Event {
        let row = self.engine.get(&event.key()).await.unwrap().expect("it still lives");
        from_item(row.item).unwrap()
    }

    /// Ends the segment and writes its rows out, so that a sweep may take it.
    async fn end_segment(&self) {
        let copy = self.directory.path().join("copy");
        self.engine.backup(&copy).await.unwrap();
        std::fs::remove_dir_all(copy).unwrap();
        // The engine notes what a segment held, and how far it was written out, with what comes
        // next.
        for number in 1000..1400 {
            let expires_at = Some(self.env.now() + Duration::from_secs(9_000_000));
            self.insert(&Event {
                expires_at,
                ..event(number + self.env.now().as_seconds() as u64)
            })
            .await;
        }
    }

    /// Sweeps until the first segment is gone; tables are written out beside, so it may take a few.
    async fn take_first_segment(&self) {
        let path = self.directory.path().join("data/log/00000001.log");
        for _ in 0..10_000 {
            self.engine.sweep().await.unwrap();
            if !path.exists() {
                return;
            }
        }
        panic!("the segment is worth taking");
    }

    fn later(&self, seconds: u64) -> Option<Timestamp> {
        Some(self.env.now() + Duration::from_secs(seconds))
    }
}

fn open(directory: PathBuf, env: &Env) -> Embedded {
    let config = EmbeddedConfig {
        segment_bytes: 64 * 1024,
        table_bytes_max: 32 * 1024,
        changes_kept: Duration::ZERO,
        ..EmbeddedConfig::new(directory)
    };
    Embedded::open(config, env.clone()).unwrap()
}

fn event(number: u64) -> Event {
    Event {
        id: format!("evt_{number:016}").parse().unwrap(),
        body: format!("{number}:").repeat(100).into(),
        expires_at: None,
        ..samples::event()
    }
}

fn stored(event: &Event, revision: u64) -> Stored<Event> {
    Stored { record: event.clone(), revision }
}

#[tokio::test]
async fn deletions_that_were_refused_free_nothing() {
    let bench = Bench::new();
    bench.insert(&event(1)).await;
    bench.insert(&event(2)).await;
    bench.end_segment().await;
    for _ in 0..5 {
        let stale = Batch::new().delete(&stored(&event(1), 7));
        assert!(bench.engine.commit(stale, Durability::Synced).await.unwrap_err().is_refused());
    }
    let path = bench.directory.path().join("data/log/00000001.log");
    // Tables are written out beside: the first sweeps may be too early to take it at all.
    for _ in 0..100 {
        bench.engine.sweep().await.unwrap();
    }
    assert!(path.exists(), "nothing in it is dead");
    assert_eq!(bench.get(&event(1)).await, event(1));
    assert_eq!(bench.get(&event(2)).await, event(2));
}

#[tokio::test]
async fn what_was_deleted_and_then_expired_is_dead_once() {
    let bench = Bench::new();
    let deleted = Event { expires_at: bench.later(600), ..event(1) };
    bench.insert(&deleted).await;
    bench.insert(&event(2)).await;
    bench.end_segment().await;
    let batch = Batch::new().delete(&stored(&deleted, 1));
    bench.engine.commit(batch, Durability::Synced).await.unwrap();
    bench.clock.advance(Duration::from_secs(3 * 3600));
    bench.take_first_segment().await;
    assert_eq!(bench.get(&event(2)).await, event(2));
}

#[tokio::test]
async fn an_expiry_that_was_put_off_keeps_the_content() {
    let bench = Bench::new();
    let was = Event { expires_at: bench.later(600), ..event(1) };
    bench.insert(&was).await;
    bench.end_segment().await;
    let kept = Event { expires_at: bench.later(100 * 3600), ..was.clone() };
    let batch = Batch::new().replace(&stored(&was, 1), &kept);
    bench.engine.commit(batch, Durability::Synced).await.unwrap();
    bench.clock.advance(Duration::from_secs(3 * 3600));
    bench.engine.sweep().await.unwrap();
    assert_eq!(bench.get(&kept).await, kept);
}

/// A clock that is set back a little brings back what has just expired, and whole.
#[tokio::test]
async fn what_has_just_expired_is_not_taken_yet() {
    let bench = Bench::new();
    let expiring = Event { expires_at: bench.later(2 * 3600), ..event(1) };
    let dead = Event { expires_at: bench.later(60), ..event(2) };
    bench.insert(&expiring).await;
    bench.insert(&dead).await;
    bench.end_segment().await;
    bench.clock.advance(Duration::from_secs(2 * 3600 + 10));
    bench.take_first_segment().await;
    bench.clock.jump_to(bench.env.now() - Duration::from_secs(20));
    assert_eq!(bench.get(&expiring).await, expiring);
}

/// What lies behind a damaged place cannot be moved, so its segment stays.
#[tokio::test]
async fn a_damaged_segment_is_not_taken() {
    let bench = Bench::new();
    let dead = Event { expires_at: bench.later(60), ..event(1) };
    for event in [&dead, &event(2), &event(3)] {
        bench.insert(event).await;
    }
    bench.end_segment().await;
    let path = bench.directory.path().join("data/log/00000001.log");
    let mut bytes = std::fs::read(&path).unwrap();
    bytes[60] ^= 1; // in the first frame
    std::fs::write(&path, bytes).unwrap();
    let deletion = Batch::new().delete(&stored(&event(3), 1));
    bench.engine.commit(deletion, Durability::Synced).await.unwrap();
    bench.clock.advance(Duration::from_secs(3 * 3600));
    let _ = bench.engine.sweep().await;
    assert_eq!(bench.get(&event(2)).await, event(2));
}

/// A first start that was cut short leaves no more than a later one can finish.
#[test]
fn a_first_start_that_was_cut_short_can_be_finished() {
    let env = Env::fixed("2026-01-01T00:00:00Z");
    let place = tempfile::tempdir().unwrap();
    let begun = [&["LOCK"][..], &["LOCK", "log/"], &["LOCK", "log/", "FORMAT.new"]];
    for (number, names) in begun.into_iter().enumerate() {
        let directory = place.path().join(number.to_string());
        std::fs::create_dir(&directory).unwrap();
        for name in names {
            match name.strip_suffix('/') {
                Some(name) => std::fs::create_dir(directory.join(name)).unwrap(),
                None => std::fs::write(directory.join(name), "").unwrap(),
            }
        }
        drop(open(directory.clone(), &env));
        drop(open(directory, &env));
    }
}
