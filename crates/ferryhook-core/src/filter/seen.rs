//! What filters look at: an event, read at most once however many of them look.

use std::cell::OnceCell;

use super::part::Part;
use crate::dedup::decoded;
use crate::json::{Document, NotJson, Value};
use crate::{Event, Headers, Map, Rejection};

/// Reads each part when it is first asked for.
#[derive(Debug)]
pub struct Seen<'a> {
    headers: &'a Headers,
    query: Option<&'a str>,
    path: Option<&'a str>,
    body: Content<'a>,
    is_form: bool,
    read: Read<'a>,
}

#[derive(Debug, Clone, Copy)]
enum Content<'a> {
    Bytes(&'a [u8]),
    /// What an app triggered has no body of its own.
    Payload(&'a Map),
}

#[derive(Debug, Default)]
struct Read<'a> {
    body: OnceCell<(BodyKind, Option<Document<'a>>)>,
    headers: OnceCell<Option<Document<'static>>>,
    query: OnceCell<Option<Document<'static>>>,
    path: OnceCell<Option<Document<'a>>>,
}

/// What a body turned out to be.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize, utoipa::ToSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum BodyKind {
    Json,
    /// Fields, all of them texts.
    Form,
    /// One text, without fields.
    Text,
    Empty,
    /// Not text, so that there is nothing to compare.
    Binary,
    /// JSON, nested too deep or with too many values. Nothing in it exists for a filter.
    TooComplex,
}

impl<'a> Seen<'a> {
    pub fn of(event: &'a Event) -> Self {
        let body = match &event.payload {
            Some(payload) if event.body.is_empty() => Content::Payload(payload),
            _ => Content::Bytes(event.body.as_bytes()),
        };
        let said = event.headers.find("content-type").or(event.content_type.as_deref());
        Self {
            headers: &event.headers,
            query: event.query.as_deref(),
            path: event.path.as_deref(),
            body,
            is_form: said.is_some_and(is_form),
            read: Read::default(),
        }
    }

    /// The same of a request that was refused, as far as its body was kept.
    pub fn of_rejection(rejection: &'a Rejection) -> Self {
        let said = rejection.headers.find("content-type").or(rejection.content_type.as_deref());
        Self {
            headers: &rejection.headers,
            query: rejection.query.as_deref(),
            path: rejection.path.as_deref(),
            body: Content::Bytes(rejection.body.as_bytes()),
            is_form: said.is_some_and(is_form),
            read: Read::default(),
        }
    }

    pub fn body_kind(&self) -> BodyKind {
        self.body().0
    }

    pub(super) fn is_form(&self) -> bool {
        self.is_form && self.body_kind() == BodyKind::Form
    }

    /// `None` when there is nothing.
    pub(super) fn part(&self, part: Part) -> Option<Value<'_>> {
        let document = match part {
            Part::Body => self.body().1.as_ref(),
            Part::Headers => self.read.headers.get_or_init(|| fields_of(self.headers)).as_ref(),
            Part::Query => {
                self.read.query.get_or_init(|| form(self.query.unwrap_or_default())).as_ref()
            }
            Part::Path => {
                let path = || Document::text(self.path.unwrap_or_default()).ok();
                self.read.path.get_or_init(path).as_ref()
            }
        };
        document.map(Document::root)
    }

    fn body(&self) -> &(BodyKind, Option<Document<'a>>) {
        self.read.body.get_or_init(|| match self.body {
            Content::Bytes(bytes) => body(std::str::from_utf8(bytes).ok(), self.is_form),
            Content::Payload(payload) => {
                let text = serde_json::to_string(payload).unwrap_or_default();
                match Document::read(text) {
                    Ok(document) => (BodyKind::Json, Some(document)),
                    Err(_) => (BodyKind::TooComplex, None),
                }
            }
        })
    }
}

fn body(text: Option<&str>, is_form: bool) -> (BodyKind, Option<Document<'_>>) {
    const BYTE_ORDER_MARK: char = '\u{feff}';
    let Some(text) = text else { return (BodyKind::Binary, None) };
    if text.is_empty() {
        return (BodyKind::Empty, None);
    }
    let bare = text.strip_prefix(BYTE_ORDER_MARK).unwrap_or(text);
    // Nobody signs what a sender calls its body, so what is JSON stays JSON.
    if is_form && !is_json(bare) {
        let fields = form(text);
        return (if fields.is_some() { BodyKind::Form } else { BodyKind::TooComplex }, fields);
    }
    match Document::read(bare) {
        Ok(document) => (BodyKind::Json, Some(document)),
        Err(NotJson::Malformed(..)) => (BodyKind::Text, Document::text(text).ok()),
        Err(NotJson::TooDeep | NotJson::TooLarge) => (BodyKind::TooComplex, None),
    }
}

/// An object or a list, whatever its size.
fn is_json(text: &str) -> bool {
    let is_likely = text.trim_ascii_start().starts_with(['{', '[']);
    is_likely && !matches!(Document::read(text), Err(NotJson::Malformed(..)))
}

fn fields_of(headers: &Headers) -> Option<Document<'static>> {
    let pairs = headers.iter().map(|(name, value)| (name.to_ascii_lowercase(), value.trim()));
    Document::fields(pairs).ok()
}

/// A field whose escapes do not make text is left out.
fn form(text: &str) -> Option<Document<'static>> {
    let pairs = text.split('&').filter(|pair| !pair.is_empty()).filter_map(|pair| {
        let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
        Some((decoded(name)?, decoded(value)?))
    });
    Document::fields(pairs).ok()
}

fn is_form(content_type: &str) -> bool {
    const FORM: &str = "application/x-www-form-urlencoded";
    let said = content_type.trim_start().get(..FORM.len());
    said.is_some_and(|said| said.eq_ignore_ascii_case(FORM))
}
