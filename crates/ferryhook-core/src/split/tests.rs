use proptest::prelude::*;
use serde_json::json;

use super::*;
use crate::samples;

fn split(provider: &str, config: impl Into<Value>) -> Result<Split, BadSplit> {
    let config = config.into();
    let mut source = samples::source();
    source.provider = provider.to_owned();
    source.config = json!({ "split": config }).as_object().cloned().unwrap();
    if config.is_null() {
        source.config.remove("split");
    }
    Split::of(&source)
}

fn parts(split: &Split, body: &str) -> Result<Option<Vec<String>>, NotSplit> {
    let parts = split.parts(Some("application/json"), &body.to_owned().into())?;
    let text = |body: &Body| body.as_text().unwrap().to_owned();
    Ok(parts.map(|parts| parts.bodies.iter().map(text).collect()))
}

fn some(bodies: &[&str]) -> Result<Option<Vec<String>>, NotSplit> {
    Ok(Some(bodies.iter().map(|body| (*body).to_owned()).collect()))
}

#[test]
fn each_element_keeps_its_bytes() {
    let body = " [ {\"b\" : 1.50, \"a\":\"\\u00e9\"} ,\n2,\"x\", [ 3 ], null ] ";
    let split = split("custom", json!("array")).unwrap();
    let expected = some(&["{\"b\" : 1.50, \"a\":\"\\u00e9\"}", "2", "\"x\"", "[ 3 ]", "null"]);
    assert_eq!(parts(&split, body), expected);
}

