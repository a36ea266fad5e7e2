//! One thing that happened, as it reached us. What it carries never changes; where it stands does.
//!
//! Whether a provider pushed it, a sync pulled it or an app triggered it, it is the same record.

use std::fmt;

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::id::Identified;
use crate::time::{millis, seconds};
use crate::{Account, Body, Delivery, Headers, Id, Map, Source, Timestamp, User};

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Event {
    #[serde(rename = "eventId")]
    pub id: Id<Event>,
    pub source_id: Id<Source>,
    pub user_id: Id<User>,
    pub account_id: Id<Account>,
    pub origin: Origin,
    pub status: Status,
    /// Such as `order.completed`, where it is known.
    #[serde(rename = "event_type", default, skip_serializing_if = "Option::is_none")]
    pub event_type: Option<String>,
    #[serde(rename = "retry_count")]
    pub retry_count: u32,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub metadata: Option<Map>,
    /// The ledger's key for it, and how often it came again under that key.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dedup_key: Option<String>,
    #[serde(default)]
    pub duplicate_count: u32,

    // The request; absent for what was pulled.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub method: Option<String>,
    /// What followed the source's id in the path.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub query: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub content_type: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source_ip: Option<String>,
    #[serde(default, skip_serializing_if = "Headers::is_empty")]
    pub headers: Headers,
    #[serde(default, skip_serializing_if = "Body::is_empty")]
    pub body: Body,
    /// A triggered event has this instead of a body.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub payload: Option<Map>,

    #[serde(with = "millis")]
    pub received_at: Timestamp,
    /// When it happened, where its app has said so.
    #[serde(default, with = "millis::option", skip_serializing_if = "Option::is_none")]
    pub occurred_at: Option<Timestamp>,
    /// How often planning its deliveries went wrong, and what was said the last time. Once it has
    /// been given up the event is `failed`, without a delivery: a dead letter.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub processing_tries: u8,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub processing_error: Option<String>,
    /// Present as long as nobody has planned its deliveries.
    #[serde(default, with = "millis::option", skip_serializing_if = "Option::is_none")]
    pub pending_since: Option<Timestamp>,
    #[serde(default, with = "millis::option", skip_serializing_if = "Option::is_none")]
    pub processed_at: Option<Timestamp>,
    #[serde(default, with = "millis::option", skip_serializing_if = "Option::is_none")]
    pub delivered_at: Option<Timestamp>,
    /// Absent under a plan that keeps everything.
    #[serde(default, with = "seconds::option", skip_serializing_if = "Option::is_none")]
    pub expires_at: Option<Timestamp>,
}

fn is_zero(number: &u8) -> bool {
    *number == 0
}

impl Identified for Event {
    const PREFIX: &'static str = "evt_";
    const SORTABLE: bool = true;
}

/// The part of an event that changes. Small and `Copy`, so that whoever moves an event on need not
/// carry what it brought.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Standing {
    pub status: Status,
    pub retry_count: u32,
    pub pending_since: Option<Timestamp>,
    pub processed_at: Option<Timestamp>,
    pub delivered_at: Option<Timestamp>,
}

impl Standing {
    /// Processed, with these deliveries.
    pub fn with<'a>(
        self,
        deliveries: impl IntoIterator<Item = &'a Delivery, IntoIter: Clone>,
        now: Timestamp,
    ) -> Self {
        let deliveries = deliveries.into_iter();
        let status = Event::status_from(deliveries.clone());
        let retries = deliveries.map(|one| u32::from(one.attempts.saturating_sub(1))).max();
        Self {
            status,
            retry_count: retries.unwrap_or(0),
            pending_since: None,
            processed_at: self.processed_at.or(Some(now)),
            delivered_at: match status {
                Status::Delivered => self.delivered_at.or(Some(now)),
                _ => None,
            },
        }
    }
}

impl Event {
    pub fn standing(&self) -> Standing {
        Standing {
            status: self.status,
            retry_count: self.retry_count,
            pending_since: self.pending_since,
            processed_at: self.processed_at,
            delivered_at: self.delivered_at,
        }
    }

