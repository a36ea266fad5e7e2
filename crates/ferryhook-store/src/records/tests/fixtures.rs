//! Stored shapes, kept for ever: `fixtures/<kind>.v<version>.json`, attribute by attribute with
//! DynamoDB's letters for the types.
//!
//! A shape that changed needs a new version in its record and a new file here (run the tests with
//! `UPDATE_FIXTURES=1`, which writes missing files and never touches one that exists).

use std::fs;
use std::path::PathBuf;

use serde_json::{Map, Value as Json, json};

use super::*;
use crate::StoreError;

#[test]
fn the_newest_fixture_is_what_is_written_today() {
    for sample in full() {
        let path = path(sample.kind, sample.version);
        let now = to_json(&sample);
        if !path.exists() && std::env::var_os("UPDATE_FIXTURES").is_some() {
            let text = serde_json::to_string_pretty(&now).unwrap();
            fs::write(&path, text + "\n").unwrap();
        }
        let text = fs::read_to_string(&path)
            .unwrap_or_else(|error| panic!("no fixture {}: {error}", path.display()));
        let kept: Json = serde_json::from_str(&text).unwrap();
        assert_eq!(kept, now, "{}: a new shape needs a new version", sample.kind);
    }
}

#[test]
fn every_fixture_stays_readable() {
    for sample in full() {
        for version in 1..=sample.version {
            let path = path(sample.kind, version);
            let text = fs::read_to_string(&path)
                .unwrap_or_else(|error| panic!("no fixture {}: {error}", path.display()));
            let kept: Json = serde_json::from_str(&text).unwrap();
            assert_eq!(kept["version"], version);
            let row = Row {
                kind: Kind::from_name(kept["kind"].as_str().unwrap()).unwrap(),
                version,
                revision: 1,
                item: from_json(&kept["attributes"]),
            };
            read(row).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        }
    }
}

/// A file that no record answers for would look kept and be read by nobody.
#[test]
fn every_file_belongs_to_a_kind() {
    let expected: Vec<_> = full()
        .iter()
        .flat_map(|sample| (1..=sample.version).map(|version| path(sample.kind, version)))
        .collect();
    for file in fs::read_dir(folder()).unwrap() {
        let file = file.unwrap().path();
        assert!(expected.contains(&file), "{}", file.display());
    }
}

fn read(row: Row) -> Result<(), StoreError> {
    fn as_a<T: Record>(row: Row) -> Result<(), StoreError> {
        Stored::<T>::from_row(row).map(|_| ())
    }
    match row.kind {
        Kind::User => as_a::<ferryhook_core::User>(row),
        Kind::Source => as_a::<ferryhook_core::Source>(row),
        Kind::Connection => as_a::<ferryhook_core::Connection>(row),
        Kind::Key => as_a::<ferryhook_core::Key>(row),
        Kind::Event => as_a::<Event>(row),
        Kind::Delivery => as_a::<Delivery>(row),
        Kind::Attempt => as_a::<ferryhook_core::Attempt>(row),
        Kind::Rejection => as_a::<ferryhook_core::Rejection>(row),
        Kind::Claim => as_a::<ferryhook_core::Claim>(row),
        Kind::Account => as_a::<Account>(row),
        Kind::Member => as_a::<ferryhook_core::Member>(row),
        Kind::Schedule => as_a::<ferryhook_core::Schedule>(row),
        Kind::Run => as_a::<ferryhook_core::Run>(row),
        Kind::Activity => as_a::<Activity>(row),
        Kind::Hook => as_a::<ferryhook_core::Hook>(row),
        Kind::Notification => as_a::<Notification>(row),
        Kind::Usage => as_a::<ferryhook_core::Usage>(row),
        Kind::Plan => as_a::<ferryhook_core::Plan>(row),
        Kind::OauthState => as_a::<ferryhook_core::OauthState>(row),
        Kind::Unique => as_a::<Unique>(row),
        Kind::Replay => as_a::<Replay>(row),
        Kind::DataKey => as_a::<ferryhook_core::DataKey>(row),
        Kind::Answer => as_a::<Answer>(row),
        Kind::Session => as_a::<ferryhook_core::Session>(row),
        Kind::Ticket => as_a::<Ticket>(row),
        Kind::TokenKey => as_a::<ferryhook_core::TokenKey>(row),
        Kind::Invitation => as_a::<ferryhook_core::Invitation>(row),
        Kind::Erasure => as_a::<ferryhook_core::Erasure>(row),
        Kind::Subscription => as_a::<ferryhook_core::Subscription>(row),
        Kind::Rollup => as_a::<ferryhook_core::Rollup>(row),
        Kind::PlanCount => as_a::<ferryhook_core::PlanCount>(row),
        Kind::AuditHead => as_a::<ferryhook_core::AuditHead>(row),
        Kind::Alert => as_a::<ferryhook_core::Alert>(row),
        Kind::EventType => as_a::<ferryhook_core::EventType>(row),
    }
}

fn folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("fixtures")
}

fn path(kind: Kind, version: u8) -> PathBuf {
    let name = kind.name().replace(' ', "_");
    folder().join(format!("{name}.v{version}.json"))
}

fn to_json(sample: &Sample) -> Json {
    let attributes = sample.item.iter();
    let attributes: Map<_, _> =
        attributes.map(|(name, value)| (name.to_string(), tagged(value))).collect();
    json!({ "kind": sample.kind.name(), "version": sample.version, "attributes": attributes })
}

fn tagged(value: &Value) -> Json {
    match value {
        Value::Null => json!({ "NULL": true }),
        Value::Bool(is) => json!({ "BOOL": is }),
        Value::Number(number) => json!({ "N": number.to_string() }),
        Value::Text(text) => json!({ "S": text }),
        Value::Bytes(bytes) => json!({ "B": bytes.to_vec() }),
        Value::List(values) => json!({ "L": values.iter().map(tagged).collect::<Vec<_>>() }),
        Value::Map(map) => {
            let fields = map.iter();
            let fields: Map<_, _> = fields.map(|(n, v)| (n.clone(), tagged(v))).collect();
            json!({ "M": fields })
        }
    }
}

fn from_json(attributes: &Json) -> Item {
    let attributes = attributes.as_object().unwrap().iter();
    attributes.map(|(name, value)| (name.clone().into(), untagged(value))).collect()
}

fn untagged(tagged: &Json) -> Value {
    let (tag, value) = tagged.as_object().unwrap().iter().next().unwrap();
    match tag.as_str() {
        "NULL" => Value::Null,
        "BOOL" => Value::Bool(value.as_bool().unwrap()),
        "N" => Value::Number(number(value.as_str().unwrap())),
        "S" => value.as_str().unwrap().into(),
        "B" => {
            let bytes = value.as_array().unwrap().iter();
            let bytes = bytes.map(|byte| u8::try_from(byte.as_u64().unwrap()).unwrap());
            Value::Bytes(bytes.collect())
        }
        "L" => Value::List(value.as_array().unwrap().iter().map(untagged).collect()),
        "M" => {
            let fields = value.as_object().unwrap().iter();
            Value::Map(fields.map(|(n, v)| (n.clone(), untagged(v))).collect())
        }
        other => panic!("no value is tagged {other}"),
    }
}

fn number(text: &str) -> Number {
    if let Ok(number) = text.parse::<i64>() {
        Number::Int(number)
    } else if let Ok(number) = text.parse::<u64>() {
        Number::from_u64(number)
    } else {
        Number::from_f64(text.parse().unwrap()).unwrap()
    }
}
