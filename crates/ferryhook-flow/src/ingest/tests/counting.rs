//! Rate, quota, and what is written down of it.

use ferryhook_core::Usage;
use ferryhook_core::rejection::Cause;
use ferryhook_core::rollup::{Interval, Scope};

use super::*;

pub(super) fn a_minute(events: u64) -> Limits {
    Limits { events_per_minute: Some(events), ..Limits::default() }
}

fn a_month(events: u64) -> Limits {
    Limits { events_per_month: Some(events), ..Limits::default() }
}

#[tokio::test]
async fn too_fast_is_told_when_to_go_on() {
    let gate = gate_with(plain(), a_minute(3)).await;
    for _ in 0..3 {
        assert_eq!(gate.post("x").await.status, 200);
    }
    let seen = gate.post("x").await;
    assert_eq!((seen.status, &seen.body["code"]), (429, &json!("RATE_LIMITED")));
    let told = [
        "retry-after",
        "ratelimit-policy",
        "ratelimit",
        "x-ratelimit-limit",
        "x-ratelimit-remaining",
        "x-ratelimit-reset",
    ];
    let told = told.map(|name| format!("{name}: {}", seen.header(name).unwrap()));
    insta::assert_snapshot!(told.join("\n"), @r#"
    retry-after: 80
    ratelimit-policy: "default";q=3;w=60
    ratelimit: "default";r=0;t=80
    x-ratelimit-limit: 3
    x-ratelimit-remaining: 0
    x-ratelimit-reset: 1767225680
    "#);
    gate.clock.advance(Duration::from_secs(80));
    assert_eq!(gate.post("x").await.status, 200);
}

/// One source's flood is not another's trouble.
#[tokio::test]
async fn each_source_has_its_own_rate() {
    let gate = gate_with(plain(), a_minute(1)).await;
    let other = Source { id: "src_0000000000000002".parse().unwrap(), ..plain() };
    gate.store.sources().create(&other).await.unwrap();
    assert_eq!(gate.post("x").await.status, 200);
    assert_eq!(gate.post("x").await.status, 429);
    let request = Request::post("/in/src_0000000000000002");
    assert_eq!(gate.send(request.body(Full::new(Bytes::new())).unwrap()).await.status, 200);
}

/// A flood is counted, and a few of it can be looked at.
#[tokio::test]
async fn a_flood_is_not_a_flood_of_writes() {
    let gate = gate_with(plain(), a_minute(0)).await;
    let commits = gate.probe.commits();
    for _ in 0..1000 {
        assert_eq!(gate.post("x").await.status, 429);
    }
    let kept = gate.rejections().await;
    assert_eq!(kept.len(), limits::REJECTIONS_PER_MINUTE as usize);
    assert!(kept.iter().all(|kept| kept.cause == Cause::Rate && kept.body_truncated));
    assert_eq!(kept[0].detail.as_deref(), Some("This source takes 0 events a minute."));
    // The rejections, one row of usage, and the rollups, which were not there yet.
    assert_eq!(gate.probe.commits() - commits, 10 + 1 + 2);
    assert_eq!(usage(&gate).await.error_count, 1000);

    gate.clock.advance(Duration::from_secs(60));
    gate.post("x").await;
    assert_eq!(gate.rejections().await.len(), 11, "the next minute has its own");
}

async fn usage(gate: &Gate) -> Usage {
    let found = gate.store.usage().find(samples::account().id, "2026-01-01").await.unwrap();
    found.unwrap().record
}

#[tokio::test]
async fn a_used_up_month_is_refused_until_the_next() {
    let gate = gate_with(plain(), a_month(2)).await;
    for _ in 0..2 {
        assert_eq!(gate.post("x").await.status, 200);
    }
    let seen = gate.post("x").await;
    assert_eq!((seen.status, &seen.body["code"]), (429, &json!("QUOTA_EXCEEDED")));
    assert_eq!(seen.header("retry-after"), Some("2678400"), "31 days");
    let kept = gate.rejections().await;
    assert_eq!((kept.len(), kept[0].cause), (1, Cause::Quota));
    gate.clock.advance(Duration::from_secs(2_678_400));
    assert_eq!(gate.post("x").await.status, 200);
}

#[tokio::test]
async fn a_plan_may_ask_to_be_paid() {
    let gate = gate_with(plain(), a_month(0)).await;
    let was = gate.store.plans().find("pro").await.unwrap().unwrap();
    let mut plan = was.record.clone();
    plan.metadata.get_or_insert_default().insert("overQuota".into(), json!(402));
    gate.store.plans().replace(&was, plan).await.unwrap();
    let seen = gate.post("x").await;
    assert_eq!((seen.status, &seen.body["code"]), (402, &json!("PAYMENT_REQUIRED")));
    assert_eq!(seen.header("retry-after"), None);
}

/// What was used before a restart, or by other nodes, counts.
#[tokio::test]
async fn the_month_goes_on_where_it_was() {
    let gate = gate_with(plain(), a_month(100)).await;
    let day = |day: &str, events: u64| Usage {
        day: day.into(),
        by_platform: json!({ "a": { "events": events }, "b": { "calls": 7 } })
            .as_object()
            .unwrap()
            .clone(),
        ..samples::usage()
    };
    gate.store.usage().add(&day("2025-12-31", 1000)).await.unwrap();
    gate.store.usage().add(&day("2026-01-01", 60)).await.unwrap();
    gate.store.usage().add(&day("2026-01-31", 39)).await.unwrap();
    assert_eq!(gate.post("x").await.status, 200);
    assert_eq!(gate.post("x").await.status, 429);
}

/// Another server takes from the same month.
#[tokio::test]
async fn two_doors_share_a_month() {
    let gate = gate_with(plain(), a_month(10)).await;
    let door = &gate.ingest.0;
    let (store, env, routes) = (door.store.clone(), door.env.clone(), door.routes.clone());
    let (handed, tally) = (gate.handed.clone(), Tally::default());
    let other = Ingest::new(store, env, &gate.tasks, routes, handed, &tally, Settings::default());
    let mut let_in = 0;
    for _ in 0..10 {
        let_in += u32::from(gate.post("x").await.status == 200);
        let_in += u32::from(other.clone().answer(post("x")).await.status() == 200);
    }
    assert_eq!(let_in, 10);
}

/// A list of events that the month has no room for stays outside as a whole.
#[tokio::test]
async fn a_list_is_let_in_whole_or_not_at_all() {
    let gate = gate_with(Source { provider: "sendgrid".into(), ..plain() }, a_month(3)).await;
    let list = |ids: &[u32]| {
        let events: Vec<_> = ids
            .iter()
            .map(|id| json!({ "event": "open", "sg_event_id": id.to_string() }))
            .collect();
        json!(events).to_string()
    };
    assert_eq!(gate.post(&list(&[1, 2])).await.status, 200);
    assert_eq!(gate.post(&list(&[3, 4])).await.status, 429);
    assert_eq!(gate.post(&list(&[5])).await.status, 200);
    assert_eq!(gate.events().await.len(), 3);
}

/// Copies are not paid for twice.
#[tokio::test]
async fn copies_do_not_use_up_the_month() {
    let gate = gate_with(Source { provider: "stripe".into(), ..plain() }, a_month(2)).await;
    for _ in 0..5 {
        assert_eq!(gate.post(r#"{"id":"evt_1"}"#).await.status, 200);
    }
    assert_eq!(gate.post(r#"{"id":"evt_2"}"#).await.status, 200);
    assert_eq!(gate.post(r#"{"id":"evt_3"}"#).await.status, 429);
}

#[tokio::test]
async fn what_came_is_added_up() {
    let gate = gate(hubspot()).await;
    gate.clock.advance(Duration::from_secs(3 * 60 * 60));
    for _ in 0..5 {
        gate.post("four").await;
    }
    gate.ingest.flush().await;
    let source = gate.source().await;
    assert_eq!(source.event_count, 5);
    assert_eq!(source.last_event_at.unwrap().to_string(), "2026-01-01T03:00:00.000Z");
    let usage = usage(&gate).await;
    assert_eq!(usage.by_platform["hubspot"]["events"], json!(5));
    assert_eq!((usage.data_processed_bytes, usage.hourly_counts[3]), (20, 5));

    let commits = gate.probe.commits();
    gate.ingest.flush().await;
    assert_eq!(gate.probe.commits(), commits, "nothing new, nothing written");
}

/// By hour and by day, for the source and for its account.
#[tokio::test]
async fn what_came_is_rolled_up() {
    let gate = gate(Source { provider: "stripe".into(), ..plain() }).await;
    gate.post(r#"{"id":"evt_1"}"#).await;
    gate.post(r#"{"id":"evt_1"}"#).await;
    gate.clock.advance(Duration::from_secs(3600));
    gate.post(r#"{"id":"evt_2"}"#).await;
    gate.ingest.flush().await;
    for scope in [Scope::Source(plain().id), Scope::Account(plain().account_id)] {
        let told = async |interval: Interval| {
            let (from, to) = (Timestamp::default(), gate.ingest.0.env.now());
            let found = gate.store.rollups().list(scope, interval, from, to).await.unwrap();
            found.iter().map(|row| (row.counts.events, row.counts.duplicates)).collect::<Vec<_>>()
        };
        assert_eq!(told(Interval::Hour).await, [(1, 1), (1, 0)]);
        assert_eq!(told(Interval::Day).await, [(2, 1)]);
    }
}

/// Counts outlive a store that is away for a while.
#[tokio::test]
async fn counts_are_kept_until_they_are_stored() {
    let gate = gate(plain()).await;
    gate.post("x").await;
    gate.probe.is_away(true);
    gate.ingest.flush().await;
    gate.probe.is_away(false);
    gate.post("x").await;
    gate.ingest.flush().await;
    assert_eq!(gate.source().await.event_count, 2);
    assert_eq!(usage(&gate).await.hourly_counts[0], 2);
}

/// The last ones are written when the server stops.
#[tokio::test]
async fn stopping_writes_what_was_counted() {
    let gate = gate(plain()).await;
    gate.post("x").await;
    assert_eq!(gate.tasks.finish(Duration::from_secs(5)).await, 0);
    assert_eq!(gate.source().await.event_count, 1);
}
