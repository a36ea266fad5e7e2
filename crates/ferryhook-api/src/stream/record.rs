//! A change as the streams of DynamoDB tell it, for programs that were written for those.

use std::collections::BTreeMap;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use ferryhook_core::{Account, Event, Id, Map, Timestamp};
use ferryhook_store::repositories::EventChange;
use serde::Serialize;
use serde_json::Value as Json;
use utoipa::ToSchema;

/// Attributes by name, each written as its type and its value: `{"S": "text"}`.
type Image = BTreeMap<&'static str, Attribute>;

/// One change of one event.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct StreamRecord {
    #[serde(rename = "eventID")]
    event_id: String,
    /// `INSERT`, `MODIFY` or `REMOVE`.
    event_name: &'static str,
    event_version: &'static str,
    event_source: &'static str,
    /// The region of the tables; `local` where there is none.
    aws_region: String,
    dynamodb: StreamChange,
}

#[derive(Debug, Clone, Serialize, ToSchema)]
#[serde(rename_all = "PascalCase")]
pub(super) struct StreamChange {
    /// In seconds. Only of new events.
    #[serde(skip_serializing_if = "Option::is_none")]
    approximate_creation_date_time: Option<i64>,
    /// `user_id` and `timestamp#event_id`.
    #[schema(value_type = BTreeMap<String, Object>)]
    keys: Image,
    /// The event as it was written, in DynamoDB's JSON. Not there once it is removed.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<BTreeMap<String, Object>>)]
    new_image: Option<Image>,
    /// Grows from each change of an event to the next.
    sequence_number: String,
    size_bytes: usize,
    stream_view_type: &'static str,
}

#[derive(Debug, Clone, Serialize)]
enum Attribute {
    S(String),
    N(String),
    B(String),
    #[serde(rename = "BOOL")]
    Bool(bool),
    #[serde(rename = "NULL")]
    Null(bool),
    L(Vec<Attribute>),
    M(BTreeMap<String, Attribute>),
}

impl StreamRecord {
    pub(super) fn of(
        change: &EventChange,
        account: Id<Account>,
        sequence: String,
        region: Option<&str>,
    ) -> Self {
        let (name, keys, image, at) = match change {
            EventChange::Inserted(event) => {
                let at = Some(event.received_at.as_seconds());
                ("INSERT", keys(account, event.received_at, event.id), Some(image(event)), at)
            }
            EventChange::Changed(event) => {
                ("MODIFY", keys(account, event.received_at, event.id), Some(image(event)), None)
            }
            EventChange::Removed { received_at, id, .. } => {
                ("REMOVE", keys(account, *received_at, *id), None, None)
            }
        };
        let size_bytes = size(&keys) + image.as_ref().map_or(0, size);
        Self {
            event_id: sequence.clone(),
            event_name: name,
            event_version: "1.1",
            event_source: "aws:dynamodb",
            aws_region: region.unwrap_or("local").to_owned(),
            dynamodb: StreamChange {
                approximate_creation_date_time: at,
                keys,
                new_image: image,
                sequence_number: sequence,
                size_bytes,
                stream_view_type: "NEW_IMAGE",
            },
        }
    }
}

fn keys(account: Id<Account>, received_at: Timestamp, id: Id<Event>) -> Image {
    Image::from([
        ("user_id", text(account.as_str())),
        ("timestamp#event_id", Attribute::S(format!("{}#{id}", received_at.to_micros_text()))),
    ])
}

fn image(event: &Event) -> Image {
    let at = event.received_at.to_micros_text();
    let mut image = keys(event.account_id, event.received_at, event.id);
    image.extend([
        ("event_id", text(event.id.as_str())),
        ("sourceId", text(event.source_id.as_str())),
        ("origin", from_json(serde_json::to_value(event.origin).unwrap_or_default())),
        ("status", text(event.status.as_str())),
        ("status#timestamp", Attribute::S(format!("{}#{at}", event.status))),
        ("retry_count", Attribute::N(event.retry_count.to_string())),
    ]);
    if let Some(event_type) = &event.event_type {
        image.insert("event_type", text(event_type));
        image.insert("event_type#timestamp", Attribute::S(format!("{event_type}#{at}")));
    }
    image.insert("timestamp", Attribute::S(at));
    if let Some(expires_at) = event.expires_at {
        image.insert("ttl", Attribute::N(expires_at.as_seconds().to_string()));
    }
    if let Some(metadata) = &event.metadata {
        image.insert("metadata", from_map(metadata.clone()));
    }
    if let Some(content_type) = &event.content_type {
        image.insert("contentType", text(content_type));
    }
    if let Some(payload) = &event.payload {
        image.insert("payload", from_map(payload.clone()));
    } else if !event.body.is_empty() {
        let body = event.body.as_bytes();
        match serde_json::from_slice::<Json>(body) {
            Ok(json) => image.insert("payload", from_json(json)),
            Err(_) => image.insert("body", Attribute::B(STANDARD.encode(body))),
        };
    }
    image
}

fn text(text: &str) -> Attribute {
    Attribute::S(text.to_owned())
}

fn from_map(map: Map) -> Attribute {
    Attribute::M(map.into_iter().map(|(name, value)| (name, from_json(value))).collect())
}

fn from_json(json: Json) -> Attribute {
    match json {
        Json::Null => Attribute::Null(true),
        Json::Bool(bool) => Attribute::Bool(bool),
        Json::Number(number) => Attribute::N(number.to_string()),
        Json::String(text) => Attribute::S(text),
        Json::Array(values) => Attribute::L(values.into_iter().map(from_json).collect()),
        Json::Object(map) => from_map(map),
    }
}

fn size(image: &Image) -> usize {
    image.iter().map(|(name, value)| name.len() + value.size()).sum()
}

impl Attribute {
    /// Close to what DynamoDB would say.
    fn size(&self) -> usize {
        match self {
            Self::S(text) | Self::N(text) => text.len(),
            Self::B(text) => text.len() / 4 * 3,
            Self::Bool(_) | Self::Null(_) => 1,
            Self::L(values) => 3 + values.iter().map(|value| 1 + value.size()).sum::<usize>(),
            Self::M(map) => {
                3 + map.iter().map(|(name, value)| 1 + name.len() + value.size()).sum::<usize>()
            }
        }
    }
}
