//! Alerts and hooks on the memory engine, with destinations that do as they are told and a clock
//! that runs with tokio's paused time.

use std::time::Duration;

use bytes::Bytes;
use ferryhook_core::env::SeededEntropy;
use ferryhook_core::event::{Origin, Status};
use ferryhook_core::member::Role;
use ferryhook_core::operational::Quota;
use ferryhook_core::{Env, Event, Headers, Member, Notification, samples};
use ferryhook_net::client::{Outbound, Outgoing, Reply, Timing, Unsent};
use ferryhook_store::repositories::Arrival;
use ferryhook_store::{Slice, Store};
use futures_util::future::BoxFuture;
use hyper::HeaderMap;
use serde_json::Value;
use tokio::time::{Instant, sleep};

use super::*;
use crate::ingest::HandOver;
use crate::probe::{Paused, Probe, parts, settle_in};

/// The destinations, by the first part of their names: each answers as it was told.
#[derive(Default)]
struct Docks {
    told: Mutex<HashMap<String, u16>>,
    /// Who got what, by its type.
    got: Mutex<Vec<(String, Bytes)>>,
}

impl Outbound for Docks {
    fn send(&self, outgoing: Outgoing) -> BoxFuture<'_, Result<Reply, Unsent>> {
        let url = outgoing.target.url();
        let dock = url.trim_start_matches("https://").split('.').next().unwrap().to_owned();
        let status = lock(&self.told).get(&dock).copied().unwrap_or(200);
        lock(&self.got).push((dock, outgoing.body.clone()));
        let (headers, timing) = (HeaderMap::new(), Timing::default());
        Box::pin(async move { Ok(Reply { status, headers, body: Bytes::new(), timing }) })
    }
}

struct Ferry {
    courier: Courier,
    store: Store,
    env: Env,
    docks: Arc<Docks>,
}

impl Ferry {
    /// One source with one connection to the dock `orders`, tried once.
    #[expect(clippy::disallowed_methods, reason = "this is the door")]
    async fn new() -> Self {
        let clock = Arc::new(Paused(Instant::now()));
        let env = Env::new(clock, Arc::new(SeededEntropy::new(7)));
        let (_, store) = Probe::new(&env);
        settle_in(&store).await;
        let member = Member { role: Role::Admin, ..samples::member() };
        store.members().add(&member).await.unwrap();
        let source = Source { dedup_expression: None, ..samples::source() };
        store.sources().create(&source).await.unwrap();
        let connection = Connection {
            name: "Orders".to_owned(),
            destination_url: Some("https://orders.example.com/".to_owned()),
            headers: Headers::default(),
            auth: None,
            event_types: Vec::new(),
            filters: None,
            transform: None,
            retry_config: Some("[0]".to_owned()),
            ordering_key: None,
            ordering_policy: None,
            rate_per_second_max: None,
            ..samples::connection()
        };
        store.connections().create(&connection).await.unwrap();
        let docks = Arc::new(Docks::default());
        let courier = courier(&store, &env, &docks);
        sleep(Duration::from_secs(1)).await; // it has looked for what an earlier run has left
        Self { courier, store, env, docks }
    }

    /// Another life on the same store.
    fn restart(&mut self) {
        self.courier = courier(&self.store, &self.env, &self.docks);
    }

    async fn hook(&self, dock: &str, events: &[&str], schedule: &[u64]) -> Hook {
        let policy = serde_json::json!({ "schedule": schedule });
        let hook = Hook {
            id: format!("hook_{dock:0>16}").parse().unwrap(),
            url: format!("https://{dock}.example.com/"),
            events: events.iter().map(|event| (*event).to_owned()).collect(),
            headers: None,
            status_reason: None,
            last_response_code: None,
            last_called_at: None,
            retry_policy: policy.as_object().unwrap().clone(),
            ..samples::hook()
        };
        self.store.hooks().create(&hook).await.unwrap();
        self.courier.hooks_changed(hook.account_id).await;
        hook
    }

    fn answers(&self, dock: &str, status: u16) {
        lock(&self.docks.told).insert(dock.to_owned(), status);
    }

