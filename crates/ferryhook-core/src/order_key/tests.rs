use proptest::prelude::*;
use serde_json::json;

use super::*;
use crate::dedup::KEY_BYTES_MAX;
use crate::samples;

fn key(expression: &str, body: &str) -> Option<String> {
    let event = Event { body: body.to_owned().into(), ..samples::event() };
    OrderKey::parse(expression).unwrap().of(&event)
}

#[test]
fn events_that_agree_in_a_path_have_the_same_key() {
    let body = r#"{"order":7,"customer":{"id":"c1"}}"#;
    for (expression, found) in [
        ("$.order", Some("7")),
        ("body.customer.id", Some("c1")),
        ("{body.customer.id}/{body.order}", Some("c1/7")),
        ("query.v", Some("2")),
        ("path", Some("/orders")),
        ("headers.x-b", Some("2")),
        ("body.customer", None),
        ("body.missing", None),
    ] {
        assert_eq!(key(expression, body).as_deref(), found, "{expression}");
    }
    assert!(OrderKey::parse("order").is_err());
}

#[test]
fn a_triggered_event_is_read_from_its_payload() {
    let mut event = samples::event();
    event.body = Body::default();
    event.payload = json!({"order": 8}).as_object().cloned();
    assert_eq!(OrderKey::parse("$.order").unwrap().of(&event).as_deref(), Some("8"));
}

proptest! {
    #[test]
    fn a_key_is_bounded_and_still_tells_events_apart(a in "[a-z]{0,600}", b in "[a-z]{0,600}") {
        let of = |text: &str| key("$.k", &json!({"k": text}).to_string());
        prop_assert_eq!(of(&a) == of(&b), a == b);
        prop_assert!(of(&a).is_none_or(|key| key.len() <= KEY_BYTES_MAX));
    }
}
