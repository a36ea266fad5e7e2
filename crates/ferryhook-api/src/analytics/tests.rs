use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use ferryhook_core::{Env, Rollup, Source};
use ferryhook_store::engine::memory::Memory;
use ferryhook_store::engine::{Answer, Engine, Row};
use ferryhook_store::{Batch, Durability, Key, Page, Query, Store};
use serde_json::{Value, json};

use super::*;
use crate::events;
use crate::trial::{self, Trial};

/// Events, deliveries that ended well and ended badly; each with an attempt.
pub(crate) fn counted(events: u64, delivered: u64, failed: u64) -> Counts {
    let mut counts = Counts { events, bytes: 100 * events, delivered, failed, ..Counts::default() };
    (0..delivered).for_each(|_| counts.record_attempt(200, 10));
    (0..failed).for_each(|_| counts.record_attempt(503, 1000));
    counts
}

/// As the data plane adds it: to the hour and to the day.
pub(crate) async fn add(trial: &Trial, scope: Scope, at: Timestamp, counts: &Counts) {
    let rows = [Interval::Hour, Interval::Day]
        .map(|interval| Rollup::new(scope, interval, at, counts.clone()));
    trial.app.store.rollups().add(&rows).await.unwrap();
}

async fn source(trial: &Trial, name: &str, events: u32) -> Source {
    let made = trial.post("/v1/sources", json!({ "name": name })).await.expect(201);
    let id = made["sourceId"].as_str().unwrap().parse().unwrap();
    let found = trial.app.store.sources().find(id).await.unwrap().unwrap();
    let sources = trial.app.store.sources();
    sources.count_events(found.user_id, id, events, trial.app.env.now()).await.unwrap();
    found.record
}

fn hours_ago(trial: &Trial, hours: i64) -> Timestamp {
    Timestamp::from_millis(trial.app.env.now().as_millis() - hours * 3_600_000)
}

#[tokio::test]
async fn an_overview_adds_up_what_was_rolled_up() {
    let trial = Trial::over(trial::app_in(Env::fixed("2026-01-20T12:30:00Z"))).await;
    let account = Scope::Account(trial.account.id);
    let (busy, quiet) = (source(&trial, "busy", 9).await, source(&trial, "quiet", 2).await);
    source(&trial, "silent", 0).await;
    for (source, ago, counts) in [
        (&busy, 0, counted(6, 6, 0)),
        (&busy, 23, counted(3, 2, 1)),
        (&busy, 24, counted(100, 100, 0)),
        (&quiet, 1, counted(2, 1, 0)),
    ] {
        let at = hours_ago(&trial, ago);
        add(&trial, Scope::Source(source.id), at, &counts).await;
        add(&trial, account, at, &counts).await;
    }

    let day = trial.get("/v1/analytics/overview").await.expect(200);
    assert_eq!((&day["period"], &day["interval"]), (&json!("24h"), &json!("hour")));
    assert_eq!(day["points"].as_array().unwrap().len(), 24);
    assert_eq!(day["points"][23]["at"], "2026-01-20T12:00:00.000Z");
    assert_eq!((&day["points"][23]["events"], &day["points"][5]["events"]), (&json!(6), &json!(0)));
    let totals = &day["totals"];
    let of = |name: &str| totals[name].as_u64().unwrap();
    assert_eq!((of("events"), of("delivered"), of("failed"), of("attempts")), (11, 9, 1, 10));
    assert_eq!((&totals["successRate"], &totals["bytes"]), (&json!(0.9), &json!(1100)));
    assert_eq!(totals["statusCodes"], json!({ "200": 9, "503": 1 }));
    let latency = &totals["latency"];
    assert_eq!((&latency["avgMs"], &latency["p50Ms"]), (&json!(109.0), &json!(10)));
    assert!(latency["p95Ms"].as_u64().unwrap().abs_diff(1000) <= 62, "{latency}");
    let top = day["topSources"].as_array().unwrap();
    let names: Vec<_> = top.iter().map(|top| (&top["name"], &top["totals"]["events"])).collect();
    assert_eq!(names, [(&json!("busy"), &json!(9)), (&json!("quiet"), &json!(2))]);
    assert_eq!(day["usage"]["events"]["used"], 111);

    let week = trial.get("/v1/analytics/overview?period=7d").await.expect(200);
    assert_eq!(
        (week["points"].as_array().unwrap().len(), &week["totals"]["events"]),
        (7, &json!(111))
    );
    let month = trial.get("/v1/analytics/overview?period=30d").await.expect(200);
    assert_eq!(month["points"].as_array().unwrap().len(), 30);
    trial.get("/v1/analytics/overview?period=1y").await.expect(400);
}

