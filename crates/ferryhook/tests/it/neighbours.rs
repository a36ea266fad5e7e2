//! One source's trouble is not another's: destinations that hang, fail, are dead or are flooded,
//! and a neighbour whose events arrive as if none of that were there.

use std::io::{BufReader, Write};
use std::net::TcpStream;
use std::time::Duration;

use serde_json::json;

use crate::destination::{Destination, hang, say};
use crate::message::Message;
use crate::stage::{Stage, source};

const FLOOD: usize = 2_000;
const FLOODERS: usize = 4;
/// Of each of the troubled, one after the other while the neighbour is looked at.
const TROUBLE: usize = 300;
const MEASURED: usize = 200;
const BETWEEN: Duration = Duration::from_millis(5);
/// What a quiet time cannot tell from a busy machine.
const BAR: Duration = Duration::from_millis(50);
/// Calls that a destination may get until it is left alone: a streak of failures, those that were
/// under way, and a probe now and then.
const CALLS_UNTIL_REST: usize = 60;

#[test]
fn a_neighbour_does_not_notice() {
    let quiet = Destination::kind();
    let hanging = Destination::new(|_, stream| hang(stream));
    let failing =
        Destination::new(|_, stream| say(stream, "HTTP/1.1 500 No\r\ncontent-length: 0\r\n\r\n"));
    let flooded = Destination::kind();
    // Nobody may have another attempt while this is looked at, only first ones count.
    let once = json!({ "retry": [0, 600] });
    let stage = Stage::with(vec![
        source("neighbour", &quiet.url(""), json!({})),
        source("hanging", &hanging.url(""), once.clone()),
        source("failing", &failing.url(""), once.clone()),
        source("dead", "http://127.0.0.1:1/", once),
        source("flooded", &flooded.url(""), json!({})),
    ]);
    measure(&stage, &quiet); // the first ones open files and connections
    let before = measure(&stage, &quiet);

    let during = std::thread::scope(|scope| {
        for name in ["hanging", "failing", "dead"] {
            let stage = &stage;
            scope.spawn(move || post_all(stage, name, TROUBLE));
        }
        for _ in 0..FLOODERS {
            let stage = &stage;
            scope.spawn(move || post_all(stage, "flooded", FLOOD / FLOODERS));
        }
        measure(&stage, &quiet)
    });
    let most = BAR.max(2 * before);
    println!("p99 from the answer to the arrival: {before:?} alone, {during:?} beside the others");
    assert!(during <= most, "p99 went from {before:?} to {during:?}");

    // All that was taken in arrives, and who fails is not called for every event.
    flooded.wait_for(FLOOD);
    for (name, destination) in [("hanging", &hanging), ("failing", &failing)] {
        let calls = destination.calls().len();
        assert!(calls <= CALLS_UNTIL_REST, "{name} was called {calls} times");
    }
    stage.ferry.stop();
}

/// The 99th percentile of the time from the answer to the arrival, event after event.
fn measure(stage: &Stage, quiet: &Destination) -> Duration {
    let before = quiet.calls().len();
    let mut line = connect(stage);
    let mut acknowledged = Vec::new();
    for _ in 0..MEASURED {
        post(stage, &mut line, "neighbour");
        acknowledged.push(quiet.now());
        std::thread::sleep(BETWEEN);
    }
    let calls = quiet.wait_for(before + MEASURED);
    let arrived = calls[before..].iter().map(|call| call.at);
    let mut times: Vec<_> =
        arrived.zip(acknowledged).map(|(arrived, sent)| arrived.saturating_sub(sent)).collect();
    times.sort_unstable();
    times[MEASURED * 99 / 100]
}

fn post_all(stage: &Stage, source: &str, count: usize) {
    let mut line = connect(stage);
    for _ in 0..count {
        post(stage, &mut line, source);
    }
}

fn connect(stage: &Stage) -> BufReader<TcpStream> {
    let stream = stage.ferry.connect();
    stream.set_nodelay(true).unwrap();
    BufReader::new(stream)
}

fn post(stage: &Stage, line: &mut BufReader<TcpStream>, source: &str) {
    let path = stage.path(source);
    let request = format!("POST {path} HTTP/1.1\r\nhost: test\r\ncontent-length: 2\r\n\r\n{{}}");
    line.get_mut().write_all(request.as_bytes()).unwrap();
    let answer = Message::read(line).unwrap().unwrap();
    assert_eq!(answer.status(), Some(200), "{answer:?}");
}
