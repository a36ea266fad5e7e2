use super::*;
use crate::samples;

/// What becomes of the sample event, with this body.
pub(super) fn apply(transform: &str, body: &str) -> Result<Shaped, TransformError> {
    let mut event = samples::event();
    event.body = body.to_owned().into();
    event.payload = None;
    Transform::parse(transform).unwrap_or_else(|error| panic!("{transform}: {error}")).apply(&event)
}

/// The body that it makes, or why it does not.
pub(super) fn body_of(transform: &str, body: &str) -> String {
    match apply(transform, body).map(|shaped| shaped.outcome) {
        Ok(Outcome::Unchanged) => "unchanged".to_owned(),
        Ok(Outcome::Changed(event)) => event.body.as_text().expect("text").to_owned(),
        Ok(Outcome::Dropped { reason }) => format!("dropped: {reason}"),
        Err(error) => format!("failed: {error}"),
    }
}

#[test]
fn passthrough_changes_nothing() {
    assert_eq!(body_of(r#"{"type":"passthrough"}"#, "\u{0}not json"), "unchanged");
    assert!(!Transform::parse(r#"{"type":"passthrough"}"#).unwrap().needs_thread());
}

#[test]
fn what_is_no_transform_is_refused() {
    for (text, message) in [
        ("", "this is not JSON: EOF while parsing a value at line 1 column 0"),
        ("[]", r#"a transform is an object such as {"type":"passthrough"}"#),
        ("{}", "at /type: must be passthrough, field_map or javascript"),
        (r#"{"type":"jq"}"#, "at /type: must be passthrough, field_map or javascript"),
        (r#"{"type":"passthrough","x":1}"#, "at /x: no such field; known here: type"),
    ] {
        assert_eq!(Transform::parse(text).unwrap_err().to_string(), message, "{text}");
    }
    let long = format!(r#"{{"type":"passthrough","x":"{}"}}"#, "x".repeat(limits::TEXT_BYTES_MAX));
    assert!(Transform::parse(&long).unwrap_err().to_string().contains("at most 131072 bytes"));
}
