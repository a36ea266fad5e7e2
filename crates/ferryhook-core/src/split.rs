//! Split: one request that carries several events becomes as many.
//!
//! Asked by ingest once a request has been verified as a whole. Each event gets the very bytes of
//! its element, shared with the request and not copied. Nothing is ever dropped: what is not
//! split stays one event.

use std::fmt;

use bytes::Bytes;
use serde::de::{Deserializer, IgnoredAny, SeqAccess, Visitor};
use serde_json::Value;
use serde_json::value::RawValue;

use crate::dedup::{BadRule, Batch, Tree, batch_of, body_path};
use crate::{Body, Source};

/// Events of one request; each is committed and answered for.
pub const PARTS_MAX: usize = 500;

/// Among the settings of a source (`config`).
pub const SETTING: &str = "split";

const CLOUD_EVENT: &str = "application/cloudevents+json";
const CLOUD_EVENTS: &str = "application/cloudevents-batch+json";

/// How the requests of one source are split. Made once for a source.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Split(How);

#[derive(Debug, Clone, PartialEq, Eq)]
enum How {
    /// The source wants requests whole, whatever they carry.
    Never,
    /// Nothing is known about them but what they say of themselves.
    Untold,
    /// A list where there is one: providers also send single events.
    IfList,
    /// The source says where the list is, and anything else is an error.
    Told(Vec<String>),
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BadSplit {
    #[error("split is \"array\", the path of an array such as \"data.events\", true or false")]
    Shape,
    #[error("split is not a path: {0}")]
    Path(#[from] BadRule),
}

/// Why a request that must be split cannot be.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NotSplit {
    #[error("the body is not JSON, so it cannot be split into events")]
    NotJson,
    #[error("there is no array at {0} to split into events")]
    NoArray(String),
    #[error("a request carries at most {PARTS_MAX} events")]
    TooMany,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Parts {
    pub bodies: Vec<Body>,
    /// What each part is, where that is not what the request was.
    pub content_type: Option<&'static str>,
}

impl Split {
    /// What the source says under `split` or, if it says nothing, what its provider is known for.
    pub fn of(source: &Source) -> Result<Self, BadSplit> {
        Self::parse(source.config.get(SETTING), &source.provider)
    }

    /// For a source that is yet to be made.
    pub fn parse(written: Option<&Value>, provider: &str) -> Result<Self, BadSplit> {
        Ok(Self(match (written, batch_of(provider)) {
            (None | Some(Value::Null), Batch::Body) => How::IfList,
            (None | Some(Value::Null), _) => How::Untold,
            (Some(Value::Bool(false)), _) => How::Never,
            (Some(Value::Bool(true)), Batch::At(path)) => How::Told(body_path(path)?),
            (Some(Value::Bool(true)), Batch::Body) => How::IfList,
            (Some(Value::Bool(true)), Batch::No) => How::Told(Vec::new()),
            (Some(Value::String(word)), _) if word == "array" => How::Told(Vec::new()),
            (Some(Value::String(path)), _) => How::Told(body_path(path)?),
            (Some(_), _) => return Err(BadSplit::Shape),
        }))
    }

    /// The parts of a request, or `None` if it is one event as it stands. An empty list is that
    /// too: senders use it to say that they are alive.
    pub fn parts(
        &self,
        content_type: Option<&str>,
        body: &Body,
    ) -> Result<Option<Parts>, NotSplit> {
        let is_cloud_events = content_type.is_some_and(is_cloud_events);
        let bodies = match &self.0 {
            How::Never => return Ok(None),
            _ if is_cloud_events => list(body, &[])?,
            How::Untold => return Ok(None),
            How::IfList if !starts_list(body) => return Ok(None),
            // Kept whole rather than refused: nobody asked for it to be split.
            How::IfList => list(body, &[]).unwrap_or_default(),
            How::Told(path) => list(body, path)?,
        };
        let content_type = is_cloud_events.then_some(CLOUD_EVENT);
        Ok((!bodies.is_empty()).then_some(Parts { bodies, content_type }))
    }
}

fn is_cloud_events(content_type: &str) -> bool {
    let essence = content_type.split(';').next().unwrap_or_default().trim();
    essence.eq_ignore_ascii_case(CLOUD_EVENTS)
}

fn starts_list(body: &Body) -> bool {
    body.as_bytes().trim_ascii_start().first() == Some(&b'[')
}

/// The elements of the list at `path`, each as it was written.
fn list(body: &Body, path: &[String]) -> Result<Vec<Body>, NotSplit> {
    let text = body.as_text().ok_or(NotSplit::NotJson)?;
    let no_array = || NotSplit::NoArray([&["body".to_owned()], path].concat().join("."));
    let json = match path {
        [] => text,
        _ => {
            let found = Tree::of(path.to_vec()).seek_raw(text).map_err(|_| NotSplit::NotJson)?;
            found.first().copied().flatten().ok_or_else(no_array)?
        }
    };
    let mut reader = serde_json::Deserializer::from_str(json);
    let elements = reader.deserialize_any(Elements).map_err(|error| match error.classify() {
        serde_json::error::Category::Data => no_array(),
        _ => NotSplit::NotJson,
    })?;
    reader.end().map_err(|_| NotSplit::NotJson)?;
    let elements = elements.ok_or(NotSplit::TooMany)?;
    let shared: &Bytes = body.as_bytes();
    Ok(elements.iter().map(|raw| shared.slice_ref(raw.get().as_bytes()).into()).collect())
}

/// Reads a list to its end and keeps its elements, unless there are too many.
struct Elements;

impl<'de> Visitor<'de> for Elements {
    type Value = Option<Vec<&'de RawValue>>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an array")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Self::Value, A::Error> {
        let mut elements = Vec::new();
        while elements.len() < PARTS_MAX {
            let Some(element) = list.next_element()? else { return Ok(Some(elements)) };
            elements.push(element);
        }
        let mut is_more = false;
        while list.next_element::<IgnoredAny>()?.is_some() {
            is_more = true;
        }
        Ok((!is_more).then_some(elements))
    }
}

#[cfg(test)]
mod tests;
