use proptest::prelude::*;

use super::*;
use crate::samples;
use crate::signature;

const AT: Timestamp = Timestamp::from_millis(1_700_000_000_123);
const TRACE: &str = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";

/// Names in lower case, because that is how they are compared.
fn leave(event: &Event, connection: &Connection, trace: Option<Traceparent>) -> Vec<String> {
    let shown =
        |(name, value): (String, Vec<u8>)| format!("{name}: {}", String::from_utf8_lossy(&value));
    leave_shaped(event, event, connection, trace).into_iter().map(shown).collect()
}

fn leave_shaped(
    came: &Event,
    event: &Event,
    connection: &Connection,
    trace: Option<Traceparent>,
) -> Vec<(String, Vec<u8>)> {
    let body = event.body.as_bytes();
    let signed = signature::sign(connection.signing_secrets(AT), event.id.as_str(), AT, body);
    let leaving = Leaving {
        event,
        came,
        connection,
        body,
        signed: &signed,
        at: AT,
        attempt: 3,
        trace,
        user_agent: "Ferryhook/1.0",
    };
    let mut lines = Vec::new();
    headers(&leaving, |name, value| lines.push((name.to_owned(), value.into_owned())));
    lines
}

/// With these headers, of an event that came with those.
fn shaped(came: &[(&str, &str)], sent: &[(&str, &str)]) -> Vec<(String, Vec<u8>)> {
    let with = |headers: &[(&str, &str)]| Event {
        headers: headers.iter().copied().collect(),
        ..samples::event()
    };
    let connection = Connection { headers: Headers::default(), ..samples::connection() };
    let trace = Traceparent::parse(TRACE).map(|trace| trace.child([7; 8]));
    leave_shaped(&with(came), &with(sent), &connection, trace)
}

fn from(sent: &[(&str, &str)], custom: &[(&str, &str)]) -> Vec<String> {
    let mut event = samples::event();
    event.headers = sent.iter().copied().collect();
    let mut connection = samples::connection();
    connection.headers = custom.iter().copied().collect();
    leave(&event, &connection, None)
}

/// What is not ours.
fn theirs(sent: &[(&str, &str)], custom: &[(&str, &str)]) -> Vec<String> {
    let mut lines = from(sent, custom);
    lines.truncate(lines.len() - 9);
    lines
}

#[test]
fn ours_come_last_and_in_full() {
    let mut event = samples::event();
    event.headers = Headers::from_iter([
        ("traceparent", TRACE),
        ("tracestate", "a=1"),
        ("X-Ferryhook-Hops", "2"),
    ]);
    let mut connection = samples::connection();
    connection.headers = Headers::default();
    connection.previous_secrets.clear();
    let trace = Traceparent::parse(TRACE).map(|trace| trace.child([7; 8]));
    let signed = signature::sign(
        connection.signing_secrets(AT),
        event.id.as_str(),
        AT,
        event.body.as_bytes(),
    );
    assert_eq!(
        leave(&event, &connection, trace),
        [
            "content-type: application/json".to_owned(),
            "user-agent: Ferryhook/1.0".to_owned(),
            format!("x-ferryhook-event-id: {}", event.id),
            "x-ferryhook-timestamp: 1700000000123".to_owned(),
            format!("x-ferryhook-signature: {}", signed.ferryhook),
            "x-ferryhook-attempt: 3".to_owned(),
            "x-ferryhook-hops: 3".to_owned(),
            format!("webhook-id: {}", event.id),
            "webhook-timestamp: 1700000000".to_owned(),
            format!("webhook-signature: {}", signed.standard),
            "traceparent: 00-0af7651916cd43dd8448eb211c80319c-0707070707070707-01".to_owned(),
            "tracestate: a=1".to_owned(),
        ]
    );
}

/// Else a circle through a transform that drops headers would never end.
#[test]
fn a_transform_cannot_make_an_event_forget_where_it_has_been() {
    let came = [("X-Ferryhook-Hops", "4"), ("traceparent", TRACE), ("tracestate", "a=1")];
    let lines = shaped(&came, &[("X-A", "1")]);
    let value = |name: &str| {
        let found = lines.iter().find(|(own, _)| own == name);
        found.map(|(_, value)| String::from_utf8_lossy(value).into_owned())
    };
    assert_eq!(value("x-ferryhook-hops").as_deref(), Some("5"));
    assert_eq!(value("tracestate").as_deref(), Some("a=1"));
}

