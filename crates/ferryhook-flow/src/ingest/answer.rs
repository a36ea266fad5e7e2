//! Answers, written by hand: this path knows their few shapes and takes no detour.

use bytes::Bytes;
use ferryhook_core::event::Status;
use ferryhook_core::handshake::Reply;
use ferryhook_core::source::CustomResponse;
use ferryhook_core::{Event, Id, Timestamp};
use ferryhook_net::problem::{self, RequestId, X_REQUEST_ID};
use http_body_util::Full;
use hyper::header::{CONNECTION, CONTENT_TYPE, HeaderName, HeaderValue, RETRY_AFTER};
use hyper::{Response, StatusCode, Version};

use super::rate::{Standing, WINDOW};
use super::refusal::Refusal;

pub type Answer = Response<Full<Bytes>>;

/// What became of one event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Told {
    /// Its own or, of a copy, the first one's, unless nobody knows which that was.
    pub(super) id: Option<Id<Event>>,
    pub(super) status: Status,
    pub(super) is_duplicate: bool,
}

pub(super) fn one(told: Told) -> Answer {
    let mut body = String::with_capacity(80);
    push(&mut body, told);
    json(body)
}

pub(super) fn several(told: &[Told]) -> Answer {
    let mut body = String::with_capacity(16 + told.len() * 80);
    body.push_str(r#"{"events":["#);
    for (place, told) in told.iter().enumerate() {
        if place > 0 {
            body.push(',');
        }
        push(&mut body, *told);
    }
    body.push_str("]}");
    json(body)
}

/// What the owner of the source wants its senders to hear, or its provider does.
pub(super) fn custom(wanted: &CustomResponse) -> Answer {
    let mut answer = Response::new(Full::from(wanted.body.clone()));
    *answer.status_mut() = StatusCode::from_u16(wanted.status).unwrap_or(StatusCode::OK);
    if let Ok(content_type) = HeaderValue::from_str(&wanted.content_type) {
        answer.headers_mut().insert(CONTENT_TYPE, content_type);
    }
    answer
}

/// What a provider wants to hear before it sends anything. Most of it are its own words, so it is
/// plain text that no browser takes for anything else.
pub(super) fn handshake(reply: Reply) -> Answer {
    let mut answer = Response::new(Full::from(reply.body));
    *answer.status_mut() = StatusCode::from_u16(reply.status).unwrap_or(StatusCode::OK);
    let headers = answer.headers_mut();
    headers.insert("x-content-type-options", HeaderValue::from_static("nosniff"));
    if let Some(content_type) = reply.content_type {
        headers.insert(CONTENT_TYPE, HeaderValue::from_static(content_type));
    }
    for (name, value) in reply.headers {
        let name = HeaderName::from_bytes(name.as_bytes());
        if let (Ok(name), Ok(value)) = (name, HeaderValue::from_str(&value)) {
            headers.insert(name, value);
        }
    }
    answer
}

pub(super) fn refused(
    refusal: &Refusal,
    request: RequestId,
    version: Version,
    now: Timestamp,
) -> Answer {
    let body = problem::document(refusal.code(), &refusal.detail(), request, &[]);
    let mut answer = Response::new(Full::from(body));
    *answer.status_mut() = refusal.code().status();
    let headers = answer.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static(problem::CONTENT_TYPE));
    if let Some(seconds) = refusal.retry_after_seconds() {
        headers.insert(RETRY_AFTER, seconds.into());
    }
    // HTTP/2 ends a stream without ending the connection.
    if refusal.closes() && version < Version::HTTP_2 {
        headers.insert(CONNECTION, HeaderValue::from_static("close"));
    }
    if let Refusal::OverRate(standing) = refusal {
        limits(&mut answer, *standing, now);
    }
    answer
}

pub(super) fn named(mut answer: Answer, request: RequestId) -> Answer {
    if let Ok(id) = HeaderValue::from_str(request.as_str()) {
        answer.headers_mut().insert(X_REQUEST_ID.clone(), id);
    }
    answer
}

/// The pair of the draft, and the three that everyone knows.
fn limits(answer: &mut Answer, standing: Standing, now: Timestamp) {
    let Standing { limit, remaining, wait_seconds } = standing;
    let reset = now.as_seconds().unsigned_abs() + wait_seconds;
    let window = WINDOW.as_secs();
    let texts = [
        ("ratelimit-policy", format!("\"default\";q={limit};w={window}")),
        ("ratelimit", format!("\"default\";r={remaining};t={wait_seconds}")),
        ("x-ratelimit-limit", limit.to_string()),
        ("x-ratelimit-remaining", remaining.to_string()),
        ("x-ratelimit-reset", reset.to_string()),
    ];
    for (name, text) in texts {
        if let Ok(value) = HeaderValue::from_str(&text) {
            answer.headers_mut().insert(HeaderName::from_static(name), value);
        }
    }
}

fn push(body: &mut String, told: Told) {
    body.push_str(r#"{"id":"#);
    match told.id {
        Some(id) => {
            body.push('"');
            body.push_str(id.as_str());
            body.push('"');
        }
        None => body.push_str("null"),
    }
    body.push_str(r#","status":""#);
    // Whether anyone wants the event is the owner's affair, not the sender's.
    body.push_str(match told.status {
        Status::Held => "held",
        _ => "received",
    });
    body.push_str(if told.is_duplicate { r#"","duplicate":true}"# } else { r#""}"# });
}

fn json(body: String) -> Answer {
    let mut answer = Response::new(Full::from(body));
    answer.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    answer
}
