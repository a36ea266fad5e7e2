//! Settings as clients send them: the same fields, and the same checks, as in a manifest.
//!
//! A body is kept as the JSON that it is until the manifest's readers take it apart, so that there
//! is one set of rules, and every mistake is told at once. The type beside it only describes it.

use std::borrow::Cow;
use std::marker::PhantomData;

use aws_lc_rs::digest::{SHA256, digest};
use ferryhook_core::Map;
use ferryhook_net::problem::FieldError;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value as Json;
use utoipa::openapi::{RefOr, Schema};
use utoipa::{PartialSchema, ToSchema};

use crate::manifest::Complaint;
use crate::problem::Problem;

/// What stands in a view where a secret would. Sent back, it means that the secret stays.
pub const REDACTED: &str = "[redacted]";

/// Of one field in the audit log.
const LOGGED_BYTES_MAX: usize = 4 * 1024;
const LOGGED_DEPTH_MAX: usize = 16;

/// A body with the fields of `T`.
#[derive(Debug, Clone)]
pub struct Written<T>(pub Map, PhantomData<fn() -> T>);

/// Some of the fields of `T` (RFC 7396): those that are there replace what is, `null` removes it.
#[derive(Debug, Clone)]
pub struct Patch<T>(pub Map, PhantomData<fn() -> T>);

impl<T> Patch<T> {
    pub fn of(fields: Map) -> Self {
        Self(fields, PhantomData)
    }

    /// The settings as they are with this.
    pub fn applied_to(&self, mut settings: Map) -> Map {
        for name in WHOLE.iter().filter(|name| self.0.contains_key(**name)) {
            settings.shift_remove(*name);
        }
        // What one type needs, another does not have.
        let kind = |fields: &Map| fields.get("auth").and_then(|auth| auth.get("type")).cloned();
        if kind(&self.0).is_some_and(|kind_now| kind(&settings) != Some(kind_now)) {
            settings.shift_remove("auth");
        }
        merge(&mut settings, &self.0);
        settings
    }
}

/// Documents of their own: half an old filter and half a new one is no filter.
const WHOLE: [&str; 3] = ["filters", "transform", "retryConfig"];

/// As deep as the JSON, whose reader has a bound.
fn merge(settings: &mut Map, patch: &Map) {
    for (name, value) in patch {
        match (settings.get_mut(name), value) {
            (_, Json::Null) => {
                settings.shift_remove(name);
            }
            (Some(_), Json::String(text)) if text == REDACTED => {}
            (Some(Json::Object(fields)), Json::Object(patch)) => merge(fields, patch),
            (_, Json::Object(patch)) => {
                let mut fields = Map::new();
                merge(&mut fields, patch);
                settings.insert(name.clone(), fields.into());
            }
            (_, value) => {
                settings.insert(name.clone(), value.clone());
            }
        }
    }
}

/// A view as the audit log keeps it: what is large in it stands there as its size and its hash, by
/// which a change still shows.
pub fn logged(view: &impl Serialize) -> Map {
    let Ok(Json::Object(fields)) = serde_json::to_value(view) else { return Map::new() };
    let shortened = |(name, value): (String, Json)| {
        let text = value.to_string();
        let is_small = text.len() <= LOGGED_BYTES_MAX && depth(&value) <= LOGGED_DEPTH_MAX;
        let value = if is_small { value } else { Json::String(outline(&text)) };
        (name, value)
    };
    fields.into_iter().map(shortened).collect()
}

fn outline(text: &str) -> String {
    let hash = digest(&SHA256, text.as_bytes());
    let hash: String = hash.as_ref()[..8].iter().map(|byte| format!("{byte:02x}")).collect();
    format!("{} bytes, sha256 {hash}…", text.len())
}

fn depth(value: &Json) -> usize {
    let inside = match value {
        Json::Array(items) => items.iter().map(depth).max(),
        Json::Object(fields) => fields.values().map(depth).max(),
        _ => None,
    };
    1 + inside.unwrap_or_default()
}

/// Everything that is wrong, each with its place in the body.
pub fn problem(complaints: Vec<Complaint>) -> Problem {
    let error = |one: Complaint| FieldError { pointer: one.pointer, message: one.message };
    Problem::invalid_all(complaints.into_iter().map(error).collect())
}

/// Whether a setting of a source holds something that is nobody's business.
pub fn is_secretive(setting: &str) -> bool {
    const PARTS: [&str; 7] =
        ["password", "passphrase", "secret", "token", "key", "credential", "private"];
    const PUBLIC: [&str; 3] = ["publickey", "publickeys", "keyid"];
    let lower: String =
        setting.chars().filter(char::is_ascii_alphanumeric).collect::<String>().to_lowercase();
    let is_public = PUBLIC.contains(&&*lower);
    !is_public && (lower == "pass" || PARTS.iter().any(|part| lower.contains(part)))
}

/// The settings with what is secret in them left out, whatever it is.
pub fn redacted(settings: &Map) -> Map {
    let shown = |(name, value): (&String, &Json)| {
        let value = match is_secretive(name) {
            true => REDACTED.into(),
            false => without_secrets(value),
        };
        (name.clone(), value)
    };
    settings.iter().map(shown).collect()
}

/// As deep as the JSON, whose reader has a bound.
fn without_secrets(value: &Json) -> Json {
    match value {
        Json::Object(inner) => redacted(inner).into(),
        Json::Array(items) => items.iter().map(without_secrets).collect(),
        value => value.clone(),
    }
}

impl<'de, T> Deserialize<'de> for Written<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Map::deserialize(deserializer).map(|fields| Self(fields, PhantomData))
    }
}

impl<'de, T> Deserialize<'de> for Patch<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Map::deserialize(deserializer).map(Self::of)
    }
}

impl<T: ToSchema> PartialSchema for Written<T> {
    fn schema() -> RefOr<Schema> {
        T::schema()
    }
}

impl<T: ToSchema> ToSchema for Written<T> {
    fn name() -> Cow<'static, str> {
        T::name()
    }

    fn schemas(schemas: &mut Vec<(String, RefOr<Schema>)>) {
        T::schemas(schemas);
    }
}

impl<T: ToSchema> PartialSchema for Patch<T> {
    fn schema() -> RefOr<Schema> {
        let mut schema = T::schema();
        if let RefOr::T(Schema::Object(fields)) = &mut schema {
            fields.required.clear();
        }
        schema
    }
}

impl<T: ToSchema> ToSchema for Patch<T> {
    fn name() -> Cow<'static, str> {
        format!("{}Patch", T::name()).into()
    }

    fn schemas(schemas: &mut Vec<(String, RefOr<Schema>)>) {
        T::schemas(schemas);
    }
}

#[cfg(test)]
mod tests;
