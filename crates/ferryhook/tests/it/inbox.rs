//! The inbox of a real server: what is posted or connected there is fetched, leased and settled.

#[cfg(feature = "aws")]
mod seed;

use std::collections::BTreeSet;
use std::io::Write;
use std::thread;
use std::time::Duration;

use ferryhook_core::Env;
use serde_json::{Value, json};

use crate::client::{Client, Tenant, told};

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_else(|| panic!("not a text: {value}"))
}

fn list(value: &Value) -> &[Value] {
    value["data"].as_array().unwrap_or_else(|| panic!("no list: {value}"))
}

fn post(tenant: &Tenant, kind: &str, number: u64) -> String {
    let event = json!({ "eventType": kind, "payload": { "number": number } });
    let posted = tenant.expect(201, "POST", "/v1/events", Some(&event));
    text(&posted["eventId"]).to_owned()
}

fn lease(tenant: &Tenant, order: Value) -> Vec<Value> {
    list(&tenant.expect(200, "POST", "/v1/inbox/lease", Some(&order))).to_vec()
}

fn reply(tenant: &Tenant, what: &str, body: Value) -> Vec<Value> {
    list(&tenant.expect(200, "POST", &format!("/v1/inbox/{what}"), Some(&body))).to_vec()
}

fn ids(items: &[Value]) -> Vec<&str> {
    items.iter().map(|item| text(&item["eventId"])).collect()
}

/// A source whose events go into this group, given up after so many leases.
fn source(tenant: &Tenant, name: &str, group: &str, leases: u16) -> (String, String) {
    let source = tenant.post("/v1/sources", json!({ "name": name, "eventType": "body.type" }));
    let path = format!("/v1/sources/{}/connections", text(&source["sourceId"]));
    let made = tenant.post(
        &path,
        json!({
            "name": "workers", "destinationType": "inbox",
            "destinationConfig": { "group": group, "maxLeases": leases },
        }),
    );
    let id = text(&source["sourceId"]).to_owned();
    (id, text(&made["connectionId"]).to_owned())
}

fn send(tenant: &Tenant, source: &str, body: &Value) -> String {
    let headers = "content-type: application/json\r\n";
    let path = format!("/in/{source}");
    let answer = tenant.ferry.post_with(&path, headers, body.to_string().as_bytes());
    assert_eq!(answer.status, 200, "{answer:?}");
    let events = tenant
        .wait(&format!("/v1/sources/{source}/events?limit=1"), |events| !list(events).is_empty());
    text(&list(&events)[0]["eventId"]).to_owned()
}

/// Leased, acknowledged, given back, leased again: each is where it says, in lists and as an event.
#[test]
fn what_is_posted_waits_to_be_fetched() {
    let tenant = Tenant::new();
    let posted = [post(&tenant, "order.paid", 1), post(&tenant, "order.sent", 2)];
    let there = tenant.get("/v1/inbox?order=asc");
    assert_eq!(ids(list(&there)), posted);
    let first = &list(&there)[0];
    assert_eq!(first["payload"], json!({ "number": 1 }));
    assert_eq!((&first["status"], &first["retryCount"]), (&json!("received"), &json!(0)));
    assert_eq!((&first["group"], &first["isDead"]), (&json!("default"), &json!(false)));

    let leased = lease(&tenant, json!({ "count": 10, "visibility": "10m" }));
    assert_eq!(ids(&leased), posted);
    assert_eq!(leased[1]["eventType"], "order.sent");
    assert!(lease(&tenant, json!({ "count": 10 })).is_empty(), "they are somebody's");
    let shown = tenant.get("/v1/inbox?order=asc");
    assert_eq!(list(&shown)[0]["leaseUntil"], leased[0]["leaseUntil"]);

    let tokens = [text(&leased[0]["token"]), text(&leased[1]["token"])];
    let done = reply(&tenant, "ack", json!({ "token": tokens[0] }));
    assert_eq!((&done[0]["result"], &done[0]["status"]), (&json!("done"), &json!("delivered")));
    let again = reply(&tenant, "ack", json!({ "tokens": [tokens[0], tokens[0]] }));
    assert_eq!(again[0]["result"], "done", "said twice is not wrong");
    let event = tenant.get(&format!("/v1/events/{}", posted[0]));
    assert_eq!(event["status"], "delivered");

    let longer = reply(&tenant, "extend", json!({ "token": tokens[1], "visibility": "1h" }));
    assert_ne!(longer[0]["leaseUntil"], leased[1]["leaseUntil"]);
    let back = reply(&tenant, "nack", json!({ "token": tokens[1], "reason": "the till is shut" }));
    assert_eq!((&back[0]["result"], &back[0]["status"]), (&json!("done"), &json!("failed")));
    let failed = tenant.get("/v1/inbox?status=failed");
    assert_eq!(ids(list(&failed)), [&*posted[1]]);
    assert_eq!(list(&failed)[0]["lastError"], "the till is shut");
    assert_eq!(list(&failed)[0]["isDead"], false);

    let second = lease(&tenant, json!({ "types": ["order.s*"] }));
    assert_eq!((&second[0]["retryCount"], &second[0]["status"]), (&json!(1), &json!("retrying")));
    assert_eq!(ids(list(&tenant.get("/v1/inbox?status=retrying"))), [&*posted[1]]);
    // The first lease of it is over, whatever its holder says now.
    let late = json!({ "token": tokens[1] });
    for what in ["ack", "nack", "extend"] {
        let told = tenant.expect(409, "POST", &format!("/v1/inbox/{what}"), Some(&late));
        assert_eq!(told["code"], "CONFLICT");
    }
    let mixed = json!({ "tokens": [tokens[1], text(&second[0]["token"])] });
    let mixed = reply(&tenant, "ack", mixed);
    assert_eq!((&mixed[0]["result"], &mixed[1]["result"]), (&json!("stale"), &json!("done")));
    assert_eq!(list(&tenant.get("/v1/inbox?status=delivered")).len(), 2);
    assert!(list(&tenant.get("/v1/inbox?status=received")).is_empty());
    let by_type = tenant.get("/v1/inbox?type=order.sent&status=delivered");
    assert_eq!(ids(list(&by_type)), [&*posted[1]]);
}

