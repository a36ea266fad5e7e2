//! The shape of the data: events of 1 KiB as ingest stores them.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use ferryhook_core::delivery::State;
use ferryhook_core::env::{Entropy, ManualClock};
use ferryhook_core::event::{Origin, Standing, Status};
use ferryhook_core::{
    Attempt, Body, Claim, Delivery, Env, Event, Headers, Id, Source, Timestamp, samples,
};
use ferryhook_store::repositories::{Accepted, Arrival};
use ferryhook_store::value::{self, Value};
use ferryhook_store::{Batch, Index, Key, Kind, Part, Query, Record, Store, Stored};

/// Makes the n-th event, always the same one.
#[derive(Clone)]
pub(super) struct Shape {
    sources: Arc<Vec<Id<Source>>>,
    start: Timestamp,
    events: u64,
    event: Event,
    claim: Claim,
    delivery: Delivery,
    attempt: Attempt,
    pool: Bytes,
}

/// The older half lives this long (less two hours), the younger half twice as long.
pub(super) const LIFE_SECONDS: u64 = 24 * 3600;
const POOL: usize = 64 * 1024;
/// Sources that get one event in ten among themselves: each has its newest 100 in a store of
/// 100,000 events and in any larger one.
const BUSY: u64 = 100;

/// Cheap, so that making events costs little beside storing them.
struct Mixed(u64);

impl Entropy for Mixed {
    fn fill(&self, bytes: &mut [u8]) {
        let mut state = self.0;
        for byte in bytes {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            *byte = (state >> 56) as u8;
        }
    }
}

impl Shape {
    pub(super) fn new(sources: u64, events: u64, env: &Env) -> Self {
        let sources = (0..sources).map(|_| Id::new(env)).collect::<Vec<_>>();
        let mut event = samples::event();
        event.origin = Origin::Webhook;
        event.event_type = None;
        event.metadata = None;
        event.payload = None;
        event.processed_at = None;
        event.delivered_at = None;
        event.status = Status::Received;
        event.headers = Headers::default();
        let claim = Claim {
            notes: None,
            state: None,
            fencing_token: None,
            lease_until: None,
            ..samples::claim()
        };
        let mut raw = vec![0u8; POOL + 1024];
        env.fill(&mut raw);
        let pool: Bytes = raw.into_iter().map(|byte| b'a' + byte % 26).collect::<Vec<_>>().into();
        let delivery =
            Delivery { last_error: None, last_status_code: Some(200), ..samples::delivery() };
        let attempt = Attempt { error: None, status_code: 200, ..samples::attempt() };
        let (sources, start) = (sources.into(), env.now());
        Self { sources, start, events, event, claim, delivery, attempt, pool }
    }

    fn event(&self, number: u64) -> Event {
        let mut event = self.event.clone();
        let at = Timestamp::from_millis(self.start.as_millis() + number as i64 / 10);
        let env = Env::new(Arc::new(ManualClock::new(at)), Arc::new(Mixed(number)));
        event.id = Id::at(at, &env);
        event.source_id = self.source_of(number);
        event.received_at = at;
        event.pending_since = Some(at);
        event.dedup_key = Some(format!("STRIPE:{number:016}"));
        let from = number as usize * 37 % POOL;
        event.body = Body::from(self.pool.slice(from..from + 1024));
        // The younger half lives twice as long.
        let life = LIFE_SECONDS * (1 + number / (self.events / 2)).min(2) - 7200;
        event.expires_at = Some(self.start + Duration::from_secs(life));
        event
    }

    fn source_of(&self, number: u64) -> Id<Source> {
        let place = match number % 10 {
            0 => number / 10 % BUSY,
            _ => number % self.sources.len() as u64,
        };
        self.sources[place as usize]
    }

    fn claim(&self, event: &Event) -> Claim {
        let mut claim = self.claim.clone();
        claim.key = event.dedup_key.clone().unwrap();
        claim.event_id = Some(event.id);
        claim.expires_at = event.expires_at.unwrap();
        claim
    }

    /// Event, claim and pending marker: what ingest commits.
    pub(super) fn accept(&self, number: u64) -> Batch {
        let event = self.event(number);
        let claim = self.claim(&event);
        Batch::new().insert(&event).insert(&claim)
    }

