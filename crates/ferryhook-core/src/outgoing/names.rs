//! Which header names mean what: those that end with us, and those that nobody else may set.

use super::{CUSTOM_MAX, CUSTOM_NAME_BYTES_MAX, CUSTOM_VALUE_BYTES_MAX};

/// Why a connection may not have a header. Never quotes the value, which may be a credential.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BadHeader {
    #[error("a connection adds at most {CUSTOM_MAX} headers, not {0}")]
    TooMany(usize),
    #[error("a header name has at most {CUSTOM_NAME_BYTES_MAX} bytes")]
    NameTooLong,
    #[error("{0:?} is not a header name: letters, digits and !#$%&'*+-.^_`|~ only")]
    Name(String),
    #[error("the value of {0} has more than {CUSTOM_VALUE_BYTES_MAX} bytes")]
    ValueTooLong(String),
    #[error("the value of {0} has a line break, NUL or other control character in it")]
    Value(String),
    #[error("{0} belongs to the transport of each request and cannot be set")]
    Transport(String),
    #[error("{0} is set by Ferryhook and cannot be replaced")]
    Ours(String),
    #[error("{0} is not passed on from an event; make it a header of the connection")]
    NotPassedOn(String),
}

/// How a message is framed and carried from one hop to the next.
const TRANSPORT: [&str; 11] = [
    "connection",
    "content-length",
    "expect",
    "host",
    "http2-settings",
    "keep-alive",
    "proxy-connection",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
];
const TRANSPORT_PREFIX: &str = "proxy-";

/// What we say in our own name.
const OURS: [&str; 3] = ["traceparent", "tracestate", "user-agent"];
const OURS_PREFIXES: [&str; 2] = ["x-ferryhook-", "webhook-"];

/// What a sender says to us only: credentials, what it can read of an answer, and what proxies
/// noted about it on the way. Its content type goes on, but not from here.
const FOR_US: [&str; 6] =
    ["accept-encoding", "authorization", "content-type", "cookie", "forwarded", "x-real-ip"];
const FOR_US_PREFIXES: [&str; 2] = ["x-forwarded-", "cf-"];

/// Whether a sender's header stops at us.
pub(super) fn ends_here(name: &str) -> bool {
    is_any(name, &FOR_US) || starts_with_any(name, &FOR_US_PREFIXES) || reserved(name).is_some()
}

pub(super) fn check_reserved(name: &str) -> Result<(), BadHeader> {
    match reserved(name) {
        None => Ok(()),
        Some(Reserved::Transport) => Err(BadHeader::Transport(name.to_owned())),
        Some(Reserved::Ours) => Err(BadHeader::Ours(name.to_owned())),
    }
}

enum Reserved {
    Transport,
    Ours,
}

fn reserved(name: &str) -> Option<Reserved> {
    if is_any(name, &TRANSPORT) || starts_with_any(name, &[TRANSPORT_PREFIX]) {
        Some(Reserved::Transport)
    } else if is_any(name, &OURS) || starts_with_any(name, &OURS_PREFIXES) {
        Some(Reserved::Ours)
    } else {
        None
    }
}

fn is_any(name: &str, names: &[&str]) -> bool {
    names.iter().any(|other| name.eq_ignore_ascii_case(other))
}

fn starts_with_any(name: &str, prefixes: &[&str]) -> bool {
    let starts = |prefix: &&str| {
        name.get(..prefix.len()).is_some_and(|start| start.eq_ignore_ascii_case(prefix))
    };
    prefixes.iter().any(starts)
}

/// The `token` of RFC 9110.
pub(super) fn is_token(name: &str) -> bool {
    let is_part = |byte: u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte);
    !name.is_empty() && name.bytes().all(is_part)
}

/// Nothing that could end a line, or that a peer might read as if it did. A tab is allowed.
pub(super) fn is_clean(value: &str) -> bool {
    !value.contains(|character: char| character.is_control() && character != '\t')
}

/// The same of bytes that are nobody's text.
pub(super) fn are_clean(value: &[u8]) -> bool {
    !value.iter().any(|byte| byte.is_ascii_control() && *byte != b'\t')
}