    /// What it carries, in bytes: a payload is written out as JSON, and is a body from then on.
    pub fn with_body(&self) -> Option<Self> {
        let payload = self.payload.as_ref().filter(|_| self.body.is_empty())?;
        let body = Body::from(serde_json::to_vec(payload).ok()?);
        let content_type = Some("application/json".to_owned());
        Some(Self { body, content_type, payload: None, ..self.clone() })
    }

    /// Pending once more, as if nothing had been tried: for one that could not be processed, after
    /// whatever stood in the way is gone.
    pub fn redriven(&self, now: Timestamp) -> Self {
        Self {
            status: Status::Received,
            pending_since: Some(now),
            processed_at: None,
            processing_tries: 0,
            processing_error: None,
            ..self.clone()
        }
    }

    /// Where an event stands once it has been processed, given all of its deliveries.
    ///
    /// What is decided before there are deliveries (`received`, `signature_failed`, and `held`
    /// at a paused source) is not this function's to say.
    pub fn status_from<'a>(deliveries: impl IntoIterator<Item = &'a Delivery>) -> Status {
        let mut seen = Seen::default();
        for delivery in deliveries {
            seen.note(delivery);
        }
        if seen.open > 0 && seen.tried == 0 {
            Status::Processing
        } else if seen.open > 0 {
            Status::Retrying
        } else if seen.held > 0 {
            Status::Held
        } else if seen.failed > 0 {
            Status::Failed
        } else if seen.delivered > 0 {
            Status::Delivered
        } else if seen.unfetched > 0 {
            Status::Received
        } else {
            // Nobody wanted it, or those who did have withdrawn.
            Status::Filtered
        }
    }
}

/// How many of an event's deliveries are in which situation.
#[derive(Default)]
struct Seen {
    open: usize,
    held: usize,
    failed: usize,
    delivered: usize,
    /// Of all of these, how many have been attempted.
    tried: usize,
    /// In an inbox, and nobody has been through with them: whatever else becomes of the event does
    /// not wait for somebody to come.
    unfetched: usize,
}

impl Seen {
    fn note(&mut self, delivery: &Delivery) {
        use crate::delivery::State;
        if delivery.inbox.is_some() {
            return self.note_item(delivery);
        }
        match delivery.state {
            State::Waiting { .. } | State::Sending { .. } => self.open += 1,
            State::Held { .. } => self.held += 1,
            State::Failed { .. } => self.failed += 1,
            State::Delivered { .. } => self.delivered += 1,
            State::Cancelled { .. } => return,
        }
        if delivery.attempts > 0 {
            self.tried += 1;
        }
    }

    fn note_item(&mut self, item: &Delivery) {
        match item.inbox_status() {
            Status::Retrying => self.open += 1,
            Status::Held => self.held += 1,
            Status::Failed => self.failed += 1,
            Status::Delivered => self.delivered += 1,
            Status::Filtered => return,
            _ => return self.unfetched += 1,
        }
        self.tried += 1;
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
#[schema(as = EventOrigin)]
pub enum Origin {
    Webhook,
    Sync,
    Trigger,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
#[schema(as = EventStatus)]
pub enum Status {
    /// Durable, and nothing else yet.
    Received,
    /// Planned or being planned; nothing has been tried.
    Processing,
    /// Everyone who wanted it has it.
    Delivered,
    /// Someone who wants it is still to get it.
    Retrying,
    /// Someone who wanted it will not get it, and nobody is left to wait for.
    Failed,
    Filtered,
    SignatureFailed,
    /// Waits for a pause to end.
    Held,
}

impl Status {
    /// The stored word, which the index by status has in its keys.
    pub const fn as_str(self) -> &'static str {
        match self {
            Status::Received => "received",
            Status::Processing => "processing",
            Status::Delivered => "delivered",
            Status::Retrying => "retrying",
            Status::Failed => "failed",
            Status::Filtered => "filtered",
            Status::SignatureFailed => "signature_failed",
            Status::Held => "held",
        }
    }
}

impl fmt::Display for Status {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

#[cfg(test)]
mod tests;
