//! Traceparent: the thread by which a trace is followed through us, as W3C Trace Context writes it.
//!
//! Read strictly: what is not valid is as if it were not there, and the trace starts anew. Span
//! ids come from the caller, who has the dice.

use std::fmt;

use crate::Headers;

pub const HEADER: &str = "traceparent";
pub const STATE_HEADER: &str = "tracestate";

/// What is passed on of `tracestate`; whole members only.
pub const STATE_CHARACTERS_MAX: usize = 512;

/// `00-<trace id>-<span id>-<flags>` is 55 characters long, and later versions start with it.
const LENGTH: usize = 55;
/// Sampled, and "the trace id is random"; everything else means nothing yet and is not passed on.
const KNOWN_FLAGS: u8 = 0b11;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Traceparent {
    trace_id: [u8; 16],
    span_id: [u8; 8],
    flags: u8,
}

impl Traceparent {
    /// A trace that starts here. The ids must not be all zeros, so those become one.
    pub fn root(trace_id: [u8; 16], span_id: [u8; 8], sampled: bool) -> Self {
        Self { trace_id: non_zero(trace_id), span_id: non_zero(span_id), flags: u8::from(sampled) }
    }

    /// The one an arriving request carries. Two of them contradict each other: none.
    pub fn of(headers: &Headers) -> Option<Self> {
        let mut values = headers.iter().filter(|(name, _)| name.eq_ignore_ascii_case(HEADER));
        let (_, value) = values.next()?;
        values.next().is_none().then(|| Self::parse(value))?
    }

    pub fn parse(text: &str) -> Option<Self> {
        let text = text.as_bytes();
        let (head, rest) = text.split_at_checked(LENGTH)?;
        let [version] = hex(&head[..2])?;
        let is_known = match version {
            0 => rest.is_empty(),
            0xff => false,
            _ => rest.first().is_none_or(|byte| *byte == b'-'),
        };
        let dashes = head[2] == b'-' && head[35] == b'-' && head[52] == b'-';
        let trace_id = hex(&head[3..35])?;
        let span_id = hex(&head[36..52])?;
        let [flags] = hex(&head[53..])?;
        let ids = trace_id != [0; 16] && span_id != [0; 8];
        (is_known && dashes && ids).then_some(Self {
            trace_id,
            span_id,
            flags: flags & KNOWN_FLAGS,
        })
    }

    /// The same trace, one step further.
    pub fn child(self, span_id: [u8; 8]) -> Self {
        Self { span_id: non_zero(span_id), ..self }
    }

    pub fn trace_id(&self) -> [u8; 16] {
        self.trace_id
    }

    pub fn span_id(&self) -> [u8; 8] {
        self.span_id
    }

    pub fn is_sampled(&self) -> bool {
        self.flags & 1 == 1
    }
}

impl fmt::Display for Traceparent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let trace_id = u128::from_be_bytes(self.trace_id);
        let span_id = u64::from_be_bytes(self.span_id);
        write!(f, "00-{trace_id:032x}-{span_id:016x}-{:02x}", self.flags)
    }
}

/// What goes on of an arriving `tracestate`: its members in order, as many as fit.
pub fn state(headers: &Headers) -> Option<String> {
    let mut state = String::new();
    let values = headers.iter().filter(|(name, _)| name.eq_ignore_ascii_case(STATE_HEADER));
    for member in values.flat_map(|(_, value)| value.split(',')).map(str::trim) {
        let printable = member.bytes().all(|byte| (0x20..0x7f).contains(&byte));
        if member.is_empty() || !printable {
            continue;
        }
        let comma = usize::from(!state.is_empty());
        if state.len() + comma + member.len() > STATE_CHARACTERS_MAX {
            break;
        }
        if comma == 1 {
            state.push(',');
        }
        state.push_str(member);
    }
    (!state.is_empty()).then_some(state)
}

fn non_zero<const N: usize>(mut id: [u8; N]) -> [u8; N] {
    if id == [0; N] {
        id[N - 1] = 1;
    }
    id
}

/// Lower case only; the specification refuses anything else.
fn hex<const N: usize>(text: &[u8]) -> Option<[u8; N]> {
    let mut bytes = [0; N];
    for (byte, pair) in bytes.iter_mut().zip(text.chunks_exact(2)) {
        *byte = digit(pair[0])? << 4 | digit(pair[1])?;
    }
    Some(bytes)
}

fn digit(byte: u8) -> Option<u8> {
    match byte {
        b'0'..=b'9' => Some(byte - b'0'),
        b'a'..=b'f' => Some(byte - b'a' + 10),
        _ => None,
    }
}

#[cfg(test)]
mod tests;
