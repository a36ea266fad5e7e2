//! Events at the front door, and what is in the data directory afterwards.

use std::io::{Read, Write};
use std::net::Shutdown;
use std::path::Path;
use std::sync::Arc;

use ferryhook_core::source::Status;
use ferryhook_core::{Account, Env, Event, Source, User, account, samples};
use ferryhook_store::engine::embedded::{Embedded, EmbeddedConfig};
use ferryhook_store::{Slice, Store, Window};
use serde_json::json;

use crate::ferry::{Answer, Ferry, read_to_close};
use crate::storage::{DATA, look};

pub const ADDRESS: &str = "/in/src_0000000000000001";

/// A source that nothing is known about. It has no connections, so nothing leaves the house.
pub fn plain() -> Source {
    Source {
        provider: "custom".into(),
        signing_secret: None,
        previous_secrets: Vec::new(),
        signing_algorithm: None,
        verification_mode: None,
        dedup_expression: None,
        body_bytes_max: None,
        custom_response: None,
        event_count: 0,
        ..samples::source()
    }
}

/// A server in this folder that has these sources, of an owner with this plan.
pub fn ferry_with(
    folder: &Path,
    plan: &str,
    sources: &[Source],
    variables: &[(&str, &str)],
) -> Ferry {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let config = EmbeddedConfig::new(folder.join(DATA));
    let engine = Arc::new(Embedded::open(config, Env::system()).unwrap());
    let store = Store::new(engine, Env::system());
    runtime.block_on(async {
        let user = User { plan: plan.into(), ..samples::user() };
        store.users().create(&user).await.unwrap();
        store.accounts().create(&samples::account()).await.unwrap();
        for source in sources {
            store.sources().create(source).await.unwrap();
        }
    });
    drop(store);
    Ferry::start_in(folder, variables)
}

/// Of the first source, once the server has stopped.
fn events(folder: &Path) -> Vec<Event> {
    look(&folder.join(DATA), async |store| {
        let id = samples::source().id;
        let slice = Slice::default().limit(1000);
        let page = store.events().list_by_source(id, Window::ALWAYS, slice).await.unwrap();
        page.rows.into_iter().map(|row| row.record).collect()
    })
}

#[test]
fn an_event_is_there_after_the_answer() {
    let folder = tempfile::tempdir().unwrap();
    let mut ferry = ferry_with(folder.path(), "self_hosted", &[plain()], &[]);
    let body = b"\xff\xfe\x00 not text \r\n\r\n";
    let path = format!("{ADDRESS}/orders?v=2");
    let headers = "X-B: 2\r\nx-a: 1\r\nx-b: caf\u{e9}\r\ncontent-type: image/png\r\n";
    let answer = ferry.post_with(&path, headers, body);
    assert_eq!(answer.status, 200, "{answer:?}");
    let id = answer.json()["id"].as_str().unwrap().to_owned();
    assert_eq!(answer.json(), json!({ "id": id, "status": "received" }));
    assert!(answer.header("x-request-id").is_some());
    ferry.signal("KILL"); // no time to say goodbye
    ferry.wait();
    let event = events(folder.path()).remove(0);
    assert_eq!(event.id.to_string(), id);
    assert_eq!(event.body.as_bytes(), &body[..]);
    assert_eq!((event.path.as_deref(), event.query.as_deref()), (Some("/orders"), Some("v=2")));
    assert_eq!(event.source_ip.as_deref(), Some("127.0.0.1"));
    assert_eq!(event.content_type.as_deref(), Some("image/png"));
    let named: Vec<_> = event.headers.iter().filter(|(name, _)| name.len() == 3).collect();
    // Two bytes of UTF-8, kept as the two characters of the same numbers.
    assert_eq!(named, [("x-b", "2"), ("x-b", "caf\u{c3}\u{a9}"), ("x-a", "1")]);
}

