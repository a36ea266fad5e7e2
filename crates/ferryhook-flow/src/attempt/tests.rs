use std::sync::Mutex;

use bytes::Bytes;
use ferryhook_core::{Connection, Headers, samples};
use futures_util::FutureExt;
use futures_util::future::BoxFuture;

use super::*;
use crate::credentials::Lent;

/// A destination that gives one answer and remembers what it got.
struct Destination {
    answer: Result<Reply, Unsent>,
    got: Mutex<Option<Outgoing>>,
}

impl Outbound for Destination {
    fn send(&self, outgoing: Outgoing) -> BoxFuture<'_, Result<Reply, Unsent>> {
        *self.got.lock().unwrap() = Some(outgoing);
        async { self.answer.clone() }.boxed()
    }
}

fn reply(status: u16, headers: &[(&'static str, &'static str)], body: &str) -> Reply {
    let pairs = headers
        .iter()
        .map(|(name, value)| (HeaderName::from_static(name), HeaderValue::from_static(value)));
    let body = Bytes::from(body.to_owned());
    Reply { status, headers: pairs.collect(), body, timing: timing() }
}

fn timing() -> Timing {
    let ms = |ms| Some(Duration::from_millis(ms));
    Timing {
        dns: ms(1),
        connect: ms(2),
        tls: ms(3),
        first_byte: None,
        total: Duration::from_millis(9),
    }
}

fn unsent(why: Why) -> Unsent {
    Unsent { why, message: "no luck".to_owned(), timing: timing() }
}

async fn attempted(
    connection: Connection,
    event: &Event,
    answer: Result<Reply, Unsent>,
) -> (Made, Option<Outgoing>) {
    showing(Shown::default(), connection, event, answer).await
}

async fn showing(
    shown: Shown,
    connection: Connection,
    event: &Event,
    answer: Result<Reply, Unsent>,
) -> (Made, Option<Outgoing>) {
    sent(shown, connection, (event, event), answer).await
}

async fn shaped(connection: Connection, event: &Event, came: &Event) -> (Made, Option<Outgoing>) {
    sent(Shown::default(), connection, (event, came), Ok(reply(200, &[], ""))).await
}

async fn sent(
    shown: Shown,
    connection: Connection,
    (event, came): (&Event, &Event),
    answer: Result<Reply, Unsent>,
) -> (Made, Option<Outgoing>) {
    let env = Env::fixed("2026-01-01T01:00:00Z");
    let destination = Destination { answer, got: Mutex::default() };
    let way = Way::new(connection, None, env.now());
    let guard = Guard::new(Vec::new());
    let means = Means { outbound: &destination, guard: &guard, env: &env, traces: None };
    let made = attempt(&means, event, came, &samples::delivery(), &way, &shown).await;
    (made, destination.got.into_inner().unwrap())
}

async fn made(answer: Result<Reply, Unsent>) -> Made {
    attempted(samples::connection(), &samples::event(), answer).await.0
}

#[tokio::test]
async fn it_says_who_it_is_and_what_it_brings() {
    let event =
        Event { headers: Headers::from_iter([("X-A", "1"), ("Host", "us")]), ..samples::event() };
    let (_, got) = attempted(samples::connection(), &event, Ok(reply(200, &[], ""))).await;
    let got = got.unwrap();
    assert_eq!(got.method, Method::PUT);
    assert_eq!(got.target.url(), "https://orders.example.com/hook");
    assert_eq!(got.timeout, Duration::from_secs(5));
    assert_eq!(&got.body, event.body.as_bytes());
    let header = |name: &str| got.headers.get(name).map(|value| value.to_str().unwrap().to_owned());
    assert_eq!(header("x-a").as_deref(), Some("1"));
    assert_eq!(header("x-team").as_deref(), Some("payments"));
    assert_eq!(header("host"), None);
    assert_eq!(header(outgoing::EVENT_ID).as_deref(), Some(event.id.as_str()));
    assert_eq!(header(outgoing::ATTEMPT).as_deref(), Some("3"), "two were made before");
    assert!(header("user-agent").unwrap().starts_with("Ferryhook/"));
    let signature = header(outgoing::SIGNATURE).unwrap();
    assert!(signature.starts_with("t=1767229200,v1="), "{signature}");
}

