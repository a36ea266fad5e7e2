//! What a collector of traces gets to see, and a receiver of the same trace.

use std::collections::BTreeMap;
use std::io::{BufReader, Write};
use std::net::{SocketAddr, TcpListener};
use std::sync::mpsc;
use std::time::Duration;

use serde_json::Value;

use crate::ferry::Ferry;
use crate::message::Message;
use crate::storage::DATA;
use crate::way::{self, Way};

const PATIENCE: Duration = Duration::from_secs(60);
const TRACE: &str = "0af7651916cd43dd8448eb211c80319c";
const SENDER: &str = "b7ad6b7169203331";

#[test]
fn a_trace_goes_through_us_from_sender_to_receiver() {
    let (collector, exports) = listen();
    let (destination, deliveries) = listen();
    let folder = tempfile::tempdir().unwrap();
    let source = way::lay(&folder.path().join(DATA), &Way::to(destination));
    let ferry = Ferry::start_in(
        &folder,
        &[
            ("FERRYHOOK_DESTINATION_ALLOW", "127.0.0.0/8"),
            ("OTEL_EXPORTER_OTLP_ENDPOINT", &format!("http://{collector}")),
            ("OTEL_EXPORTER_OTLP_HEADERS", "x-key=of%20ours"),
            ("OTEL_SERVICE_NAME", "hooks"),
        ],
    );
    let send = |headers: &str| {
        let answer = ferry.post_with(&format!("/in/{source}/behind?token=secret"), headers, b"{}");
        let event = answer.json()["id"].as_str().unwrap().to_owned();
        let delivery = deliveries.recv_timeout(PATIENCE).unwrap();
        (event, delivery.header("traceparent").unwrap().to_owned())
    };
    let sampled = send(&format!("traceparent: 00-{TRACE}-{SENDER}-01\r\n"));
    let alone = send("");
    let (_, unsampled) = send(&format!("traceparent: 00-{TRACE}-{SENDER}-00\r\n"));
    assert!(ferry.get("/metrics").body.contains("ferryhook_spans_dropped_total 0"));
    ferry.stop(); // what was not sent yet is sent now

    let mut spans = Vec::new();
    for export in exports.try_iter() {
        assert_eq!(export.first_line, "POST /v1/traces HTTP/1.1");
        assert_eq!(export.header("content-type"), Some("application/json"));
        assert_eq!(export.header("x-key"), Some("of ours"));
        let body: Value = serde_json::from_slice(&export.body).unwrap();
        let of = &body["resourceSpans"][0];
        assert_eq!(attributes(&of["resource"])["service.name"], "hooks");
        spans.extend(of["scopeSpans"][0]["spans"].as_array().unwrap().clone());
    }
    assert_eq!(spans.len(), 4, "nobody wants those that are not sampled: {spans:#?}");
    assert!(!format!("{spans:?}").contains("secret"));
    assert!(unsampled.starts_with(&format!("00-{TRACE}-")) && unsampled.ends_with("-00"));

    for (event, received) in [&sampled, &alone] {
        let mut own = spans.iter().filter(|span| attributes(span)["ferryhook.event.id"] == *event);
        let (one, other) = (own.next().unwrap(), own.next().unwrap());
        let (taken, sent) = if one["kind"] == 2 { (one, other) } else { (other, one) };
        assert_eq!(taken["traceId"], sent["traceId"]);
        assert_eq!(sent["parentSpanId"], taken["spanId"]);
        assert_eq!(sent["links"][0]["spanId"], taken["spanId"]);
        let (trace, span) = (sent["traceId"].as_str().unwrap(), sent["spanId"].as_str().unwrap());
        assert_eq!(*received, format!("00-{trace}-{span}-01"));
        assert!(nanos(taken, "startTimeUnixNano") <= nanos(taken, "endTimeUnixNano"));
        match *event == sampled.0 {
            true => assert_eq!((trace, &taken["parentSpanId"]), (TRACE, &SENDER.into())),
            false => assert_eq!((trace == TRACE, taken.get("parentSpanId")), (false, None)),
        }
        let (source, destination) = (source.to_string(), destination.to_string());
        let seen = |span: &Value| {
            let lines = attributes(span).into_iter().map(|(key, value)| {
                let value = value.replace(event, "{event}").replace(&source, "{source}");
                format!("{key}: {}", value.replace(&destination, "{destination}"))
            });
            let shown: Vec<_> = lines.filter(|line| !line.starts_with("server.port")).collect();
            let name = span["name"].as_str().unwrap();
            format!("{name}, kind {}\n{}", span["kind"], shown.join("\n"))
        };
        assert_eq!(attributes(sent)["server.port"], destination.split_once(':').unwrap().1);
        insta::allow_duplicates! {
            insta::assert_snapshot!(seen(taken), @r"
            POST /in/{source_id}, kind 2
            ferryhook.account.id: acc_0000000000000001
            ferryhook.event.id: {event}
            ferryhook.source.id: {source}
            http.request.method: POST
            http.response.status_code: 200
            http.route: /in/{source_id}
            server.address: test
            url.path: /in/{source}
            url.scheme: http
            ");
            insta::assert_snapshot!(seen(sent), @r"
            POST, kind 3
            ferryhook.account.id: acc_0000000000000001
            ferryhook.connection.id: conn_0000000000000001
            ferryhook.event.id: {event}
            ferryhook.source.id: {source}
            http.request.method: POST
            http.response.status_code: 200
            server.address: 127.0.0.1
            url.full: http://{destination}/hook
            ");
        }
    }
}

fn attributes(of: &Value) -> BTreeMap<String, String> {
    let pairs = of["attributes"].as_array().unwrap().iter();
    let pairs = pairs.map(|pair| {
        let value = pair["value"].as_object().unwrap().values().next().unwrap();
        (pair["key"].as_str().unwrap().to_owned(), value.as_str().unwrap().to_owned())
    });
    pairs.collect()
}

fn nanos(span: &Value, name: &str) -> u64 {
    span[name].as_str().unwrap().parse().unwrap()
}

/// Answers 200 to everything, after it was passed on.
fn listen() -> (SocketAddr, mpsc::Receiver<Message>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let (tell, told) = mpsc::channel();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let (mut stream, tell) = (BufReader::new(stream.unwrap()), tell.clone());
            std::thread::spawn(move || {
                while let Ok(Some(message)) = Message::read(&mut stream) {
                    let _ = tell.send(message); // the test may be over
                    let answer = b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}";
                    if stream.get_mut().write_all(answer).is_err() {
                        return;
                    }
                }
            });
        }
    });
    (address, told)
}
