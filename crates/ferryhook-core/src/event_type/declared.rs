//! A declared schema: what its owner says events of a type must look like.
//!
//! Checked at the door, for every event, against a schema that somebody typed. So that none can
//! hold the door up, a schema is bounded when it is declared: how large it is, how many parts of it
//! look at a value, that none of them comes back to itself, and that nothing has to be fetched.

mod bounds;

use jsonschema::PatternOptions;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::ToSchema;

use crate::{Timestamp, limits};

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Declared {
    /// As text: names in it are whatever its author likes, and it may be deeper than an item.
    pub schema: String,
    pub mode: Mode,
    pub declared_at: Timestamp,
    /// When it was said that an event is not like this, which is said once.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub told_at: Option<Timestamp>,
}

/// What becomes of an event that is not as declared.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
#[schema(as = EventTypeMode)]
pub enum Mode {
    /// It is taken in, and counted.
    Warn,
    /// It is refused.
    Reject,
}

/// Why a schema is none that can be declared, and where in it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{reason}")]
pub struct BadSchema {
    /// A JSON pointer into the schema.
    pub pointer: String,
    pub reason: String,
}

/// Where an event is not as declared, and why. No value of it is repeated.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Mismatch {
    /// A JSON pointer into the content.
    pub pointer: String,
    pub reason: String,
}

/// A schema that is ready to be asked.
#[derive(Debug)]
pub struct Compiled {
    validator: jsonschema::Validator,
    steps: usize,
}

impl Declared {
    pub fn compile(&self) -> Result<Compiled, BadSchema> {
        let schema = serde_json::from_str(&self.schema).map_err(|error| BadSchema {
            pointer: String::new(),
            reason: format!("it is not JSON: {error}"),
        })?;
        Compiled::of(&schema)
    }
}

impl Compiled {
    pub fn of(schema: &Value) -> Result<Self, BadSchema> {
        let steps = bounds::steps(schema)?;
        let patterns = PatternOptions::regex()
            .size_limit(limits::SCHEMA_PATTERN_BYTES_MAX)
            .dfa_size_limit(limits::SCHEMA_PATTERN_BYTES_MAX);
        let built = jsonschema::options().with_pattern_options(patterns).build(schema);
        let validator = built.map_err(|error| BadSchema {
            pointer: error.instance_path().to_string(),
            reason: short(error.masked().to_string()),
        })?;
        Ok(Self { validator, steps })
    }

    /// The first few places where it does not fit; none if it fits.
    pub fn mismatches(&self, content: &Value) -> Vec<Mismatch> {
        let most = limits::SCHEMA_CHECK_STEPS_MAX / self.steps.max(1);
        if values(content, most) > most {
            let reason = format!("it has more than {most} values, too many for its schema");
            return vec![Mismatch { pointer: String::new(), reason }];
        }
        let wrong = self.validator.iter_errors(content).take(limits::MISMATCHES_TOLD);
        wrong
            .map(|error| Mismatch {
                pointer: error.instance_path().to_string(),
                reason: short(error.masked().to_string()),
            })
            .collect()
    }
}

/// How many there are, counted no further than a little beyond `most`. What was read as JSON is not
/// deep.
fn values(content: &Value, most: usize) -> usize {
    let inner: &mut dyn Iterator<Item = &Value> = match content {
        Value::Array(elements) => &mut elements.iter(),
        Value::Object(fields) => &mut fields.values(),
        _ => return 1,
    };
    let mut sum = 1;
    for value in inner {
        if sum > most {
            break;
        }
        sum += values(value, most - sum.min(most));
    }
    sum
}

fn short(text: String) -> String {
    let end = text.char_indices().nth(limits::ERROR_CHARACTERS_KEPT);
    match end {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text,
    }
}

#[cfg(test)]
mod tests;
