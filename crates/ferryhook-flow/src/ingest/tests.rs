//! The door on the memory engine, with a clock that is moved by hand.

mod bounds;
mod copies;
mod counting;
mod declared;
mod proof;
mod trouble;

use std::convert::Infallible;
use std::sync::Mutex;
use std::task::{Context, Poll};

use ferryhook_core::env::ManualClock;
use ferryhook_core::plan::Limits;
use ferryhook_core::source::CustomResponse;
use ferryhook_core::{Account, Connection, Plan, Rejection, Source, samples, source};
use ferryhook_store::{Slice, Window};
use http_body_util::{BodyExt, Full};
use serde_json::{Value, json};

use super::*;
use crate::probe::{Probe, settle_in};

const ADDRESS: &str = "/in/src_0000000000000001";

/// Keeps what it is given.
#[derive(Default)]
struct Handed(Mutex<Vec<Stored<Event>>>, Mutex<Vec<String>>);

impl HandOver for Handed {
    fn take(&self, event: Stored<Event>, _: Arc<Route>) {
        self.0.lock().unwrap().push(event);
    }

    fn proved(&self, event: &Event, _: &Route) {
        let name = event.event_type.as_deref().unwrap_or("-");
        self.1.lock().unwrap().push(format!("{name} is proved"));
    }

    fn mismatched(&self, _: Id<Account>, name: &str, _: Mode, wrong: Mismatch) {
        self.1.lock().unwrap().push(format!("{name}: {}", wrong.reason));
    }
}

struct Gate {
    ingest: Ingest,
    probe: Arc<Probe>,
    store: Store,
    clock: Arc<ManualClock>,
    handed: Arc<Handed>,
    tasks: Tasks,
}

/// A source that nothing is known about, with one connection, under a plan without limits.
fn plain() -> Source {
    Source {
        provider: "custom".into(),
        signing_secret: None,
        previous_secrets: Vec::new(),
        signing_algorithm: None,
        verification_mode: None,
        dedup_expression: None,
        body_bytes_max: None,
        custom_response: None,
        event_count: 0,
        ..samples::source()
    }
}

fn hubspot() -> Source {
    Source { provider: "hubspot".into(), ..plain() }
}

async fn gate(source: Source) -> Gate {
    gate_with(source, Limits::default()).await
}

async fn gate_with(source: Source, limits: Limits) -> Gate {
    let (env, clock) = Env::manual("2026-01-01T00:00:00Z");
    let (probe, store) = Probe::new(&env);
    settle_in(&store).await;
    let was = store.plans().find("pro").await.unwrap().unwrap();
    let plan = Plan { limits, ..was.record.clone() };
    store.plans().replace(&was, plan).await.unwrap();
    store.sources().create(&source).await.unwrap();
    store.connections().create(&samples::connection()).await.unwrap();
    let (tasks, handed) = (Tasks::new(), Arc::new(Handed::default()));
    let routes = Routes::new(store.clone(), env.clone(), tasks.clone());
    let settings = Settings {
        trusted: Trusted::new(vec!["10.0.0.0/8".parse().unwrap()]),
        ..Settings::default()
    };
    let tally = Tally::default();
    let ingest = Ingest::new(store.clone(), env, &tasks, routes, handed.clone(), &tally, settings);
    Gate { ingest, probe, store, clock, handed, tasks }
}

/// What a sender sees.
#[derive(Debug)]
struct Seen {
    status: u16,
    headers: HeaderMap,
    body: Value,
}

impl Seen {
    fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).map(|value| value.to_str().unwrap())
    }

    fn id(&self) -> Id<Event> {
        self.body["id"].as_str().unwrap().parse().unwrap()
    }
}

fn post(body: impl Into<Bytes>) -> Request<Full<Bytes>> {
    Request::post(ADDRESS).body(Full::new(body.into())).unwrap()
}

impl Gate {
    async fn send<B: Body<Data = Bytes> + Send>(&self, request: Request<B>) -> Seen {
        let (head, body) = self.ingest.clone().answer(request).await.into_parts();
        let body = body.collect().await.unwrap().to_bytes();
        let body = match serde_json::from_slice(&body) {
            Ok(json) => json,
            Err(_) => Value::String(String::from_utf8(body.to_vec()).unwrap()),
        };
        Seen { status: head.status.as_u16(), headers: head.headers, body }
    }

    async fn post(&self, body: &str) -> Seen {
        self.send(post(body.to_owned())).await
    }

    async fn events(&self) -> Vec<Event> {
        let id = samples::source().id;
        let slice = Slice::default().limit(1000);
        let page = self.store.events().list_by_source(id, Window::ALWAYS, slice).await.unwrap();
        page.rows.into_iter().map(|row| row.record).collect()
    }

