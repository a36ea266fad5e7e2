//! Lists of items that are in the store. Who leases and settles them is elsewhere.

use std::time::Duration;

use ferryhook_core::inbox::{Reply, Settings, Step};
use ferryhook_core::{Delivery, Env, Event, Id, Map, Source};
use ferryhook_store::repositories::{Arrival, Moved};
use ferryhook_store::{Slice, Stored};
use serde_json::{Value, json};
use tokio::time::{sleep, timeout};

use crate::trial::Trial;

async fn source(trial: &Trial) -> Stored<Source> {
    let made = trial.post("/v1/sources", json!({"name": "shop"})).await.expect(201);
    let id = made["sourceId"].as_str().unwrap().parse().unwrap();
    trial.app.store.sources().find(id).await.unwrap().unwrap()
}

/// The `n`th event, in an inbox from where it may be leased twice.
async fn put(
    trial: &Trial,
    source: &Source,
    n: u64,
    group: &str,
    change: impl FnOnce(&mut Event),
) -> Event {
    let at = trial.app.env.now() + Duration::from_secs(n);
    let mut event = crate::events::tests::sample(trial, source, n);
    change(&mut event);
    let settings = Settings { group: group.parse().unwrap(), leases_max: 2 };
    let items = vec![Delivery::to_fetch(&event, Id::new(&trial.app.env), &settings, at)];
    let arrival = Arrival { event: event.clone(), claim: None, items };
    trial.app.store.events().accept(&[arrival]).await.unwrap();
    event
}

/// Leases the item of an event, and replies if there is something to say.
async fn lease(trial: &Trial, event: &Event, reply: Option<Reply>) {
    let (store, now) = (&trial.app.store, event.received_at + Duration::from_secs(3600));
    let item = async || {
        let page = store.deliveries().list_by_event(event.id, Slice::default()).await.unwrap();
        page.rows.into_iter().next().unwrap()
    };
    let was = item().await;
    let leased = was.fetch(now + Duration::from_secs(60), now).unwrap().delivery;
    let moved = Moved { was: &was, now: leased, event: None, beside: Vec::new() };
    store.inbox().lease(&[moved]).await.unwrap();
    if let Some(reply) = reply {
        let was = item().await;
        let Step::Moves(next) = was.replied(None, &reply, now) else { panic!("{was:?}") };
        let moved = Moved { was: &was, now: next.delivery, event: None, beside: Vec::new() };
        store.inbox().settle(&[moved]).await.unwrap();
    }
}

fn back() -> Option<Reply> {
    Some(Reply::Nack { delay: Duration::ZERO, reason: Some("shut".to_owned()) })
}

async fn ids(trial: &Trial, query: &str) -> Vec<String> {
    let page = trial.get(&format!("/v1/inbox?{query}")).await.expect(200);
    let items = page["data"].as_array().unwrap().iter();
    items.map(|item| item["eventId"].as_str().unwrap().to_owned()).collect()
}

fn of(events: &[&Event]) -> Vec<String> {
    events.iter().map(|event| event.id.to_string()).collect()
}

async fn one(trial: &Trial, event: &Event) -> Value {
    let page = trial.get("/v1/inbox?limit=100").await.expect(200);
    let mut items = page["data"].as_array().unwrap().iter();
    items.find(|item| item["eventId"] == event.id.as_str()).unwrap().clone()
}

