//! What fails is told once, and once more when it works again; hooks are called like any other
//! destination.

use std::sync::Arc;
use std::sync::atomic::{AtomicU16, Ordering};

use aws_lc_rs::hmac;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

use crate::client::Tenant;
use crate::destination::{Call, Destination, say};
use crate::ferry::{Answer, run, show};

/// Somebody who has signed up on a server of their own.
struct Somebody(Tenant);

impl Somebody {
    fn new() -> Self {
        Self(Tenant::new())
    }

    /// Pulls the plug, and starts another server on the same data.
    fn killed_and_started(&mut self) {
        self.0.end("KILL");
        self.0.begin_again();
    }

    fn call(&self, method: &str, path: &str, body: Option<Value>) -> Answer {
        self.0.person.call(method, path, body)
    }

    fn make(&self, path: &str, body: Value) -> Value {
        let answer = self.call("POST", path, Some(body));
        assert_eq!(answer.status, 201, "{answer:?}");
        answer.json()
    }

    fn get(&self, path: &str) -> Value {
        let answer = self.call("GET", path, None);
        assert_eq!(answer.status, 200, "{answer:?}");
        answer.json()
    }

    /// A source with one connection there, tried once; where it takes events.
    fn source(&self, url: &str) -> String {
        let source = self.make("/v1/sources", json!({ "name": "shop", "eventType": "body.type" }));
        let id = text(&source["sourceId"]);
        let to = json!({ "name": "Orders", "destinationUrl": url, "retryConfig": [0] });
        self.make(&format!("/v1/sources/{id}/connections"), to);
        format!("/in/{id}")
    }

    fn send(&self, door: &str, number: u32) {
        let headers = "content-type: application/json\r\n";
        let body = json!({ "type": "order.paid", "number": number }).to_string();
        let answer = self.0.ferry.post_with(door, headers, body.as_bytes());
        assert_eq!(answer.status, 200, "{answer:?}");
    }
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_else(|| panic!("{value} is no text"))
}

/// Answers with whatever the number says at the moment.
fn answering(status: &Arc<AtomicU16>) -> Destination {
    let status = status.clone();
    Destination::new(move |_, stream| {
        let status = status.load(Ordering::SeqCst);
        say(stream, format!("HTTP/1.1 {status} Said\r\ncontent-length: 0\r\n\r\n"))
    })
}

/// As a library for Standard Webhooks would check it.
fn is_standard(call: &Call, secret: &str) -> bool {
    let header = |name: &str| call.message.header(name).unwrap();
    let key = STANDARD.decode(secret.strip_prefix("whsec_").unwrap()).unwrap();
    let key = hmac::Key::new(hmac::HMAC_SHA256, &key);
    let (id, at) = (header("webhook-id"), header("webhook-timestamp"));
    let signed = [id.as_bytes(), b".", at.as_bytes(), b".", &call.message.body].concat();
    let tag = STANDARD.encode(hmac::sign(&key, &signed));
    header("webhook-signature").split(' ').any(|one| one == format!("v1,{tag}"))
}

#[test]
fn a_failing_destination_is_told_once_and_its_recovery_once() {
    let status = Arc::new(AtomicU16::new(500));
    let (orders, ops) = (answering(&status), Destination::kind());
    let somebody = Somebody::new();
    let door = somebody.source(&orders.url("orders"));
    let hook = json!({ "url": ops.url("ops"), "events": ["delivery.*"] });
    let hook = somebody.make("/v1/hooks", hook);
    let secret = text(&hook["secret"]);

    for number in 0..4 {
        somebody.send(&door, number);
    }
    orders.wait_for(4);
    let told = &ops.wait_for(1)[0];
    let body: Value = serde_json::from_str(told.body()).unwrap();
    assert_eq!(body["type"], "delivery.failed");
    assert_eq!(body["data"]["connectionName"], "Orders");
    assert_eq!(body["data"]["lastStatusCode"], 500);
    assert!(told.is_signed_with(secret) && is_standard(told, secret));

    status.store(200, Ordering::SeqCst);
    somebody.send(&door, 4);
    let told = &ops.wait_for(2)[1];
    let body: Value = serde_json::from_str(told.body()).unwrap();
    assert_eq!(body["type"], "delivery.recovered");
    assert!(told.is_signed_with(secret));
    somebody.send(&door, 5);
    orders.wait_for(6);

    // To people, too; and what was said is an event like any other.
    let list = somebody.get("/v1/notifications");
    let titles: Vec<_> =
        list["data"].as_array().unwrap().iter().map(|one| text(&one["title"])).collect();
    assert_eq!(titles, ["Deliveries to Orders work again", "Deliveries to Orders fail"]);
    assert_eq!(somebody.get("/v1/notifications/unread-count")["unread"], 2);
    let sources = somebody.get("/v1/sources");
    let own = sources["data"].as_array().unwrap().iter();
    let own = own.clone().find(|source| source["provider"] == "ferryhook").unwrap();
    let own = text(&own["sourceId"]);
    let said = somebody.get(&format!("/v1/sources/{own}/events"));
    assert_eq!(said["data"].as_array().unwrap().len(), 2);
    assert_eq!(somebody.0.ferry.post(&format!("/in/{own}"), b"{}").status, 404);
    assert_eq!(somebody.call("DELETE", &format!("/v1/sources/{own}"), None).status, 409);
    assert_eq!(ops.calls().len(), 2);
    let samples = somebody.get("/v1/hooks/samples?event=delivery.failed");
    assert_eq!(samples["data"][0]["body"]["data"]["connectionName"], "Orders");
}

