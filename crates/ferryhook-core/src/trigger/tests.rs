use serde_json::{Value, json};

use super::*;

fn posted() -> Posted {
    let payload = json!({"order": 1}).as_object().cloned().unwrap();
    let event_type = "order.paid".to_owned();
    Posted { event_type, payload, occurred_at: None, metadata: None, key: None }
}

fn now() -> Timestamp {
    "2026-01-31T12:00:00Z".parse().unwrap()
}

fn wrong_with(posted: &Posted) -> Vec<&'static str> {
    let wrong = posted.check(now()).err().unwrap_or_default();
    wrong.iter().map(|unfit| unfit.field).collect()
}

#[test]
fn a_type_says_of_what_and_what() {
    for good in ["order.paid", "order.line_item.added", "A-1.b_2"] {
        assert!(check_type(good).is_ok(), "{good}");
    }
    let long = format!("order.{}", "a".repeat(limits::TRIGGER_TYPE_BYTES_MAX));
    for bad in ["", "order", ".", "order.", ".paid", "a..b", "a b.c", "a.b#c", "ä.b", &long] {
        assert!(check_type(bad).is_err(), "{bad}");
    }
}

#[test]
fn all_that_is_wrong_is_told_at_once() {
    assert_eq!(posted().check(now()), Ok(()));
    let wrong = Posted {
        event_type: "order".to_owned(),
        occurred_at: Some(now() + Duration::from_secs(3600)),
        key: Some(String::new()),
        ..posted()
    };
    assert_eq!(wrong_with(&wrong), ["eventType", "timestamp", "eventId"]);
}

#[test]
fn a_clock_may_be_a_little_ahead_and_long_behind() {
    let at = |at| Posted { occurred_at: Some(at), ..posted() };
    assert!(at(now() + limits::TRIGGER_CLOCK_AHEAD_MAX).check(now()).is_ok());
    assert!(at("1999-01-01T00:00:00Z".parse().unwrap()).check(now()).is_ok());
    let later = now() + limits::TRIGGER_CLOCK_AHEAD_MAX + Duration::from_millis(1);
    assert_eq!(wrong_with(&at(later)), ["timestamp"]);
}

#[test]
fn a_payload_is_as_deep_and_as_large_as_it_may_be() {
    let nested = |depth: usize| {
        let inner = (1..depth).fold(json!(1), |inner, _| json!([inner]));
        let Value::Object(payload) = json!({ "a": inner }) else { unreachable!() };
        Posted { payload, ..posted() }
    };
    assert!(wrong_with(&nested(limits::TRIGGER_DEPTH_MAX)).is_empty());
    assert_eq!(wrong_with(&nested(limits::TRIGGER_DEPTH_MAX + 1)), ["payload"]);
    let sized = |bytes: usize| {
        let text = "a".repeat(bytes - r#"{"a":""}"#.len());
        let Value::Object(payload) = json!({ "a": text }) else { unreachable!() };
        Posted { payload, ..posted() }
    };
    assert!(wrong_with(&sized(limits::BODY_BYTES_DEFAULT)).is_empty());
    assert_eq!(wrong_with(&sized(limits::BODY_BYTES_DEFAULT + 1)), ["payload"]);
}