/// Nobody replied in time, so that somebody else gets it; acknowledged, it stays away, also after a
/// crash.
#[test]
fn a_lease_that_runs_out_gives_the_event_to_another() {
    let mut tenant = Tenant::new();
    let id = post(&tenant, "order.paid", 1);
    let first = lease(&tenant, json!({ "visibility": 1 }));
    let second = lease(&tenant, json!({ "visibility": "10m", "wait": "20s" }));
    assert_eq!(ids(&second), [&*id]);
    assert_eq!(second[0]["retryCount"], 1);
    tenant.expect(409, "POST", "/v1/inbox/ack", Some(&json!({ "token": first[0]["token"] })));
    reply(&tenant, "ack", json!({ "token": second[0]["token"] }));
    tenant.end("KILL");
    tenant.begin_again();
    assert!(lease(&tenant, json!({ "count": 100 })).is_empty());
    assert_eq!(list(&tenant.get("/v1/inbox?status=delivered")).len(), 1);
}

/// Webhooks come into the inbox over a connection, one for each group; given up, they are dead, and
/// a replay puts them back.
#[test]
fn a_connection_brings_webhooks_into_the_inbox() {
    let tenant = Tenant::new();
    let (source, connection) = source(&tenant, "shop", "billing", 2);
    let more = json!({ "name": "more", "destinationType": "inbox", "eventTypes": ["order.*"] });
    tenant.post(&format!("/v1/sources/{source}/connections"), more);
    let id = send(&tenant, &source, &json!({ "type": "order.paid", "number": 7 }));

    let leased = lease(&tenant, json!({ "group": "billing", "wait": "20s", "visibility": "10m" }));
    assert_eq!(ids(&leased), [&*id]);
    assert_eq!(leased[0]["payload"], json!({ "type": "order.paid", "number": 7 }));
    assert_eq!(leased[0]["eventType"], "order.paid");
    let headers = leased[0]["headers"].as_array().unwrap();
    assert!(headers.iter().any(|header| header["name"] == "content-type"), "{headers:?}");
    let theirs = lease(&tenant, json!({ "wait": "20s", "visibility": "10m" }));
    assert_eq!(ids(&theirs), [&*id], "another group has it as well");
    reply(&tenant, "ack", json!({ "token": theirs[0]["token"] }));

    reply(&tenant, "nack", json!({ "token": leased[0]["token"] }));
    let last = lease(&tenant, json!({ "group": "billing" }));
    reply(&tenant, "nack", json!({ "token": last[0]["token"], "reason": "no such customer" }));
    assert!(lease(&tenant, json!({ "group": "billing" })).is_empty());
    let dead = tenant.get("/v1/inbox?group=billing&status=failed");
    assert_eq!(
        (&list(&dead)[0]["isDead"], &list(&dead)[0]["retryCount"]),
        (&json!(true), &json!(1))
    );
    assert!(list(&dead)[0]["settledAt"].is_string());
    assert_eq!(tenant.get(&format!("/v1/events/{id}"))["status"], "failed");
    let failures = tenant.wait("/v1/failures", |failures| !list(failures).is_empty());
    assert_eq!(list(&failures)[0]["connectionId"], *connection);

    let to = json!({ "connectionIds": [connection] });
    tenant.post(&format!("/v1/events/{id}/replay"), to);
    let again = lease(&tenant, json!({ "group": "billing", "wait": "20s" }));
    assert_eq!(ids(&again), [&*id]);
    // Who has no token names the event.
    let path = format!("/v1/events/{id}/ack");
    let done = tenant.expect(200, "POST", &path, Some(&json!({ "group": "billing" })));
    assert_eq!((&done["result"], &done["status"]), (&json!("done"), &json!("delivered")));
    tenant.expect(404, "POST", &path, Some(&json!({ "group": "nobody" })));
    tenant.wait(&format!("/v1/events/{id}"), |event| event["status"] == "delivered");
}

