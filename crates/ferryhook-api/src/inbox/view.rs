//! Items of the inbox as clients see them.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use ferryhook_core::delivery::State;
use ferryhook_core::event::Status;
use ferryhook_core::id::{EventId, SourceId};
use ferryhook_core::inbox::{Group, Leased, Replied, Token};
use ferryhook_core::{Delivery, Event, Map, Timestamp};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::events::HeaderLine;
use crate::limits;

/// An event in an inbox.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct InboxItem {
    #[serde(flatten)]
    pub event: InboxEvent,
    pub status: Status,
    /// How often it was leased before this time.
    pub retry_count: u32,
    pub group: String,
    /// Somebody has it until then.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lease_until: Option<Timestamp>,
    /// Nobody can have it before then.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub available_at: Option<Timestamp>,
    /// When it was done with, or given up.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub settled_at: Option<Timestamp>,
    /// It was given up: nobody can lease it any more, until it is replayed.
    pub is_dead: bool,
    /// Why it was given back the last time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_error: Option<String>,
}

/// An event that is yours for a while.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct LeasedItem {
    #[serde(flatten)]
    pub event: InboxEvent,
    pub status: Status,
    /// How often it was leased before.
    pub retry_count: u32,
    pub group: String,
    /// Stands for this lease when you reply.
    pub token: String,
    pub lease_until: Timestamp,
    /// As they came, where it was a request.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub headers: Vec<HeaderLine>,
}

/// What it is about and what it carries.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct InboxEvent {
    pub event_id: EventId,
    pub source_id: SourceId,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub event_type: Option<String>,
    /// What was posted, or the body of a request if that is a JSON object.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Object>)]
    pub payload: Option<Map>,
    /// Any other body, where it is text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub body: Option<String>,
    /// Any other body, where it is not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub body_base64: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub content_type: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Object>)]
    pub metadata: Option<Map>,
    /// When it happened: as it was posted, or else when it came.
    pub timestamp: Timestamp,
    pub received_at: Timestamp,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires_at: Option<Timestamp>,
    /// What it carries is too large for a list, and can be had with the event.
    #[serde(default, skip_serializing_if = "is_false")]
    pub is_content_omitted: bool,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks like this")]
fn is_false(flag: &bool) -> bool {
    !flag
}

impl InboxEvent {
    fn new(event: &Event) -> Self {
        let content = Content::of(event);
        Self {
            event_id: event.id,
            source_id: event.source_id,
            event_type: event.event_type.clone(),
            payload: content.payload,
            body: content.body,
            body_base64: content.body_base64,
            content_type: event.content_type.clone(),
            metadata: event.metadata.clone(),
            timestamp: event.occurred_at.unwrap_or(event.received_at),
            received_at: event.received_at,
            expires_at: event.expires_at,
            is_content_omitted: false,
        }
    }

    /// The same without what it carries.
    fn outlined(event: &Event) -> Self {
        let without = Event { body: Default::default(), payload: None, ..event.clone() };
        Self { is_content_omitted: true, ..Self::new(&without) }
    }
}

#[derive(Default)]
struct Content {
    payload: Option<Map>,
    body: Option<String>,
    body_base64: Option<String>,
}

impl Content {
    fn of(event: &Event) -> Self {
        if let Some(payload) = event.payload.as_ref().filter(|_| event.body.is_empty()) {
            return Self { payload: Some(payload.clone()), ..Self::default() };
        }
        if event.body.is_empty() {
            return Self::default();
        }
        if let Ok(payload) = serde_json::from_slice::<Map>(event.body.as_bytes()) {
            return Self { payload: Some(payload), ..Self::default() };
        }
        match event.body.as_text() {
            Some(text) => Self { body: Some(text.to_owned()), ..Self::default() },
            None => {
                let bytes = STANDARD.encode(event.body.as_bytes());
                Self { body_base64: Some(bytes), ..Self::default() }
            }
        }
    }
}

/// Whether it is small enough for a list.
fn fits(event: &Event) -> bool {
    let of_payload = event
        .payload
        .as_ref()
        .map(|payload| serde_json::to_vec(payload).map_or(usize::MAX, |bytes| bytes.len()));
    of_payload.unwrap_or_default().max(event.body.len()) <= limits::INBOX_LISTED_BYTES_MAX
}

impl InboxItem {
    pub(super) fn new(item: &Delivery, event: &Event, now: Timestamp) -> Self {
        let event = if fits(event) { InboxEvent::new(event) } else { InboxEvent::outlined(event) };
        let (lease_until, available_at) = match item.state {
            State::Sending { lease_until } => (Some(lease_until), None),
            State::Waiting { next_attempt_at } => (None, Some(next_attempt_at)),
            _ => (None, None),
        };
        let group = item.inbox.as_ref().map(|place| place.group.to_string());
        Self {
            event,
            status: item.inbox_status(),
            retry_count: item.retry_count(),
            group: group.unwrap_or_default(),
            // One that has run out is nobody's.
            lease_until: lease_until.filter(|until| *until > now),
            available_at: available_at.filter(|at| *at > now),
            settled_at: item.settled_at(),
            is_dead: matches!(item.state, State::Failed { .. }),
            last_error: item.last_error.clone(),
        }
    }
}

impl LeasedItem {
    pub(super) fn new(leased: &Leased, group: &Group) -> Self {
        Self {
            event: InboxEvent::new(&leased.event),
            status: leased.status,
            retry_count: leased.retry_count,
            group: group.to_string(),
            token: leased.token.to_string(),
            lease_until: leased.lease_until,
            headers: HeaderLine::all(&leased.event.headers),
        }
    }
}

/// What was leased; none, if there was none.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
#[schema(as = InboxLeases)]
pub struct Leases {
    pub data: Vec<LeasedItem>,
}

/// What became of each reply, in order.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
#[schema(as = InboxReplies)]
pub struct Replies {
    pub data: Vec<ReplyLine>,
}

/// What became of a reply.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = InboxReply)]
pub struct ReplyLine {
    pub event_id: EventId,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub token: Option<String>,
    pub result: ReplyResult,
    /// Where the event stands in the inbox now.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<Status>,
    /// Until then it is leased, if it still is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lease_until: Option<Timestamp>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
#[schema(as = InboxReplyResult)]
pub enum ReplyResult {
    /// It counts, and is stored.
    Done,
    /// The lease is over: somebody else has the event or had it, or it is settled.
    Stale,
    /// There is no such event in the inbox.
    Unknown,
}

impl ReplyLine {
    pub(super) fn of_token(token: &Token, replied: Replied) -> Self {
        Self { token: Some(token.to_string()), ..Self::of_event(token.event, replied) }
    }

    pub(super) fn of_event(event_id: EventId, replied: Replied) -> Self {
        let (result, status, lease_until) = match replied {
            Replied::Heard { lease_until, status } => {
                (ReplyResult::Done, Some(status), lease_until)
            }
            Replied::Stale => (ReplyResult::Stale, None, None),
            Replied::Unknown => (ReplyResult::Unknown, None, None),
        };
        Self { event_id, token: None, result, status, lease_until }
    }
}
