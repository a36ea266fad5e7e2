//! What providers send: bodies and headers, as the door reads them.

use super::{headers, pieces, text};
use crate::cloud_events::{Mode, attribute};
use crate::dedup::{Arriving, Dedup, KEY_BYTES_MAX, Rule, event_type_rule_of, idempotency_key};
use crate::handshake::{CHALLENGE_BYTES_MAX, Handshakes, Then};
use crate::order_key::OrderKey;
use crate::split::{PARTS_MAX, Split};
use crate::traceparent::{self, STATE_CHARACTERS_MAX, Traceparent};
use crate::verify::Request;
use crate::{Body, Headers, Source, providers, samples};

/// What the ledger puts before a part: the provider, the source.
const PREFIX_BYTES_MAX: usize = 128;

/// `expression 0 headers 0 query 0 body`
pub(super) fn dedup_rule(data: &[u8]) {
    let [expression, head, query, body] = pieces(data);
    let (expression, query) = (text(expression), text(query));
    let (headers, body) = (headers(head), Body::from(body.to_vec()));
    let arriving =
        Arriving { headers: &headers, query: Some(&query), path: Some("/x"), body: &body };
    let _ = OrderKey::parse(&expression);
    let _ = Split::parse(Some(&(&*expression).into()), "custom");
    let Ok(rule) = Rule::parse(&expression) else { return };
    let key = rule.key(&arriving);
    assert!(key.as_ref().is_none_or(|key| key.len() <= KEY_BYTES_MAX));
    assert_eq!(rule.key(&arriving), key);
    let _ = rule.text(&arriving);
}

/// `number of the provider, headers 0 query 0 body`
pub(super) fn provider_body(data: &[u8]) {
    let Some((source, data)) = source(data) else { return };
    let [head, query, body] = pieces(data);
    let (headers, query, body) = (headers(head), text(query), Body::from(body.to_vec()));
    let arriving = Arriving { headers: &headers, query: Some(&query), path: None, body: &body };
    let (Ok(dedup), Ok(split)) = (Dedup::of(&source), Split::of(&source)) else {
        panic!("the table has a rule that cannot be read")
    };
    check_key(&dedup, &arriving, 0);
    let rule = event_type_rule_of(&source).unwrap_or_else(|error| panic!("{error}"));
    let event_type = rule.and_then(|rule| rule.text(&arriving));
    assert!(event_type.is_none_or(|text| !text.contains(char::is_control)));
    let asked = Split::parse(Some(&true.into()), &source.provider);
    for split in [Ok(split), asked].into_iter().flatten() {
        let parts = split.parts(headers.find("content-type"), &body);
        for (index, part) in parts.ok().flatten().iter().flat_map(|p| &p.bodies).enumerate() {
            assert!(index < PARTS_MAX && part.len() <= body.len());
            check_key(&dedup, &Arriving { body: part, ..arriving }, index);
        }
    }
}

fn check_key(dedup: &Dedup, arriving: &Arriving<'_>, index: usize) {
    let key = dedup.key_of_part(arriving, index);
    assert_eq!(dedup.key_of_part(arriving, index), key);
    // What a sender calls idempotent has a bound of its own.
    if idempotency_key(arriving.headers).is_none() {
        assert!(key.is_none_or(|key| key.len() <= KEY_BYTES_MAX + PREFIX_BYTES_MAX));
    }
}

/// `number of the provider, method 0 url 0 headers 0 body`
pub(super) fn handshake(data: &[u8]) {
    let Some((source, data)) = source(data) else { return };
    let [method, url, head, body] = pieces(data);
    let (method, url, headers) = (text(method), text(url), headers(head));
    let request = Request { method: &method, url: &url, headers: &headers, body };
    let Ok(handshakes) = Handshakes::of(&source) else { return };
    let reply = handshakes.answer(&request);
    assert_eq!(handshakes.answer(&request), reply);
    let Some(reply) = reply else { return };
    // JSON around it, its escapes, or a signature beside it.
    assert!(reply.body.len() <= 8 * CHALLENGE_BYTES_MAX, "{}", reply.body.len());
    let is_clean = |text: &str| !text.contains(['\r', '\n']);
    assert!(reply.headers.iter().all(|(name, value)| is_clean(name) && is_clean(value)));
    if let Then::Call(url) = &reply.then {
        assert!(url.starts_with("https://"), "{url}");
    }
}

/// `headers 0 value`
pub(super) fn cloud_events(data: &[u8]) {
    let [head, value] = pieces(data);
    let (headers, value) = (headers(head), text(value));
    let _ = Mode::of(&headers);
    let attribute = attribute(&value);
    assert!(attribute.is_none_or(|text| text.len() <= value.len()));
    for (_, value) in headers.iter() {
        let _ = crate::cloud_events::attribute(value);
    }
    for expression in ["cloudevent.id", "cloudevent.type", "cloudevent.source"] {
        let Ok(rule) = Rule::parse(expression) else { continue };
        let body = Body::from(value.clone().into_owned());
        let arriving = Arriving { headers: &headers, query: None, path: None, body: &body };
        assert!(rule.key(&arriving).is_none_or(|key| key.len() <= KEY_BYTES_MAX));
    }
}

/// `traceparent 0 headers`
pub(super) fn traceparent(data: &[u8]) {
    let [value, head] = pieces(data);
    if let Some(read) = Traceparent::parse(&text(value)) {
        let written = read.to_string();
        assert_eq!(Traceparent::parse(&written), Some(read));
        assert_eq!(written.len(), 55);
    }
    let headers: Headers = headers(head);
    let _ = Traceparent::of(&headers);
    let state = traceparent::state(&headers);
    assert!(state.is_none_or(|state| !state.is_empty() && state.len() <= STATE_CHARACTERS_MAX));
}

fn source(data: &[u8]) -> Option<(Source, &[u8])> {
    let (number, rest) = data.split_first()?;
    let count = providers::all().count();
    let provider = providers::all().nth(usize::from(*number) % count)?;
    let provider = provider.name.to_owned();
    let source = Source {
        provider,
        dedup_expression: None,
        signing_algorithm: None,
        config: crate::Map::new(),
        ..samples::source()
    };
    Some((source, rest))
}