    async fn event(&self, id: Id<Event>) -> Event {
        self.store.events().find(id).await.unwrap().unwrap().record
    }

    async fn rejections(&self) -> Vec<Rejection> {
        self.ingest.flush().await;
        let id = samples::source().id;
        let slice = Slice::default().limit(1000);
        let page = self.store.rejections().list_by_source(id, Window::ALWAYS, slice).await.unwrap();
        page.rows.into_iter().map(|row| row.record).collect()
    }

    async fn source(&self) -> Source {
        self.store.sources().find(samples::source().id).await.unwrap().unwrap().record
    }

    /// What was said of types, which is forgotten.
    fn said(&self) -> Vec<String> {
        std::mem::take(&mut self.handed.1.lock().unwrap())
    }

    fn handed(&self) -> Vec<Stored<Event>> {
        self.handed.0.lock().unwrap().clone()
    }
}

/// Everything the sender said is there, byte for byte, and the next one in line has it.
#[tokio::test]
async fn an_event_is_kept_as_it_came() {
    let gate = gate(plain()).await;
    let body = Bytes::from_static(b"\xff\x00 not text");
    let mut request = Request::put(format!("{ADDRESS}/orders/%7Bx%7D?v=2&v=%203"))
        .header("x-b", "2")
        .header("x-a", "1")
        .header("x-b", "3")
        .header("content-type", "application/octet-stream")
        .header("x-forwarded-for", "203.0.113.7, 10.1.1.1")
        .body(Full::new(body.clone()))
        .unwrap();
    request.extensions_mut().insert(Peer("10.0.0.9:4711".parse().unwrap()));
    let seen = gate.send(request).await;
    assert_eq!(seen.status, 200);
    assert_eq!(seen.body, json!({ "id": seen.id(), "status": "received" }));
    assert!(seen.header("x-request-id").unwrap().starts_with("req_"));

    let event = gate.event(seen.id()).await;
    assert_eq!(event.body.as_bytes(), &body);
    assert_eq!(event.method.as_deref(), Some("PUT"));
    assert_eq!(event.path.as_deref(), Some("/orders/%7Bx%7D"));
    assert_eq!(event.query.as_deref(), Some("v=2&v=%203"));
    assert_eq!(event.content_type.as_deref(), Some("application/octet-stream"));
    assert_eq!(event.source_ip.as_deref(), Some("203.0.113.7"));
    let named: Vec<_> = event.headers.iter().filter(|(name, _)| name.len() == 3).collect();
    assert_eq!(named, [("x-b", "2"), ("x-b", "3"), ("x-a", "1")]);
    assert_eq!(event.status, event::Status::Received);
    assert_eq!(event.pending_since, Some(event.received_at));
    assert_eq!(event.id.made_at(), Some(event.received_at), "the key follows from the id");
    assert_eq!(gate.handed(), [Stored { record: event, revision: 1 }]);
}

/// What is handed over can be moved on without reading it again.
#[tokio::test]
async fn what_is_handed_over_is_as_it_is_stored() {
    let gate = gate(plain()).await;
    gate.post("x").await;
    let handed = gate.handed().remove(0);
    let now = Event { status: event::Status::Processing, ..handed.record.clone() };
    gate.store.events().replace(&handed, now).await.unwrap();
}

#[tokio::test]
async fn any_method_and_no_body_will_do() {
    let gate = gate(plain()).await;
    for method in ["GET", "HEAD", "DELETE", "OPTIONS", "PATCH", "BREW"] {
        let request = Request::builder().method(method).uri(ADDRESS);
        let seen = gate.send(request.body(Full::new(Bytes::new())).unwrap()).await;
        assert_eq!(seen.status, 200, "{method}");
        let event = gate.event(seen.id()).await;
        assert_eq!((event.method.as_deref(), event.body.len()), (Some(method), 0));
    }
}

/// A paused source keeps what comes, and nobody works on it.
#[tokio::test]
async fn a_paused_source_holds() {
    let gate = gate(Source { status: source::Status::Paused, ..plain() }).await;
    let seen = gate.post("x").await;
    assert_eq!((seen.status, &seen.body["status"]), (200, &json!("held")));
    let event = gate.event(seen.id()).await;
    assert_eq!((event.status, event.pending_since), (event::Status::Held, None));
    assert!(gate.handed().is_empty());
}

