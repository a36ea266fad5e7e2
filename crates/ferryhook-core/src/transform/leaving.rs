//! The event as a transform leaves it: what follows from another body, and who may set a header.

use super::json::Json;
use super::{Fault, Outcome, incoming, limits};
use crate::outgoing::{self, BadHeader};
use crate::{Body, Event, Headers};

const JSON: &str = "application/json";
const TEXT: &str = "text/plain; charset=utf-8";
const CONTENT_TYPE: &str = "content-type";

/// Headers that describe the bytes of a body, and lie when it becomes another.
const ABOUT_THE_BODY: [&str; 5] =
    ["content-digest", "content-encoding", "content-md5", "digest", "repr-digest"];

/// What is different; `None` stays as it is.
#[derive(Debug, Default)]
pub(super) struct Changes {
    pub(super) body: Option<Vec<u8>>,
    /// Of the new body, unless the headers say it.
    pub(super) content_type: Option<String>,
    /// All of them.
    pub(super) headers: Option<Headers>,
    pub(super) method: Option<String>,
    pub(super) path: Option<String>,
    pub(super) query: Option<String>,
}

impl Changes {
    /// A body of JSON, which says so unless it already did.
    pub(super) fn json(event: &Event, body: String) -> Result<Self, Fault> {
        let is_json = incoming::is_json(event);
        Self::bytes(event, body.into_bytes()).map(|changes| Self {
            content_type: (changes.body.is_some() && !is_json).then(|| JSON.to_owned()),
            ..changes
        })
    }

    /// Text, which says so unless it can still be what it was.
    pub(super) fn text(event: &Event, body: String) -> Result<Self, Fault> {
        let is_believable = match incoming::is_json(event) {
            true => Json::read(&body).is_ok(),
            false => incoming::content_type(event).is_some(),
        };
        Self::bytes(event, body.into_bytes()).map(|changes| Self {
            content_type: (changes.body.is_some() && !is_believable).then(|| TEXT.to_owned()),
            ..changes
        })
    }

    /// The new headers, and what they say about the body.
    pub(super) fn set_headers(&mut self, headers: Headers, set: &[(String, Option<String>)]) {
        self.headers = Some(headers);
        let said = set.iter().find(|(name, _)| name.eq_ignore_ascii_case(CONTENT_TYPE));
        if let Some((_, Some(content_type))) = said {
            self.content_type = Some(content_type.clone());
        }
    }

    fn bytes(event: &Event, body: Vec<u8>) -> Result<Self, Fault> {
        if body.len() > limits::OUTPUT_BYTES_MAX {
            return Err(Fault::TooLarge);
        }
        let is_same = event.body.as_bytes() == &body;
        Ok(Self { body: (!is_same).then_some(body), ..Self::default() })
    }

    pub(super) fn of(self, event: &Event) -> Outcome {
        let Self { body, content_type, headers, method, path, query } = self;
        let mut changed = event.clone();
        if let Some(headers) = headers {
            changed.headers = headers;
        }
        if let Some(content_type) = content_type {
            changed.content_type = Some(content_type);
        }
        if let Some(body) = body {
            changed.body = Body::from(body);
            changed.payload = None;
            let still_true =
                |name: &str| !ABOUT_THE_BODY.iter().any(|other| name.eq_ignore_ascii_case(other));
            if changed.headers.iter().any(|(name, _)| !still_true(name)) {
                let kept = changed.headers.iter().filter(|(name, _)| still_true(name));
                changed.headers = kept.collect();
            }
        }
        changed.method = method.or(changed.method);
        changed.path = path.or(changed.path);
        changed.query = query.or(changed.query);
        match changed == *event {
            true => Outcome::Unchanged,
            false => Outcome::Changed(Box::new(changed)),
        }
    }
}

/// Whether a transform may set this header. The content type is the body's, and leaves with it.
pub(super) fn check_header(name: &str, value: &str) -> Result<(), BadHeader> {
    match name.eq_ignore_ascii_case(CONTENT_TYPE) {
        true => outgoing::check_custom(name, value),
        false => outgoing::check_made(name, value),
    }
}

/// The headers with some of them set or, without a value, removed. Names are compared without
/// regard to case; what is not named stays in its place, repeats included.
pub(super) fn with_headers(
    before: &Headers,
    set: &[(String, Option<String>)],
) -> Result<Headers, Fault> {
    for (name, value) in set {
        if let Some(value) = value {
            // Bytes that the sender sent may look like control characters and are none.
            let is_senders = before.iter().any(|(_, said)| said == value);
            check_header(name, if is_senders { "" } else { value })?;
        }
    }
    let is_set = |name: &str| set.iter().any(|(own, _)| own.eq_ignore_ascii_case(name));
    let kept = before.iter().filter(|(name, _)| !is_set(name));
    let added = set.iter().filter_map(|(name, value)| Some((name.as_str(), value.as_deref()?)));
    let headers: Headers = kept.chain(added).collect();
    if headers.len() > limits::HEADERS_MAX {
        return Err(Fault::Shape(format!(
            "a request has at most {} headers, and the transform made {}",
            limits::HEADERS_MAX,
            headers.len()
        )));
    }
    Ok(headers)
}
