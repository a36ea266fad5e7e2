//! An attempt that goes to somebody who listens: they make the request, and say what came of it.

use std::time::Duration;

use bytes::Bytes;
use ferryhook_core::cli_session::{Answered, Errand, Report};
use ferryhook_core::{Delivery, Event, Headers, limits};
use ferryhook_net::client::{Reply, Timing, Unsent, Why};
use hyper::HeaderMap;
use hyper::header::{HeaderName, HeaderValue};

use super::span::{self, Sent};
use super::{Made, Means, blank, headers, made, method, newest};
use crate::listeners::{Session, Unheard};
use crate::routes::Way;

/// Nothing where the session ended before anyone had tried.
pub(crate) async fn listened(
    means: &Means<'_>,
    event: &Event,
    came: &Event,
    delivery: &Delivery,
    way: &Way,
    session: &Session,
) -> Option<Made> {
    let Means { env, traces, .. } = *means;
    let at = env.now();
    let trace = newest(came, env, traces.is_some());
    let method = method(event, way);
    let sent = headers((event, came), delivery, way, at, trace);
    let errand = Errand {
        number: 0,
        event_id: event.id,
        event_type: event.event_type.clone(),
        source_id: event.source_id,
        connection_id: way.connection.id,
        attempt: delivery.attempts.saturating_add(1),
        method: method.to_string(),
        path: session.of.path_of(event),
        headers: written(&sent),
        body: event.body.clone(),
        timeout: way.timeout(),
    };
    let answered = match session.ask(errand).await {
        Ok(report) => heard(report),
        Err(Unheard::Gone) => return None,
        Err(Unheard::Late) => {
            let timing = Timing { total: way.timeout(), ..Timing::default() };
            let message = "the listener has said nothing in time".to_owned();
            Err(Unsent { why: Why::Timeout, message, timing })
        }
    };
    if let (Some(sink), Some(own)) = (traces, trace)
        && own.is_sampled()
    {
        let sent = Sent { event: came, delivery, way, target: None, method: &method, at, own };
        sink.put(span::span(&sent, &answered));
    }
    Some(made(blank(event, delivery, way, at), answered, at))
}

/// Whoever listens writes their values as UTF-8, so those that are not cannot be told.
fn written(headers: &HeaderMap) -> Headers {
    let text = |value: &HeaderValue| String::from_utf8_lossy(value.as_bytes()).into_owned();
    headers.iter().map(|(name, value)| (name.as_str(), text(value))).collect()
}

/// As if we had made the request ourselves.
fn heard(Report { latency, result, .. }: Report) -> Result<Reply, Unsent> {
    let longest = Duration::from_millis(limits::TIMEOUT_MS_MAX.into());
    let timing = Timing { total: latency.min(longest), ..Timing::default() };
    match result {
        Ok(Answered { status, headers, body }) => {
            let pair = |(name, value): (&str, &str)| {
                let name = HeaderName::from_bytes(name.as_bytes()).ok()?;
                Some((name, HeaderValue::from_str(value).ok()?))
            };
            let headers = headers.iter().filter_map(pair).collect();
            Ok(Reply { status, headers, body: Bytes::from(body), timing })
        }
        Err(message) => Err(Unsent { why: Why::Refused, message, timing }),
    }
}
