//! The span of one attempt, for those who collect traces.

use std::borrow::Cow;

use ferryhook_core::traceparent::Traceparent;
use ferryhook_core::{Delivery, Event, Timestamp};
use ferryhook_net::client::{Reply, Target, Unsent, Why};
use hyper::Method;

use crate::routes::Way;
use crate::trace::{self, Kind, Span, Value, text};

/// What was sent, and under which name in the trace.
pub(super) struct Sent<'a> {
    pub(super) event: &'a Event,
    pub(super) delivery: &'a Delivery,
    pub(super) way: &'a Way,
    pub(super) target: Option<&'a Target>,
    pub(super) method: &'a Method,
    pub(super) at: Timestamp,
    pub(super) own: Traceparent,
}

/// Both a child of the span in which its event was taken in and linked to it: it belongs there,
/// and may come days later.
pub(super) fn span(sent: &Sent<'_>, answered: &Result<Reply, Unsent>) -> Span {
    let origin = trace::origin(sent.event.id, Traceparent::of(&sent.event.headers));
    let (method, name) = trace::method_names(sent.method);
    let mut attributes = vec![("http.request.method", Value::Text(method.into()))];
    if let Some(target) = sent.target {
        // Its display leaves the query out.
        attributes.push(("url.full", text(target)));
        attributes.push(("server.address", text(target.host_name())));
        attributes.push(("server.port", Value::Number(target.port().into())));
    }
    let status = answered.as_ref().ok().map(|reply| reply.status);
    if let Some(status) = status {
        attributes.push(("http.response.status_code", Value::Number(status.into())));
    }
    if sent.delivery.attempts > 0 {
        let resent = Value::Number(sent.delivery.attempts.into());
        attributes.push(("http.request.resend_count", resent));
    }
    let connection = &sent.way.connection;
    attributes.push(("ferryhook.event.id", text(&sent.event.id)));
    attributes.push(("ferryhook.source.id", text(&connection.source_id)));
    attributes.push(("ferryhook.account.id", text(&connection.account_id)));
    attributes.push(("ferryhook.connection.id", text(&connection.id)));
    let timing = match answered {
        Ok(reply) => &reply.timing,
        Err(unsent) => &unsent.timing,
    };
    Span {
        trace_id: sent.own.trace_id(),
        span_id: sent.own.span_id(),
        parent: Some(origin.span_id()),
        links: vec![trace::link(origin)],
        name: name.into(),
        kind: Kind::Client,
        start: sent.at,
        took: timing.total,
        attributes,
        error: error(answered),
    }
}

/// A redirect is an error too: nobody follows it.
fn error(answered: &Result<Reply, Unsent>) -> Option<Cow<'static, str>> {
    match answered {
        Ok(reply) if (200..300).contains(&reply.status) => None,
        Ok(reply) => Some(reply.status.to_string().into()),
        Err(unsent) => Some(
            match unsent.why {
                Why::Blocked | Why::Misled => "blocked",
                Why::Dns => "dns",
                Why::Refused => "refused",
                Why::Tls => "tls",
                Why::Timeout => "timeout",
                Why::Broken => "broken",
                Why::BadAnswer => "bad_answer",
            }
            .into(),
        ),
    }
}
