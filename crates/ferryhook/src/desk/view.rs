//! What the desk says, in the words of the JSON that programs read.

use ferryhook_core::delivery::{Lane, State};
use ferryhook_core::event::{Origin, Status};
use ferryhook_core::explained::{Compared, Explained, Verdict};
use ferryhook_core::replay::{Counts, Filter, Position, Selection};
use ferryhook_core::{
    Attempt, Connection, Delivery, Event, Id, Rejection, Replay, Source, Timestamp, replay,
};
use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct EventList {
    pub data: Vec<EventLine>,
    /// There may be older ones.
    pub has_more: bool,
}

/// An event in a list.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct EventLine {
    pub event_id: Id<Event>,
    pub source_id: Id<Source>,
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
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
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
    pub headers: Vec<(String, String)>,
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

#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct DeliveryLine {
    pub event_id: Id<Event>,
    pub connection_id: Id<Connection>,
    /// Absent when the connection is gone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub connection: Option<String>,
    pub state: String,
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

impl DeliveryLine {
    pub fn new(delivery: &Delivery, connection: Option<String>) -> Self {
        let (state, reason) = match delivery.state {
            State::Waiting { .. } => ("waiting", None),
            State::Sending { .. } => ("sending", None),
            State::Held { reason, .. } => ("held", word(reason)),
            State::Delivered { .. } => ("delivered", None),
            State::Failed { reason, .. } => ("failed", word(reason)),
            State::Cancelled { reason, .. } => ("cancelled", word(reason)),
        };
        let next_attempt_at = match delivery.state {
            State::Waiting { next_attempt_at } => Some(next_attempt_at),
            _ => None,
        };
        Self {
            event_id: delivery.event_id,
            connection_id: delivery.connection_id,
            connection,
            state: state.to_owned(),
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

#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct AttemptLine {
    pub connection_id: Id<Connection>,
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

/// An event, and why it went where it went.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Explanation {
    #[serde(flatten)]
    pub story: EventStory,
    pub ledger: Ledger,
    /// What the rules of each connection see in it now.
    pub connections: Vec<Explained>,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Ledger {
    #[serde(flatten)]
    pub verdict: LedgerVerdict,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub remembered_until: Option<Timestamp>,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(tag = "verdict", rename_all = "snake_case")]
pub enum LedgerVerdict {
    /// Nothing tells it from another, so it is not looked for in the ledger.
    NoKey,
    /// It was the first with its key.
    First,
    /// The key was forgotten in between and is another event's now.
    Other {
        first: Id<Event>,
    },
    Forgotten,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RejectionList {
    pub data: Vec<RejectionLine>,
    pub has_more: bool,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RejectionLine {
    pub rejection_id: Id<Rejection>,
    pub rejected_at: Timestamp,
    pub cause: String,
    /// What to mend.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub detail: Option<String>,
    pub method: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source_ip: Option<String>,
    pub body_bytes: usize,
    /// Whether it can be let in after all.
    pub is_whole: bool,
}

impl From<&Rejection> for RejectionLine {
    fn from(rejection: &Rejection) -> Self {
        Self {
            rejection_id: rejection.id,
            rejected_at: rejection.rejected_at,
            cause: word(rejection.cause).unwrap_or_default(),
            detail: rejection.detail.clone(),
            method: rejection.method.clone(),
            source_ip: rejection.source_ip.clone(),
            body_bytes: rejection.body.len(),
            is_whole: !rejection.body_truncated,
        }
    }
}

/// A request that was refused, as far as it is kept.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RejectionStory {
    #[serde(flatten)]
    pub line: RejectionLine,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub query: Option<String>,
    pub headers: Vec<(String, String)>,
    /// Where it is text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub body: Option<String>,
    /// Where it is not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub body_base64: Option<String>,
}

#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Readmitted {
    pub events: Vec<Id<Event>>,
    /// Why the others stay out.
    pub refused: Vec<String>,
    /// There are older ones.
    pub has_more: bool,
}

/// What other rules would do.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Tried {
    pub looked_at: usize,
    /// Events that would be delivered and are not, or the other way, or end for another reason.
    pub verdict_changed: usize,
    /// Events of which something else would be sent.
    pub content_changed: usize,
    pub before: Verdicts,
    pub after: Verdicts,
    pub examples: Vec<Example>,
    /// There are older events behind this one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next: Option<Position>,
}

/// How many events meet which end.
#[derive(Debug, Clone, Copy, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Verdicts {
    pub delivered: usize,
    pub other_type: usize,
    pub filtered: usize,
    pub dropped: usize,
    pub failed: usize,
}

impl Verdicts {
    pub fn count(&mut self, verdict: &Verdict) {
        *match verdict {
            Verdict::Delivered => &mut self.delivered,
            Verdict::OtherType => &mut self.other_type,
            Verdict::Filtered => &mut self.filtered,
            Verdict::Dropped { .. } => &mut self.dropped,
            Verdict::Failed { .. } => &mut self.failed,
        } += 1;
    }
}

/// One event that differs.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Example {
    pub event_id: Id<Event>,
    pub received_at: Timestamp,
    #[serde(flatten)]
    pub compared: Compared,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ReplayTold {
    pub event_id: Id<Event>,
    pub connections: Vec<ReplayLine>,
    /// Nobody is there to send it before a server starts.
    pub waits_for_server: bool,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ReplayLine {
    pub connection_id: Id<Connection>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub connection: Option<String>,
    pub what: What,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum What {
    Replayed,
    /// The connection is paused.
    Held,
    /// It was on its way.
    AlreadyOpen,
}

/// A replay of many events.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ReplayJob {
    pub replay_id: Id<Replay>,
    pub state: String,
    /// Why it failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// How many events it names, if it names any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ids: Option<usize>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub filter: Option<Filtered>,
    /// Only to these; empty means all that want the event.
    pub connections: Vec<Id<Connection>>,
    pub rate_per_second: u32,
    #[serde(flatten)]
    pub counts: Counts,
    /// When the last event came that was looked at.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reached: Option<Timestamp>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub waiting_for: Option<Id<Connection>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_error: Option<String>,
    pub created_at: Timestamp,
    pub updated_at: Timestamp,
    /// Nobody is there to do it before a server starts.
    pub waits_for_server: bool,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Filtered {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source_id: Option<Id<Source>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<Status>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub event_type: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<Timestamp>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub to: Option<Timestamp>,
}

impl ReplayJob {
    pub fn new(replay: &Replay, waits_for_server: bool) -> Self {
        let (ids, filter) = match &replay.selection {
            Selection::Ids { ids } => (Some(ids.len()), None),
            Selection::Filter { filter } => {
                let Filter { source_id, status, event_type, from, to } = filter.clone();
                (None, Some(Filtered { source_id, status, event_type, from, to }))
            }
        };
        let reason = match &replay.state {
            replay::State::Failed { reason, .. } => Some(reason.clone()),
            _ => None,
        };
        Self {
            replay_id: replay.id,
            state: replay.state.word().to_owned(),
            reason,
            ids,
            filter,
            connections: replay.connections.clone(),
            rate_per_second: replay.rate_per_second,
            counts: replay.counts,
            reached: replay.position.map(|position| position.received_at),
            waiting_for: replay.waiting_for,
            last_error: replay.last_error.clone(),
            created_at: replay.created_at,
            updated_at: replay.updated_at,
            waits_for_server: waits_for_server && replay.is_running(),
        }
    }

    pub fn is_running(&self) -> bool {
        self.state == "running"
    }
}

#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ReplayList {
    pub data: Vec<ReplayJob>,
    pub has_more: bool,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct DeliveryList {
    pub data: Vec<DeliveryLine>,
    pub has_more: bool,
}

#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Redriven {
    pub redriven: usize,
    /// What was said of those that were not.
    pub refused: Vec<String>,
    pub has_more: bool,
    /// Nobody is there to process them before a server starts.
    pub waits_for_server: bool,
}

/// The stored word of a plain enum.
fn word(value: impl Serialize) -> Option<String> {
    match serde_json::to_value(value) {
        Ok(serde_json::Value::String(word)) => Some(word),
        _ => None,
    }
}