    async fn arrives(&self, event_type: &str) {
        let now = self.env.now();
        let event = Event {
            id: Id::at(now, &self.env),
            origin: Origin::Webhook,
            status: Status::Received,
            event_type: Some(event_type.to_owned()),
            retry_count: 0,
            dedup_key: None,
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
        let route = self.courier.inner().routes.find(event.source_id).await.unwrap().unwrap();
        self.courier.take(Stored { record: event, revision: 1 }, route);
        self.rests().await;
    }

    /// Time for everything that is due to happen.
    async fn rests(&self) {
        sleep(Duration::from_secs(6)).await;
    }

    /// What people were told.
    async fn told(&self) -> Vec<String> {
        let slice = Slice::default();
        let list = self.store.notifications().list(samples::user().id, slice).await.unwrap();
        list.rows.into_iter().map(|row: Stored<Notification>| row.record.title).collect()
    }

    /// What a dock got, by the types of what Ferryhook has to say.
    fn got(&self, dock: &str) -> Vec<String> {
        let got = lock(&self.docks.got);
        let bodies = got.iter().filter(|(to, _)| to == dock).map(|(_, body)| body);
        let kind = |body: &Bytes| {
            let body: Value = serde_json::from_slice(body).unwrap_or_default();
            body["type"].as_str().unwrap_or("theirs").to_owned()
        };
        bodies.map(kind).collect()
    }

    async fn stands(&self, hook: &Hook) -> Hook {
        self.store.hooks().find(hook.id).await.unwrap().unwrap().record
    }
}

fn courier(store: &Store, env: &Env, docks: &Arc<Docks>) -> Courier {
    let courier = Courier::new(parts(store, env, docks.clone()));
    courier.start();
    courier
}

#[tokio::test(start_paused = true)]
async fn a_failing_destination_is_told_once_and_its_recovery_once() {
    let ferry = Ferry::new().await;
    ferry.hook("ops", &["delivery.*"], &[0]).await;
    ferry.answers("orders", 500);
    for _ in 0..5 {
        ferry.arrives("order.paid").await;
    }
    assert_eq!(ferry.told().await, ["Deliveries to Orders fail"]);
    assert_eq!(ferry.got("ops"), ["delivery.failed"]);
    ferry.answers("orders", 200);
    for _ in 0..3 {
        ferry.arrives("order.paid").await;
    }
    let told = ["Deliveries to Orders fail", "Deliveries to Orders work again"];
    assert_eq!(ferry.told().await, told);
    assert_eq!(ferry.got("ops"), ["delivery.failed", "delivery.recovered"]);
    assert_eq!(ferry.got("orders").len(), 8, "the hook is not the connection");
}

/// The record is in the store: another process ends what this one has begun.
#[tokio::test(start_paused = true)]
async fn an_alert_outlives_the_process() {
    let mut ferry = Ferry::new().await;
    ferry.answers("orders", 500);
    ferry.arrives("order.paid").await;
    ferry.courier.finish().await;
    ferry.restart();
    ferry.arrives("order.paid").await;
    assert_eq!(ferry.told().await.len(), 1);
    ferry.answers("orders", 200);
    ferry.arrives("order.paid").await;
    assert_eq!(ferry.told().await.len(), 2);
}

/// Whoever cannot be told that something fails is not told that this failed.
#[tokio::test(start_paused = true)]
async fn what_ferryhook_says_raises_nothing() {
    let ferry = Ferry::new().await;
    ferry.hook("ops", &["*"], &[0]).await;
    let own: Id<Source> = Source::own_id(samples::account().id);
    ferry.answers("orders", 500);
    ferry.answers("ops", 500);
    for _ in 0..4 {
        ferry.arrives("order.paid").await;
    }
    let slice = Slice::default();
    let said = ferry.store.events().list_by_source(own, Default::default(), slice).await.unwrap();
    assert_eq!(said.rows.len(), 1);
    assert_eq!(ferry.told().await.len(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_hook_gets_the_events_of_the_account_it_asks_for() {
    let ferry = Ferry::new().await;
    ferry.hook("shop", &["order.*"], &[0]).await;
    ferry.arrives("order.paid").await;
    ferry.arrives("invoice.paid").await;
    assert_eq!(ferry.got("shop"), ["theirs"]);
    assert_eq!(ferry.got("orders").len(), 2);
}

#[tokio::test(start_paused = true)]
async fn a_hook_that_is_gone_is_turned_off_at_once() {
    let ferry = Ferry::new().await;
    let hook = ferry.hook("shop", &["order.*"], &[0, 60]).await;
    ferry.hook("ops", &["hook.*"], &[0]).await;
    ferry.answers("shop", 410);
    ferry.arrives("order.paid").await;
    let stands = ferry.stands(&hook).await;
    assert!(!stands.is_active);
    assert_eq!(stands.status_reason.as_deref(), Some("it answered 410 Gone"));
    ferry.arrives("order.paid").await;
    assert_eq!(ferry.got("shop").len(), 1, "it is not called again");
    assert_eq!(ferry.told().await, ["A hook was turned off"]);
    assert_eq!(ferry.got("ops"), ["hook.disabled"]);
}

#[tokio::test(start_paused = true)]
async fn calls_are_counted_and_too_many_failures_turn_a_hook_off() {
    let ferry = Ferry::new().await;
    let hook = ferry.hook("shop", &["order.*"], &[0]).await;
    ferry.answers("shop", 503);
    ferry.arrives("order.paid").await;
    ferry.arrives("order.paid").await;
    let stands = ferry.stands(&hook).await;
    assert_eq!((stands.failure_count, stands.last_response_code), (2, Some(503)));
    assert!(stands.last_called_at.is_some());
    ferry.answers("shop", 200);
    ferry.arrives("order.paid").await;
    assert_eq!(ferry.stands(&hook).await.failure_count, 0);
    ferry.answers("shop", 503);
    for _ in 0..ferryhook_core::limits::HOOK_FAILURES_MAX {
        ferry.arrives("order.paid").await;
        sleep(Duration::from_secs(60)).await; // the breaker lets one through
    }
    let stands = ferry.stands(&hook).await;
    assert!(!stands.is_active, "{stands:?}");
    assert_eq!(ferry.told().await, ["A hook was turned off"]);
}

/// What waits for a hook when the process ends is found by the next one.
#[tokio::test(start_paused = true)]
async fn retries_of_a_hook_survive_a_restart() {
    let mut ferry = Ferry::new().await;
    ferry.hook("shop", &["order.*"], &[0, 120]).await;
    ferry.answers("shop", 503);
    ferry.arrives("order.paid").await;
    assert_eq!(ferry.got("shop").len(), 1);
    ferry.courier.finish().await;
    ferry.answers("shop", 200);
    ferry.restart();
    sleep(Duration::from_secs(180)).await;
    assert_eq!(ferry.got("shop").len(), 2);
}

#[tokio::test(start_paused = true)]
async fn a_quota_is_told_once_for_most_of_it_and_once_for_all() {
    let ferry = Ferry::new().await;
    ferry.hook("ops", &["quota.*"], &[0]).await;
    let account = samples::account().id;
    let said = async |used: u64| {
        let quota = Quota { name: "eventsPerMonth", period: "2026-01", used, limit: 100 };
        ferry.courier.quota_crossed(account, quota).await.unwrap()
    };
    assert!(said(80).await);
    assert!(!said(85).await && !said(99).await);
    assert!(said(100).await);
    assert!(!said(120).await);
    ferry.rests().await;
    assert_eq!(ferry.got("ops"), ["quota.warning", "quota.reached"]);
    assert_eq!(ferry.told().await.len(), 2);
}

/// A destination that says it is gone is told as that, not as a failure too.
#[tokio::test(start_paused = true)]
async fn a_connection_that_is_paused_for_good_is_told() {
    let ferry = Ferry::new().await;
    ferry.hook("ops", &["delivery.*", "connection.*"], &[0]).await;
    ferry.answers("orders", 410);
    ferry.arrives("order.paid").await;
    assert_eq!(ferry.told().await, ["Orders was paused"]);
    assert_eq!(ferry.got("ops"), ["connection.disabled"]);
}
