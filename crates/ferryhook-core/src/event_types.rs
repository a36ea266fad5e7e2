//! Event types: which of them a connection wants, as a list with wildcards.
//!
//! `order.*` is everything that starts with `order.`, `*` is everything, anything else is itself.
//! A star stands for any run of characters, none included. Compiled once, matched in linear time.

/// Patterns of one connection, and the length of each.
pub const PATTERNS_MAX: usize = 100;
pub const PATTERN_BYTES_MAX: usize = 256;

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BadPattern {
    #[error("a connection lists at most {PATTERNS_MAX} event types, not {0}")]
    TooMany(usize),
    #[error("an event type has at most {PATTERN_BYTES_MAX} bytes, not {0}")]
    TooLong(usize),
    #[error("an event type must not be empty; leave the list empty to get every event")]
    Empty,
    #[error("the event type {0:?} has a control character in it")]
    Control(String),
}

/// The list, ready to be asked.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct EventTypes(Vec<Pattern>);

#[derive(Debug, Clone, PartialEq, Eq)]
enum Pattern {
    Any,
    Exact(String),
    /// What stands before the first star, between the stars, and behind the last.
    Stars {
        start: String,
        middle: Vec<String>,
        end: String,
    },
}

impl EventTypes {
    pub fn compile(written: &[String]) -> Result<Self, BadPattern> {
        if written.len() > PATTERNS_MAX {
            return Err(BadPattern::TooMany(written.len()));
        }
        written.iter().map(|text| Pattern::compile(text)).collect::<Result<_, _>>().map(Self)
    }

    /// An empty list wants everything. An event whose type is not known is wanted only by that
    /// and by `*`.
    pub fn wants(&self, event_type: Option<&str>) -> bool {
        self.0.is_empty() || self.0.iter().any(|pattern| pattern.matches(event_type))
    }
}

impl Pattern {
    fn compile(text: &str) -> Result<Self, BadPattern> {
        if text.is_empty() {
            return Err(BadPattern::Empty);
        }
        if text.len() > PATTERN_BYTES_MAX {
            return Err(BadPattern::TooLong(text.len()));
        }
        if text.contains(char::is_control) {
            return Err(BadPattern::Control(text.to_owned()));
        }
        let Some((start, rest)) = text.split_once('*') else {
            return Ok(Self::Exact(text.to_owned()));
        };
        let (middle, end) = rest.rsplit_once('*').unwrap_or(("", rest));
        let middle: Vec<_> =
            middle.split('*').filter(|piece| !piece.is_empty()).map(str::to_owned).collect();
        if start.is_empty() && middle.is_empty() && end.is_empty() {
            return Ok(Self::Any);
        }
        Ok(Self::Stars { start: start.to_owned(), middle, end: end.to_owned() })
    }

    fn matches(&self, event_type: Option<&str>) -> bool {
        match (self, event_type) {
            (Self::Any, _) => true,
            (_, None) => false,
            (Self::Exact(text), Some(event_type)) => text == event_type,
            (Self::Stars { start, middle, end }, Some(event_type)) => {
                let inside =
                    event_type.strip_prefix(&**start).and_then(|rest| rest.strip_suffix(&**end));
                // The leftmost place for each piece leaves the most room for the next, so there is
                // nothing to try again.
                let left = inside.and_then(|inside| {
                    middle.iter().try_fold(inside, |rest, piece| {
                        rest.find(&**piece).map(|at| &rest[at + piece.len()..])
                    })
                });
                left.is_some()
            }
        }
    }
}

#[cfg(test)]
mod tests;