    /// The event with all that becomes of it when its one delivery succeeds at once.
    pub(super) fn story(&self, number: u64) -> Story {
        let event = self.event(number);
        let claim = self.claim(&event);
        let settled = Standing {
            pending_since: None,
            status: Status::Delivered,
            processed_at: Some(event.received_at),
            delivered_at: Some(event.received_at),
            ..event.standing()
        };
        let mut delivery = self.delivery.clone();
        delivery.event_id = event.id;
        delivery.source_id = event.source_id;
        delivery.state = State::Delivered { settled_at: event.received_at };
        delivery.attempts = 1;
        delivery.expires_at = event.expires_at;
        let mut attempt = self.attempt.clone();
        attempt.event_id = event.id;
        attempt.number = 1;
        attempt.expires_at = event.expires_at;
        let arrival = [Arrival { event, claim: Some(claim), items: Vec::new() }];
        Story { arrival, settled, delivery: [delivery], attempt }
    }

    /// What the second commit would need: two rows with their keys, and the event's once more.
    pub(super) fn settled_bytes(&self) -> u64 {
        let Story { arrival: [Arrival { event, .. }], delivery: [delivery], attempt, .. } =
            self.story(0);
        let changed = value_bytes(&event) - event.body.len();
        let rows = value_bytes(&delivery) + value_bytes(&attempt);
        let keys = key_bytes(&event.key()) + key_bytes(&delivery.key()) + key_bytes(&attempt.key());
        (changed + rows + keys) as u64
    }

    /// The event has been delivered and waits no longer.
    pub(super) fn deliver(&self, number: u64) -> Batch {
        let event = self.event(number);
        let mut now = event.clone();
        now.pending_since = None;
        now.status = Status::Delivered;
        now.delivered_at = Some(event.received_at);
        Batch::new().replace(&Stored { record: event, revision: 1 }, &now)
    }

    pub(super) fn by_id(&self, number: u64) -> Query {
        let id = self.event(number).id;
        Query::index(Kind::Event, Index::EventById, format!("EVTID#{id}"))
    }

    /// The newest 100 of one of the busy sources.
    pub(super) fn newest(&self, step: u64) -> Query {
        let source = self.sources[(step * 31 % BUSY) as usize];
        Query::table(Kind::Event, format!("SRC#{source}")).prefix("EVT#").newest_first().limit(100)
    }
    /// What a log would need to keep one event as it is stored: the values of event and claim,
    /// the keys of both rows and of every index entry.
    pub(super) fn logical_bytes(&self) -> u64 {
        let event = self.event(0);
        let claim = self.claim(&event);
        let row = key_bytes(&event.key());
        let entries = event.indexes().into_iter().map(|entry| {
            row + part_bytes(&entry.partition) + entry.sort.as_ref().map_or(0, part_bytes)
        });
        let values = value_bytes(&event) + value_bytes(&claim);
        (values + row + key_bytes(&claim.key()) + entries.sum::<usize>()) as u64
    }
}

pub(super) struct Story {
    arrival: [Arrival; 1],
    settled: Standing,
    delivery: [Delivery; 1],
    attempt: Attempt,
}

impl Story {
    pub(super) async fn accept(&self, store: &Store) {
        let accepted = store.events().accept(&self.arrival).await.unwrap();
        assert_eq!(accepted, [Accepted::New]);
    }

    /// One commit: the event moves on, its delivery and the attempt appear.
    pub(super) async fn settle(&self, store: &Store) {
        let event = &self.arrival[0].event;
        let was = Stored { record: event.standing(), revision: 1 };
        let (deliveries, attempt) = (&self.delivery, Some(&self.attempt));
        store.deliveries().plan(event, &was, self.settled, deliveries, attempt).await.unwrap();
    }
}

fn key_bytes(key: &Key) -> usize {
    key.partition.len() + key.sort.as_ref().map_or(0, String::len)
}

fn part_bytes(part: &Part) -> usize {
    match part {
        Part::Text(text) => text.len(),
        Part::Number(_) => 8,
    }
}

fn value_bytes<T: Record>(record: &T) -> usize {
    let item = value::to_item(record).unwrap();
    item.iter()
        .map(|(_, value)| match value {
            Value::Text(text) => text.len(),
            Value::Bytes(bytes) => bytes.len(),
            _ => 8,
        })
        .sum()
}
