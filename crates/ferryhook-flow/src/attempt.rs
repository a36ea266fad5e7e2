//! Attempt: one request to one destination, with the configuration as it is at this moment.
//!
//! Decides nothing about what comes next: that is `Delivery::after`. Stores nothing.

mod listened;
mod span;

use std::time::Duration;

use bytes::BytesMut;
use ferryhook_core::connection::Method as Configured;
use ferryhook_core::delivery::Outcome;
use ferryhook_core::outgoing::{self, Leaving};
use ferryhook_core::retry::parse_retry_after;
use ferryhook_core::traceparent::Traceparent;
use ferryhook_core::{Attempt, Delivery, Env, Event, Timestamp, limits};
use ferryhook_net::client::{Guard, Outbound, Outgoing, Reply, Timing, Unsent, Why};
use hyper::header::{HeaderName, HeaderValue, RETRY_AFTER};
use hyper::{HeaderMap, Method};

use crate::credentials::Shown;
use crate::lanes::Felt;
use crate::routes::Way;
use crate::trace::{self, Sink};
use span::Sent;

pub(crate) use listened::listened;

pub(crate) const USER_AGENT: &str = concat!("Ferryhook/", env!("CARGO_PKG_VERSION"));

/// What came of it, for the delivery, for the lane and for the record.
#[derive(Debug)]
pub(crate) struct Made {
    pub(crate) attempt: Attempt,
    pub(crate) outcome: Outcome,
    pub(crate) felt: Felt,
    pub(crate) timing: Timing,
}

/// With what attempts are made, whatever they bring.
pub(crate) struct Means<'a> {
    pub(crate) outbound: &'a dyn Outbound,
    pub(crate) guard: &'a Guard,
    pub(crate) env: &'a Env,
    pub(crate) traces: Option<&'a Sink>,
}

/// `came` is the event before its transform.
pub(crate) async fn attempt(
    means: &Means<'_>,
    event: &Event,
    came: &Event,
    delivery: &Delivery,
    way: &Way,
    shown: &Shown,
) -> Made {
    let Means { outbound, guard, env, traces } = *means;
    let at = env.now();
    let trace = newest(came, env, traces.is_some());
    let target = way.target(guard);
    let answered = match target {
        Ok(target) => {
            let mut headers = headers((event, came), delivery, way, at, trace);
            // Whoever else said something under this name, sender included, did not mean this.
            if let Some((name, value)) = shown.header.clone() {
                headers.insert(name, value);
            }
            let outgoing = Outgoing {
                target: target.clone(),
                method: method(event, way),
                headers,
                body: event.body.as_bytes().clone(),
                identity: shown.identity.clone(),
                timeout: way.timeout().saturating_sub(shown.took),
            };
            outbound.send(outgoing).await
        }
        Err(refusal) => Err(Unsent {
            why: Why::Blocked,
            message: refusal.to_string(),
            timing: Timing::default(),
        }),
    };
    if let (Some(sink), Some(own)) = (traces, trace)
        && own.is_sampled()
    {
        let method = &method(event, way);
        let sent = Sent { event: came, delivery, way, target: target.ok(), method, at, own };
        sink.put(span::span(&sent, &answered));
    }
    with_token(made(blank(event, delivery, way, at), answered, at), shown)
}

fn made(record: Attempt, answered: Result<Reply, Unsent>, at: Timestamp) -> Made {
    match answered {
        Ok(reply) => answer(record, reply, at),
        Err(unsent) => no_answer(record, unsent),
    }
}

/// A token that was good once may be taken back before its time. What the connection's rules say
/// about 401 is then not meant: the next attempt brings another, and they decide about that.
fn with_token(made: Made, shown: &Shown) -> Made {
    let is_old = shown.token.as_ref().is_some_and(|token| !token.is_new);
    if made.attempt.status_code != 401 || !is_old {
        return made;
    }
    let error = "the token was refused; the next attempt brings another".to_owned();
    let attempt = Attempt { error: Some(error.clone()), ..made.attempt };
    Made { attempt, outcome: Outcome::Unanswered { error }, ..made }
}

/// The record of an attempt that nothing has come of yet.
pub(crate) fn blank(event: &Event, delivery: &Delivery, way: &Way, at: Timestamp) -> Attempt {
    Attempt {
        event_id: event.id,
        connection_id: delivery.connection_id,
        number: delivery.attempts.saturating_add(1),
        destination_url: way.connection.destination_url.clone().unwrap_or_default(),
        status_code: 0,
        response_body: None,
        error: None,
        latency_ms: 0,
        dns_ms: None,
        connect_ms: None,
        tls_ms: None,
        first_byte_ms: None,
        attempted_at: at,
        expires_at: event.expires_at,
    }
}