/// The door stores each byte as the character of its number.
#[test]
fn bytes_leave_as_they_came_and_text_as_utf_8() {
    let stored = |bytes: &[u8]| bytes.iter().copied().map(char::from).collect::<String>();
    let (utf_8, latin_1) = (stored("É日".as_bytes()), stored(b"caf\xe9 \x85\x9f"));
    let came = [("X-A", utf_8.as_str()), ("X-B", latin_1.as_str())];
    let first = |sent: &[(&str, &str)]| {
        let lines = shaped(&came, sent);
        lines.into_iter().take(sent.len()).map(|(_, value)| value).collect::<Vec<_>>()
    };
    let (utf_8_bytes, latin_1_bytes) = ("É日".as_bytes().to_vec(), b"caf\xe9 \x85\x9f".to_vec());
    assert_eq!(first(&came), [utf_8_bytes.clone(), latin_1_bytes.clone()]);
    let moved = [("X-C", utf_8.as_str()), ("X-D", latin_1.as_str())];
    assert_eq!(first(&moved), [utf_8_bytes, latin_1_bytes], "a transform may move them");
    let made = [("X-A", "é"), ("X-B", "日")];
    assert_eq!(first(&made), ["é".as_bytes().to_vec(), "日".as_bytes().to_vec()]);
    assert_eq!(shaped(&came, &[("X-A", "a\u{85}b")])[0].0, "content-type", "no break in a text");
    assert_eq!(shaped(&[("X-A", "é\n")], &[("X-A", "é\n")])[0].0, "content-type");
}

#[test]
fn a_state_does_not_go_with_another_trace() {
    let mut event = samples::event();
    event.headers = Headers::from_iter([("tracestate", "a=1")]);
    let lines =
        leave(&event, &samples::connection(), Some(Traceparent::root([1; 16], [2; 8], true)));
    assert!(lines.last().unwrap().starts_with("traceparent: 00-0101"));
}

#[test]
fn the_senders_headers_go_on_in_order_and_with_repeats() {
    let sent = [("X-B", "2"), ("x-a", "1"), ("Content-Encoding", "gzip"), ("X-B", "3")];
    assert_eq!(
        theirs(&sent, &[]),
        ["X-B: 2", "x-a: 1", "Content-Encoding: gzip", "X-B: 3", "content-type: application/json"]
    );
}

#[test]
fn what_was_meant_for_us_stops_here() {
    let stopped = [
        "Accept-Encoding",
        "Authorization",
        "CF-Ray",
        "cf-connecting-ip",
        "Connection",
        "Content-Length",
        "Content-Type",
        "Cookie",
        "Expect",
        "Forwarded",
        "HOST",
        "HTTP2-Settings",
        "Keep-Alive",
        "Proxy-Authorization",
        "Proxy-Connection",
        "TE",
        "Trailer",
        "Transfer-Encoding",
        "Upgrade",
        "User-Agent",
        "Webhook-Id",
        "webhook-signature",
        "X-Ferryhook-Anything",
        "X-Ferryhook-Event-Id",
        "X-Forwarded-For",
        "x-forwarded-proto",
        "X-Real-IP",
        "traceparent",
        "tracestate",
        "not a token",
        "",
        "X-Größe",
    ];
    for name in stopped {
        assert_eq!(theirs(&[(name, "x")], &[]), ["content-type: application/json"], "{name}");
    }
    for name in ["Stripe-Signature", "X-GitHub-Event", "CFoo", "X-Forwarder", "Accept", "Webhook"] {
        assert_eq!(theirs(&[(name, "x")], &[])[0], format!("{name}: x"));
    }
    assert_eq!(theirs(&[("X-A", "a\r\nHost: b")], &[]), ["content-type: application/json"]);
}

#[test]
fn what_connection_names_stops_here_too() {
    let sent = [
        ("X-A", "1"),
        ("Connection", "close, x-a"),
        ("X-B", "2"),
        ("connection", "X-C"),
        ("x-c", "3"),
    ];
    assert_eq!(theirs(&sent, &[]), ["X-B: 2", "content-type: application/json"]);
}

#[test]
fn the_connections_headers_replace_the_senders_but_not_ours() {
    let sent = [("X-A", "1"), ("X-B", "2"), ("Authorization", "theirs")];
    let custom = [
        ("x-a", "mine"),
        ("Authorization", "Bearer mine"),
        ("Content-Type", "text/plain"),
        ("User-Agent", "other"),
        ("X-Ferryhook-Attempt", "9"),
        ("Host", "other"),
        ("X-C", "a\nb"),
    ];
    let mut lines = from(&sent, &custom);
    let ours = lines.split_off(lines.len() - 9);
    assert_eq!(
        lines,
        ["X-B: 2", "x-a: mine", "Authorization: Bearer mine", "Content-Type: text/plain"]
    );
    assert_eq!(ours[0], "user-agent: Ferryhook/1.0");
    assert_eq!(ours[4], "x-ferryhook-attempt: 3");
}

/// One that was stored before a rule and breaks it does not take the sender's with it.
#[test]
fn a_header_that_may_not_be_sent_replaces_nothing() {
    let custom = [("Content-Type", "a\nb"), ("X-A", "a\nb")];
    assert_eq!(theirs(&[("X-A", "1")], &custom), ["X-A: 1", "content-type: application/json"]);
}

