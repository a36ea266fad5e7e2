//! Sources, connections, events and what may be done with them, through the API of a real server.

use aws_lc_rs::hmac;
use serde_json::{Value, json};

use crate::client::Tenant;
use crate::destination::{Destination, say};

const KIND: &[u8] = b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n";
const CROSS: &[u8] = b"HTTP/1.1 500 No\r\ncontent-length: 0\r\n\r\n";

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_else(|| panic!("not a text: {value}"))
}

/// A source with one connection to this address: the path of the source and of the connection,
/// and where senders post to.
fn way(client: &Tenant, url: &str, more: Value) -> (String, String, String, Value) {
    let source = client.post("/v1/sources", json!({ "name": "shop", "eventType": "body.type" }));
    let path = format!("/v1/sources/{}", text(&source["sourceId"]));
    let mut body = json!({ "name": "crm", "destinationUrl": url, "retryConfig": [0] });
    body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    let connection = client.post(&format!("{path}/connections"), body);
    let to = format!("/v1/connections/{}", text(&connection["connectionId"]));
    let door = format!("/in/{}", text(&source["sourceId"]));
    assert_eq!(source["ingestUrl"], format!("http://test{door}"));
    (path, to, door, connection)
}

fn send(client: &Tenant, door: &str, body: &Value) -> String {
    let headers = "content-type: application/json\r\n";
    let answer = client.ferry.post_with(door, headers, body.to_string().as_bytes());
    assert_eq!(answer.status, 200, "{answer:?}");
    text(&answer.json()["id"]).to_owned()
}

fn settled(client: &Tenant, event: &str) -> Value {
    client.wait(&format!("/v1/events/{event}"), |story| {
        let deliveries = story["deliveries"].as_array().unwrap();
        !deliveries.is_empty() && deliveries.iter().all(|one| one["settledAt"].is_string())
    })
}

