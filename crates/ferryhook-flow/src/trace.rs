//! Trace: spans of what came in and of what was sent, for whoever collects them.
//!
//! Filled by [`ingest`](crate::ingest) and by each attempt, emptied by an exporter that lives
//! outside. Never makes anybody wait: what the exporter cannot keep up with is dropped and counted.
//!
//! Nothing of a trace is stored. The span in which an event was taken in follows from the event's
//! id (and the trace from what the sender said, or else from that id as well), so that an attempt
//! finds it days later, in another process.

use std::borrow::Cow;
use std::time::Duration;

use aws_lc_rs::digest;
use ferryhook_core::traceparent::Traceparent;
use ferryhook_core::{Env, Event, Id, Timestamp};
use hyper::Method;
use metrics::Counter;
use tokio::sync::mpsc;

use crate::limits;

/// Something that took time, as OpenTelemetry has it. Holds no bodies and no secrets.
#[derive(Debug, Clone, PartialEq)]
pub struct Span {
    pub trace_id: [u8; 16],
    pub span_id: [u8; 8],
    pub parent: Option<[u8; 8]>,
    pub links: Vec<Link>,
    pub name: Cow<'static, str>,
    pub kind: Kind,
    pub start: Timestamp,
    /// Measured apart from `start`, because clocks of the day jump.
    pub took: Duration,
    pub attributes: Vec<(&'static str, Value)>,
    /// The kind of error, of those there are few, if it ended in one.
    pub error: Option<Cow<'static, str>>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Link {
    pub trace_id: [u8; 16],
    pub span_id: [u8; 8],
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    Internal,
    Server,
    Client,
}

#[derive(Debug, Clone, PartialEq)]
pub enum Value {
    Text(Cow<'static, str>),
    Number(i64),
    Flag(bool),
}

/// Where spans go. Cheap to clone.
#[derive(Clone)]
pub struct Sink {
    spans: mpsc::Sender<Span>,
    dropped: Counter,
}

/// A sink, and the end at which its spans come out.
pub fn channel() -> (Sink, mpsc::Receiver<Span>) {
    let (spans, out) = mpsc::channel(limits::SPANS_MAX);
    (Sink { spans, dropped: dropped() }, out)
}

/// Spans that nobody will see.
pub fn dropped() -> Counter {
    metrics::describe_counter!(
        "ferryhook_spans_dropped_total",
        "Spans that the collector of traces did not take in time."
    );
    metrics::counter!("ferryhook_spans_dropped_total")
}

impl Sink {
    pub(crate) fn put(&self, span: Span) {
        if self.spans.try_send(span).is_err() {
            self.dropped.increment(1);
        }
    }
}

/// The span in which an event was taken in. `arrived` is what its sender said.
pub(crate) fn origin(event: Id<Event>, arrived: Option<Traceparent>) -> Traceparent {
    let hash = digest::digest(&digest::SHA256, event.as_str().as_bytes());
    let (mut trace_id, mut span_id) = ([0; 16], [0; 8]);
    trace_id.copy_from_slice(&hash.as_ref()[..16]);
    span_id.copy_from_slice(&hash.as_ref()[16..24]);
    match arrived {
        Some(arrived) => arrived.child(span_id),
        None => Traceparent::root(trace_id, span_id, true),
    }
}

pub(crate) fn link(to: Traceparent) -> Link {
    Link { trace_id: to.trace_id(), span_id: to.span_id() }
}

pub(crate) fn random<const N: usize>(env: &Env) -> [u8; N] {
    let mut id = [0; N];
    env.fill(&mut id);
    id[0] |= 1; // zeros mean none
    id
}

pub(crate) fn text(value: &(impl ToString + ?Sized)) -> Value {
    Value::Text(value.to_string().into())
}

/// For `http.request.method`, and to start a name with: both may have few values only, and anybody
/// can invent a method.
pub(crate) fn method_names(method: &Method) -> (&'static str, &'static str) {
    const KNOWN: [&str; 9] =
        ["GET", "HEAD", "POST", "PUT", "DELETE", "CONNECT", "OPTIONS", "TRACE", "PATCH"];
    let known = KNOWN.into_iter().find(|known| *known == method.as_str());
    known.map_or(("_OTHER", "HTTP"), |known| (known, known))
}

impl std::fmt::Debug for Sink {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Sink").field("room", &self.spans.capacity()).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests;
