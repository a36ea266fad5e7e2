//! What a sender says in headers, on the other side.

use std::io::{BufReader, Write};
use std::net::Shutdown;
use std::time::Duration;

use serde_json::json;

use crate::destination::Destination;
use crate::message::Message;
use crate::stage::{Stage, source};

/// How often it is looked whether all has come to rest, and the time between.
const LOOKS_MAX: usize = 400;
const PAUSE: Duration = Duration::from_millis(50);
/// In bytes of UTF-8 of which some would be control characters if they were characters.
const NAME: &str = "Éclair 日";

#[test]
fn values_beyond_ascii_arrive_as_they_were_sent() {
    let destination = Destination::kind();
    let made = json!({ "type": "field_map", "headers": { "X-Made": NAME } });
    let stage = Stage::with(vec![
        source("plain", &destination.url("plain"), json!({})),
        source("shaped", &destination.url("shaped"), json!({ "transform": made })),
    ]);
    let headers = format!("x-name: {NAME}\r\n");
    for name in ["plain", "shaped"] {
        assert_eq!(stage.ferry.post_with(stage.path(name), &headers, b"{}").status, 200);
    }
    for call in destination.wait_for(2) {
        assert_eq!(call.message.header("x-name"), Some(NAME));
        let made = (call.path() == "shaped").then_some(NAME);
        assert_eq!(call.message.header("x-made"), made);
    }
    stage.ferry.stop();
}

/// Else a circle of two sources would never end.
#[test]
fn a_transform_does_not_begin_to_count_anew() {
    let destination = Destination::kind();
    let forgetful = json!({ "type": "field_map", "headers": { "X-Ferryhook-Hops": null } });
    let forgetful = json!({ "transform": forgetful });
    let stage = Stage::with(vec![source("circle", &destination.url(""), forgetful)]);
    let path = stage.path("circle");
    assert_eq!(stage.ferry.post_with(path, "x-ferryhook-hops: 2\r\n", b"{}").status, 200);
    let calls = destination.wait_for(1);
    assert_eq!(calls[0].message.header("x-ferryhook-hops"), Some("3"));
    stage.ferry.stop();
}

/// They come when everything has been decided by the headers.
#[test]
fn trailers_go_no_further() {
    let destination = Destination::kind();
    let stage = Stage::with(vec![source("shop", &destination.url(""), json!({}))]);
    let mut line = BufReader::new(stage.ferry.connect());
    let request = format!(
        "POST {} HTTP/1.1\r\nhost: a\r\ntransfer-encoding: chunked\r\ntrailer: x-late\r\n\r\n\
         5\r\nhello\r\n0\r\nx-late: 1\r\nx-ferryhook-hops: 9\r\n\r\n",
        stage.path("shop")
    );
    line.get_mut().write_all(request.as_bytes()).unwrap();
    let answer = Message::read(&mut line).unwrap().unwrap();
    assert_eq!(answer.status(), Some(200));
    let answer: serde_json::Value = serde_json::from_slice(&answer.body).unwrap();
    let calls = destination.wait_for(1);
    assert_eq!(calls[0].body(), "hello");
    assert_eq!(calls[0].message.header("x-late"), None);
    assert_eq!(calls[0].message.header("x-ferryhook-hops"), Some("1"));
    let event = stage.event(answer["id"].as_str().unwrap());
    let headers = event["headers"].to_string();
    assert!(headers.contains("chunked"), "{event}");
    assert!(!headers.contains("x-ferryhook-hops"), "{headers}");
    stage.ferry.stop();
}

/// Whether it is stored is decided before anybody knows that they have gone; what is stored goes on.
#[test]
fn what_a_sender_left_behind_arrives() {
    let destination = Destination::kind();
    let stage = Stage::with(vec![source("shop", &destination.url(""), json!({}))]);
    let path = stage.path("shop");
    let request = |number: usize| {
        format!("POST {path} HTTP/1.1\r\nhost: a\r\ncontent-length: 2\r\n\r\n{number:02}")
    };
    for number in 0..50 {
        let mut stream = stage.ferry.connect();
        stream.write_all(request(number).as_bytes()).unwrap();
        stream.shutdown(Shutdown::Both).unwrap();
    }
    assert_eq!(stage.ferry.post(path, b"last").status, 200);
    let listed = || {
        let asked = ["events", "list", "--source", "shop", "--limit", "100", "--json"];
        let listed = stage.ask(&asked);
        let events = listed["data"].as_array().expect("a list").clone();
        events.into_iter().map(|event| event["status"].as_str().unwrap().to_owned())
    };
    let all_arrived = |listed: &[String]| {
        listed.iter().all(|status| status == "delivered")
            && listed.len() == destination.calls().len()
    };
    let mut looks = 0..LOOKS_MAX;
    let stored = loop {
        let listed: Vec<_> = listed().collect();
        if all_arrived(&listed) {
            break listed.len();
        }
        assert!(looks.next().is_some(), "{listed:?}");
        std::thread::sleep(PAUSE);
    };
    let mut bodies: Vec<_> =
        destination.calls().iter().map(|call| call.body().to_owned()).collect();
    bodies.sort_unstable();
    bodies.dedup();
    assert_eq!(bodies.len(), stored, "each once");
    stage.ferry.stop();
}