/// A transform that leaves headers out does not break a trace, nor does it keep a circle going.
#[tokio::test]
async fn what_a_transform_made_is_sent_on_behind_what_came() {
    let trace = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
    let came = [("x-ferryhook-hops", "4"), ("traceparent", trace), ("x-a", "caf\u{e9} \u{85}")];
    let came = Event { headers: Headers::from_iter(came), ..samples::event() };
    let kept = [("x-b", "caf\u{e9} \u{85}"), ("x-c", "caf\u{e9}")];
    let event = Event { headers: Headers::from_iter(kept), ..came.clone() };
    let connection = Connection { headers: Headers::default(), ..samples::connection() };
    let (_, got) = shaped(connection, &event, &came).await;
    let headers = got.unwrap().headers;
    assert_eq!(headers[ferryhook_core::hops::HEADER], "5");
    let traceparent = headers["traceparent"].to_str().unwrap();
    assert_eq!(traceparent[..35], trace[..35]);
    assert_eq!(headers["x-b"].as_bytes(), b"caf\xe9 \x85", "as the sender wrote it");
    assert_eq!(headers["x-c"].as_bytes(), "café".as_bytes(), "as the transform wrote it");
}

#[tokio::test]
async fn the_method_is_the_connections_or_the_senders() {
    let method = async |configured, came: Option<&str>| {
        let event = Event { method: came.map(str::to_owned), ..samples::event() };
        let connection = Connection { method: configured, ..samples::connection() };
        attempted(connection, &event, Ok(reply(200, &[], ""))).await.1.unwrap().method
    };
    assert_eq!(method(Configured::Post, Some("PUT")).await, Method::POST);
    assert_eq!(method(Configured::Get, None).await, Method::GET);
    assert_eq!(method(Configured::Original, Some("PATCH")).await, Method::PATCH);
    assert_eq!(method(Configured::Original, Some("not one")).await, Method::POST);
    assert_eq!(method(Configured::Original, None).await, Method::POST);
}

#[tokio::test]
async fn an_answer_is_kept_as_it_was() {
    let made = made(Ok(reply(503, &[("retry-after", "120")], "busy"))).await;
    let retry_after = Some(Duration::from_secs(120));
    assert_eq!(made.outcome, Outcome::Answered { status_code: 503, retry_after });
    let Attempt {
        number,
        status_code,
        response_body,
        error,
        latency_ms,
        dns_ms,
        first_byte_ms,
        ..
    } = made.attempt;
    assert_eq!((number, status_code, error), (3, 503, None));
    assert_eq!(response_body.as_deref(), Some("busy"));
    assert_eq!((latency_ms, dns_ms, first_byte_ms), (9, Some(1), None));
}

#[tokio::test]
async fn how_a_destination_takes_it() {
    for (status, felt) in [
        (200, Felt::Well),
        (302, Felt::Well),
        (404, Felt::Well),
        (410, Felt::Well),
        (429, Felt::Badly),
        (500, Felt::Badly),
        (599, Felt::Badly),
    ] {
        assert_eq!(made(Ok(reply(status, &[], ""))).await.felt, felt, "{status}");
    }
    let all =
        [Why::Misled, Why::Dns, Why::Refused, Why::Tls, Why::Timeout, Why::Broken, Why::BadAnswer];
    for why in all {
        let made = made(Err(unsent(why))).await;
        assert_eq!(made.felt, Felt::Badly);
        assert_eq!(made.outcome, Outcome::Unanswered { error: "no luck".to_owned() });
        assert_eq!((made.attempt.status_code, made.attempt.error.as_deref()), (0, Some("no luck")));
    }
    let made = made(Err(unsent(Why::Blocked))).await;
    assert_eq!(made.felt, Felt::Nothing);
    assert_eq!(made.outcome, Outcome::Blocked { error: "no luck".to_owned() });
}