/// Whoever waits hears of it when it comes, and not before.
#[test]
fn who_waits_is_told_when_something_comes() {
    let tenant = Tenant::new();
    post(&tenant, "order.paid", 0);
    reply_to_all(&tenant);
    let client = tenant.program.clone();
    let waiting = thread::spawn(move || client.get("/v1/inbox?status=received&wait=20s"));
    let client = tenant.program.clone();
    let order = json!({ "wait": "20s", "types": ["order.sent"], "visibility": "10m" });
    let leasing = thread::spawn(move || client.post("/v1/inbox/lease", order));
    let id = post(&tenant, "order.sent", 1);
    assert_eq!(ids(list(&told(&waiting.join().unwrap(), 200))), [&*id]);
    assert_eq!(ids(list(&told(&leasing.join().unwrap(), 200))), [&*id]);
    let nothing = tenant.get("/v1/inbox?type=order.lost&wait=1s");
    assert_eq!(nothing, json!({ "data": [], "hasMore": false }));
}

fn reply_to_all(tenant: &Tenant) {
    let leased = lease(tenant, json!({ "count": 100, "visibility": "10m" }));
    let tokens: Vec<_> = leased.iter().map(|item| item["token"].clone()).collect();
    reply(tenant, "ack", json!({ "tokens": tokens }));
}

/// A server that is told to stop does not wait for those who wait.
#[test]
fn who_waits_does_not_keep_a_server_from_stopping() {
    let mut tenant = Tenant::new();
    let proof = format!("authorization: Bearer {}\r\nhost: test\r\n", tenant.program.credential);
    let body = json!({ "wait": "20s" }).to_string();
    let body =
        format!("content-type: application/json\r\ncontent-length: {}\r\n\r\n{body}", body.len());
    let requests = [
        format!("GET /v1/inbox?wait=20s HTTP/1.1\r\n{proof}\r\n"),
        format!("POST /v1/inbox/lease HTTP/1.1\r\n{proof}{body}"),
    ];
    let waiting: Vec<_> = requests
        .iter()
        .map(|request| {
            let mut stream = tenant.ferry.connect();
            stream.write_all(request.as_bytes()).unwrap();
            stream
        })
        .collect();
    tenant.get("/v1/inbox");
    let (env, soon) = (Env::system(), Duration::from_secs(10));
    let begun = env.elapsed();
    tenant.ferry.signal("TERM");
    assert_eq!(tenant.ferry.wait().code(), Some(0));
    assert!(env.elapsed() - begun < soon, "{:?}", env.elapsed() - begun);
    drop(waiting);
}

/// In either direction, and while others come: each once, in order.
#[test]
fn pages_neither_skip_nor_repeat() {
    let tenant = Tenant::new();
    let events: Vec<_> =
        (0..130).map(|n| json!({ "eventType": "order.paid", "payload": { "n": n } })).collect();
    tenant.expect(200, "POST", "/v1/events", Some(&json!(events)));
    for (order, query) in
        [("asc", ""), ("desc", ""), ("asc", "&type=order.paid"), ("desc", "&status=received")]
    {
        let path = format!("/v1/inbox?order={order}&limit=40{query}");
        let (mut seen, mut cursor) = (Vec::new(), String::new());
        for more in 0.. {
            let page = tenant.get(&format!("{path}{cursor}"));
            let each = list(&page).iter();
            seen.extend(each.map(|item| {
                (text(&item["receivedAt"]).to_owned(), text(&item["eventId"]).to_owned())
            }));
            let Some(next) = page["cursor"].as_str() else { break };
            cursor = format!("&cursor={next}");
            if more < 3 {
                post(&tenant, "order.paid", 1000 + more);
            }
        }
        let unique: BTreeSet<_> = seen.iter().map(|(_, id)| id).collect();
        assert_eq!(unique.len(), seen.len(), "{path}: none twice");
        assert!(seen.len() >= 130, "{path}: {} of 130", seen.len());
        let times = seen.iter().map(|(at, _)| at);
        assert!(if order == "asc" { times.is_sorted() } else { times.rev().is_sorted() }, "{path}");
    }
    let page = tenant.get("/v1/inbox?limit=40");
    let cursor = text(&page["cursor"]);
    for other in ["?group=other&", "?type=order.paid&", "?order=asc&", "?status=received&"] {
        tenant.expect(400, "GET", &format!("/v1/inbox{other}cursor={cursor}"), None);
    }
    tenant.expect(400, "GET", &format!("/v1/events?cursor={cursor}"), None);
}

