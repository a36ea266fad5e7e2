//! A page shows one moment, however much is written, written out and moved meanwhile.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use ferryhook_core::event::{Origin, Status};
use ferryhook_core::{Env, Event, samples};
use ferryhook_store::engine::Engine;
use ferryhook_store::engine::embedded::{Embedded, EmbeddedConfig};
use ferryhook_store::value::from_item;
use ferryhook_store::{Batch, Durability, Index, Kind, Query, Record, Stored};

use crate::dice::Dice;

const EVENTS: u64 = 60;
const ROUNDS: u64 = 250;

fn event(number: u64) -> Event {
    Event {
        id: format!("evt_{number:016}").parse().unwrap(),
        origin: Origin::Trigger,
        status: Status::Received,
        body: Dice(number).bytes(700).into(),
        pending_since: Some(samples::CREATED),
        expires_at: None,
        ..samples::event()
    }
}

/// Each event has one entry in the index by status and one marker in its shard, and moves in both
/// all the time. Where the tables are small, markers grow up and die young by turns.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_page_has_each_row_once_while_rows_move() {
    let directory = tempfile::tempdir().unwrap();
    let config = EmbeddedConfig {
        segment_bytes: 32 * 1024,
        table_bytes_max: 16 * 1024,
        changes_kept: Duration::ZERO,
        ..EmbeddedConfig::new(directory.path())
    };
    let engine = Embedded::open(config, Env::fixed("2026-01-01T00:00:00Z")).unwrap();
    let engine = Arc::new(engine);
    for number in 0..EVENTS {
        let batch = Batch::new().insert(&event(number));
        engine.commit(batch, Durability::Synced).await.unwrap();
    }
    let over = Arc::new(AtomicBool::new(false));
    let mut tasks = tokio::task::JoinSet::new();
    for place in [Place::Table, Place::Status, Place::Shards] {
        let (engine, over) = (engine.clone(), over.clone());
        tasks.spawn(async move {
            let mut pages = 0;
            while !over.load(Ordering::SeqCst) {
                look(&engine, place).await;
                pages += 1;
                tokio::task::yield_now().await;
            }
            pages
        });
    }
    write(&engine).await;
    over.store(true, Ordering::SeqCst);
    while let Some(pages) = tasks.join_next().await {
        assert!(pages.unwrap() > 0);
    }
}

/// Moves the events through their statuses, and makes and deletes others between them, so that
/// segments die and what lives in them is moved.
async fn write(engine: &Embedded) {
    let statuses = [Status::Received, Status::Failed, Status::Held, Status::Delivered];
    let mut events: Vec<_> =
        (0..EVENTS).map(|number| Stored { record: event(number), revision: 1 }).collect();
    for round in 1..=ROUNDS {
        let mut batch = Batch::new();
        for event in events.iter_mut().skip((round % 3) as usize).step_by(3) {
            let status = statuses[((round + event.revision) % 4) as usize];
            let pending_since = event.pending_since.map(|at| at + Duration::from_secs(1));
            let now = Event { status, pending_since, ..event.record.clone() };
            batch = batch.replace(event, &now);
            *event = Stored { record: now, revision: event.revision + 1 };
        }
        engine.commit(batch, Durability::Buffered).await.unwrap();
        let passing = |place| Event {
            account_id: "acc_0000000000000009".parse().unwrap(),
            ..event(1_000_000 + round * 10 + place)
        };
        let inserted = (0..3).fold(Batch::new(), |batch, place| batch.insert(&passing(place)));
        engine.commit(inserted, Durability::Buffered).await.unwrap();
        let deleted = (0..3).fold(Batch::new(), |batch, place| {
            batch.delete(&Stored { record: passing(place), revision: 1 })
        });
        engine.commit(deleted, Durability::Synced).await.unwrap();
        if round % 5 == 0 {
            engine.sweep().await.unwrap();
        }
    }
}

/// Where to look for the events.
#[derive(Debug, Clone, Copy)]
enum Place {
    Table,
    Status,
    Shards,
}

async fn look(engine: &Embedded, place: Place) {
    let account = samples::event().account_id;
    let queries = match place {
        // In the table nothing moves, so that many small pages are as good as one.
        Place::Table => {
            vec![Query::table(Kind::Event, format!("SRC#{}", event(0).source_id)).limit(7)]
        }
        Place::Status => {
            vec![Query::index(Kind::Event, Index::EventStatus, account.as_str()).limit(1000)]
        }
        // An event stays in its shard.
        Place::Shards => (0..8)
            .map(|shard| Query::index(Kind::Event, Index::Pending, shard.to_string()).limit(1000))
            .collect(),
    };
    let mut seen = BTreeSet::new();
    let mut count = 0;
    for query in queries {
        for found in list(engine, query).await {
            if found.account_id != account {
                continue;
            }
            let number = found.id.as_str()[4..].parse().unwrap();
            assert!(found.body == event(number).body, "{} has another body", found.id);
            assert_eq!(found.key(), event(number).key());
            seen.insert(found.id);
            count += 1;
        }
    }
    assert_eq!((count, seen.len() as u64), (EVENTS, EVENTS), "{place:?}");
}

async fn list(engine: &Embedded, mut query: Query) -> Vec<Event> {
    let mut events = Vec::new();
    loop {
        let page = engine.query(query.clone()).await.unwrap();
        events.extend(page.rows.into_iter().map(|row| from_item::<Event>(row.item).unwrap()));
        query.after = page.next;
        if query.after.is_none() {
            return events;
        }
    }
}