/// The second attempt of a call is another server's.
#[test]
fn what_waits_for_a_hook_survives_a_crash() {
    let status = Arc::new(AtomicU16::new(503));
    let zap = answering(&status);
    let mut somebody = Somebody::new();
    let door = somebody.source(&Destination::kind().url("orders"));
    let hook = json!({ "url": zap.url("zap"), "events": ["order.*"],
        "retryPolicy": { "schedule": [0, 5] } });
    somebody.make("/v1/hooks", hook);
    somebody.send(&door, 1);
    let first = zap.wait_for(1)[0].message.header("webhook-id").unwrap().to_owned();
    // Its outcome is stored once the event says so.
    let event = text(&somebody.get("/v1/events")["data"][0]["eventId"]).to_owned();
    while somebody.get(&format!("/v1/events/{event}"))["status"] != "retrying" {
        std::thread::yield_now();
    }
    somebody.killed_and_started();
    status.store(200, Ordering::SeqCst);
    let calls = zap.wait_for(2);
    assert_eq!(calls[1].message.header("webhook-id"), Some(first.as_str()));
    assert_eq!(calls[1].message.header("x-ferryhook-attempt"), Some("2"));
}

#[test]
fn a_hook_that_answers_gone_is_unsubscribed() {
    let zap = answering(&Arc::new(AtomicU16::new(410)));
    let somebody = Somebody::new();
    let door = somebody.source(&Destination::kind().url("orders"));
    let hook = json!({ "url": zap.url("zap"), "events": ["order.*"] });
    let hook = somebody.make("/v1/hooks", hook);
    let path = format!("/v1/hooks/{}", text(&hook["hookId"]));
    somebody.send(&door, 1);
    zap.wait_for(1);
    let mut shown = somebody.get(&path);
    while shown["isActive"] != false {
        std::thread::yield_now();
        shown = somebody.get(&path);
    }
    assert_eq!(shown["statusReason"], "it answered 410 Gone");
    assert_eq!(shown["lastResponseCode"], 410);
    let titles = somebody.get("/v1/notifications");
    assert_eq!(titles["data"][0]["title"], "A hook was turned off");
}

/// At most of the month's events, and at the last of them: each once.
#[test]
fn a_quota_is_told_before_it_is_used_up() {
    let ops = Destination::kind();
    let somebody = Somebody::new();
    let limited = ["plans", "set", "self_hosted", "--limit", "eventsPerMonth=10"];
    let limited = run(&somebody.0.folder, &limited, &[]);
    assert_eq!(limited.status.code(), Some(0), "{}", show(&limited));
    let hook = json!({ "url": ops.url("ops"), "events": ["quota.*"] });
    somebody.make("/v1/hooks", hook);
    let source = somebody.make("/v1/sources", json!({ "name": "shop" }));
    let door = format!("/in/{}", text(&source["sourceId"]));
    (0..9).for_each(|number| somebody.send(&door, number));
    let warned: Value = serde_json::from_str(ops.wait_for(1)[0].body()).unwrap();
    assert_eq!(warned["type"], "quota.warning", "{warned:#}");
    somebody.send(&door, 9);
    let full = somebody.0.ferry.post(&door, b"{}");
    assert_eq!(full.status, 429, "{full:?}");
    let reached: Value = serde_json::from_str(ops.wait_for(2)[1].body()).unwrap();
    assert_eq!(reached["type"], "quota.reached", "{reached:#}");
    let told = somebody.get("/v1/notifications");
    assert_eq!(told["data"].as_array().unwrap().len(), 2, "{told:#}");
}