fn answer(record: Attempt, reply: Reply, now: Timestamp) -> Made {
    let Reply { status, headers, body, timing } = reply;
    let retry_after = headers.get(RETRY_AFTER).and_then(|value| value.to_str().ok());
    let retry_after = retry_after.and_then(|value| parse_retry_after(value, now));
    let attempt = Attempt {
        status_code: status,
        response_body: beginning(&body),
        error: (300..400).contains(&status).then(|| "redirects are not followed".to_owned()),
        ..timed(record, &timing)
    };
    let felt = match status {
        429 | 500.. => Felt::Badly,
        _ => Felt::Well,
    };
    let outcome = Outcome::Answered { status_code: status, retry_after };
    Made { attempt, outcome, felt, timing }
}

fn no_answer(record: Attempt, unsent: Unsent) -> Made {
    let Unsent { why, message, timing } = unsent;
    let attempt = Attempt { error: Some(message.clone()), ..timed(record, &timing) };
    let (outcome, felt) = match why {
        Why::Blocked => (Outcome::Blocked { error: message }, Felt::Nothing),
        _ => (Outcome::Unanswered { error: message }, Felt::Badly),
    };
    Made { attempt, outcome, felt, timing }
}

fn timed(attempt: Attempt, timing: &Timing) -> Attempt {
    let ms = |took: Duration| u32::try_from(took.as_millis()).unwrap_or(u32::MAX);
    Attempt {
        latency_ms: ms(timing.total),
        dns_ms: timing.dns.map(ms),
        connect_ms: timing.connect.map(ms),
        tls_ms: timing.tls.map(ms),
        first_byte_ms: timing.first_byte.map(ms),
        ..attempt
    }
}

/// As text, whatever it is: it is for people.
fn beginning(body: &[u8]) -> Option<String> {
    if body.is_empty() {
        return None;
    }
    // No character has more than four bytes.
    let enough = &body[..body.len().min(4 * limits::RESPONSE_CHARACTERS_KEPT)];
    let text = String::from_utf8_lossy(enough);
    Some(text.chars().take(limits::RESPONSE_CHARACTERS_KEPT).collect())
}

fn method(event: &Event, way: &Way) -> Method {
    match way.connection.method {
        Configured::Post => Method::POST,
        Configured::Put => Method::PUT,
        Configured::Patch => Method::PATCH,
        Configured::Delete => Method::DELETE,
        Configured::Get => Method::GET,
        Configured::Original => {
            let original = event.method.as_deref().and_then(|method| method.parse().ok());
            original.unwrap_or(Method::POST)
        }
    }
}

/// The trace goes on with this attempt as its newest span. Where spans are kept, every event has a
/// trace.
fn newest(came: &Event, env: &Env, kept: bool) -> Option<Traceparent> {
    let arrived = Traceparent::of(&came.headers);
    let before = match kept {
        true => Some(trace::origin(came.id, arrived)),
        false => arrived,
    };
    Some(before?.child(trace::random(env)))
}

fn headers(
    (event, came): (&Event, &Event),
    delivery: &Delivery,
    way: &Way,
    at: Timestamp,
    trace: Option<Traceparent>,
) -> HeaderMap {
    let body = event.body.as_bytes();
    let signed = way.keys.sign(event.id.as_str(), at, body);
    let leaving = Leaving {
        event,
        came,
        connection: &way.connection,
        body,
        signed: &signed,
        at,
        attempt: delivery.attempts.saturating_add(1),
        trace,
        user_agent: USER_AGENT,
    };
    let mut headers = HeaderMap::with_capacity(event.headers.len() + 16);
    // One piece of memory for all values: to copy them is to count.
    let mut values = BytesMut::with_capacity(VALUES_BYTES);
    outgoing::headers(&leaving, |name, value| {
        values.extend_from_slice(&value);
        let value = HeaderValue::from_maybe_shared(values.split().freeze());
        // What does not parse was refused before; this only keeps a mistake from being sent.
        if let (Some(name), Ok(value)) = (name_of(name), value) {
            headers.append(name, value);
        }
    });
    headers
}

/// What the values of an event without headers of its own come to, and some more.
const VALUES_BYTES: usize = 512;

/// Our own names, which need not be parsed.
static OWN_NAMES: [HeaderName; 8] = [
    HeaderName::from_static(outgoing::EVENT_ID),
    HeaderName::from_static(outgoing::TIMESTAMP),
    HeaderName::from_static(outgoing::SIGNATURE),
    HeaderName::from_static(outgoing::ATTEMPT),
    HeaderName::from_static(outgoing::STANDARD_ID),
    HeaderName::from_static(outgoing::STANDARD_TIMESTAMP),
    HeaderName::from_static(outgoing::STANDARD_SIGNATURE),
    HeaderName::from_static(ferryhook_core::hops::HEADER),
];

fn name_of(name: &str) -> Option<HeaderName> {
    let own = OWN_NAMES.iter().find(|own| own.as_str() == name);
    own.cloned().or_else(|| HeaderName::from_bytes(name.as_bytes()).ok())
}

#[cfg(test)]
mod tests;
