//! A courier with one connection, to a destination that answers as it is told.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

use bytes::Bytes;
use ferryhook_core::connection::Status as ConnectionStatus;
use ferryhook_core::env::{Clock, SeededEntropy};
use ferryhook_core::event::Origin;
use ferryhook_core::outgoing::EVENT_ID;
use ferryhook_core::{Connection, Delivery, Headers, samples};
use ferryhook_net::client::{Outgoing, Reply, Timing, Unsent};
use ferryhook_store::repositories::Arrival;
use hyper::HeaderMap;
use tokio::time::{Instant, sleep};

use super::*;
use crate::probe::{Paused, Probe, parts, settle_in};

pub(super) struct Trial {
    pub(super) courier: Courier,
    pub(super) probe: Arc<Probe>,
    pub(super) store: Store,
    pub(super) pier: Arc<Pier>,
    pub(super) clock: Arc<Fragile>,
    env: Env,
}

/// A clock that crashes once when it is told to.
pub(super) struct Fragile {
    clock: Paused,
    crashes: AtomicBool,
}

impl Fragile {
    pub(super) fn crashes(&self) {
        self.crashes.store(true, Ordering::SeqCst);
    }
}

impl Clock for Fragile {
    fn now(&self) -> Timestamp {
        self.clock.now()
    }

    fn elapsed(&self) -> Duration {
        assert!(!self.crashes.swap(false, Ordering::SeqCst), "the clock crashes on purpose");
        self.clock.elapsed()
    }
}

/// Answers every request alike, and notes whose it was.
pub(super) struct Pier {
    status: Mutex<u16>,
    /// Instead.
    crashes: AtomicBool,
    got: Mutex<Vec<Id<Event>>>,
}

impl Outbound for Pier {
    fn send(&self, outgoing: Outgoing) -> BoxFuture<'_, Result<Reply, Unsent>> {
        lock(&self.got).push(outgoing.headers[EVENT_ID].to_str().unwrap().parse().unwrap());
        let status = *lock(&self.status);
        Box::pin(async move {
            sleep(Duration::from_millis(1)).await;
            assert!(!self.crashes.load(Ordering::SeqCst), "an attempt crashes on purpose");
            let (headers, timing) = (HeaderMap::new(), Timing::default());
            Ok(Reply { status, headers, body: Bytes::new(), timing })
        })
    }
}

impl Pier {
    pub(super) fn answers(&self, status: u16) {
        *lock(&self.status) = status;
    }

    pub(super) fn crashes(&self) {
        self.crashes.store(true, Ordering::SeqCst);
    }

    pub(super) fn got(&self) -> Vec<Id<Event>> {
        lock(&self.got).clone()
    }
}

fn the_source() -> Source {
    Source { provider: "custom".into(), dedup_expression: None, ..samples::source() }
}

fn the_connection() -> Connection {
    Connection {
        status: ConnectionStatus::Active,
        destination_url: Some("https://pier.example.com/".to_owned()),
        headers: Headers::default(),
        auth: None,
        event_types: Vec::new(),
        filters: None,
        transform: None,
        retry_config: Some("[0,10,10]".into()),
        ordering_key: None,
        ordering_policy: None,
        rate_per_second_max: None,
        concurrency_max: None,
        ..samples::connection()
    }
}

impl Trial {
    /// Other processes work on the same store, or nobody else.
    #[expect(clippy::disallowed_methods, reason = "this is the door")]
    pub(super) async fn new(shared: bool) -> Self {
        let clock = Paused(Instant::now());
        let clock = Arc::new(Fragile { clock, crashes: AtomicBool::new(false) });
        let env = Env::new(clock.clone(), Arc::new(SeededEntropy::new(7)));
        let (probe, store) = Probe::new(&env);
        settle_in(&store).await;
        store.sources().create(&the_source()).await.unwrap();
        store.connections().create(&the_connection()).await.unwrap();
        let (status, crashes) = (Mutex::new(200), AtomicBool::new(false));
        let pier = Arc::new(Pier { status, crashes, got: Mutex::default() });
        let courier = Courier::new(Parts { shared, ..parts(&store, &env, pier.clone()) });
        courier.start();
        sleep(Duration::from_secs(1)).await; // it has looked for what an earlier run has left
        Self { courier, probe, store, pier, clock, env }
    }

    /// Handed over at once, with this body.
    pub(super) async fn arrives(&self, body: &'static str) -> Id<Event> {
        let event = self.stored(body).await;
        self.takes(event).await
    }

    pub(super) async fn takes(&self, event: Stored<Event>) -> Id<Event> {
        let (id, route) = (event.id, self.courier.0.routes.find(the_source().id).await);
        self.courier.take(event, route.unwrap().unwrap());
        id
    }

    /// In the store, and handed to nobody.
    pub(super) async fn stored(&self, body: &'static str) -> Stored<Event> {
        sleep(Duration::from_millis(1)).await; // each has a moment of its own
        let now = self.env.now();
        let event = Event {
            id: Id::at(now, &self.env),
            source_id: the_source().id,
            origin: Origin::Webhook,
            status: Status::Received,
            event_type: None,
            dedup_key: None,
            body: body.into(),
            payload: None,
            received_at: now,
            processing_tries: 0,
            processing_error: None,
            pending_since: Some(now),
            processed_at: None,
            delivered_at: None,
            expires_at: None,
            ..samples::event()
        };
        let arrival = Arrival { event: event.clone(), claim: None, items: Vec::new() };
        self.store.events().accept(&[arrival]).await.unwrap();
        Stored { record: event, revision: 1 }
    }

    pub(super) async fn change(&self, change: impl FnOnce(&mut Connection)) {
        let (source, id) = (the_source().id, the_connection().id);
        let was = self.store.connections().find_of(source, id).await.unwrap().unwrap();
        let mut now = was.record.clone();
        change(&mut now);
        self.store.connections().replace(&was, now).await.unwrap();
        self.courier.changed(Some(source)).await;
    }

    pub(super) async fn delivery(&self, event: Id<Event>) -> Delivery {
        let found = self.store.deliveries().find(event, the_connection().id).await;
        found.unwrap().unwrap().record
    }
}
