//! One event with many ways to go, and one that comes back.

use std::sync::{Arc, Condvar, Mutex};
use std::time::Duration;

use serde_json::json;

use crate::destination::{Destination, OK, say};
use crate::stage::{Stage, source};

const CONNECTIONS: usize = 76;
const PATIENCE: Duration = Duration::from_secs(5);

/// No destination answers before the sender has its own answer.
#[test]
fn a_sender_does_not_wait_for_all_the_destinations_there_can_be() {
    let acknowledged = Arc::new((Mutex::new(false), Condvar::new()));
    let waiting = acknowledged.clone();
    let destination = Destination::new(move |_, stream| {
        let (flag, changed) = &*waiting;
        let flag = flag.lock().unwrap();
        drop(changed.wait_timeout_while(flag, PATIENCE, |flag| !*flag).unwrap());
        say(stream, OK)
    });
    let connection = |number: usize| {
        let url = destination.url(&number.to_string());
        json!({ "name": number.to_string(), "url": url, "retry": [0] })
    };
    let connections: Vec<_> = (0..CONNECTIONS).map(connection).collect();
    let stage = Stage::with(vec![json!({ "name": "wide", "connections": connections })]);
    let begun = destination.now();
    let event = stage.post("wide", r#"{"order":7}"#);
    let took = destination.now() - begun;
    assert!(took < Duration::from_secs(2), "{took:?}");
    *acknowledged.0.lock().unwrap() = true;
    acknowledged.1.notify_all();

    let story = stage.wait_until_settled(&event);
    let deliveries = story["deliveries"].as_array().unwrap();
    assert_eq!(deliveries.len(), CONNECTIONS);
    assert!(deliveries.iter().all(|one| one["state"] == "delivered"), "{story:#}");
    let mut paths: Vec<usize> =
        destination.calls().iter().map(|call| call.path().parse().unwrap()).collect();
    paths.sort_unstable();
    assert_eq!(paths, Vec::from_iter(0..CONNECTIONS), "each exactly once");
    stage.ferry.stop();
}

/// A circle ends where the count of hops says that it is one.
#[test]
fn a_delivery_to_ourselves_ends() {
    let mut stage = Stage::with(vec![json!({ "name": "circle" })]);
    let own = format!("http://{}{}", stage.ferry.address, stage.path("circle"));
    stage.apply(vec![source("circle", &own, json!({ "retry": [0] }))]);
    let first = stage.post("circle", "{}");
    stage.wait_until_settled(&first);
    let list = || stage.ask(&["events", "list", "--source", "circle", "--json"]);
    stage.wait(&first, |_| {
        let events = list();
        events["data"].as_array().unwrap().iter().any(|event| event["status"] == "failed")
    });
    let events = list();
    let statuses: Vec<_> =
        events["data"].as_array().unwrap().iter().map(|event| &event["status"]).collect();
    assert_eq!(statuses, ["failed", "delivered", "delivered", "delivered", "delivered"]);
    let last = stage.event(events["data"][0]["eventId"].as_str().unwrap());
    assert_eq!(last["attempts"][0]["statusCode"], 508, "{last:#}");
    stage.ferry.stop();
}