#[tokio::test]
async fn an_address_that_may_not_be_called_is_not() {
    let inside = Connection {
        destination_url: Some("http://127.0.0.1/".to_owned()),
        ..samples::connection()
    };
    let (made, got) = attempted(inside, &samples::event(), Ok(reply(200, &[], ""))).await;
    assert!(got.is_none());
    assert!(matches!(made.outcome, Outcome::Blocked { .. }), "{:?}", made.outcome);
    let nowhere = Connection { destination_url: None, ..samples::connection() };
    let (made, _) = attempted(nowhere, &samples::event(), Ok(reply(200, &[], ""))).await;
    assert!(matches!(made.outcome, Outcome::Blocked { .. }), "{:?}", made.outcome);
}

#[tokio::test]
async fn a_redirect_is_an_answer_and_said_to_be_one() {
    let made = made(Ok(reply(301, &[("location", "https://elsewhere.example")], ""))).await;
    assert_eq!(made.attempt.error.as_deref(), Some("redirects are not followed"));
    assert_eq!(made.attempt.response_body, None);
}

/// By characters, not by bytes, and whatever the bytes are.
#[test]
fn of_a_long_answer_the_beginning_is_kept() {
    let kept = limits::RESPONSE_CHARACTERS_KEPT;
    assert_eq!(beginning("é".repeat(kept + 5).as_bytes()), Some("é".repeat(kept)));
    assert_eq!(beginning(&[0xff, b'a']).as_deref(), Some("\u{fffd}a"));
    assert_eq!(beginning(&vec![b'x'; 100_000]).map(|text| text.len()), Some(kept));
    assert_eq!(beginning(b""), None);
}

/// Whatever sender and connection say under the same name.
#[tokio::test]
async fn credentials_are_shown_once() {
    let key = HeaderName::from_static("x-key");
    let shown = Shown {
        header: Some((key.clone(), HeaderValue::from_static("ours"))),
        took: Duration::from_secs(2),
        ..Shown::default()
    };
    let event =
        Event { headers: Headers::from_iter([("X-Key", "a"), ("x-key", "b")]), ..samples::event() };
    let connection =
        Connection { headers: Headers::from_iter([("X-KEY", "c")]), ..samples::connection() };
    let (_, got) = showing(shown, connection, &event, Ok(reply(200, &[], ""))).await;
    let got = got.unwrap();
    assert_eq!(got.headers.get_all(&key).iter().collect::<Vec<_>>(), ["ours"]);
    assert_eq!(got.timeout, Duration::from_secs(3), "what it took to get them is part of it");
}

#[tokio::test]
async fn a_token_that_was_taken_back_is_not_the_events_fault() {
    let with = async |is_new, status| {
        let shown = Shown { token: Some(Lent::sample(is_new)), ..Shown::default() };
        let answer = Ok(reply(status, &[], "no"));
        showing(shown, samples::connection(), &samples::event(), answer).await.0
    };
    let answered = |status_code| Outcome::Answered { status_code, retry_after: None };
    let made = with(false, 401).await;
    let error = "the token was refused; the next attempt brings another".to_owned();
    assert_eq!(made.outcome, Outcome::Unanswered { error: error.clone() });
    assert_eq!((made.attempt.status_code, made.attempt.error), (401, Some(error)));
    assert_eq!((made.felt, made.attempt.response_body.as_deref()), (Felt::Well, Some("no")));
    assert_eq!(with(true, 401).await.outcome, answered(401));
    assert_eq!(with(false, 403).await.outcome, answered(403));
    assert_eq!(with(false, 200).await.outcome, answered(200));
}
