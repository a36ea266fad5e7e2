//! On the memory engine, with a courier that does nothing by itself.

use std::sync::Arc;

use ferryhook_core::event_type::{Declared, DriftKind};
use ferryhook_core::member::Role;
use ferryhook_core::{Body, EventType, Member, Source, samples};
use ferryhook_net::Tasks;
use ferryhook_net::client::{Client, Guard, Roots};
use ferryhook_store::{Slice, Store, Stored};
use serde_json::{Value, json};

use super::*;
use crate::courier::Courier;
use crate::ingest::HandOver;
use crate::probe::{Probe, parts, settle_in};

struct Bench {
    courier: Courier,
    store: Store,
    probe: Arc<Probe>,
    env: ferryhook_core::Env,
}

impl Bench {
    async fn new() -> Self {
        let env = ferryhook_core::Env::fixed("2026-01-01T00:00:00Z");
        let (probe, store) = Probe::new(&env);
        settle_in(&store).await;
        let member = Member { role: Role::Admin, ..samples::member() };
        store.members().add(&member).await.unwrap();
        let source = Source { dedup_expression: None, ..samples::source() };
        store.sources().create(&source).await.unwrap();
        Self { courier: courier(&store, &env), store, probe, env }
    }

    async fn arrives(&self, event_type: &str, payload: &Value) {
        self.arrives_as(event_type, Body::from(payload.to_string()), None).await;
    }

    /// By way of the API.
    async fn is_posted(&self, event_type: &str, payload: &Value) {
        let payload = payload.as_object().unwrap().clone();
        self.arrives_as(event_type, Body::default(), Some(payload)).await;
    }

    async fn arrives_as(&self, event_type: &str, body: Body, payload: Option<ferryhook_core::Map>) {
        let route = self.courier.inner().routes.find(samples::source().id).await.unwrap().unwrap();
        let event = Event {
            id: Id::at(self.env.now(), &self.env),
            event_type: Some(event_type.to_owned()),
            payload,
            body,
            ..samples::event()
        };
        self.courier.heard(&event, &route, false);
        // A copy is not counted.
        self.courier.heard(&event, &route, true);
    }

    async fn known(&self, name: &str) -> Option<Stored<EventType>> {
        self.store.event_types().find(samples::account().id, name).await.unwrap()
    }

    async fn told(&self) -> Vec<String> {
        let notifications = self.store.notifications();
        let list = notifications.list(samples::user().id, Slice::default()).await.unwrap();
        list.rows.into_iter().map(|row| row.record.title).collect()
    }

    /// What was said as an event, by its type.
    async fn said(&self) -> Vec<String> {
        let own = Source::own_id(samples::account().id);
        let events = self.store.events();
        let list = events.list_by_source(own, Default::default(), Slice::default()).await.unwrap();
        list.rows.into_iter().filter_map(|row| row.record.event_type).collect()
    }

    async fn declare(&self, name: &str, schema: &Value, mode: Mode) {
        let account = samples::account().id;
        let declared = Declared {
            schema: schema.to_string(),
            mode,
            declared_at: self.env.now(),
            told_at: None,
        };
        let types = self.store.event_types();
        match self.known(name).await {
            Some(was) => {
                let now = EventType { declared: Some(declared), ..was.record.clone() };
                types.replace(&was, now).await.unwrap();
            }
            None => {
                let new = EventType::new(account, name);
                types.create(&EventType { declared: Some(declared), ..new }).await.unwrap();
            }
        }
        self.courier.types_changed(account);
    }
}

fn courier(store: &Store, env: &ferryhook_core::Env) -> Courier {
    let guard = Guard::new(Vec::new());
    let client = Client::new(guard, env.clone(), Tasks::new(), Roots::default());
    Courier::new(parts(store, env, Arc::new(client)))
}

#[tokio::test]
async fn what_arrives_is_counted_and_learned() {
    let bench = Bench::new().await;
    for number in 0..10 {
        bench.arrives("order.paid", &json!({"number": number})).await;
    }
    bench.arrives("blob", &json!("no object")).await;
    assert!(bench.known("order.paid").await.is_none(), "nothing is written at the door");
    bench.courier.flush_types().await;
    let known = bench.known("order.paid").await.unwrap();
    assert_eq!((known.count, known.learned.samples), (10, 10));
    assert_eq!(known.first_seen_at, Some(samples::event().received_at));
    let blob = bench.known("blob").await.unwrap();
    assert_eq!((blob.count, blob.learned.samples), (1, 0));
    let commits = bench.probe.commits();
    bench.courier.flush_types().await;
    assert_eq!(bench.probe.commits(), commits, "nothing is written when nothing happened");
}

