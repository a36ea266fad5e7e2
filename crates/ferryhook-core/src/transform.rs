//! Transform: the shape an event has when it leaves over one connection.
//!
//! A connection's `transform` is JSON: `{"type":"passthrough"}`, `{"type":"field_map", …}` or
//! `{"type":"javascript","code":"…"}`. It is compiled once, refused then if it is not understood,
//! and applied with every attempt. The same event always comes out the same: no clock, no
//! randomness and nothing outside of the event is there to look at. Nothing here waits, and every
//! run ends within the bounds of [`limits`]; a script can take long enough, though, that it
//! belongs on a thread of its own ([`Transform::needs_thread`]).

mod error;
mod field_map;
mod incoming;
mod javascript;
mod json;
mod leaving;
pub mod limits;
mod path;
mod template;

use std::time::Duration;

use serde_json::Value;

use crate::Event;
use field_map::FieldMap;
use javascript::Script;

pub use error::{BadTransform, Fault, TransformError};

/// A connection's `transform`, compiled.
#[derive(Debug, Clone)]
pub struct Transform(Kind);

#[derive(Debug, Clone)]
enum Kind {
    Passthrough,
    FieldMap(FieldMap),
    JavaScript(Script),
}

/// What a transform made of an event, and what it said meanwhile.
#[derive(Debug, Clone, PartialEq)]
pub struct Shaped {
    pub outcome: Outcome,
    /// What a script wrote with `console.log`, line by line, within bounds.
    pub console: Vec<String>,
}

#[derive(Debug, Clone, PartialEq)]
pub enum Outcome {
    /// It leaves as it came, to the byte.
    Unchanged,
    /// The event with another body, headers, method, path, query or content type.
    Changed(Box<Event>),
    /// It is not to be delivered over this connection.
    Dropped { reason: String },
}

impl Transform {
    /// Quick for what people write; a script of the greatest length that means harm can take
    /// seconds to compile, so this is done once for each version, off the runtime's threads.
    pub fn parse(text: &str) -> Result<Self, BadTransform> {
        if text.len() > limits::TEXT_BYTES_MAX {
            return Err(BadTransform::new(
                "",
                format!(
                    "a transform has at most {} bytes, not {}",
                    limits::TEXT_BYTES_MAX,
                    text.len()
                ),
            ));
        }
        let value: Value = serde_json::from_str(text)
            .map_err(|error| BadTransform::new("", format!("this is not JSON: {error}")))?;
        let Value::Object(fields) = &value else {
            return Err(BadTransform::new(
                "",
                "a transform is an object such as {\"type\":\"passthrough\"}",
            ));
        };
        match fields.get("type").and_then(Value::as_str) {
            Some("passthrough") => {
                error::only(fields, "", &["type"])?;
                Ok(Self(Kind::Passthrough))
            }
            Some("field_map") => FieldMap::parse(fields).map(|map| Self(Kind::FieldMap(map))),
            Some("javascript") => {
                Script::parse(fields).map(|script| Self(Kind::JavaScript(script)))
            }
            _ => Err(BadTransform::new("/type", "must be passthrough, field_map or javascript")),
        }
    }

    /// Whether it may take long: then it is run by threads of its own, never by those that
    /// thousands of connections share.
    pub fn needs_thread(&self) -> bool {
        match self.0 {
            Kind::Passthrough | Kind::FieldMap(_) => false,
            Kind::JavaScript(_) => true,
        }
    }

    /// Synchronous and bounded.
    pub fn apply(&self, event: &Event) -> Result<Shaped, TransformError> {
        self.apply_within(event, Duration::MAX)
    }

    /// The same, with no more processor time than this for a script: one that needs more fails with
    /// [`Fault::Time`], and can be run again from the beginning.
    pub fn apply_within(&self, event: &Event, most: Duration) -> Result<Shaped, TransformError> {
        match &self.0 {
            Kind::Passthrough => Ok(Shaped::silent(Outcome::Unchanged)),
            Kind::JavaScript(script) => script.apply(event, most),
            Kind::FieldMap(map) => {
                map.apply(event).map(Shaped::silent).map_err(TransformError::from)
            }
        }
    }
}

impl Shaped {
    fn silent(outcome: Outcome) -> Self {
        Self { outcome, console: Vec::new() }
    }
}

#[cfg(test)]
mod tests;
