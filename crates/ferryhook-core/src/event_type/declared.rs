//! A declared schema: what its owner says events of a type must look like.
//!
//! Checked against what anybody may send, with a schema that somebody typed. So that none can hold
//! the door up, a schema is bounded when it is declared: how large it is, how many parts of it look
//! at a value, that none of them comes back to itself, and that nothing has to be fetched. And what
//! a check would cost is known before it is made: a request has a [`Budget`] for all its events.

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
    work: bounds::Work,
}

/// The steps that checks may still take, for all events that came together.
#[derive(Debug)]
pub struct Budget {
    left: usize,
}

impl Default for Budget {
    fn default() -> Self {
        Self { left: limits::SCHEMA_CHECK_STEPS_MAX }
    }
}

/// It was not checked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("to check it would take too long")]
pub struct TooLong;

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
        let work = bounds::work(schema)?;
        let built = built(schema, limits::SCHEMA_PATTERN_BYTES_MAX);
        let validator = built.map_err(|error| BadSchema {
            pointer: error.instance_path().to_string(),
            reason: short(error.masked().to_string()),
        })?;
        Ok(Self { validator, work })
    }

    /// Pays for one look at this content; how many steps it takes at most. Nothing is spent on what
    /// is too dear, so that others that came with it are still checked.
    pub fn spend(&self, content: &Value, budget: &mut Budget) -> Result<usize, TooLong> {
        let mut steps = 0;
        self.add_steps(content, budget.left, &mut steps);
        budget.left = budget.left.checked_sub(steps).ok_or(TooLong)?;
        Ok(steps)
    }

    /// The first few places where it does not fit; none if it fits. Whoever asks has paid for it.
    pub fn mismatches(&self, content: &Value) -> Vec<Mismatch> {
        let wrong = self.validator.iter_errors(content).take(limits::MISMATCHES_TOLD);
        wrong
            .map(|error| Mismatch {
                pointer: error.instance_path().to_string(),
                reason: short(error.masked().to_string()),
            })
            .collect()
    }

    /// Counted no further than a little beyond `most`. What was read as JSON is not deep.
    fn add_steps(&self, content: &Value, most: usize, steps: &mut usize) {
        *steps = steps.saturating_add(self.work.of_a_value);
        match content {
            Value::String(text) => *steps = steps.saturating_add(self.steps_of_text(text)),
            Value::Array(elements) => {
                for element in elements {
                    if *steps > most {
                        return;
                    }
                    self.add_steps(element, most, steps);
                }
            }
            Value::Object(fields) => {
                for (name, value) in fields {
                    if *steps > most {
                        return;
                    }
                    *steps = steps.saturating_add(self.steps_of_text(name));
                    self.add_steps(value, most, steps);
                }
            }
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }

    fn steps_of_text(&self, text: &str) -> usize {
        text.len().saturating_mul(self.work.of_a_text) / limits::SCHEMA_TEXT_BYTES_PER_STEP
    }
}

/// Patterns may become so large.
fn built(
    schema: &Value,
    pattern_bytes_max: usize,
) -> Result<jsonschema::Validator, jsonschema::ValidationError<'_>> {
    let patterns = PatternOptions::regex()
        .size_limit(pattern_bytes_max)
        .dfa_size_limit(limits::SCHEMA_PATTERN_BYTES_MAX);
    jsonschema::options().with_pattern_options(patterns).build(schema)
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