/// Counts are exact however many come; what is learned from is a few of them.
#[tokio::test]
async fn of_many_a_few_are_looked_at() {
    let bench = Bench::new().await;
    for _ in 0..8 {
        for number in 0..200 {
            bench.arrives("order.paid", &json!({"number": number})).await;
        }
        bench.courier.flush_types().await;
    }
    let known = bench.known("order.paid").await.unwrap();
    let young = 4 * limits::TYPE_SAMPLES_YOUNG;
    assert_eq!(known.count, 1600);
    assert_eq!(known.learned.samples as usize, young + 4 * limits::TYPE_SAMPLES);
}

#[tokio::test]
async fn what_is_different_is_noted_and_told_once() {
    let bench = Bench::new().await;
    let (usual, other) = (json!({"id": 1, "a": 1}), json!({"id": "1", "a": 1, "b": 2}));
    for _ in 0..2 {
        for _ in 0..limits::TYPE_SAMPLES_YOUNG {
            bench.arrives("order.paid", &usual).await;
        }
        bench.courier.flush_types().await;
    }
    assert!(bench.told().await.is_empty());
    for _ in 0..3 {
        bench.arrives("order.paid", &other).await;
        bench.courier.flush_types().await;
        // Another process knows what this one has said.
        let (store, env) = (bench.store.clone(), bench.env.clone());
        let courier = courier(&store, &env);
        let bench = Bench { courier, store, env, probe: bench.probe.clone() };
        bench.arrives("order.paid", &other).await;
        bench.courier.flush_types().await;
    }
    let known = bench.known("order.paid").await.unwrap();
    let drifts: Vec<_> = known.drifts.iter().map(|one| (one.path.as_str(), one.kind)).collect();
    assert_eq!(drifts, [("/b", DriftKind::New), ("/id", DriftKind::Retyped)]);
    assert_eq!(bench.told().await, ["Events of type order.paid look different"]);
    assert_eq!(bench.said().await, ["event_type.drifted"]);
}

#[tokio::test]
async fn a_store_that_is_away_loses_no_count() {
    let bench = Bench::new().await;
    bench.arrives("order.paid", &json!({"a": 1})).await;
    bench.probe.is_away(true);
    bench.courier.flush_types().await;
    bench.probe.is_away(false);
    bench.arrives("order.paid", &json!({"a": 1})).await;
    bench.courier.flush_types().await;
    assert_eq!(bench.known("order.paid").await.unwrap().count, 2);
    // Somebody deletes it: it begins anew.
    let was = bench.known("order.paid").await.unwrap();
    bench.store.event_types().delete(&was).await.unwrap();
    bench.courier.types_changed(samples::account().id);
    bench.arrives("order.paid", &json!({"a": 1})).await;
    bench.courier.flush_types().await;
    assert_eq!(bench.known("order.paid").await.unwrap().count, 1);
}

#[tokio::test]
async fn what_is_not_as_declared_is_counted_and_told_once() {
    let bench = Bench::new().await;
    let schema = json!({"required": ["id"]});
    bench.declare("order.paid", &schema, Mode::Warn).await;
    for _ in 0..2 {
        bench.arrives("order.paid", &json!({"id": 1})).await;
        bench.arrives("order.paid", &json!({"number": 1})).await;
        bench.courier.flush_types().await;
    }
    let known = bench.known("order.paid").await.unwrap();
    assert_eq!((known.count, known.mismatches), (4, 2));
    assert!(known.declared.as_ref().unwrap().told_at.is_some());
    assert_eq!(bench.told().await, ["An event of type order.paid is not as declared"]);
    assert_eq!(bench.said().await, ["event_type.mismatched"]);
    bench.declare("order.paid", &json!({"required": ["number"]}), Mode::Warn).await;
    bench.arrives("order.paid", &json!({"id": 1})).await;
    bench.courier.flush_types().await;
    assert_eq!(bench.told().await.len(), 2, "of the new declaration it is told again");
}

