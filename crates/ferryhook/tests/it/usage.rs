//! What is counted, held against what is stored; and the limits of plans, with two servers.

use std::path::Path;

use ferryhook_core::delivery::State;
use ferryhook_core::{Id, Source};
use ferryhook_store::{Slice, Window};
use serde_json::{Value, json};

use crate::client::Tenant;
use crate::destination::Destination;
use crate::storage::{DATA, look};

const ROUND: u64 = 40;

/// Counted one by one, in a data directory that no server has open.
#[derive(Debug, PartialEq, Eq)]
struct Recount {
    events: u64,
    duplicates: u64,
    bytes: u64,
    delivered: u64,
    attempts: u64,
}

impl Recount {
    fn of(data: &Path, source: Id<Source>) -> Self {
        look(data, async |store| {
            let mut all = Self { events: 0, duplicates: 0, bytes: 0, delivered: 0, attempts: 0 };
            let slice = Slice::default().limit(1000);
            let page = store.events().list_by_source(source, Window::ALWAYS, slice.clone()).await;
            for event in page.unwrap().rows {
                all.events += 1;
                all.duplicates += u64::from(event.duplicate_count);
                all.bytes += event.body.len() as u64;
                let deliveries = store.deliveries().list_by_event(event.id, slice.clone()).await;
                let is_delivered =
                    |state: &State| u64::from(matches!(state, State::Delivered { .. }));
                let deliveries = deliveries.unwrap().rows;
                all.delivered += deliveries.iter().map(|one| is_delivered(&one.state)).sum::<u64>();
                let attempts = store.attempts().list_by_event(event.id, slice.clone()).await;
                all.attempts += attempts.unwrap().rows.len() as u64;
            }
            all
        })
    }

    fn told(totals: &Value) -> Self {
        let of = |name: &str| totals[name].as_u64().unwrap();
        Self {
            events: of("events"),
            duplicates: of("duplicates"),
            bytes: of("bytes"),
            delivered: of("delivered"),
            attempts: of("attempts"),
        }
    }
}