#[test]
fn the_list_is_where_the_source_says() {
    let body = r#"{"x":[0],"data":{"events":[{"id":1},{"id":2}]}}"#;
    for path in ["data.events", "$.data.events", "body.data.events", "$.body.data['events']"] {
        let split = split("custom", json!(path)).unwrap();
        assert_eq!(parts(&split, body), some(&[r#"{"id":1}"#, r#"{"id":2}"#]), "{path}");
    }
    for path in ["$", "body", "$.body"] {
        let split = split("custom", json!(path)).unwrap();
        assert_eq!(parts(&split, "[1]"), some(&["1"]), "{path}");
    }
}

#[test]
fn what_cannot_be_split_is_an_error_only_where_it_was_asked_for() {
    let too_many = format!("[{}0]", "0,".repeat(PARTS_MAX));
    let no_array = |path: &str| Err(NotSplit::NoArray(path.to_owned()));
    for (body, at_path, at_root) in [
        ("{\"e\":{}}", no_array("body.e"), no_array("body")),
        ("{\"e\":1}", no_array("body.e"), no_array("body")),
        ("{}", no_array("body.e"), no_array("body")),
        ("\"text\"", no_array("body.e"), no_array("body")),
        ("[1", Err(NotSplit::NotJson), Err(NotSplit::NotJson)),
        ("[1] x", Err(NotSplit::NotJson), Err(NotSplit::NotJson)),
        ("a=1", Err(NotSplit::NotJson), Err(NotSplit::NotJson)),
        ("", Err(NotSplit::NotJson), Err(NotSplit::NotJson)),
        (&*too_many, no_array("body.e"), Err(NotSplit::TooMany)),
    ] {
        assert_eq!(parts(&split("custom", json!("e")).unwrap(), body), at_path, "{body}");
        assert_eq!(parts(&split("custom", json!("array")).unwrap(), body), at_root, "{body}");
        assert_eq!(parts(&split("hubspot", Value::Null).unwrap(), body), Ok(None), "{body}");
    }
    let binary = Body::from(&b"[\"\xff\"]"[..]);
    let told = split("custom", json!("array")).unwrap();
    assert_eq!(told.parts(None, &binary), Err(NotSplit::NotJson));
}

#[test]
fn the_largest_request_is_split() {
    let body = format!("[{}0]", "0,".repeat(PARTS_MAX - 1));
    let split = split("custom", json!("array")).unwrap();
    assert_eq!(parts(&split, &body).unwrap().unwrap().len(), PARTS_MAX);
}

/// Depth that would break a parser that recurses.
#[test]
fn a_deep_element_is_carried_like_any_other() {
    let deep = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
    let told = split("custom", json!("array")).unwrap();
    assert_eq!(parts(&told, &format!("[{deep}]")), some(&[&deep]));
    let told = split("custom", json!("e")).unwrap();
    assert_eq!(parts(&told, &format!("{{\"x\":{deep},\"e\":[1]}}")), some(&["1"]));
}

#[test]
fn providers_are_known_for_what_they_send() {
    let list = r#"[{"id":1},{"id":2}]"#;
    let both = || some(&[r#"{"id":1}"#, r#"{"id":2}"#]);
    let events = &format!(r#"{{"events":{list}}}"#);
    for (provider, config, body, expected) in [
        ("hubspot", Value::Null, list, both()),
        ("sendgrid", Value::Null, list, both()),
        ("HubSpot", Value::Null, list, both()),
        ("hubspot", json!(false), list, Ok(None)),
        ("hubspot", Value::Null, r#"{"id":1}"#, Ok(None)),
        ("hubspot", Value::Null, "[]", Ok(None)),
        ("custom", Value::Null, list, Ok(None)),
        ("custom", json!(true), list, both()),
        ("line", Value::Null, events, Ok(None)),
        ("line", json!(true), events, both()),
        ("line", json!(true), r#"{"events":[]}"#, Ok(None)),
    ] {
        let split = split(provider, config).unwrap();
        assert_eq!(parts(&split, body), expected, "{provider} {body}");
    }
}

#[test]
fn a_batch_of_cloud_events_says_so_itself() {
    let body = Body::from(r#"[{"id":"1"}]"#);
    let untold = split("custom", Value::Null).unwrap();
    let parts = untold.parts(Some("Application/CloudEvents-Batch+JSON; charset=utf-8"), &body);
    let parts = parts.unwrap().unwrap();
    assert_eq!(parts.content_type, Some("application/cloudevents+json"));
    assert_eq!(parts.bodies, [Body::from(r#"{"id":"1"}"#)]);
    assert_eq!(untold.parts(Some("application/cloudevents+json"), &body), Ok(None));
    let never = split("custom", json!(false)).unwrap();
    assert_eq!(never.parts(Some(CLOUD_EVENTS), &body), Ok(None));
    assert_eq!(
        untold.parts(Some(CLOUD_EVENTS), &Body::from("{}")),
        Err(NotSplit::NoArray("body".to_owned()))
    );
}

#[test]
fn a_configuration_that_means_nothing_is_refused() {
    for config in [json!(1), json!([]), json!({})] {
        assert_eq!(split("custom", config), Err(BadSplit::Shape));
    }
    for path in ["", "a..b", "a[", "a b", ".a"] {
        assert!(matches!(split("custom", json!(path)), Err(BadSplit::Path(_))), "{path}");
    }
}

proptest! {
    /// Put together again, the parts are the list.
    #[test]
    fn nothing_is_lost(texts in prop::collection::vec(".{0,20}", 1..20), spaces in "[ \n\t]{0,3}") {
        let elements: Vec<_> = texts.iter().map(|text| json!({"t": text, "n": [1.5]}).to_string()).collect();
        let body = format!("{spaces}[{spaces}{}{spaces}]", elements.join(&format!("{spaces},{spaces}")));
        prop_assert_eq!(parts(&split("custom", json!("array")).unwrap(), &body), Ok(Some(elements)));
    }

    #[test]
    fn no_body_breaks_it(body in r#"[\[\]{}",:e0 ]{0,40}"#) {
        let _ = parts(&split("custom", json!("e")).unwrap(), &body);
        prop_assert!(parts(&split("hubspot", Value::Null).unwrap(), &body).is_ok());
    }
}
