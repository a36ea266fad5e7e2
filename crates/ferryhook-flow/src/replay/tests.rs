//! Replays on the memory engine, with destinations that do as they are told and a clock that runs
//! with tokio's paused time.

mod dead;
mod erase;
mod expiring;
mod listened;
mod many;
mod one;
mod pending;
mod trouble;

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use bytes::Bytes;
use ferryhook_core::connection::Status as ConnectionStatus;
use ferryhook_core::env::{Clock, SeededEntropy};
use ferryhook_core::event::Origin;
use ferryhook_core::outgoing::{ATTEMPT, EVENT_ID};
use ferryhook_core::replay::{Filter, Selection};
use ferryhook_core::{Account, Headers, Replay, Source, samples};
use ferryhook_net::client::{Outbound, Outgoing, Reply, Timing, Unsent};
use ferryhook_store::repositories::Arrival;
use futures_util::future::BoxFuture;
use hyper::HeaderMap;
use tokio::time::{Instant, sleep};

use super::*;
use crate::courier::{Parts, lock};
use crate::ingest::HandOver;
use crate::probe::{Probe, parts, settle_in};

/// Runs with tokio's time, and a nanosecond further whenever somebody looks: no clock stands still
/// between two looks.
struct Paused(Instant, AtomicU64);

impl Clock for Paused {
    fn now(&self) -> Timestamp {
        Timestamp::from_seconds(1_767_225_600) + self.elapsed()
    }

    fn elapsed(&self) -> Duration {
        self.0.elapsed() + Duration::from_nanos(self.1.fetch_add(1, Ordering::Relaxed))
    }
}

/// The destinations: each answers as it was told, and all that came is noted.
#[derive(Default)]
struct Docks {
    told: Mutex<HashMap<String, (u16, Duration)>>,
    got: Mutex<Vec<Got>>,
}

#[derive(Debug, Clone)]
struct Got {
    at: Duration,
    event: Id<Event>,
    dock: String,
    attempt: String,
    status: u16,
}

struct Ferry {
    courier: Courier,
    probe: Arc<Probe>,
    store: Store,
    env: Env,
    docks: Arc<Docks>,
    /// In the order in which they came.
    events: Mutex<Vec<Id<Event>>>,
}

fn seconds(count: u64) -> Duration {
    Duration::from_secs(count)
}

fn the_source() -> Source {
    Source { provider: "custom".into(), dedup_expression: None, ..samples::source() }
}

/// To the dock of its name, with one attempt.
fn connection(name: &str) -> Connection {
    Connection {
        id: format!("conn_{name:0>16}").parse().unwrap(),
        source_id: the_source().id,
        name: name.to_owned(),
        status: ConnectionStatus::Active,
        destination_url: Some(format!("https://{name}.example.com/")),
        headers: Headers::default(),
        auth: None,
        event_types: Vec::new(),
        filters: None,
        transform: None,
        retry_config: Some("[0]".into()),
        concurrency_max: None,
        rate_per_second_max: None,
        ordering_key: None,
        ordering_policy: None,
        ..samples::connection()
    }
}

impl Ferry {
    #[expect(clippy::disallowed_methods, reason = "this is the door")]
    async fn new(connections: &[Connection]) -> Self {
        let clock = Arc::new(Paused(Instant::now(), AtomicU64::new(0)));
        let env = Env::new(clock, Arc::new(SeededEntropy::new(7)));
        let (probe, store) = Probe::new(&env);
        settle_in(&store).await;
        store.sources().create(&the_source()).await.unwrap();
        for connection in connections {
            store.connections().create(connection).await.unwrap();
        }
        let docks = Arc::new(Docks::default());
        let courier = courier(&store, &env, &docks, false);
        Self { courier, probe, store, env, docks, events: Mutex::default() }
    }

    /// Another life on the same store.
    fn restart(&mut self) {
        self.courier = courier(&self.store, &self.env, &self.docks, false);
    }

    /// Another process on the same store.
    fn join(&self) -> Courier {
        courier(&self.store, &self.env, &self.docks, true)
    }

    fn answers(&self, dock: &str, status: u16) {
        self.answers_after(dock, status, Duration::from_millis(1));
    }

    fn answers_after(&self, dock: &str, status: u16, wait: Duration) {
        lock(&self.docks.told).insert(dock.to_owned(), (status, wait));
    }

    async fn arrives(&self) -> Id<Event> {
        self.arrives_as(None).await
    }

    async fn arrives_as(&self, event_type: Option<&str>) -> Id<Event> {
        let event = self.stored(the_source().id, event_type, |_| {}).await;
        let route = self.courier.inner().routes.find(event.source_id).await.unwrap().unwrap();
        let id = event.id;
        self.courier.take(event, route);
        id
    }

