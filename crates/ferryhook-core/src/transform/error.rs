//! What can be wrong with a transform: when it is saved, and when it is run.

use std::time::Duration;

use serde_json::{Map, Value};

use super::limits;
use crate::outgoing::BadHeader;

/// Why a transform is refused when it is saved, and where in it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{}{message}", self.place())]
pub struct BadTransform {
    /// A JSON pointer into the transform; empty for the whole.
    pub pointer: String,
    /// In a script: line and column, both from 1.
    pub position: Option<(u32, u32)>,
    pub message: String,
}

impl BadTransform {
    pub(super) fn new(pointer: impl Into<String>, message: impl Into<String>) -> Self {
        Self { pointer: pointer.into(), position: None, message: message.into() }
    }

    fn place(&self) -> String {
        match (self.pointer.as_str(), self.position) {
            ("", None) => String::new(),
            (pointer, None) => format!("at {pointer}: "),
            (pointer, Some((line, column))) => {
                format!("at {pointer}, line {line}, column {column}: ")
            }
        }
    }
}

/// A run that failed. What a script had said until then is there to find out why.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[error("{fault}")]
pub struct TransformError {
    pub fault: Fault,
    pub console: Vec<String>,
}

impl TransformError {
    /// Whether it was not run for a reason that passes, which says nothing about this event:
    /// then it can be put off, and is no failure.
    pub const fn is_ours(&self) -> bool {
        matches!(self.fault, Fault::Busy | Fault::Resting | Fault::Stopping)
    }
}

impl From<Fault> for TransformError {
    fn from(fault: Fault) -> Self {
        Self { fault, console: Vec::new() }
    }
}

/// Why a run failed. The words are for the owner of the transform.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Fault {
    #[error("the body cannot be transformed: {0}")]
    Body(String),
    #[error("{path} is required, and the event has no such value")]
    Missing { path: String },
    #[error("the transform made more than {} bytes", limits::OUTPUT_BYTES_MAX)]
    TooLarge,
    #[error("the transform takes more work than one event may: {0}")]
    TooMuch(String),
    #[error("{0}")]
    Shape(String),
    #[error("the script took more than {} ms of processor time", .0.as_millis())]
    Time(Duration),
    #[error("the script needs more memory than it may have")]
    Memory,
    #[error("the script calls itself too deeply, or made something that is nested too deeply")]
    Stack,
    /// What the script threw; `position` and `stack` are lines of the script.
    #[error("{}{message}", line(*.position))]
    Thrown { message: String, position: Option<(u32, u32)>, stack: Vec<String> },
    /// Its thread was given up: the script is inside of something that does not look at the clock.
    #[error("the script did not end within {} s and was left behind", .0.as_secs())]
    Overdue(Duration),
    #[error("the script did not end when it was last run, and is not run again for a while")]
    Resting,
    #[error("too many scripts are waiting for their turn")]
    Busy,
    #[error("the server is stopping")]
    Stopping,
    #[error("the transform broke down; this is a mistake in Ferryhook")]
    Broken,
    #[error("the transform may not set this header: {0}")]
    Header(#[from] BadHeader),
}

impl Fault {
    /// A word for counters.
    pub const fn code(&self) -> &'static str {
        match self {
            Fault::Body(_) => "body",
            Fault::Missing { .. } => "missing",
            Fault::TooLarge => "too_large",
            Fault::TooMuch(_) => "too_much",
            Fault::Shape(_) => "shape",
            Fault::Time(_) => "time",
            Fault::Memory => "memory",
            Fault::Stack => "stack",
            Fault::Thrown { .. } => "thrown",
            Fault::Overdue(_) => "overdue",
            Fault::Resting => "resting",
            Fault::Busy => "busy",
            Fault::Stopping => "stopping",
            Fault::Broken => "broken",
            Fault::Header(_) => "header",
        }
    }
}

fn line(position: Option<(u32, u32)>) -> String {
    position.map_or_else(String::new, |(line, column)| format!("line {line}, column {column}: "))
}

/// Refuses a field that nothing would look at: it is a slip, and would do nothing silently.
pub(super) fn only(
    fields: &Map<String, Value>,
    pointer: &str,
    known: &[&str],
) -> Result<(), BadTransform> {
    match fields.keys().find(|name| !known.contains(&name.as_str())) {
        None => Ok(()),
        Some(name) => Err(BadTransform::new(
            below(pointer, name),
            format!("no such field; known here: {}", known.join(", ")),
        )),
    }
}

/// The pointer of a field, escaped as RFC 6901 says.
pub(super) fn below(pointer: &str, name: &str) -> String {
    format!("{pointer}/{}", name.replace('~', "~0").replace('/', "~1"))
}