/// Nobody waits at the door for a look at what is only to be warned of, and not all are looked at.
#[tokio::test]
async fn what_is_to_be_warned_of_is_looked_at_later() {
    let bench = Bench::new().await;
    bench.declare("order.paid", &json!({"required": ["id"]}), Mode::Warn).await;
    for _ in 0..limits::TYPE_CHECKS + 5 {
        bench.is_posted("order.paid", &json!({"number": 1})).await;
    }
    let waits = || {
        let waiting = bench.courier.inner().types.waiting.of(samples::account().id);
        let waiting = &waiting[&samples::account().id]["order.paid"];
        (waiting.mismatches, waiting.unchecked)
    };
    assert_eq!(waits(), (0, 5));
    bench.courier.flush_types().await;
    let known = bench.known("order.paid").await.unwrap();
    let checked = limits::TYPE_CHECKS as u64;
    assert_eq!((known.count, known.mismatches, known.unchecked), (checked + 5, checked, 5));

    // What is too large is none of them, nor what would take too long.
    let large = json!({"id": "x".repeat(limits::TYPE_SAMPLE_BYTES_MAX)});
    bench.is_posted("order.paid", &large).await;
    bench.arrives("order.paid", &large).await;
    bench.courier.flush_types().await;
    let patterns: Vec<_> = (0..700).map(|n| json!({"pattern": format!("[a-z]{n}")})).collect();
    bench.declare("order.paid", &json!({"allOf": patterns}), Mode::Warn).await;
    bench.arrives("order.paid", &json!({"id": "x".repeat(60_000)})).await;
    bench.courier.flush_types().await;
    let known = bench.known("order.paid").await.unwrap();
    assert_eq!((known.count, known.mismatches, known.unchecked), (checked + 8, checked, 8));
}

/// Of those that are too large to learn from, as many are tried as of others, and no more.
#[tokio::test]
async fn large_ones_are_not_tried_for_ever() {
    let bench = Bench::new().await;
    let large = json!({"text": "x".repeat(limits::TYPE_SAMPLE_BYTES_MAX)});
    let room = || {
        let waiting = bench.courier.inner().types.waiting.of(samples::account().id);
        waiting[&samples::account().id]["order.paid"].room
    };
    bench.is_posted("order.paid", &large).await;
    assert_eq!(room(), limits::TYPE_SAMPLES_YOUNG - 1);
    for _ in 0..limits::TYPE_SAMPLES_YOUNG {
        bench.is_posted("order.paid", &large).await;
    }
    assert_eq!(room(), 0);
    bench.courier.flush_types().await;
    let known = bench.known("order.paid").await.unwrap();
    assert_eq!((known.count as usize, known.learned.samples), (limits::TYPE_SAMPLES_YOUNG + 1, 0));
    assert_eq!(bench.courier.inner().types.sample_bytes.load(Ordering::Relaxed), 0);
}

/// Whoever sends types that nobody has heard of keeps none of the others from being counted: neither
/// of a process that knows them nor of one that has just begun.
#[tokio::test]
async fn types_that_are_known_are_counted_among_many() {
    let bench = Bench::new().await;
    bench.arrives("order.paid", &json!({"a": 1})).await;
    for _ in 0..3 {
        bench.courier.flush_types().await;
    }
    let new = Bench {
        courier: courier(&bench.store, &bench.env),
        store: bench.store.clone(),
        env: bench.env.clone(),
        probe: bench.probe.clone(),
    };
    for (bench, count) in [(&bench, 2), (&new, 3)] {
        for number in 0..TYPES_PER_ACCOUNT_MAX + 20 {
            bench.arrives(&format!("junk.{number}"), &json!({})).await;
        }
        bench.arrives("order.paid", &json!({"a": 1})).await;
        bench.courier.flush_types().await;
        assert_eq!(bench.known("order.paid").await.unwrap().count, count);
    }
    // A change of one of them does not make anybody forget the others.
    bench.courier.flush_types().await;
    bench.courier.types_changed(samples::account().id);
    for number in 0..limits::TYPES_WAITING_MAX + 20 {
        bench.arrives(&format!("junk.{number}"), &json!({})).await;
    }
    bench.arrives("order.paid", &json!({"a": 1})).await;
    bench.courier.flush_types().await;
    assert_eq!(bench.known("order.paid").await.unwrap().count, 4);
}

#[tokio::test]
async fn an_account_has_so_many_types_and_is_told() {
    let bench = Bench::new().await;
    for round in 0..2 {
        for number in 0..TYPES_PER_ACCOUNT_MAX + 20 {
            bench.arrives(&format!("t{round}.n{number}"), &json!({})).await;
        }
        bench.courier.flush_types().await;
    }
    let names = bench.store.event_types().names(samples::account().id).await.unwrap();
    assert_eq!(names.len(), TYPES_PER_ACCOUNT_MAX);
    let most = TYPES_PER_ACCOUNT_MAX;
    assert_eq!(bench.told().await, [format!("There are more than {most} event types")]);
    bench.arrives(&"n".repeat(200), &json!({})).await;
    bench.courier.flush_types().await;
}