    /// In the store, as `change` wants it, and handed to nobody.
    async fn stored(
        &self,
        source: Id<Source>,
        event_type: Option<&str>,
        change: impl FnOnce(&mut Event),
    ) -> Stored<Event> {
        let now = self.env.now();
        let mut event = Event {
            id: Id::at(now, &self.env),
            source_id: source,
            origin: Origin::Webhook,
            status: Status::Received,
            event_type: event_type.map(str::to_owned),
            retry_count: 0,
            dedup_key: None,
            body: r#"{"key":"k"}"#.into(),
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
        change(&mut event);
        lock(&self.events).push(event.id);
        let arrival = Arrival { event: event.clone(), claim: None, items: Vec::new() };
        self.store.events().accept(&[arrival]).await.unwrap();
        Stored { record: event, revision: 1 }
    }

    /// Failed for good at the dock, as many times as it takes.
    async fn failed(&self, count: usize) {
        for _ in 0..count {
            self.stored(the_source().id, None, |event| {
                event.status = Status::Failed;
                event.pending_since = None;
                event.processed_at = Some(event.received_at);
            })
            .await;
            sleep(Duration::from_millis(1)).await;
        }
    }

    async fn change(&self, change: impl FnOnce(&mut Connection), name: &str) {
        let id = connection(name).id;
        let was = self.store.connections().find_of(the_source().id, id).await.unwrap().unwrap();
        let mut now = was.record.clone();
        change(&mut now);
        self.store.connections().replace(&was, now).await.unwrap();
        self.courier.changed(Some(the_source().id)).await;
    }

    async fn event(&self, id: Id<Event>) -> Event {
        self.store.events().find(id).await.unwrap().unwrap().record
    }

    async fn delivery(&self, id: Id<Event>, name: &str) -> Delivery {
        let found = self.store.deliveries().find(id, connection(name).id).await;
        found.unwrap().unwrap().record
    }

    async fn ask(&self, selection: Selection, rate: u32) -> Id<Replay> {
        self.ask_to(selection, &[], rate).await
    }

    async fn ask_to(&self, selection: Selection, to: &[&str], rate: u32) -> Id<Replay> {
        let to = to.iter().map(|name| connection(name).id).collect();
        let account = the_source().account_id;
        let replay = Replay::new(account, selection, to, rate, &self.env).unwrap();
        self.courier.replay_many(&self.store, &replay).await.unwrap();
        replay.id
    }

    fn all(&self) -> Selection {
        Selection::filter(Filter::default(), self.env.now()).unwrap()
    }

    fn all_failed(&self) -> Selection {
        let filter = Filter { status: Some(Status::Failed), ..Filter::default() };
        Selection::filter(filter, self.env.now()).unwrap()
    }

    async fn job(&self, id: Id<Replay>) -> Replay {
        self.store.replays().find(id).await.unwrap().unwrap().record
    }

    /// What the destinations got, one line for each request.
    fn sent(&self) -> String {
        let events = lock(&self.events);
        let line = |got: &Got| {
            let number = events.iter().position(|id| *id == got.event).map(|place| place + 1);
            let Got { at, dock, attempt, status, .. } = got;
            format!(
                "{:>4}s event {} to {dock}, attempt {attempt}: {status}\n",
                at.as_secs(),
                number.unwrap_or(0)
            )
        };
        lock(&self.docks.got).iter().map(line).collect()
    }

    fn sent_count(&self) -> usize {
        lock(&self.docks.got).len()
    }
}

fn courier(store: &Store, env: &Env, docks: &Arc<Docks>, shared: bool) -> Courier {
    let outbound = Arc::new(Sending { docks: docks.clone(), env: env.clone() });
    let courier = Courier::new(Parts { shared, ..parts(store, env, outbound) });
    courier.start();
    courier
}

struct Sending {
    docks: Arc<Docks>,
    env: Env,
}

impl Outbound for Sending {
    fn send(&self, outgoing: Outgoing) -> BoxFuture<'_, Result<Reply, Unsent>> {
        let url = outgoing.target.url();
        let dock = url.trim_start_matches("https://").split('.').next().unwrap().to_owned();
        let default = (200, Duration::from_millis(1));
        let (status, wait) = lock(&self.docks.told).get(&dock).copied().unwrap_or(default);
        let header = |name: &str| outgoing.headers[name].to_str().unwrap().to_owned();
        lock(&self.docks.got).push(Got {
            at: self.env.elapsed(),
            event: header(EVENT_ID).parse().unwrap(),
            dock,
            attempt: header(ATTEMPT),
            status,
        });
        Box::pin(async move {
            sleep(wait).await;
            let (headers, timing) = (HeaderMap::new(), Timing::default());
            Ok(Reply { status, headers, body: Bytes::new(), timing })
        })
    }
}

/// Nobody that the samples know.
fn stranger(env: &Env) -> Id<Account> {
    Id::new(env)
}
