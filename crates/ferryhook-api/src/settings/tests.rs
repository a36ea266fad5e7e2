use std::collections::BTreeSet;

use serde_json::json;

use super::*;
use crate::connections::NewConnection;
use crate::manifest::{CONNECTION_FIELDS, Dialect, SOURCE_FIELDS};
use crate::sources::NewSource;

fn map(json: &Json) -> Map {
    json.as_object().unwrap().clone()
}

fn patched(settings: Json, patch: Json) -> Json {
    Patch::<NewSource>::of(map(&patch)).applied_to(map(&settings)).into()
}

fn described<T: ToSchema>() -> BTreeSet<String> {
    let schema = serde_json::to_value(T::schema()).unwrap();
    assert_eq!(schema["additionalProperties"], false, "unknown fields are refused");
    schema["properties"].as_object().unwrap().keys().cloned().collect()
}

/// What is described is what is read.
#[test]
fn the_description_has_the_fields_that_the_readers_know() {
    let mut known: BTreeSet<_> = SOURCE_FIELDS.iter().map(|name| (*name).to_owned()).collect();
    known.remove("connections");
    assert_eq!(described::<NewSource>(), known);
    let called = |name: &&'static str| Dialect::Api.connection_field(name).to_owned();
    let known: BTreeSet<_> = CONNECTION_FIELDS.iter().map(called).collect();
    assert_eq!(described::<NewConnection>(), known);
}

#[test]
fn a_patch_replaces_what_it_names_and_null_removes() {
    let settings =
        json!({ "name": "a", "dedup": "body.id", "config": { "x": 1, "y": { "z": 2 } } });
    let patch = json!({ "name": "b", "dedup": null, "config": { "y": { "z": null, "w": 3 } } });
    let expected = json!({ "name": "b", "config": { "x": 1, "y": { "w": 3 } } });
    assert_eq!(patched(settings, patch), expected);
    // Null inside of something new leaves no trace either.
    assert_eq!(patched(json!({}), json!({ "config": { "a": null } })), json!({ "config": {} }));
}

#[test]
fn rules_are_replaced_as_a_whole() {
    let settings = json!({ "transform": { "type": "field_map", "rename": { "a": "b" } } });
    let patch = json!({ "transform": { "type": "passthrough" } });
    assert_eq!(patched(settings, patch.clone()), patch);
}

#[test]
fn what_was_redacted_stays_when_it_is_sent_back() {
    let config = map(json!({ "password": "p", "nested": { "apiKey": "k" }, "publicKey": "shown" }));
    let shown = redacted(&config);
    let expected =
        json!({ "password": REDACTED, "nested": { "apiKey": REDACTED }, "publicKey": "shown" });
    assert_eq!(Json::from(shown.clone()), expected);
    let back = patched(json!({ "config": config }), json!({ "config": shown }));
    assert_eq!(back, json!({ "config": config }));
}
