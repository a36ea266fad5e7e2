//! Events that apps post by themselves, through the API of a real server.

use serde_json::{Value, json};

use crate::client::Tenant;
use crate::destination::Destination;

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_else(|| panic!("not a text: {value}"))
}

fn order(number: u64) -> Value {
    json!({ "eventType": "order.paid", "payload": { "number": number } })
}

/// Stored, told, recognised when it comes again, and still there after a crash.
#[test]
fn what_an_app_posts_is_stored_once() {
    let mut tenant = Tenant::new();
    let named = json!({
        "event_type": "order.paid",
        "event_id": "order-7",
        "payload": { "number": 7, "lines": [{ "sku": "a", "price": 1.25 }] },
        "metadata": { "correlation_id": "req-1" },
        "timestamp": "2026-01-31T12:00:00Z",
    });
    let event = tenant.expect(201, "POST", "/v1/events", Some(&named));
    assert!(text(&event["eventId"]).starts_with("evt_"), "{event:#}");
    assert_eq!((&event["status"], &event["duplicate"]), (&json!("received"), &json!(false)));
    assert_eq!(event["payload"], named["payload"]);
    assert_eq!(event["timestamp"], "2026-01-31T12:00:00.000Z");

    let again = tenant.expect(200, "POST", "/v1/events", Some(&named));
    assert_eq!((&again["eventId"], &again["duplicate"]), (&event["eventId"], &json!(true)));

    tenant.end("KILL");
    tenant.begin_again();
    let path = format!("/v1/events/{}", text(&event["eventId"]));
    let story = tenant.get(&path);
    assert_eq!((&story["origin"], &story["eventType"]), (&json!("trigger"), &json!("order.paid")));
    assert_eq!(story["metadata"], named["metadata"]);
    assert_eq!(story["occurredAt"], "2026-01-31T12:00:00.000Z");
    let body: Value = serde_json::from_str(text(&story["body"])).unwrap();
    assert_eq!(body, named["payload"]);
    let again = tenant.expect(200, "POST", "/v1/events", Some(&named));
    assert_eq!(again["eventId"], event["eventId"], "also after a crash");
}

/// The account's source for them has connections like any other.
#[test]
fn what_an_app_posts_goes_to_its_destinations() {
    let destination = Destination::kind();
    let tenant = Tenant::new();
    let first = tenant.expect(201, "POST", "/v1/events", Some(&order(1)));
    let source = text(&first["sourceId"]);
    let outside = tenant.ferry.post(&format!("/in/{source}"), b"{}");
    assert_eq!(outside.status, 404, "only the API knows who posts: {outside:?}");

    let connection = json!({
        "name": "crm",
        "destinationUrl": destination.url("crm"),
        "eventTypes": ["order.*"],
        "filters": [{ "path": "body.number", "operator": "gte", "value": 2 }],
        "transform": { "type": "javascript", "code": "function transform(p){return {n:p.number}}" },
    });
    tenant.post(&format!("/v1/sources/{source}/connections"), connection);
    let plain = json!({ "name": "log", "destinationUrl": destination.url("log") });
    tenant.post(&format!("/v1/sources/{source}/connections"), plain);
    let event = tenant.expect(201, "POST", "/v1/events", Some(&order(2)));
    let mut bodies: Vec<_> =
        destination.wait_for(2).iter().map(|request| request.body().to_owned()).collect();
    bodies.sort();
    assert_eq!(bodies, [r#"{"n":2}"#, r#"{"number":2}"#]);
    let path = format!("/v1/events/{}", text(&event["eventId"]));
    tenant.wait(&path, |story| story["status"] == "delivered");
}

/// One that is wrong keeps none of the others out, and each is told.
#[test]
fn each_of_many_is_stored_by_itself() {
    let tenant = Tenant::new();
    let mut events: Vec<_> = (0..500).map(order).collect();
    events[3] = json!({ "eventType": "order", "payload": {} });
    events[70] =
        json!({ "eventType": "order.paid", "payload": { "text": "a".repeat(256 * 1024) } });
    events[499] = events[498].clone();
    for twin in [498, 499] {
        events[twin]["eventId"] = json!("twin");
    }
    let told = tenant.expect(200, "POST", "/v1/events", Some(&json!({ "events": events })));
    let told = told["data"].as_array().unwrap();
    assert_eq!(told.len(), 500);
    for (place, told) in told.iter().enumerate() {
        let expected = match place {
            3 | 70 => 400,
            499 => 200,
            _ => 201,
        };
        assert_eq!(told["status"], expected, "{place}: {told:#}");
    }
    assert_eq!(told[499]["event"]["eventId"], told[498]["event"]["eventId"]);
    assert_eq!(told[70]["problem"]["errors"][0]["pointer"], "/payload");
    let mut stored = 0;
    let mut path = "/v1/events?type=order.paid&limit=100".to_owned();
    loop {
        let page = tenant.get(&path);
        stored += page["data"].as_array().unwrap().len();
        let Some(cursor) = page["cursor"].as_str() else { break };
        path = format!("/v1/events?type=order.paid&limit=100&cursor={cursor}");
    }
    assert_eq!(stored, 497);
}

/// A request that is repeated brings nothing twice, whatever the answer to the first one was.
#[test]
fn a_repeated_request_is_recognised() {
    let tenant = Tenant::new();
    let post = |body: &str, kind: &str| {
        let headers = format!("idempotency-key: once\r\ncontent-type: {kind}\r\n");
        tenant.program.send("POST", "/v1/events", &headers, body)
    };
    let lines = format!("{}\n{}\n", order(1), order(2));
    let first = post(&lines, "application/x-ndjson").json();
    let again = post(&lines, "application/x-ndjson").json();
    for place in 0..2 {
        assert_eq!(first["data"][place]["status"], 201, "{first:#}");
        assert_eq!(again["data"][place]["status"], 200, "{again:#}");
        let id = |told: &Value| told["data"][place]["event"]["eventId"].clone();
        assert_eq!(id(&first), id(&again));
    }
}