/// From nothing to a delivered event, told in every way.
#[test]
fn an_event_goes_its_way_and_is_told() {
    let destination = Destination::kind();
    let client = Tenant::new();
    let filters = json!([{ "path": "body.amount", "operator": "gte", "value": 100 }]);
    let url = destination.url("crm");
    let more = json!({ "filters": filters, "headers": { "X-Shop": "7" } });
    let (source, connection, door, made) = way(&client, &url, more);

    let event = send(&client, &door, &json!({ "type": "order.paid", "amount": 250 }));
    let story = settled(&client, &event);
    assert_eq!(
        (&story["status"], &story["eventType"]),
        (&json!("delivered"), &json!("order.paid"))
    );
    assert_eq!(story["attempts"][0]["statusCode"], 200);
    let call = destination.wait_for(1).remove(0);
    assert!(call.is_signed_with(text(&made["signingSecret"])));
    assert_eq!(call.message.header("x-shop"), Some("7"));

    let told = client.get(&format!("/v1/events/{event}/explain"));
    assert_eq!(told["connections"][0]["verdict"], "delivered");
    assert_eq!(told["connections"][0]["filter"]["clause"]["clauses"][0]["saw"], json!(["250"]));
    let raw = client.call("GET", &format!("/v1/events/{event}/body"), None);
    assert_eq!(raw.body, r#"{"type":"order.paid","amount":250}"#);
    assert_eq!(raw.header("content-type"), Some("application/json"));
    let listed = client.get(&format!("{source}/events?q=ORDER.paid&type=order.*"));
    assert_eq!(listed["data"][0]["eventId"], json!(event));

    let rules = json!({ "rules": { "filters": [
        { "path": "body.amount", "operator": "gte", "value": 1000 }
    ] } });
    let tried = client.post(&format!("{connection}/what-if"), rules);
    assert_eq!((&tried["lookedAt"], &tried["verdictChanged"]), (&json!(1), &json!(1)));

    // A change counts at once.
    client.expect(200, "PATCH", &connection, Some(&json!({ "filters": null })));
    let small = send(&client, &door, &json!({ "type": "order.paid", "amount": 1 }));
    assert_eq!(settled(&client, &small)["status"], "delivered");

    client.post(&format!("{connection}/pause"), json!({}));
    let held = send(&client, &door, &json!({ "type": "order.paid" }));
    client.wait(&format!("/v1/events/{held}"), |story| story["status"] == "held");
    client.post(&format!("{connection}/resume"), json!({}));
    assert_eq!(settled(&client, &held)["status"], "delivered");

    assert_eq!(client.call("DELETE", &source, None).status, 204);
    assert_eq!(client.ferry.post(&door, b"{}").status, 404);
    client.expect(404, "GET", &connection, None);
}

/// One real request, and nothing of it is kept.
#[test]
fn a_connection_is_tried_out() {
    let destination = Destination::kind();
    let client = Tenant::new();
    let transform = json!({ "type": "field_map", "rename": { "id": "orderId" } });
    let more = json!({ "transform": transform });
    let (source, connection, _, made) = way(&client, &destination.url("crm"), more);
    let sample = json!({ "eventType": "order.paid", "body": { "id": 7 } });
    let dry = client.post(&format!("{connection}/test"), json!({ "sample": sample }));
    assert_eq!(dry["explained"]["verdict"], "delivered");
    assert_eq!((&dry["body"], &dry["attempt"]), (&json!(r#"{"orderId":7}"#), &Value::Null));
    assert_eq!(destination.calls().len(), 0);

    let order = json!({ "sample": sample, "deliver": true });
    let sent = client.post(&format!("{connection}/test"), order);
    assert_eq!(sent["attempt"]["statusCode"], 200);
    let call = destination.wait_for(1).remove(0);
    assert_eq!(call.body(), r#"{"orderId":7}"#);
    assert!(call.is_signed_with(text(&made["signingSecret"])));
    assert_eq!(client.get(&format!("{source}/events"))["data"], json!([]));
    assert_eq!(client.get(&connection)["deliveryCount"], 0);
}

#[test]
fn what_failed_is_listed_and_sent_again() {
    let is_kind = std::sync::Arc::new(std::sync::atomic::AtomicBool::new(false));
    let kind = is_kind.clone();
    let destination = Destination::new(move |_, stream| {
        say(stream, if kind.load(std::sync::atomic::Ordering::Relaxed) { KIND } else { CROSS })
    });
    let client = Tenant::new();
    let (source, connection, door, made) = way(&client, &destination.url("crm"), json!({}));
    let events: Vec<_> = (0..3).map(|n| send(&client, &door, &json!({ "n": n }))).collect();
    for event in &events {
        assert_eq!(settled(&client, event)["status"], "failed");
    }
    let failures = client.get("/v1/failures");
    assert_eq!(failures["data"].as_array().unwrap().len(), 3);
    assert_eq!(failures["data"][0]["connection"], "crm");
    is_kind.store(true, std::sync::atomic::Ordering::Relaxed);

    let to = json!({ "connectionIds": [made["connectionId"]] });
    let told = client.expect(202, "POST", &format!("/v1/events/{}/replay", events[0]), Some(&to));
    assert_eq!(told["connections"][0]["what"], "replayed");
    assert_eq!(settled(&client, &events[0])["status"], "delivered");

    let id = source.rsplit('/').next().unwrap();
    let mut order = json!({ "filter": { "sourceId": id, "status": "failed" }, "dryRun": true });
    let count = client.expect(200, "POST", "/v1/events/replay", Some(&order));
    assert_eq!(count["matched"], 2);
    order["dryRun"] = false.into();
    let job = client.expect(202, "POST", "/v1/events/replay", Some(&order));
    let path = format!("/v1/replays/{}", text(&job["replayId"]));
    let done = client.wait(&path, |job| job["state"] != "running");
    assert_eq!((&done["state"], &done["replayed"]), (&json!("done"), &json!(2)));
    for event in &events {
        assert_eq!(settled(&client, event)["status"], "delivered");
    }
    assert_eq!(client.get(&connection)["sourceId"], json!(id));
    assert_eq!(client.get("/v1/dead-letters")["data"], json!([]));
}

/// Refused, kept, told why, and let in once the secret is the right one.
#[test]
fn what_was_refused_is_let_in() {
    let client = Tenant::new();
    let body = json!({ "name": "code", "provider": "github", "signingSecret": "wrong" });
    let source = client.post("/v1/sources", body);
    let path = format!("/v1/sources/{}", text(&source["sourceId"]));
    let key = hmac::Key::new(hmac::HMAC_SHA256, b"right");
    let tag = hmac::sign(&key, b"{}");
    let tag: String = tag.as_ref().iter().map(|byte| format!("{byte:02x}")).collect();
    let headers = format!(
        "x-hub-signature-256: sha256={tag}\r\nx-github-event: push\r\nx-github-delivery: 1\r\n"
    );
    let door = format!("/in/{}", text(&source["sourceId"]));
    assert_eq!(client.ferry.post_with(&door, &headers, b"{}").status, 401);
    let list = format!("{path}/rejections");
    let found = client.wait(&list, |page| !page["data"].as_array().unwrap().is_empty());
    let id = &found["data"][0]["rejectionId"];
    let shown = client.get(&format!("{list}/{}", text(id)));
    assert_eq!((&shown["cause"], &shown["body"]), (&json!("signature"), &json!("{}")));
    let order = json!({ "rejectionIds": [id] });
    let still = client.post(&format!("{list}/readmit"), order.clone());
    assert_eq!(still["refused"].as_array().unwrap().len(), 1);

    client.post(&format!("{path}/rotate-secret"), json!({ "signingSecret": "right" }));
    let told = client.post(&format!("{list}/readmit"), order);
    let event = text(&told["events"][0]);
    assert_eq!(client.get(&format!("/v1/events/{event}"))["body"], "{}");
    assert_eq!(client.get(&list)["data"], json!([]));
}

/// What the command line does is the owner's; it sees nothing of an account that signed up.
#[test]
fn the_command_line_keeps_to_its_own_account() {
    let client = Tenant::new();
    let (_, connection, door, _) = way(&client, "https://example.com/", json!({}));
    let event = send(&client, &door, &json!({}));
    let run = |arguments: &[&str]| crate::ferry::run(&client.folder, arguments, &[]);
    for arguments in [
        &["events", "show", &event][..],
        &["explain", &event],
        &["replay", &event],
        &["rejections", "list", "--source", door.rsplit('/').next().unwrap()],
    ] {
        let output = run(arguments);
        assert!(!output.status.success(), "{arguments:?}: {}", crate::ferry::show(&output));
    }
    let list = run(&["events", "list", "--json"]);
    let list: Value = serde_json::from_slice(&list.stdout).unwrap();
    assert_eq!(list["data"], json!([]));
    client.get(&connection);
}
