//! What a filter sees of an event that is not a JSON body.

use bytes::Bytes;

use super::*;

fn rule(path: &str, operator: &str, value: &str) -> String {
    format!(r#"[{{"path": {path:?}, "operator": "{operator}", "value": {value}}}]"#)
}

#[test]
fn headers_have_no_case_and_may_repeat() {
    let event = Event {
        headers: Headers::from_iter([
            ("X-Kind", " push "),
            ("x-tag", "a"),
            ("X-TAG", "b"),
            ("X-Count", "12"),
            ("X.Dotted", "yes"),
            ("x-live", "true"),
        ]),
        ..event("{}")
    };
    for (path, operator, value, expected) in [
        ("headers.x-kind", "equals", r#""push""#, true),
        ("headers.X-KIND", "equals", r#""push""#, true),
        ("headers['X-Kind']", "equals", r#""push""#, true),
        ("$.headers.x-kind", "equals", r#""push""#, true),
        ("$.headers['x-kind']", "equals", r#""push""#, true),
        ("headers.x-tag[*]", "equals", r#""b""#, true),
        ("headers.x-tag", "contains", r#""b""#, true),
        ("headers.x-tag", "not_contains", r#""c""#, true),
        ("headers.x.dotted", "equals", r#""yes""#, true),
        ("headers.x-none", "exists", "true", false),
        // All that a header has is text; what reads as a number is one for a rule with a number.
        ("headers.x-count", "equals", "12", true),
        ("headers.x-count", "equals", r#""12""#, true),
        ("headers.x-count", "gt", "5", true),
        ("headers.x-count", "gt", r#""5""#, false),
        ("headers.x-count", "in", "[11, 12]", true),
        ("headers.x-kind", "gt", "5", false),
        ("headers.x-live", "equals", "true", true),
    ] {
        let rule = rule(path, operator, value);
        assert_eq!(matches(&rule, &event), expected, "{rule}");
    }
}

#[test]
fn query_and_path_are_texts() {
    let event = Event {
        query: Some("a=1&a=2&b=x%20y+z&c&d=%FF&%65=f&=g".to_owned()),
        path: Some("/orders/%7Bx%7D".to_owned()),
        ..event(r#"{"query": {"b": "own"}}"#)
    };
    for (path, operator, value, expected) in [
        ("query.b", "equals", r#""x y z""#, true),
        ("query.a[*]", "equals", "2", true),
        ("query.a", "equals", r#"["1", "2"]"#, true),
        ("query.c", "equals", r#""""#, true),
        ("query.d", "exists", "true", false),
        ("query.e", "equals", r#""f""#, true),
        ("query.z", "exists", "true", false),
        ("path", "equals", r#""/orders/%7Bx%7D""#, true),
        ("path", "starts_with", r#""/orders/""#, true),
        ("$.path", "regex", r#""^/orders""#, true),
        // What the body has goes first.
        ("$.query.b", "equals", r#""own""#, true),
        ("$.query.a", "exists", "true", true),
    ] {
        let rule = rule(path, operator, value);
        assert_eq!(matches(&rule, &event), expected, "{rule}");
    }
}

#[test]
fn a_form_is_an_object_of_texts() {
    let form = "application/x-www-form-urlencoded; charset=UTF-8";
    let event = Event {
        headers: Headers::from_iter([("Content-Type", form)]),
        ..event("CallStatus=ringing&Digits=5&To=a&To=b&Name=Z%C3%BCrich")
    };
    assert_eq!(Seen::of(&event).body_kind(), BodyKind::Form);
    let mut json = event.clone();
    json.body = r#"{"a":"1"}"#.into();
    assert_eq!(Seen::of(&json).body_kind(), BodyKind::Json, "whatever it is called");
    for (path, operator, value, expected) in [
        ("$.CallStatus", "equals", r#""ringing""#, true),
        ("body.Digits", "gte", "5", true),
        ("body.To", "contains", r#""b""#, true),
        ("body.Name", "equals", r#""Zürich""#, true),
        ("body.Missing", "exists", "true", false),
    ] {
        let rule = rule(path, operator, value);
        assert_eq!(matches(&rule, &event), expected, "{rule}");
    }
    // Also when only the event remembers the type.
    let event = Event { content_type: Some(form.to_owned()), ..super::event("a=1") };
    assert!(matches(&rule("$.a", "equals", "1"), &event));
}

#[test]
fn bodies_that_are_not_json() {
    let deep = format!("{}1{}", r#"{"a":"#.repeat(200), "}".repeat(200));
    for (body, kind, is_there) in [
        (Bytes::from_static(b""), BodyKind::Empty, false),
        (Bytes::from_static(b"hello"), BodyKind::Text, true),
        (Bytes::from_static(b"{\"a\": 1"), BodyKind::Text, true),
        (Bytes::from_static(b"\xff\xfe"), BodyKind::Binary, false),
        (Bytes::from_static(b"\xef\xbb\xbf{\"a\":1}"), BodyKind::Json, true),
        (Bytes::from(deep), BodyKind::TooComplex, false),
        (Bytes::from("[".repeat(1_000_000)), BodyKind::TooComplex, false),
    ] {
        let event = Event { body: body.into(), ..event("") };
        assert_eq!(Seen::of(&event).body_kind(), kind);
        assert_eq!(
            matches(r#"[{"path": "$", "operator": "exists"}]"#, &event),
            is_there,
            "{kind:?}"
        );
        let has_field = kind == BodyKind::Json;
        assert_eq!(matches(r#"[{"path": "$.a", "operator": "exists"}]"#, &event), has_field);
        assert_eq!(matches(r#"{"body": {"a": {"$exist": true}}}"#, &event), has_field);
    }
    assert!(matches(&rule("body", "contains", r#""ell""#), &event("hello")));
}

/// What an app triggered is looked at like a body.
#[test]
fn a_payload_stands_for_the_body() {
    let event = Event { payload: samples::event().payload, ..event("") };
    assert!(matches(&rule("$.amount", "equals", "120"), &event));
    let both = Event { payload: samples::event().payload, ..super::event(r#"{"amount": 1}"#) };
    assert!(matches(&rule("$.amount", "equals", "1"), &both));
}

/// A body is read once, however many filters look at it.
#[test]
fn many_filters_share_one_reading() {
    let event = event(r#"{"a": 1}"#);
    let seen = Seen::of(&event);
    let first = seen.part(Part::Body).unwrap();
    assert!(filter(&rule("$.a", "equals", "1")).matches(&seen));
    assert!(filter(r#"{"a": 1}"#).matches(&seen));
    assert!(first.shares_document(seen.part(Part::Body).unwrap()));
}
