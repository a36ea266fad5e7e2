//! JSONPath (RFC 9535): which values of a document a path leads to.
//!
//! Compiled once, when a rule is saved. Selecting hands out values one after the other and stops
//! when the caller has seen enough; it builds no lists. Whatever path meets whatever document, the
//! caller's [`Effort`] ends it. Asked by filters; knows nothing of events.

mod compare;
mod parse;
mod regular;
mod scan;
mod select;

use regex::Regex;

use crate::json::Document;

pub use parse::BadPath;
pub use regular::{BadRegex, compile};
pub use select::{Effort, Flow, Stop};

/// One path as it is written, the steps in it, and how deep filters, brackets and functions may
/// stand inside of each other.
pub const PATH_BYTES_MAX: usize = 1024;
pub const SEGMENTS_MAX: usize = 64;
pub const SELECTORS_MAX: usize = 64;
pub const NESTING_MAX: usize = 12;
/// A pattern as it is written, and what it may take in memory once it is compiled.
pub const REGEX_BYTES_MAX: usize = 1024;
pub const REGEX_MEMORY_BYTES_MAX: usize = 256 * 1024;

/// Compiled.
#[derive(Debug, Clone)]
pub struct Path {
    segments: Vec<Segment>,
}

#[derive(Debug, Clone)]
struct Segment {
    selectors: Vec<Selector>,
    /// Written with two dots: below every value, however deep.
    is_descendant: bool,
}

#[derive(Debug, Clone)]
enum Selector {
    Name(String),
    Wildcard,
    Index(i64),
    Slice {
        start: Option<i64>,
        end: Option<i64>,
        step: i64,
    },
    Filter(Condition),
    /// `items.0`, which the standard does not have: the name or, in a list, the place.
    NameOrIndex(String, i64),
}

#[derive(Debug, Clone)]
enum Condition {
    Any(Vec<Condition>),
    All(Vec<Condition>),
    Not(Box<Condition>),
    Exists(Query),
    Compare(Operand, Comparison, Operand),
    Matches(Box<Match>),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Comparison {
    Equal,
    NotEqual,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
}

/// A path inside of a filter.
#[derive(Debug, Clone)]
struct Query {
    /// From the value that is filtered (`@`), or else from the root (`$`).
    is_relative: bool,
    segments: Vec<Segment>,
}

/// Something that is one value or nothing.
#[derive(Debug, Clone)]
enum Operand {
    Literal(Document<'static>),
    Single(Query),
    Length(Box<Operand>),
    Count(Query),
    Value(Query),
}

#[derive(Debug, Clone)]
struct Match {
    text: Operand,
    pattern: Pattern,
    /// `match`, not `search`.
    is_whole: bool,
}

#[derive(Debug, Clone)]
enum Pattern {
    Known(Regex),
    /// Not a pattern; by the standard it matches nothing.
    Never,
    /// In the document, of all places.
    Found(Operand),
}

impl Path {
    /// As the standard has it, from `$` on.
    pub fn parse(text: &str) -> Result<Self, BadPath> {
        parse::path(text)
    }

    /// What follows a root that is not written: `.data.id` or `[0].id`. Names may have anything in
    /// them that means nothing else in a path, such as dashes, and a number may stand behind a dot.
    pub fn parse_steps(text: &str) -> Result<Self, BadPath> {
        parse::steps(text)
    }

    /// Just a name, with whatever is in it.
    pub fn of_name(name: &str) -> Self {
        let selectors = vec![Selector::Name(name.to_owned())];
        Self { segments: vec![Segment { selectors, is_descendant: false }] }
    }

    pub fn is_root(&self) -> bool {
        self.segments.is_empty()
    }

    /// The name it starts with, if it starts with one.
    pub fn first_name(&self) -> Option<&str> {
        match &self.segments.first()?.selectors[..] {
            [Selector::Name(name)] if !self.segments[0].is_descendant => Some(name),
            _ => None,
        }
    }

    /// Without its first step.
    pub fn behind_first(&self) -> Self {
        Self { segments: self.segments.iter().skip(1).cloned().collect() }
    }

    /// With the names of its first step in lower case.
    pub fn with_lower_case_start(mut self) -> Self {
        for selector in self.segments.iter_mut().take(1).flat_map(|first| &mut first.selectors) {
            if let Selector::Name(name) = selector {
                name.make_ascii_lowercase();
            }
        }
        self
    }

    /// Leads to one value at most.
    pub fn is_singular(&self) -> bool {
        is_singular(&self.segments)
    }
}

fn is_singular(segments: &[Segment]) -> bool {
    segments.iter().all(|segment| {
        !segment.is_descendant
            && matches!(
                &segment.selectors[..],
                [Selector::Name(_) | Selector::Index(_) | Selector::NameOrIndex(..)]
            )
    })
}

#[cfg(test)]
mod tests;
