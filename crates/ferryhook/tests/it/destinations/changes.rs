//! Connections that change while deliveries of theirs wait for another attempt.

use std::time::Duration;

use ferryhook_core::Env;
use serde_json::{Value, json};

use crate::destination::{Destination, OK, say};
use crate::stage::{Stage, source, told};

/// The next attempt is made as the connection is then: elsewhere, later, or not at all.
#[test]
fn retries_follow_the_connection() {
    let destination = Destination::new(|call, stream| match call.path() {
        "new" => say(stream, OK),
        _ => say(stream, "HTTP/1.1 500 No\r\ncontent-length: 0\r\n\r\n"),
    });
    let to = |name, path, more: Value| {
        let mut fields = json!({ "retry": { "schedule": [0, 4], "jitterPercent": 0 } });
        fields.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        source(name, &destination.url(path), fields)
    };
    let empty = |name| json!({ "name": name });
    let mut stage = Stage::with(vec![
        to("edited", "old", json!({})),
        to("paused", "old", json!({})),
        to("deleted", "old", json!({})),
        to("no source", "old", json!({})),
    ]);
    let [edited, paused, deleted, sourceless] =
        ["edited", "paused", "deleted", "no source"].map(|name| stage.post(name, "{}"));
    for event in [&edited, &paused, &deleted, &sourceless] {
        assert_eq!(told(&stage.wait_for_attempts(event, 1)), "waiting / 500");
    }

    stage.apply(vec![
        to("edited", "new", json!({})),
        to("paused", "new", json!({ "status": "paused" })),
        empty("deleted"),
    ]);
    assert_eq!(told(&stage.wait_until_settled(&edited)), "delivered / 500 / 200");
    let cancelled = told(&stage.wait_until_settled(&deleted));
    assert_eq!(cancelled, "cancelled connection_deleted / 500");
    let cancelled = told(&stage.wait_until_settled(&sourceless));
    assert_eq!(cancelled, "cancelled source_deleted / 500");
    // Due at the same time as the others, and not attempted.
    let story = stage.event(&paused);
    assert_eq!(story["attempts"].as_array().unwrap().len(), 1, "{story:#}");
    assert_eq!(story["deliveries"][0]["settledAt"], Value::Null, "{story:#}");

    stage.apply(vec![
        to("edited", "new", json!({})),
        to("paused", "new", json!({ "status": "active" })),
        empty("deleted"),
    ]);
    let env = Env::system();
    let resumed = env.elapsed();
    assert_eq!(told(&stage.wait_until_settled(&paused)), "delivered / 500 / 200");
    assert!(env.elapsed() - resumed < Duration::from_secs(4), "its time had come before");

    let paths: Vec<_> = destination.calls().iter().map(|call| call.path().to_owned()).collect();
    assert_eq!(paths, ["old", "old", "old", "old", "new", "new"]);
    stage.ferry.stop();
}
