//! Regular expressions: linear in the text, bounded in size, compiled when a rule is saved.

use regex::{Regex, RegexBuilder};
use std::borrow::Cow;

use super::{REGEX_BYTES_MAX, REGEX_MEMORY_BYTES_MAX};

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BadRegex {
    #[error("a regular expression has at most {REGEX_BYTES_MAX} bytes, not {0}")]
    TooLong(usize),
    #[error("the regular expression is too large once compiled; use smaller repetitions")]
    TooLarge,
    #[error("not a regular expression: {0}")]
    Malformed(String),
}

/// Found anywhere in a text unless it is anchored with `^` and `$`.
pub fn compile(pattern: &str) -> Result<Regex, BadRegex> {
    if pattern.len() > REGEX_BYTES_MAX {
        return Err(BadRegex::TooLong(pattern.len()));
    }
    build(pattern)
}

fn build(pattern: &str) -> Result<Regex, BadRegex> {
    let built = RegexBuilder::new(pattern)
        .size_limit(REGEX_MEMORY_BYTES_MAX)
        .dfa_size_limit(REGEX_MEMORY_BYTES_MAX)
        .nest_limit(50)
        .build();
    built.map_err(|error| match error {
        regex::Error::CompiledTooBig(_) => BadRegex::TooLarge,
        error => BadRegex::Malformed(last_line(&error.to_string())),
    })
}

/// The error comes with a drawing of the place; only its last line says what is wrong.
fn last_line(error: &str) -> String {
    let line = error.lines().last().unwrap_or_default();
    line.strip_prefix("error: ").unwrap_or(line).to_owned()
}

/// For the functions of a path: RFC 9485, whose dot is neither line feed nor carriage return. What
/// is not a pattern matches nothing.
pub(super) fn of_path(pattern: &str, is_whole: bool) -> Option<Regex> {
    if pattern.len() > REGEX_BYTES_MAX {
        return None;
    }
    let pattern = dots_replaced(pattern);
    let whole = if is_whole { format!(r"\A(?:{pattern})\z") } else { pattern.into_owned() };
    build(&whole).ok()
}

fn dots_replaced(pattern: &str) -> Cow<'_, str> {
    if !pattern.contains('.') {
        return pattern.into();
    }
    let mut replaced = String::with_capacity(pattern.len() + 16);
    let (mut is_escaped, mut is_class) = (false, false);
    for character in pattern.chars() {
        match character {
            '.' if !is_escaped && !is_class => replaced.push_str(r"[^\n\r]"),
            _ => replaced.push(character),
        }
        match character {
            _ if is_escaped => is_escaped = false,
            '\\' => is_escaped = true,
            '[' => is_class = true,
            ']' => is_class = false,
            _ => {}
        }
    }
    replaced.into()
}
