//! Outgoing: the headers a destination gets with one attempt.
//!
//! First what the sender said, except what was meant for us or would give something away; then
//! what the connection adds, which may replace the former; then ours, which nobody replaces.
//! Pushed one by one, so that whoever sends can fill its own kind of map.

mod names;

use std::borrow::Cow;

use crate::hops::{self, Hops};
use crate::signature::Signed;
use crate::traceparent::{self, Traceparent};
use crate::{Connection, Event, Headers, Timestamp};

pub use names::BadHeader;

pub const EVENT_ID: &str = "x-ferryhook-event-id";
pub const TIMESTAMP: &str = "x-ferryhook-timestamp";
pub const SIGNATURE: &str = "x-ferryhook-signature";
pub const ATTEMPT: &str = "x-ferryhook-attempt";
pub const STANDARD_ID: &str = "webhook-id";
pub const STANDARD_TIMESTAMP: &str = "webhook-timestamp";
pub const STANDARD_SIGNATURE: &str = "webhook-signature";

const CONTENT_TYPE: &str = "content-type";
const USER_AGENT: &str = "user-agent";

/// What a connection adds to every request: how many headers, and how long each is.
pub const CUSTOM_MAX: usize = 50;
pub const CUSTOM_NAME_BYTES_MAX: usize = 128;
pub const CUSTOM_VALUE_BYTES_MAX: usize = 4096;

/// One attempt that is about to leave.
#[derive(Debug, Clone, Copy)]
pub struct Leaving<'a> {
    pub event: &'a Event,
    /// The same as it came, before a transform made something else of it.
    pub came: &'a Event,
    pub connection: &'a Connection,
    /// What is sent, which a transform may have made of the event's own body.
    pub body: &'a [u8],
    pub signed: &'a Signed,
    pub at: Timestamp,
    pub attempt: u16,
    /// The span of this attempt.
    pub trace: Option<Traceparent>,
    /// Such as `Ferryhook/1.0`.
    pub user_agent: &'a str,
}

/// Every header of the attempt, in order. A name comes twice only where the sender or the
/// connection said it twice. Our own names are in lower case.
///
/// How often the event has been sent on, and which trace it belongs to, is told by what came: a
/// transform that leaves those headers out must not make a circle endless.
pub fn headers<'a>(leaving: &Leaving<'a>, mut push_bytes: impl FnMut(&'a str, Cow<'a, [u8]>)) {
    let Leaving { event, came, connection, signed, .. } = *leaving;
    forwarded(leaving, &mut push_bytes);
    for (name, value) in custom(&connection.headers) {
        push_bytes(name, value.as_bytes().into());
    }
    if !is_replaced(CONTENT_TYPE, &connection.headers) {
        push_bytes(CONTENT_TYPE, content_type(event, came, leaving.body));
    }

    let mut push = |name, value: Cow<'a, str>| {
        let bytes = match value {
            Cow::Borrowed(text) => text.as_bytes().into(),
            Cow::Owned(text) => text.into_bytes().into(),
        };
        push_bytes(name, bytes);
    };
    push(USER_AGENT, leaving.user_agent.into());
    push(EVENT_ID, event.id.as_str().into());
    push(TIMESTAMP, leaving.at.as_millis().to_string().into());
    push(SIGNATURE, signed.ferryhook.as_str().into());
    push(ATTEMPT, leaving.attempt.to_string().into());
    push(hops::HEADER, Hops::of(&came.headers).next().to_string().into());
    push(STANDARD_ID, event.id.as_str().into());
    push(STANDARD_TIMESTAMP, signed.timestamp.to_string().into());
    push(STANDARD_SIGNATURE, signed.standard.as_str().into());
    if let Some(trace) = leaving.trace {
        push(traceparent::HEADER, trace.to_string().into());
        // Only beside the trace it came with: it says nothing about another.
        let arrived = Traceparent::of(&came.headers);
        if arrived.is_some_and(|arrived| arrived.trace_id() == trace.trace_id())
            && let Some(state) = traceparent::state(&came.headers)
        {
            push(traceparent::STATE_HEADER, state.into());
        }
    }
}