#[test]
fn a_body_without_a_type_is_guessed() {
    let mut event = samples::event();
    for (said, body, guessed) in [
        (None, &b"{}"[..], "application/json"),
        (None, b" \r\n\t[1]", "application/json"),
        (None, b"a=1", "application/octet-stream"),
        (None, b"", "application/octet-stream"),
        (None, b"\xff{", "application/octet-stream"),
        (Some("  "), b"{}", "application/json"),
        (Some("a\nb"), b"{}", "application/json"),
        (Some("text/xml"), b"{}", "text/xml"),
    ] {
        event.content_type = said.map(str::to_owned);
        let guess = content_type(&event, &event, body);
        assert_eq!(guess.as_ref(), guessed.as_bytes(), "{said:?} {body:?}");
    }
    event.content_type = None;
    event.headers = Headers::from_iter([("Content-type", "text/csv")]);
    assert_eq!(content_type(&event, &event, b"{}").as_ref(), b"text/csv");
}

#[test]
fn a_custom_header_is_refused_with_the_rule_it_breaks() {
    let long_name = "x".repeat(CUSTOM_NAME_BYTES_MAX + 1);
    let long_value = "x".repeat(CUSTOM_VALUE_BYTES_MAX + 1);
    let of = |make: fn(String) -> BadHeader, name: &str| Err(make(name.to_owned()));
    for (name, value, verdict) in [
        ("X-Team", "payments", Ok(())),
        ("Authorization", "Basic eDp5", Ok(())),
        ("CF-Access-Client-Id", "x", Ok(())),
        ("X-Empty", "", Ok(())),
        ("X-Tab", "a\tb", Ok(())),
        ("X-Name", "grün", Ok(())),
        (&long_name[1..], &long_value[1..], Ok(())),
        (&long_name, "", Err(BadHeader::NameTooLong)),
        ("X-A", &long_value, of(BadHeader::ValueTooLong, "X-A")),
        ("", "x", of(BadHeader::Name, "")),
        ("X A", "x", of(BadHeader::Name, "X A")),
        ("X:A", "x", of(BadHeader::Name, "X:A")),
        ("X-A\r\nHost", "x", of(BadHeader::Name, "X-A\r\nHost")),
        ("X-A", "a\rb", of(BadHeader::Value, "X-A")),
        ("X-A", "a\nb", of(BadHeader::Value, "X-A")),
        ("X-A", "a\0b", of(BadHeader::Value, "X-A")),
        ("X-A", "a\u{7f}b", of(BadHeader::Value, "X-A")),
        ("X-A", "a\u{85}b", of(BadHeader::Value, "X-A")),
        ("HOST", "x", of(BadHeader::Transport, "HOST")),
        ("Proxy-Anything", "x", of(BadHeader::Transport, "Proxy-Anything")),
        ("Transfer-Encoding", "x", of(BadHeader::Transport, "Transfer-Encoding")),
        ("x-ferryhook-event-id", "x", of(BadHeader::Ours, "x-ferryhook-event-id")),
        ("Webhook-Id", "x", of(BadHeader::Ours, "Webhook-Id")),
        ("User-Agent", "x", of(BadHeader::Ours, "User-Agent")),
        ("traceparent", "x", of(BadHeader::Ours, "traceparent")),
    ] {
        assert_eq!(check_custom(name, value), verdict, "{name}");
    }
}

#[test]
fn a_connection_has_a_bounded_number_of_headers() {
    let headers = |count: usize| (0..count).map(|n| (format!("x-{n}"), "")).collect::<Headers>();
    assert_eq!(check_all_custom(&headers(CUSTOM_MAX)), Ok(()));
    let too_many = Err(BadHeader::TooMany(CUSTOM_MAX + 1));
    assert_eq!(check_all_custom(&headers(CUSTOM_MAX + 1)), too_many);
}

fn name() -> impl Strategy<Value = String> {
    "[xX]-[a-c]|[Hh]ost|[Cc]onnection|[Tt][Ee]|[Cc]ookie|webhook-id|x-ferryhook-hops|.{0,6}"
}

proptest! {
    /// Whatever sender and connection say, the result is sound, and ours stand once.
    #[test]
    fn nothing_slips_through(
        sent in prop::collection::vec((name(), "x-a|.{0,6}"), 0..12),
        custom in prop::collection::vec((name(), ".{0,6}"), 0..6),
    ) {
        let mut event = samples::event();
        event.headers = sent.into_iter().collect();
        let mut connection = samples::connection();
        connection.headers = custom.into_iter().collect();
        let signed = signature::sign(connection.signing_secrets(AT), "evt_1", AT, b"");
        let leaving = Leaving {
            event: &event, came: &event, connection: &connection, body: b"", signed: &signed,
            at: AT, attempt: 1, trace: None, user_agent: "Ferryhook/1.0",
        };
        let mut seen: Vec<(&str, Cow<'_, [u8]>)> = Vec::new();
        headers(&leaving, |name, value| seen.push((name, value)));
        for (name, value) in &seen {
            prop_assert!(names::is_token(name) && names::are_clean(value));
            prop_assert!(!["host", "connection", "te"].contains(&&*name.to_ascii_lowercase()));
        }
        for ours in [EVENT_ID, TIMESTAMP, SIGNATURE, ATTEMPT, hops::HEADER, STANDARD_ID, USER_AGENT] {
            prop_assert_eq!(seen.iter().filter(|(name, _)| name.eq_ignore_ascii_case(ours)).count(), 1);
        }
    }
}
