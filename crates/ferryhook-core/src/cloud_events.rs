//! CloudEvents over HTTP: in which of its three forms an event comes, and what its attributes are.
//!
//! Asked by the rules that read an event's id and type (`cloudevent.id`), and by [`split`], which
//! takes batches apart. It looks and never refuses: what is no CloudEvent has no attributes.
//!
//! [`split`]: crate::split

use std::borrow::Cow;

use crate::Headers;

const EVENT: &str = "application/cloudevents";
const BATCH: &str = "application/cloudevents-batch";
const REQUIRED: [&str; 4] = ["ce-id", "ce-source", "ce-specversion", "ce-type"];

/// How an event travels.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    /// Its attributes are headers, its data is the body.
    Binary,
    /// The body is the event as a whole.
    Structured,
    /// The body is a list of such.
    Batch,
}

impl Mode {
    /// `None`: this is no CloudEvent.
    pub fn of(headers: &Headers) -> Option<Self> {
        Self::of_content_type(headers.find("content-type")).or_else(|| {
            let is_binary = REQUIRED.iter().all(|name| headers.find(name).is_some());
            is_binary.then_some(Self::Binary)
        })
    }

    /// As far as the type of the content tells.
    pub fn of_content_type(content_type: Option<&str>) -> Option<Self> {
        let content_type = content_type?.trim_start();
        let starts = |with: &str| {
            content_type.get(..with.len()).is_some_and(|start| start.eq_ignore_ascii_case(with))
        };
        match () {
            () if starts(BATCH) => Some(Self::Batch),
            () if starts(EVENT) => Some(Self::Structured),
            () => None,
        }
    }
}

/// The attribute that a header carries: without its quotes, if it has any, and with its escapes
/// resolved, once. `None` where that makes no text.
pub fn attribute(value: &str) -> Option<Cow<'_, str>> {
    let value = value.trim();
    let inner = value.strip_prefix('"').and_then(|rest| rest.strip_suffix('"'));
    match inner {
        Some(quoted) => unescaped(quoted).and_then(|text| match text {
            Cow::Borrowed(text) => percent_decoded(text),
            Cow::Owned(text) => percent_decoded(&text).map(|text| text.into_owned().into()),
        }),
        None => percent_decoded(value),
    }
}

/// A backslash stands for the character behind it. A quote in the middle ends the string too
/// soon, and then it is none.
fn unescaped(quoted: &str) -> Option<Cow<'_, str>> {
    if !quoted.contains(['\\', '"']) {
        return Some(quoted.into());
    }
    let mut text = String::with_capacity(quoted.len());
    let mut characters = quoted.chars();
    while let Some(character) = characters.next() {
        match character {
            '\\' => text.push(characters.next()?),
            '"' => return None,
            other => text.push(other),
        }
    }
    Some(text.into())
}

/// A percent sign that starts no escape is itself.
fn percent_decoded(text: &str) -> Option<Cow<'_, str>> {
    if !text.contains('%') {
        return Some(text.into());
    }
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((&byte, behind)) = rest.split_first() {
        let escaped = if byte == b'%' { escape(behind) } else { None };
        bytes.push(escaped.unwrap_or(byte));
        rest = if escaped.is_some() { &behind[2..] } else { behind };
    }
    String::from_utf8(bytes).ok().map(Cow::Owned)
}

fn escape(behind: &[u8]) -> Option<u8> {
    let digit = |at: usize| char::from(*behind.get(at)?).to_digit(16);
    u8::try_from(digit(0)? << 4 | digit(1)?).ok()
}

#[cfg(test)]
mod tests;
