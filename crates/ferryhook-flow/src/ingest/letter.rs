//! A request as the sender wrote it, on its way to becoming an event or a rejection.

use std::net::IpAddr;

use bytes::Bytes;
use ferryhook_core::event::{Origin, Status};
use ferryhook_core::rejection::Cause;
use ferryhook_core::{Body, Event, Headers, Id, Rejection, Timestamp, source};
use hyper::HeaderMap;
use hyper::header::{CONTENT_TYPE, HeaderValue};
use hyper::http::request::Parts;

use super::limits;
use super::refusal::Refusal;
use crate::routes::Route;

#[derive(Debug, Clone)]
pub(super) struct Letter {
    pub(super) method: String,
    pub(super) path: Option<String>,
    pub(super) query: Option<String>,
    pub(super) content_type: Option<String>,
    pub(super) sender: Option<IpAddr>,
    pub(super) headers: Headers,
    /// Of the headers, as they are stored.
    pub(super) headers_bytes: usize,
}

impl Letter {
    /// `suffix` is what follows the source's id in the path.
    pub(super) fn new(head: &Parts, suffix: &str, sender: Option<IpAddr>) -> Self {
        let (headers, headers_bytes) = headers(&head.headers);
        Self {
            method: head.method.as_str().to_owned(),
            path: (!suffix.is_empty()).then(|| suffix.to_owned()),
            query: head.uri.query().map(str::to_owned),
            content_type: head.headers.get(CONTENT_TYPE).map(text),
            sender,
            headers,
            headers_bytes,
        }
    }

    /// As it was when it was refused.
    pub(super) fn again(rejection: &Rejection) -> Self {
        let Rejection { method, path, query, content_type, source_ip, headers, .. } = rejection;
        let lengths = headers.iter().map(|(name, value)| pair_bytes(name, value));
        Self {
            method: method.clone(),
            path: path.clone(),
            query: query.clone(),
            content_type: content_type.clone(),
            sender: source_ip.as_deref().and_then(|sender| sender.parse().ok()),
            headers: headers.clone(),
            headers_bytes: 2 + lengths.sum::<usize>(),
        }
    }

    /// As it was when it became this event.
    pub(super) fn of(event: &Event) -> Self {
        let Event { method, path, query, content_type, source_ip, headers, .. } = event;
        let lengths = headers.iter().map(|(name, value)| pair_bytes(name, value));
        Self {
            method: method.clone().unwrap_or_default(),
            path: path.clone(),
            query: query.clone(),
            content_type: content_type.clone(),
            sender: source_ip.as_deref().and_then(|sender| sender.parse().ok()),
            headers: headers.clone(),
            headers_bytes: 2 + lengths.sum::<usize>(),
        }
    }

    /// As the store will count it, rounded up.
    pub(super) fn event_bytes(&self, body: &Body) -> usize {
        let texts = [&self.path, &self.query, &self.content_type];
        let texts = texts.into_iter().flatten().map(String::len).sum::<usize>();
        body.len() + self.headers_bytes + texts + self.method.len()
    }

    /// The event that this letter brings. It waits for its deliveries to be planned, unless the
    /// source is paused or nobody wants its events.
    pub(super) fn into_event(
        self,
        route: &Route,
        id: Id<Event>,
        now: Timestamp,
        body: Body,
    ) -> Event {
        let Route { source, plan, .. } = route;
        let status = match source.status {
            source::Status::Paused => Status::Held,
            _ if route.ways.is_empty() => Status::Filtered,
            _ => Status::Received,
        };
        let waits = status == Status::Received;
        Event {
            id,
            source_id: source.id,
            user_id: source.user_id,
            account_id: source.account_id,
            origin: Origin::Webhook,
            status,
            event_type: None,
            retry_count: 0,
            metadata: None,
            dedup_key: None,
            duplicate_count: 0,
            method: Some(self.method),
            path: self.path,
            query: self.query,
            content_type: self.content_type,
            source_ip: self.sender.map(|sender| sender.to_string()),
            headers: self.headers,
            body,
            payload: None,
            received_at: now,
            occurred_at: None,
            processing_tries: 0,
            processing_error: None,
            pending_since: waits.then_some(now),
            processed_at: (status == Status::Filtered).then_some(now),
            delivered_at: None,
            expires_at: plan.expiry(now),
        }
    }

    pub(super) fn rejection(
        self,
        route: &Route,
        id: Id<Rejection>,
        now: Timestamp,
        refusal: &Refusal,
        cause: Cause,
    ) -> Rejection {
        // Only what could not be understood or proven was read to its end.
        let (body, body_truncated) = match refusal {
            Refusal::Unparsable { body, .. }
            | Refusal::Unproven { body, .. }
            | Refusal::NotAsDeclared { body, .. } => {
                let body = body.clone();
                match self.event_bytes(&body.clone().into()) <= limits::EVENT_BYTES_MAX {
                    true => (body, false),
                    false => (body.slice(..limits::BEGINNING_BYTES_KEPT), true),
                }
            }
            Refusal::TooLarge { beginning, .. } => (beginning.clone(), true),
            _ => (Bytes::new(), true),
        };
        Rejection {
            id,
            source_id: route.source.id,
            account_id: route.source.account_id,
            cause,
            detail: Some(refusal.reason().into_owned()),
            method: self.method,
            url: None,
            path: self.path,
            query: self.query,
            content_type: self.content_type,
            source_ip: self.sender.map(|sender| sender.to_string()),
            headers: self.headers,
            body: body.into(),
            body_truncated,
            rejected_at: now,
            expires_at: route.plan.expiry(now),
        }
    }
}

/// In the order they came; those that share a name stand together.
fn headers(map: &HeaderMap) -> (Headers, usize) {
    let mut pairs = Vec::with_capacity(map.len());
    let mut bytes = 2;
    for (name, value) in map {
        let (name, value) = (name.as_str().to_owned(), text(value));
        bytes += pair_bytes(&name, &value);
        pairs.push((name, value));
    }
    (Headers::new(pairs), bytes)
}

fn pair_bytes(name: &str, value: &str) -> usize {
    name.len() + value.len() + escapes(value) + r#"["",""],"#.len()
}

/// Bytes beyond ASCII are kept one for one, as the characters of the same number.
fn text(value: &HeaderValue) -> String {
    match value.to_str() {
        Ok(text) => text.to_owned(),
        Err(_) => value.as_bytes().iter().copied().map(char::from).collect(),
    }
}

/// How much longer JSON makes it.
fn escapes(text: &str) -> usize {
    let longer = |byte| match byte {
        b'"' | b'\\' => 1,
        0..0x20 => 5,
        _ => 0,
    };
    text.bytes().map(longer).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The store refuses what is too large; the door must know before.
    #[test]
    fn the_estimate_is_not_below_what_is_stored() {
        let mut map = HeaderMap::new();
        map.append("x-a", HeaderValue::from_static("plain"));
        map.append("x-b", HeaderValue::from_static("\"quoted\\\"\t"));
        map.append("x-c", HeaderValue::from_bytes(b"caf\xe9").unwrap());
        map.append("x-a", HeaderValue::from_static(""));
        let (headers, bytes) = headers(&map);
        let stored = serde_json::to_value(&headers).unwrap();
        let stored = stored.as_str().unwrap();
        assert!(bytes >= stored.len() && bytes < stored.len() + 20, "{bytes} for {stored}");
        assert!(stored.contains("café"), "{stored}");
        assert!(stored.contains(r#"["x-a","plain"],["x-a",""]"#), "{stored}");
    }
}