#[test]
fn a_copy_gets_the_first_ones_id() {
    let folder = tempfile::tempdir().unwrap();
    let source = Source { provider: "stripe".into(), ..plain() };
    let ferry = ferry_with(folder.path(), "self_hosted", &[source], &[]);
    let first = ferry.post(ADDRESS, br#"{"id":"evt_1"}"#).json();
    let copy = ferry.post(ADDRESS, br#"{"id":"evt_1"}"#).json();
    assert_eq!(copy, json!({ "id": first["id"], "status": "received", "duplicate": true }));
    ferry.stop();
    let events = events(folder.path());
    assert_eq!((events.len(), events[0].duplicate_count), (1, 1), "counted while stopping");
    let source = look(&folder.path().join(DATA), async |store| {
        store.sources().find(samples::source().id).await.unwrap().unwrap().record
    });
    assert_eq!(source.event_count, 1);
}

#[test]
fn a_list_is_several_events() {
    let folder = tempfile::tempdir().unwrap();
    let source = Source { provider: "hubspot".into(), ..plain() };
    let ferry = ferry_with(folder.path(), "self_hosted", &[source], &[]);
    let body = br#"[{"objectId":1,"subscriptionType":"a"},{"objectId":2,"subscriptionType":"a"}]"#;
    let told = ferry.post(ADDRESS, body).json();
    ferry.stop();
    let ids: Vec<_> = events(folder.path())
        .iter()
        .map(|event| json!({ "id": event.id, "status": "received" }))
        .collect();
    assert_eq!(told, json!({ "events": ids }));
}

#[test]
fn sources_that_are_not_there_or_not_open() {
    let folder = tempfile::tempdir().unwrap();
    let with = |id: &str, status| Source { id: id.parse().unwrap(), status, ..plain() };
    let sources = [
        with("src_000000000deleted", Status::Deleted),
        with("src_0000000000paused", Status::Paused),
    ];
    let ferry = ferry_with(folder.path(), "self_hosted", &sources, &[]);
    for path in
        ["/in/src_000000000unknown", "/in/src_000000000deleted", "/in/x", "/in/", "/in/../x"]
    {
        let answer = ferry.post(path, b"x");
        assert_eq!((answer.status, &answer.json()["code"]), (404, &json!("NOT_FOUND")), "{path}");
        assert_eq!(answer.json()["requestId"].as_str(), answer.header("x-request-id"));
    }
    let answer = ferry.post("/in/src_0000000000paused", b"x");
    assert_eq!((answer.status, &answer.json()["status"]), (200, &json!("held")));
}

#[test]
fn a_suspended_account_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    ferry_with(folder.path(), "self_hosted", &[plain()], &[]).stop();
    look(&folder.path().join(DATA), async |store| {
        let was = store.accounts().find(samples::account().id).await.unwrap().unwrap();
        let now = Account { status: account::Status::Suspended, ..was.record.clone() };
        store.accounts().replace(&was, now).await.unwrap();
    });
    let ferry = Ferry::start_in(&folder, &[]);
    assert_eq!(ferry.post(ADDRESS, b"x").status, 403);
}

/// The free plan takes a hundred a minute, from each source.
#[test]
fn a_flood_is_slowed_down_for_its_source_only() {
    let folder = tempfile::tempdir().unwrap();
    let other = Source { id: "src_0000000000000002".parse().unwrap(), ..plain() };
    let ferry = ferry_with(folder.path(), "free", &[plain(), other], &[]);
    let answers: Vec<_> = (0..120).map(|_| ferry.post(ADDRESS, b"x")).collect();
    let taken = answers.iter().filter(|answer| answer.status == 200).count();
    // The window goes on while the test runs.
    assert!((100..120).contains(&taken), "{taken} were taken");
    let refused = answers.iter().find(|answer| answer.status != 200).unwrap();
    assert_eq!((refused.status, &refused.json()["code"]), (429, &json!("RATE_LIMITED")));
    let wait: u64 = refused.header("retry-after").unwrap().parse().unwrap();
    assert!((1..=120).contains(&wait));
    assert_eq!(refused.header("ratelimit-policy"), Some(r#""default";q=100;w=60"#));
    assert_eq!(refused.header("x-ratelimit-remaining"), Some("0"));
    assert_eq!(ferry.post("/in/src_0000000000000002", b"x").status, 200);
    ferry.stop();
    let rejections = look(&folder.path().join(DATA), async |store| {
        let (id, slice) = (samples::source().id, Slice::default().limit(1000));
        store.rejections().list_by_source(id, Window::ALWAYS, slice).await.unwrap().rows.len()
    });
    assert!((1..=10).contains(&rejections), "{rejections}");
}

/// A proxy's word about the sender counts only if the operator says so.
#[test]
fn the_sender_behind_a_proxy() {
    let folder = tempfile::tempdir().unwrap();
    let forwarded = "x-forwarded-for: 198.51.100.1, 203.0.113.7\r\n";
    let ferry = ferry_with(folder.path(), "self_hosted", &[plain()], &[]);
    ferry.post_with(ADDRESS, forwarded, b"");
    ferry.stop();
    let ferry = Ferry::start_in(&folder, &[("FERRYHOOK_TRUSTED_PROXIES", "127.0.0.0/8,::1")]);
    ferry.post_with(ADDRESS, forwarded, b"");
    ferry.stop();
    let senders: Vec<_> = events(folder.path()).into_iter().map(|event| event.source_ip).collect();
    assert_eq!(senders, [Some("127.0.0.1".to_owned()), Some("203.0.113.7".to_owned())]);
}

/// The sender is gone before it could be answered. Its event may be there or not, but the server
/// goes on, and what is there is whole.
#[test]
fn senders_that_vanish() {
    let folder = tempfile::tempdir().unwrap();
    let ferry = ferry_with(folder.path(), "self_hosted", &[plain()], &[]);
    for _ in 0..50 {
        let mut stream = ferry.connect();
        write!(stream, "POST {ADDRESS} HTTP/1.1\r\nhost: a\r\ncontent-length: 5\r\n\r\nhello")
            .unwrap();
        stream.shutdown(Shutdown::Both).unwrap();
    }
    assert_eq!(ferry.post(ADDRESS, b"hello").status, 200);
    ferry.stop();
    let events = events(folder.path());
    assert!(!events.is_empty());
    assert!(events.iter().all(|event| event.body.as_text() == Some("hello")));
}

#[test]
fn a_connection_is_used_again() {
    let folder = tempfile::tempdir().unwrap();
    let ferry = ferry_with(folder.path(), "self_hosted", &[plain()], &[]);
    let mut stream = ferry.connect();
    let one = format!("POST {ADDRESS} HTTP/1.1\r\nhost: a\r\ncontent-length: 1\r\n\r\nx");
    // One after the other, then two at once, then the last.
    for _ in 0..3 {
        stream.write_all(one.as_bytes()).unwrap();
        let mut answer = String::new();
        while !answer.ends_with('}') {
            let mut chunk = [0; 1024];
            let read = stream.read(&mut chunk).unwrap();
            assert_ne!(read, 0, "closed after {answer}");
            answer.push_str(std::str::from_utf8(&chunk[..read]).unwrap());
        }
        assert_eq!(Answer::parse(&answer).status, 200);
    }
    let last = one.replace("host: a", "host: a\r\nconnection: close");
    stream.write_all([one.as_str(), &one, &last].concat().as_bytes()).unwrap();
    assert_eq!(read_to_close(&mut stream).matches("HTTP/1.1 200 OK").count(), 3);
    ferry.stop();
    assert_eq!(events(folder.path()).len(), 6);
}

#[test]
fn the_door_counts() {
    let folder = tempfile::tempdir().unwrap();
    let ferry = ferry_with(folder.path(), "self_hosted", &[plain()], &[]);
    ferry.post(ADDRESS, b"12345");
    ferry.post("/in/nobody", b"");
    let metrics = ferry.get("/metrics").body;
    for line in [
        "ferryhook_ingest_requests_total{outcome=\"accepted\"} 1",
        "ferryhook_ingest_requests_total{outcome=\"unknown_source\"} 1",
        "ferryhook_ingest_request_bytes_total 5",
        "ferryhook_ingest_duration_seconds_count 2",
    ] {
        assert!(metrics.lines().any(|has| has == line), "no {line} in {metrics}");
    }
}