/// A neighbour's events, tokens and ids are as unknown as those that nobody has.
#[test]
fn nobody_fetches_for_somebody_else() {
    let tenant = Tenant::new();
    let id = post(&tenant, "order.paid", 1);
    let leased = lease(&tenant, json!({ "visibility": "10m" }));
    let who = json!({
        "email": "two@example.com", "password": "correct horse battery", "name": "Two"
    });
    let stranger = told(&tenant.person.post("/v1/auth/signup", who), 201);
    let stranger: Client = tenant.person.with(text(&stranger["accessToken"]));
    let inbox = told(&stranger.get("/v1/inbox"), 200);
    assert!(list(&inbox).is_empty());
    let tried = told(&stranger.post("/v1/inbox/lease", json!({ "count": 100 })), 200);
    assert!(list(&tried).is_empty());
    let token = &leased[0]["token"];
    for what in ["ack", "nack", "extend"] {
        let path = format!("/v1/inbox/{what}");
        told(&stranger.post(&path, json!({ "token": token })), 404);
        let several = told(&stranger.post(&path, json!({ "tokens": [token] })), 200);
        assert_eq!(list(&several)[0]["result"], "unknown");
    }
    for what in ["ack", "nack"] {
        told(&stranger.post(&format!("/v1/events/{id}/{what}"), json!({})), 404);
    }
    // Whoever may only read may not lease either.
    let reader = tenant.person.with(&tenant.person.new_key("read"));
    told(&reader.get("/v1/inbox"), 200);
    told(&reader.post("/v1/inbox/lease", json!({})), 403);
    told(&reader.post("/v1/inbox/ack", json!({ "token": token })), 403);
    let done = reply(&tenant, "ack", json!({ "token": token }));
    assert_eq!(done[0]["result"], "done", "nothing of it has happened");
}

/// What makes no sense is told, and changes nothing.
#[test]
fn bad_orders_change_nothing() {
    let tenant = Tenant::new();
    let id = post(&tenant, "order.paid", 1);
    let leased = lease(&tenant, json!({ "visibility": "10m" }));
    let good = text(&leased[0]["token"]);
    let other = good.replacen("evt_", "evt_x", 1);
    let table = [
        ("lease", json!({ "count": 0 })),
        ("lease", json!({ "count": 101 })),
        ("lease", json!({ "visibility": "13h" })),
        ("lease", json!({ "group": "No" })),
        ("lease", json!({ "types": [""] })),
        ("lease", json!({ "wait": "21s" })),
        ("lease", json!({ "max": 1 })),
        ("ack", json!({ "tokens": [good, "garbled"] })),
        ("ack", json!({ "token": other })),
        ("ack", json!({})),
        ("nack", json!({ "token": good, "delay": "8d" })),
        ("extend", json!({ "token": good, "visibility": 0 })),
    ];
    for (what, body) in table {
        let told = tenant.expect(400, "POST", &format!("/v1/inbox/{what}"), Some(&body));
        assert_eq!(told["code"], "VALIDATION_ERROR", "{what} {body}");
    }
    let shown = tenant.get("/v1/inbox");
    assert_eq!(list(&shown)[0]["eventId"], *id);
    assert_eq!(list(&shown)[0]["leaseUntil"], leased[0]["leaseUntil"]);
    assert_eq!(list(&shown)[0]["status"], "received");
}

/// An event that is erased is in no inbox any more.
#[test]
fn what_is_erased_cannot_be_fetched() {
    let tenant = Tenant::new();
    let [gone, stays] = [1, 2].map(|number| post(&tenant, "order.paid", number));
    told(&tenant.person.delete(&format!("/v1/events/{gone}")), 204);
    tenant.wait("/v1/inbox", |inbox| ids(list(inbox)) == [&*stays]);
    assert_eq!(ids(&lease(&tenant, json!({ "count": 10 }))), [&*stays]);
}