#[tokio::test]
async fn items_are_listed_by_group_status_type_and_age() {
    let trial = Trial::new().await;
    let source = source(&trial).await;
    let fresh = put(&trial, &source, 1, "default", |_| {}).await;
    let done = put(&trial, &source, 2, "default", |_| {}).await;
    let given_back = put(&trial, &source, 3, "default", |_| {}).await;
    let again = put(&trial, &source, 4, "default", |_| {}).await;
    let dead = put(&trial, &source, 5, "default", |_| {}).await;
    let other = put(&trial, &source, 6, "billing", |_| {}).await;
    lease(&trial, &done, Some(Reply::Ack)).await;
    lease(&trial, &given_back, back()).await;
    lease(&trial, &again, back()).await;
    lease(&trial, &again, None).await;
    lease(&trial, &dead, back()).await;
    lease(&trial, &dead, back()).await;

    let all = [&fresh, &done, &given_back, &again, &dead];
    assert_eq!(ids(&trial, "order=asc").await, of(&all));
    assert_eq!(ids(&trial, "").await, of(&[&dead, &again, &given_back, &done, &fresh]));
    assert_eq!(ids(&trial, "group=billing").await, of(&[&other]));
    assert_eq!(ids(&trial, "status=received").await, of(&[&fresh]));
    assert_eq!(ids(&trial, "status=delivered").await, of(&[&done]));
    assert_eq!(ids(&trial, "status=retrying").await, of(&[&again]));
    assert_eq!(ids(&trial, "status=failed&order=asc").await, of(&[&given_back, &dead]));
    assert_eq!(ids(&trial, "type=order.paid&order=asc").await, of(&[&done, &again]));
    assert_eq!(ids(&trial, "event_type=user.new&status=failed&limit=1").await, of(&[&dead]));
    assert_eq!(ids(&trial, &format!("since={}", again.received_at)).await, of(&[&dead, &again]));
    let window = format!("order=asc&since={}&until={}", done.received_at, again.received_at);
    assert_eq!(ids(&trial, &window).await, of(&[&done, &given_back, &again]));
    assert!(ids(&trial.neighbour().await, "").await.is_empty());

    let shown = one(&trial, &dead).await;
    assert_eq!((&shown["isDead"], &shown["retryCount"]), (&json!(true), &json!(1)));
    assert_eq!(shown["lastError"], "shut");
    assert!(shown["settledAt"].is_string(), "{shown:#}");
    let shown = one(&trial, &given_back).await;
    assert_eq!((&shown["isDead"], &shown["settledAt"]), (&json!(false), &Value::Null));
    assert!(one(&trial, &again).await["leaseUntil"].is_string());
    assert_eq!(one(&trial, &fresh).await["payload"], json!({"number": 1}));
}

/// JSON as JSON, text as text, bytes as bytes, and what is large not at all.
#[tokio::test]
async fn what_an_event_carries_is_shown_as_what_it_is() {
    let trial = Trial::new().await;
    let source = source(&trial).await;
    let said = async |n: u64, body: Vec<u8>| {
        let event = put(&trial, &source, n, "default", |event| event.body = body.into()).await;
        one(&trial, &event).await
    };
    let carried = |item: &Value| {
        let names = ["payload", "body", "bodyBase64", "isContentOmitted"];
        names.into_iter().filter(|name| item.get(name).is_some()).collect::<Vec<_>>()
    };
    assert_eq!(said(1, b"{\"b\":1,\"a\":2}".to_vec()).await["payload"], json!({"b": 1, "a": 2}));
    assert_eq!(said(2, b"a=b".to_vec()).await["body"], "a=b");
    assert_eq!(said(3, b"[1]".to_vec()).await["body"], "[1]");
    assert_eq!(said(4, vec![0xff, 0x00]).await["bodyBase64"], "/wA=");
    assert_eq!(carried(&said(5, Vec::new()).await), [""; 0]);
    let text = "a".repeat(crate::limits::INBOX_LISTED_BYTES_MAX);
    assert_eq!(carried(&said(6, text.clone().into_bytes()).await), ["body"]);
    assert_eq!(carried(&said(7, format!("{text}a").into_bytes()).await), ["isContentOmitted"]);
    let payload = Map::from_iter([("text".to_owned(), text.into())]);
    let posted = put(&trial, &source, 8, "default", |event| {
        event.body = Default::default();
        event.payload = Some(payload);
    });
    assert_eq!(carried(&one(&trial, &posted.await).await), ["isContentOmitted"]);
}