#[tokio::test]
async fn a_series_shows_one_source_or_connection() {
    let trial = Trial::over(trial::app_in(Env::fixed("2026-01-20T12:30:00Z"))).await;
    let source = source(&trial, "a", 1).await;
    let path = format!("/v1/sources/{}/connections", source.id);
    let there = json!({ "name": "there", "destinationUrl": "https://example.com/" });
    let connection = trial.post(&path, there).await.expect(201);
    let connection = connection["connectionId"].as_str().unwrap();
    let now = trial.app.env.now();
    add(&trial, Scope::Source(source.id), now, &counted(5, 4, 1)).await;
    add(&trial, Scope::Connection(connection.parse().unwrap()), now, &counted(0, 3, 1)).await;

    let of_source = trial.get(&format!("/v1/sources/{}/analytics", source.id)).await.expect(200);
    assert_eq!(of_source["points"].as_array().unwrap().len(), 24);
    assert_eq!(
        (&of_source["totals"]["events"], &of_source["totals"]["errorRate"]),
        (&json!(5), &json!(0.19999999999999996))
    );
    let path = format!("/v1/connections/{connection}/analytics?interval=day");
    let of_connection = trial.get(&path).await.expect(200);
    assert_eq!(of_connection["points"].as_array().unwrap().len(), 30);
    assert_eq!(of_connection["totals"]["successRate"], json!(0.75));
    let of_account = trial.get("/v1/analytics/series").await.expect(200);
    assert_eq!(of_account["totals"]["events"], 0, "nothing was rolled up for it");
    assert!(of_account["totals"].get("latency").is_none());

    let neighbour = trial.neighbour().await;
    for path in [format!("/v1/sources/{}/analytics", source.id), path] {
        assert_eq!(neighbour.get(&path).await.expect(404)["code"], "NOT_FOUND");
    }
}

#[tokio::test]
async fn a_series_has_bounds() {
    let trial = Trial::over(trial::app_in(Env::fixed("2026-01-20T12:30:00Z"))).await;
    let ask = async |query: &str| trial.get(&format!("/v1/analytics/series?{query}")).await;
    let points = |said: Value| said["points"].as_array().unwrap().len();
    let from = "from=2026-01-19T00:10:00Z&to=2026-01-19T05:59:00Z";
    assert_eq!(points(ask(from).await.expect(200)), 6);
    assert_eq!(points(ask(&format!("{from}&interval=day")).await.expect(200)), 1);
    ask("from=2026-01-20T00:00:00Z&to=2026-01-19T00:00:00Z").await.expect(400);
    ask("from=2025-01-01T00:00:00Z").await.expect(400);
    ask("interval=day&from=2025-01-01T00:00:00Z").await.expect(200);
    ask("interval=week").await.expect(400);
}

/// Counts what is read of the store.
#[derive(Debug)]
struct Watched {
    memory: Memory,
    rows: AtomicUsize,
}

impl Engine for Watched {
    fn get<'a>(&'a self, key: &'a Key) -> Answer<'a, Option<Row>> {
        self.rows.fetch_add(1, Ordering::SeqCst);
        self.memory.get(key)
    }

    fn query(&self, query: Query) -> Answer<'_, Page<Row>> {
        Box::pin(async move {
            let page = self.memory.query(query).await?;
            self.rows.fetch_add(1 + page.rows.len(), Ordering::SeqCst);
            Ok(page)
        })
    }

    fn commit(&self, batch: Batch, durability: Durability) -> Answer<'_, ()> {
        self.memory.commit(batch, durability)
    }

    fn scrub(&self) -> Answer<'_, ()> {
        self.memory.scrub()
    }
}

/// However many events are stored, an answer reads the same rows.
#[tokio::test]
async fn what_is_read_does_not_depend_on_the_number_of_events() {
    let env = Env::fixed("2026-01-20T12:30:00Z");
    let engine = Arc::new(Watched { memory: Memory::new(env.clone()), rows: AtomicUsize::new(0) });
    let store = Store::new(engine.clone(), env.clone());
    let trial = Trial::over(crate::App { store, ..trial::app_in(env) }).await;
    let source = source(&trial, "a", 1).await;
    let account = Scope::Account(trial.account.id);
    add(&trial, account, trial.app.env.now(), &counted(1, 1, 0)).await;
    add(&trial, Scope::Source(source.id), trial.app.env.now(), &counted(1, 1, 0)).await;
    let paths = [
        "/v1/analytics/overview".to_owned(),
        "/v1/analytics/overview?period=30d".to_owned(),
        "/v1/analytics/series?interval=day".to_owned(),
        format!("/v1/sources/{}/analytics", source.id),
        "/v1/billing/usage".to_owned(),
        "/v1/usage".to_owned(),
    ];
    let read = async || {
        let before = engine.rows.load(Ordering::SeqCst);
        for path in &paths {
            trial.get(path).await.expect(200);
        }
        engine.rows.load(Ordering::SeqCst) - before
    };
    let (few, mut read_with) = (read().await, Vec::new());
    for count in [10, 1000] {
        for number in 0..count {
            events::tests::arrived(&trial, &source, count + number, |_| {}).await;
        }
        add(&trial, account, trial.app.env.now(), &counted(count, 1, 0)).await;
        read_with.push(read().await);
    }
    assert_eq!(read_with, [few, few]);
    assert!(few < 150, "{few}");
}