/// Whether a connection may be given this header, asked when it is configured.
pub fn check_custom(name: &str, value: &str) -> Result<(), BadHeader> {
    if name.len() > CUSTOM_NAME_BYTES_MAX {
        return Err(BadHeader::NameTooLong);
    }
    if !names::is_token(name) {
        return Err(BadHeader::Name(name.to_owned()));
    }
    if value.len() > CUSTOM_VALUE_BYTES_MAX {
        return Err(BadHeader::ValueTooLong(name.to_owned()));
    }
    if !names::is_clean(value) {
        return Err(BadHeader::Value(name.to_owned()));
    }
    names::check_reserved(name)
}

/// Whether a transform may give this header to an event: what a connection may have, except what
/// is never passed on from an event.
pub fn check_made(name: &str, value: &str) -> Result<(), BadHeader> {
    check_custom(name, value)?;
    match names::ends_here(name) {
        true => Err(BadHeader::NotPassedOn(name.to_owned())),
        false => Ok(()),
    }
}

/// The same for all headers of a connection.
pub fn check_all_custom(headers: &Headers) -> Result<(), BadHeader> {
    if headers.len() > CUSTOM_MAX {
        return Err(BadHeader::TooMany(headers.len()));
    }
    headers.iter().try_for_each(|(name, value)| check_custom(name, value))
}

fn forwarded<'a>(leaving: &Leaving<'a>, push: &mut impl FnMut(&'a str, Cow<'a, [u8]>)) {
    let Leaving { event: Event { headers: sent, .. }, came, connection, .. } = *leaving;
    let custom = &connection.headers;
    // Names that the sender declared to be between it and us.
    let connection = || sent.iter().filter(|(name, _)| name.eq_ignore_ascii_case("connection"));
    let has_connection = connection().next().is_some();
    let named = |name: &str| {
        let mut tokens = connection().flat_map(|(_, value)| value.split(',')).map(str::trim);
        has_connection && tokens.any(|token| token.eq_ignore_ascii_case(name))
    };
    for (name, value) in sent.iter() {
        let ends_here = names::ends_here(name) || named(name) || is_replaced(name, custom);
        if !ends_here
            && names::is_token(name)
            && let Some(value) = clean(value, came)
        {
            push(name, value);
        }
    }
}

/// A value as it goes onto the line, unless there is a control character in it. What the sender
/// said is stored one character for each byte, and leaves as those bytes, also where a transform
/// has put it under another name. What a transform says itself is text, and leaves as UTF-8.
fn clean<'a>(value: &'a str, came: &Event) -> Option<Cow<'a, [u8]>> {
    let is_senders = || {
        let mut said =
            came.headers.iter().map(|(_, said)| said).chain(came.content_type.as_deref());
        said.any(|said| said == value)
    };
    if !value.is_ascii() && is_senders() {
        let bytes: Option<Vec<u8>> = value.chars().map(|byte| u8::try_from(byte).ok()).collect();
        // No byte ends a line that is not a control character of ASCII.
        return bytes.filter(|bytes| names::are_clean(bytes)).map(Cow::Owned);
    }
    names::is_clean(value).then(|| value.as_bytes().into())
}

/// Checked when it was configured, and again here: what is stored may be older than a rule.
fn custom(headers: &Headers) -> impl Iterator<Item = (&str, &str)> {
    headers.iter().take(CUSTOM_MAX).filter(|(name, value)| check_custom(name, value).is_ok())
}

fn is_replaced(name: &str, by: &Headers) -> bool {
    by.find(name).is_some() && custom(by).any(|(own, _)| own.eq_ignore_ascii_case(name))
}

/// The sender's, or what the first character suggests.
fn content_type<'a>(event: &'a Event, came: &Event, body: &[u8]) -> Cow<'a, [u8]> {
    let said = event.content_type.as_deref().or_else(|| event.headers.find(CONTENT_TYPE));
    let said = said.filter(|value| !value.trim().is_empty());
    said.and_then(|value| clean(value, came)).unwrap_or_else(|| {
        let suggested = match body.trim_ascii_start().first() {
            Some(b'{' | b'[') => "application/json",
            _ => "application/octet-stream",
        };
        suggested.as_bytes().into()
    })
}

#[cfg(test)]
mod tests;