/// Nobody wants it: kept, and done with.
#[tokio::test]
async fn without_connections_an_event_is_filtered() {
    let gate = gate(plain()).await;
    let was = gate.store.connections().find(samples::connection().id).await.unwrap().unwrap();
    gate.store.connections().delete(&was).await.unwrap();
    let seen = gate.post("x").await;
    assert_eq!((seen.status, &seen.body["status"]), (200, &json!("received")));
    let event = gate.event(seen.id()).await;
    assert_eq!((event.status, event.pending_since), (event::Status::Filtered, None));
    assert_eq!(event.processed_at, Some(event.received_at));
    assert!(gate.handed().is_empty());
}

/// Its destination may come back, and then gets what came meanwhile.
#[tokio::test]
async fn a_paused_connection_still_counts() {
    let gate = gate(plain()).await;
    let was = gate.store.connections().find(samples::connection().id).await.unwrap().unwrap();
    let paused =
        Connection { status: ferryhook_core::connection::Status::Paused, ..was.record.clone() };
    gate.store.connections().replace(&was, paused).await.unwrap();
    gate.post("x").await;
    assert_eq!(gate.handed().len(), 1);
}

#[tokio::test]
async fn a_source_may_have_its_own_answer() {
    let custom =
        CustomResponse { status: 202, content_type: "text/plain".into(), body: "thanks".into() };
    let gate = gate(Source { custom_response: Some(custom), ..plain() }).await;
    let seen = gate.post("x").await;
    assert_eq!((seen.status, &seen.body), (202, &json!("thanks")));
    assert_eq!(seen.header("content-type"), Some("text/plain"));
    assert!(seen.header("x-request-id").is_some());
    assert_eq!(gate.events().await.len(), 1);
}

/// As long as its plan keeps them.
#[tokio::test]
async fn an_event_expires_with_its_plan() {
    let limits = Limits { data_retention_days: Some(7), ..Limits::default() };
    let gate = gate_with(plain(), limits).await;
    let id = gate.post("x").await.id();
    let expires = gate.event(id).await.expires_at.unwrap();
    assert_eq!(expires.to_string(), "2026-01-08T00:00:00.000Z");
}

#[tokio::test]
async fn the_type_is_known_where_the_provider_says_it() {
    let gate = gate(Source { provider: "github".into(), ..plain() }).await;
    let request = Request::post(ADDRESS).header("x-github-event", "push");
    let seen = gate.send(request.body(Full::new(Bytes::new())).unwrap()).await;
    assert_eq!(gate.event(seen.id()).await.event_type.as_deref(), Some("push"));
}

/// An unknown address, one of a wrong form, and one that is not used any more.
#[tokio::test]
async fn an_unknown_source_is_not_found() {
    let gate = gate(Source { status: source::Status::Deleted, ..plain() }).await;
    let commits = gate.probe.commits();
    for path in ["/in/src_9999999999999999", "/in/nonsense", "/in/", ADDRESS] {
        let request = Request::post(path).body(Full::new(Bytes::new())).unwrap();
        let seen = gate.send(request).await;
        assert_eq!((seen.status, &seen.body["code"]), (404, &json!("NOT_FOUND")), "{path}");
        assert_eq!(seen.body["requestId"].as_str(), seen.header("x-request-id"));
        assert_eq!(seen.header("content-type"), Some("application/problem+json"));
    }
    gate.ingest.flush().await;
    assert_eq!(gate.probe.commits(), commits, "nothing was written");
}

#[tokio::test]
async fn a_suspended_account_is_refused() {
    let gate = gate(plain()).await;
    let was = gate.store.accounts().find(samples::account().id).await.unwrap().unwrap();
    for status in [account::Status::Suspended, account::Status::Terminated] {
        let was = gate.store.accounts().find(was.id).await.unwrap().unwrap();
        let now = Account { status, ..was.record.clone() };
        gate.store.accounts().replace(&was, now).await.unwrap();
        gate.ingest.0.routes.forget_all();
        let seen = gate.post("x").await;
        assert_eq!((seen.status, &seen.body["code"]), (403, &json!("FORBIDDEN")));
    }
    assert!(gate.events().await.is_empty());
}

/// A destination that leads back to a source would else go on for ever.
#[tokio::test]
async fn a_circle_ends() {
    let gate = gate(plain()).await;
    let came = |hops: &str| {
        let request = Request::post(ADDRESS).header("x-ferryhook-hops", hops);
        request.body(Full::new(Bytes::new())).unwrap()
    };
    assert_eq!(gate.send(came("4")).await.status, 200);
    let seen = gate.send(came("5")).await;
    assert_eq!((seen.status, &seen.body["code"]), (508, &json!("LOOP_DETECTED")));
    assert_eq!(gate.events().await.len(), 1);
}
