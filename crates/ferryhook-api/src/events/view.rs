//! Events as clients see them: in a list, and one with all that was done with it.

use std::fmt;

use ferryhook_core::delivery::{Lane, State};
use ferryhook_core::event::{Origin, Status};
use ferryhook_core::id::{ConnectionId, EventId, SourceId};
use ferryhook_core::{Attempt, Delivery, Event, Headers, Map, Timestamp};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// An event in a list.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = EventSummary)]
pub struct EventLine {
    pub event_id: EventId,
    pub source_id: SourceId,
    /// Absent when the source is gone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
    pub status: Status,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub event_type: Option<String>,
    pub received_at: Timestamp,
    pub body_bytes: usize,
    pub retry_count: u32,
    pub duplicate_count: u32,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub processing_error: Option<String>,
}

impl EventLine {
    pub fn new(event: &Event, source: Option<String>) -> Self {
        Self {
            event_id: event.id,
            source_id: event.source_id,
            source,
            status: event.status,
            event_type: event.event_type.clone(),
            received_at: event.received_at,
            body_bytes: event.body.len(),
            retry_count: event.retry_count,
            duplicate_count: event.duplicate_count,
            processing_error: event.processing_error.clone(),
        }
    }
}

/// An event with all that was done with it.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Event)]
pub struct EventStory {
    #[serde(flatten)]
    pub line: EventLine,
    pub origin: Origin,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub method: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub query: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub content_type: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source_ip: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dedup_key: Option<String>,
    pub headers: Vec<HeaderLine>,
    /// What its app wanted to be kept beside the payload.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Object>)]
    pub metadata: Option<Map>,
    /// When it happened, where its app has said so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub occurred_at: Option<Timestamp>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub processed_at: Option<Timestamp>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub delivered_at: Option<Timestamp>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires_at: Option<Timestamp>,
    /// Where it was asked for, and is text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub body: Option<String>,
    /// Where it was asked for, and is not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub body_base64: Option<String>,
    pub deliveries: Vec<DeliveryLine>,
    pub attempts: Vec<AttemptLine>,
}

/// One header; a list of them has the order and the repeats of the request.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[schema(as = Header)]
pub struct HeaderLine {
    pub name: String,
    pub value: String,
}

impl HeaderLine {
    pub fn all(headers: &Headers) -> Vec<Self> {
        let line = |(name, value): (&str, &str)| Self { name: name.into(), value: value.into() };
        headers.iter().map(line).collect()
    }
}

/// The way of an event to one connection.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Delivery)]
pub struct DeliveryLine {
    pub event_id: EventId,
    pub connection_id: ConnectionId,
    /// Absent when the connection is gone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub connection: Option<String>,
    pub state: DeliveryState,
    /// Why it is held, failed or was cancelled.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    pub lane: Lane,
    pub attempts: u16,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next_attempt_at: Option<Timestamp>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub settled_at: Option<Timestamp>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_status_code: Option<u16>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_error: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum DeliveryState {
    Waiting,
    Sending,
    Held,
    Delivered,
    Failed,
    Cancelled,
}

impl fmt::Display for DeliveryState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Waiting => "waiting",
            Self::Sending => "sending",
            Self::Held => "held",
            Self::Delivered => "delivered",
            Self::Failed => "failed",
            Self::Cancelled => "cancelled",
        })
    }
}

impl DeliveryLine {
    pub fn new(delivery: &Delivery, connection: Option<String>) -> Self {
        let (state, reason) = match delivery.state {
            State::Waiting { .. } => (DeliveryState::Waiting, None),
            State::Sending { .. } => (DeliveryState::Sending, None),
            State::Held { reason, .. } => (DeliveryState::Held, word(reason)),
            State::Delivered { .. } => (DeliveryState::Delivered, None),
            State::Failed { reason, .. } => (DeliveryState::Failed, word(reason)),
            State::Cancelled { reason, .. } => (DeliveryState::Cancelled, word(reason)),
        };
        let next_attempt_at = match delivery.state {
            State::Waiting { next_attempt_at } => Some(next_attempt_at),
            _ => None,
        };
        Self {
            event_id: delivery.event_id,
            connection_id: delivery.connection_id,
            connection,
            state,
            reason,
            lane: delivery.lane,
            attempts: delivery.attempts,
            next_attempt_at,
            settled_at: delivery.settled_at(),
            last_status_code: delivery.last_status_code,
            last_error: delivery.last_error.clone(),
        }
    }
}

/// One request that was sent, and how it was answered.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Attempt)]
pub struct AttemptLine {
    pub connection_id: ConnectionId,
    /// Counts from 1 and goes on counting when the event is replayed.
    #[serde(rename = "attemptNumber")]
    pub number: u16,
    pub attempted_at: Timestamp,
    pub destination_url: String,
    /// 0 when there was no answer.
    pub status_code: u16,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    pub latency_ms: u32,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dns_ms: Option<u32>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub connect_ms: Option<u32>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tls_ms: Option<u32>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub first_byte_ms: Option<u32>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub response_body: Option<String>,
}

impl From<&Attempt> for AttemptLine {
    fn from(attempt: &Attempt) -> Self {
        Self {
            connection_id: attempt.connection_id,
            number: attempt.number,
            attempted_at: attempt.attempted_at,
            destination_url: attempt.destination_url.clone(),
            status_code: attempt.status_code,
            error: attempt.error.clone(),
            latency_ms: attempt.latency_ms,
            dns_ms: attempt.dns_ms,
            connect_ms: attempt.connect_ms,
            tls_ms: attempt.tls_ms,
            first_byte_ms: attempt.first_byte_ms,
            response_body: attempt.response_body.clone(),
        }
    }
}

/// The stored word of a plain enum.
fn word(value: impl Serialize) -> Option<String> {
    match serde_json::to_value(value) {
        Ok(serde_json::Value::String(word)) => Some(word),
        _ => None,
    }
}