/// After a clean stop the numbers are those of the events, to the last one. After SIGKILL only
/// what was counted since the last flush may be missing, and nothing is counted twice.
#[test]
fn the_numbers_are_those_of_the_events() {
    let destination = Destination::kind();
    let mut tenant = Tenant::new();
    let source = tenant.post("/v1/sources", json!({ "name": "shop", "provider": "stripe" }));
    let id = source["sourceId"].as_str().unwrap().to_owned();
    let there = json!({ "name": "there", "destinationUrl": destination.url("") });
    let there = tenant.post(&format!("/v1/sources/{id}/connections"), there);
    let connection = there["connectionId"].as_str().unwrap().to_owned();
    let path = format!("/in/{id}");
    let data = tenant.folder.path().join(DATA);
    let of_source = format!("/v1/sources/{id}/analytics");
    let post = |tenant: &Tenant, number: u64| {
        let body = format!(r#"{{"id":"evt_{number}","object":"event","type":"order.paid"}}"#);
        assert_eq!(tenant.ferry.post(&path, body.as_bytes()).status, 200);
    };
    for number in 0..ROUND {
        post(&tenant, number);
    }
    (0..5).for_each(|number| post(&tenant, number));
    tenant.wait(&format!("/v1/connections/{connection}"), |shown| shown["deliveryCount"] == ROUND);
    tenant.end("TERM");
    let stored = Recount::of(&data, id.parse().unwrap());
    assert_eq!((stored.events, stored.duplicates), (ROUND, 5));
    tenant.begin_again();
    assert_eq!(Recount::told(&tenant.get(&of_source)["totals"]), stored);
    let overview = tenant.get("/v1/analytics/overview");
    assert_eq!(Recount::told(&overview["totals"]), stored);
    assert_eq!(overview["topSources"][0]["sourceId"], json!(id));
    assert_eq!(overview["totals"]["statusCodes"], json!({ "200": stored.attempts }));
    let of_connection = tenant.get(&format!("/v1/connections/{connection}/analytics"));
    assert_eq!(of_connection["totals"]["delivered"], stored.delivered);
    let day = &tenant.get("/v1/usage")["data"][0];
    assert_eq!((&day["events"], &day["activeSources"]), (&json!(ROUND), &json!(1)));
    assert!(day["apiCalls"].as_u64().unwrap() >= 3, "{day}");

    // Of the first half it is known that it was flushed; of the second nothing is.
    for number in ROUND..2 * ROUND {
        post(&tenant, number);
    }
    let flushed = |shown: &Value| shown["totals"]["events"] == 2 * ROUND;
    tenant.wait(&of_source, flushed);
    for number in 2 * ROUND..3 * ROUND {
        post(&tenant, number);
    }
    tenant.end("KILL");
    let stored = Recount::of(&data, id.parse().unwrap());
    assert_eq!(stored.events, 3 * ROUND, "what was answered is there");
    tenant.begin_again();
    let told = Recount::told(&tenant.get(&of_source)["totals"]);
    assert!((2 * ROUND..=3 * ROUND).contains(&told.events), "{told:?}, {stored:?}");
}

#[cfg(feature = "aws")]
mod two_servers {
    use std::sync::Arc;
    use std::thread;

    use ferryhook_core::plan::Limits;
    use ferryhook_core::{Env, Plan};
    use ferryhook_store::Store;
    use ferryhook_store::engine::dynamo::{Dynamo, DynamoConfig};
    use serde_json::json;

    use crate::ferry::{Answer, Ferry, run, show};
    use crate::tables;

    const EVENTS_MAX: u64 = 150;
    const SOURCES_MAX: u32 = 4;

    fn call(ferry: &Ferry, token: &str, path: &str, body: &serde_json::Value) -> Answer {
        let token = format!("authorization: Bearer {token}\r\ncontent-type: application/json\r\n");
        ferry.post_with(path, &token, body.to_string().as_bytes())
    }

    /// The plan that everybody gets has limits from now on.
    fn limit(settings: &[(&str, &str)]) {
        let of = |name| settings.iter().find(|(known, _)| *known == name).unwrap().1.to_owned();
        let config = DynamoConfig {
            endpoint: Some(of("DYNAMO_ENDPOINT")),
            region: None,
            table_prefix: of("DYNAMO_TABLE_PREFIX"),
            ledger_table: of("DYNAMO_TABLE_NAME"),
        };
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let engine = Arc::new(Dynamo::open(config, Env::system()).await.unwrap());
            let store = Store::new(engine, Env::system());
            let was = store.plans().find("self_hosted").await.unwrap().unwrap();
            let limits = Limits {
                events_per_month: Some(EVENTS_MAX),
                sources: Some(SOURCES_MAX),
                ..Limits::default()
            };
            store.plans().replace(&was, Plan { limits, ..was.record.clone() }).await.unwrap();
        });
    }

    /// Both under load: what the plan has is let in, and nothing beyond.
    #[test]
    fn a_plan_holds_over_two_servers() {
        let Some(settings) = tables::settings("quota") else { return };
        let mut settings: Vec<_> = settings.iter().map(|(name, value)| (*name, &**value)).collect();
        // The same place in the same server as we ourselves see it.
        let names = ["AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_REGION"];
        let ours: Vec<_> = names.map(|name| (name, std::env::var(name).ok())).into();
        settings.extend(ours.iter().filter_map(|(name, value)| Some((*name, value.as_deref()?))));
        settings.push(("FERRYHOOK_SIGNUP", "open"));
        let folders = [tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap()];
        let made = run(&folders[0], &["schema", "apply"], &settings);
        assert_eq!(made.status.code(), Some(0), "{}", show(&made));
        Ferry::start_in(&folders[0], &settings).stop(); // makes the plans
        limit(&settings);
        let ferries = folders.each_ref().map(|folder| Ferry::start_in(folder, &settings));
        let who = json!({
            "email": "one@example.com", "password": "correct horse battery", "name": "One"
        });
        let token = call(&ferries[0], "", "/v1/auth/signup", &who).json()["accessToken"].clone();
        let key = json!({ "name": "tests", "permissions": "write" });
        let key = call(&ferries[0], token.as_str().unwrap(), "/v1/api-keys", &key).json();
        let key = key["key"].as_str().unwrap();

        let made: Vec<Answer> = thread::scope(|scope| {
            let makers: Vec<_> = (0..4)
                .flat_map(|n| ferries.iter().map(move |ferry| (n, ferry)))
                .map(|(n, ferry)| {
                    let body = json!({ "name": format!("source {n}") });
                    scope.spawn(move || call(ferry, key, "/v1/sources", &body))
                })
                .collect();
            makers.into_iter().map(|maker| maker.join().unwrap()).collect()
        });
        let sources: Vec<_> = made.iter().filter(|made| made.status == 201).collect();
        assert_eq!(sources.len(), SOURCES_MAX as usize, "{made:?}");
        let refused = made.iter().filter(|made| made.status == 403);
        assert!(refused.clone().all(|made| made.json()["code"] == "PLAN_LIMIT_REACHED"));
        assert_eq!(refused.count() + sources.len(), made.len(), "{made:?}");

        let id = sources[0].json()["sourceId"].clone();
        let path = format!("/in/{}", id.as_str().unwrap());
        let let_in: u64 = thread::scope(|scope| {
            let senders: Vec<_> = (0..3)
                .flat_map(|_| &ferries)
                .map(|ferry| {
                    let path = &path;
                    scope.spawn(move || {
                        let mut let_in = 0;
                        loop {
                            match ferry.post(path, b"x") {
                                answer if answer.status == 200 => let_in += 1,
                                answer if answer.status == 429 => return let_in,
                                // The row of the month is wanted by many; as a sender would.
                                answer if answer.status == 503 => {}
                                answer => panic!("{answer:?}"),
                            }
                        }
                    })
                })
                .collect();
            senders.into_iter().map(|sender| sender.join().unwrap()).sum()
        });
        assert_eq!(let_in, EVENTS_MAX);
        ferries.into_iter().for_each(Ferry::stop);
    }
}