/// Few among many are found, a page at a time, however many lie between.
#[tokio::test(start_paused = true)]
async fn pages_go_on_where_they_ended() {
    let trial = Trial::new().await;
    let source = source(&trial).await;
    for n in 1..=60 {
        put(&trial, &source, n, "default", |_| {}).await;
    }
    for query in ["order=asc&limit=7", "limit=7", "type=order.paid&status=received&limit=7"] {
        let mut seen = Vec::new();
        let mut path = format!("/v1/inbox?{query}");
        loop {
            let page = trial.get(&path).await.expect(200);
            assert!(page["data"].as_array().unwrap().len() <= 7);
            let items = page["data"].as_array().unwrap().iter();
            seen.extend(items.map(|item| item["receivedAt"].as_str().unwrap().to_owned()));
            let Some(cursor) = page["cursor"].as_str() else { break };
            path = format!("/v1/inbox?{query}&cursor={cursor}");
        }
        assert_eq!(seen.len(), if query.starts_with("type") { 30 } else { 60 }, "{query}");
        let in_order = if query.starts_with("order") {
            seen.is_sorted()
        } else {
            seen.iter().rev().is_sorted()
        };
        assert!(in_order, "{query}");
    }
    let page = trial.get("/v1/inbox?limit=7").await.expect(200);
    let cursor = page["cursor"].as_str().unwrap();
    for other in ["order=asc", "group=billing", "status=received", "since=1h"] {
        let said = trial.get(&format!("/v1/inbox?{other}&cursor={cursor}")).await.expect(400);
        assert_eq!(said["errors"][0]["pointer"], "cursor", "{other}");
    }
    let neighbour = trial.neighbour().await;
    neighbour.get(&format!("/v1/inbox?limit=7&cursor={cursor}")).await.expect(400);
}

/// How long ago is counted from the first page on, however long somebody takes to read.
#[tokio::test(start_paused = true)]
async fn pages_of_a_while_ago_go_on_where_they_ended() {
    // One came each second; those of the tenth on, up to the twentieth where there is an end.
    for (window, count) in [("since=50s", 21), ("since=50s&until=40s", 11), ("until=40s", 20)] {
        for order in ["asc", "desc"] {
            let (env, clock) = Env::manual("2026-01-01T00:00:00Z");
            let trial = Trial::over(crate::trial::app_in(env)).await;
            let source = source(&trial).await;
            for n in 1..=30 {
                put(&trial, &source, n, "default", |_| {}).await;
            }
            clock.advance(Duration::from_secs(60));
            let path = format!("/v1/inbox?{window}&order={order}&limit=4");
            let (mut seen, mut cursor) = (Vec::new(), String::new());
            loop {
                let page = trial.get(&format!("{path}{cursor}")).await.expect(200);
                let items = page["data"].as_array().unwrap().iter();
                seen.extend(items.map(|item| item["eventId"].as_str().unwrap().to_owned()));
                let Some(next) = page["cursor"].as_str() else { break };
                cursor = format!("&cursor={next}");
                clock.advance(Duration::from_secs(7));
            }
            let each: std::collections::BTreeSet<_> = seen.iter().collect();
            assert_eq!((seen.len(), each.len()), (count, count), "{path}");
        }
    }
}

/// A page that ends at this very moment waits for what is being written.
#[tokio::test(start_paused = true)]
async fn a_page_does_not_go_on_behind_what_is_being_written() {
    let (env, clock) = Env::manual("2026-01-01T00:00:00Z");
    let trial = Trial::over(crate::trial::app_in(env)).await;
    let source = source(&trial).await;
    for n in [3, 5, 6] {
        put(&trial, &source, n, "default", |_| {}).await;
    }
    clock.advance(Duration::from_secs(5));
    let late = async {
        sleep(Duration::from_millis(500)).await;
        let at = trial.app.env.now() - Duration::from_secs(1);
        put(&trial, &source, 0, "default", |event| event.received_at = at).await
    };
    let (page, late) = tokio::join!(ids(&trial, "order=asc&limit=2"), late);
    assert_eq!(page.len(), 2);
    assert_eq!(page[1], late.id.to_string(), "it came before the last that was there");
    for whole in ["limit=2", "order=asc&limit=10"] {
        let at_once = timeout(Duration::from_millis(1), ids(&trial, whole)).await;
        assert!(at_once.is_ok(), "{whole}: nothing is skipped where nothing goes on");
    }
}
