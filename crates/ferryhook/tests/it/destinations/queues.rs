//! Connections that change while a whole queue waits for them, in memory and in the store.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use ferryhook_core::Env;
use serde_json::{Value, json};

use crate::destination::{Destination, OK, hang, say};
use crate::stage::{Stage, source};

const QUEUE: usize = 100;
const PATIENCE: Duration = Duration::from_secs(30);

/// Nothing of it is lost, and nothing is left behind.
#[test]
fn a_queue_follows_the_connection() {
    let destination = Destination::new(|call, stream| match call.path() {
        "hang" => hang(stream),
        "gone" => say(stream, "HTTP/1.1 410 Gone\r\ncontent-length: 0\r\n\r\n"),
        _ => say(stream, OK),
    });
    let to = |name: &str, path: &str, status: &str| {
        let waits = json!({ "retry": { "schedule": [0, 1, 1, 1, 1, 1] }, "status": status });
        source(name, &destination.url(path), waits)
    };
    let mut stage = Stage::with(vec![
        to("edited", "hang", "active"),
        to("paused", "hang", "active"),
        to("deleted", "hang", "active"),
        to("gone", "gone", "active"),
    ]);
    for number in 0..QUEUE {
        for name in ["edited", "paused", "deleted", "gone"] {
            stage.post(name, &format!("{name} {number}"));
        }
    }
    stage.apply(vec![
        to("edited", "edited", "active"),
        to("paused", "hang", "paused"),
        json!({ "name": "deleted" }),
        to("gone", "gone", "paused"),
    ]);
    let deleted = wait_until_idle(&stage, "deleted");
    assert_eq!(deleted.values().sum::<usize>(), QUEUE, "{deleted:?}");
    assert_eq!(wait_until_idle(&stage, "edited"), BTreeMap::from([("delivered".into(), QUEUE)]));

    stage.apply(vec![
        to("edited", "edited", "active"),
        to("paused", "paused", "active"),
        json!({ "name": "deleted" }),
        to("gone", "back", "active"),
    ]);
    assert_eq!(wait_until_idle(&stage, "paused"), BTreeMap::from([("delivered".into(), QUEUE)]));
    let gone = wait_until_idle(&stage, "gone");
    assert_eq!(gone.values().sum::<usize>(), QUEUE, "{gone:?}");
    let told = |path: &str| destination.calls().iter().filter(|call| call.path() == path).count();
    // Those that were told so have failed, the others waited.
    assert_eq!(gone.get("failed"), Some(&told("gone")), "{gone:?}");
    assert_eq!(gone.get("delivered").copied().unwrap_or_default(), told("back"), "{gone:?}");

    for name in ["edited", "paused"] {
        let calls = destination.calls();
        let calls: Vec<_> = calls.iter().filter(|call| call.path() == name).collect();
        let bodies: BTreeSet<_> = calls.iter().map(|call| call.body()).collect();
        assert_eq!((calls.len(), bodies.len()), (QUEUE, QUEUE), "{name}: each exactly once");
    }
    stage.ferry.stop();
}

/// How many events of a source have which status, when none of them is on its way any more.
fn wait_until_idle(stage: &Stage, source: &str) -> BTreeMap<String, usize> {
    let env = Env::system();
    let begun = env.elapsed();
    let arguments = ["events", "list", "--source", source, "--limit", "1000", "--json"];
    loop {
        let mut statuses = BTreeMap::new();
        for event in stage.ask(&arguments)["data"].as_array().unwrap() {
            let Value::String(status) = &event["status"] else { panic!("{event}") };
            *statuses.entry(status.clone()).or_default() += 1;
        }
        let open = ["received", "processing", "retrying", "held"];
        if !open.iter().any(|status| statuses.contains_key(*status)) {
            return statuses;
        }
        assert!(env.elapsed() - begun < PATIENCE, "{source} is still {statuses:?}");
        std::thread::sleep(Duration::from_millis(100));
    }
}
