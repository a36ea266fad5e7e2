//! Filter: whether a connection wants an event, by what the event says.
//!
//! Two ways to write one, one tree that both become. A list of rules:
//! `[{"path": "$.amount", "operator": "gt", "value": 100}]`, in groups of `all`, `any` and `not`.
//! Or the shape that an event must have, with operators that start with `$`:
//! `{"body": {"amount": {"$gt": 100}}}`. The language is in `docs/filters.md`.
//!
//! Parsed when a connection is saved, which is when a bad one is refused, with its place; asked by
//! `plan` for every event. Never fails on an event: what is not there does not match. Never takes
//! longer than [`EFFORT_MAX`] allows: a filter that would does not match.

mod explain;
mod parse;
mod part;
mod rule;
mod seen;
mod shape;

use std::ops::ControlFlow;

use part::Part;
use rule::Rule;
use shape::Shape;

use crate::json_path::{Effort, Stop};

pub use explain::{Explained, Explanation};
pub use parse::BadFilter;
pub use seen::{BodyKind, Seen};

/// A filter as it is written.
pub const FILTER_BYTES_MAX: usize = 32 * 1024;
/// Groups and fields inside of each other.
pub const DEPTH_MAX: usize = 32;
/// Rules, groups, fields and operators, all together.
pub const CLAUSES_MAX: usize = 256;
/// Each may take some memory once it is compiled.
pub const REGEXES_MAX: usize = 32;
/// What one decision may look at: values, and texts by the sixteen bytes.
pub const EFFORT_MAX: usize = 2_000_000;

/// Compiled.
#[derive(Debug, Clone)]
pub struct Filter {
    root: Clause,
}

#[derive(Debug, Clone)]
enum Clause {
    All(String, Vec<Clause>),
    Any(String, Vec<Clause>),
    Not(String, Box<Clause>),
    Rule(Rule),
    /// The shape of one part of the event.
    Part(Part, Shape),
}

type Asked<T> = ControlFlow<Stop, T>;

impl Filter {
    pub fn parse(text: &str) -> Result<Self, BadFilter> {
        parse::filter(text).map(|root| Self { root })
    }

    pub fn matches(&self, seen: &Seen<'_>) -> bool {
        let effort = Effort::new(EFFORT_MAX);
        matches!(self.root.holds(seen, &effort), ControlFlow::Continue(true))
    }

    /// The verdict and what led to it: every clause, also those that did not matter any more.
    pub fn explain(&self, seen: &Seen<'_>) -> Explanation {
        explain::explanation(self, seen)
    }
}

impl Clause {
    /// At most as deep as a filter may be written.
    fn holds(&self, seen: &Seen<'_>, effort: &Effort) -> Asked<bool> {
        Asked::Continue(match self {
            Clause::All(_, clauses) => {
                for clause in clauses {
                    if !clause.holds(seen, effort)? {
                        return Asked::Continue(false);
                    }
                }
                true
            }
            Clause::Any(_, clauses) => {
                for clause in clauses {
                    if clause.holds(seen, effort)? {
                        return Asked::Continue(true);
                    }
                }
                false
            }
            Clause::Not(_, clause) => !clause.holds(seen, effort)?,
            Clause::Rule(rule) => rule.holds(seen, effort)?,
            Clause::Part(part, shape) => shape.holds(seen.part(*part), effort)?,
        })
    }
}

#[cfg(test)]
mod tests;
