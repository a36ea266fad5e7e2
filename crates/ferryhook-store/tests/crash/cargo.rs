//! What the child commits and the parent looks for. Both make it from the same few numbers, so
//! that the parent can tell every byte of what it should find.

use std::path::Path;
use std::time::Duration;

use ferryhook_core::delivery::State;
use ferryhook_core::{
    Claim, Delivery, Event, Id, Notification, Schedule, Source, Timestamp, event, samples,
};
use ferryhook_store::engine::embedded::EmbeddedConfig;
use xxhash_rust::xxh3::xxh3_64;

use crate::dice::Dice;

pub(crate) const SOURCES: u64 = 3;

/// Segments and tables so small that within a second all of it happens: rotation, flush,
/// compaction, relocation.
pub(crate) fn config(directory: &Path) -> EmbeddedConfig {
    EmbeddedConfig {
        segment_bytes: 96 * 1024,
        table_bytes_max: 64 * 1024,
        cache_bytes: 1024 * 1024,
        // Otherwise nothing would be relocated within the run.
        changes_kept: Duration::ZERO,
        ..EmbeddedConfig::new(directory)
    }
}

pub(crate) fn source(number: u64) -> Id<Source> {
    format!("src_{number:016}").parse().unwrap()
}

/// All that is said of an event before it is accepted.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Manifest {
    pub(crate) id: Id<Event>,
    pub(crate) source: u64,
    pub(crate) received_ms: i64,
    pub(crate) body_bytes: usize,
    /// In seconds.
    pub(crate) expires: Option<i64>,
}

impl Manifest {
    pub(crate) fn event(&self) -> Event {
        let received_at = Timestamp::from_millis(self.received_ms);
        Event {
            id: self.id,
            source_id: source(self.source),
            account_id: format!("acc_{:016}", self.source % 2).parse().unwrap(),
            status: event::Status::Received,
            retry_count: 0,
            duplicate_count: 0,
            event_type: (!self.body_bytes.is_multiple_of(3))
                .then(|| format!("type.{}", self.source)),
            body: body(self.id, self.body_bytes).into(),
            received_at,
            pending_since: Some(received_at),
            processed_at: None,
            delivered_at: None,
            expires_at: self.expires.map(Timestamp::from_seconds),
            ..samples::event()
        }
    }

    /// Lives exactly as long as its event, so that neither is ever found alone.
    pub(crate) fn claim(&self) -> Claim {
        let never = Timestamp::from_seconds(i64::from(u32::MAX) - 1);
        Claim {
            key: claim_key(self.id),
            expires_at: self.expires.map_or(never, Timestamp::from_seconds),
            event_id: Some(self.id),
            ..samples::claim()
        }
    }
}

pub(crate) fn claim_key(id: Id<Event>) -> String {
    format!("CRASH:{id}")
}

/// Bytes that no other event has.
fn body(id: Id<Event>, count: usize) -> Vec<u8> {
    Dice(xxh3_64(id.as_str().as_bytes())).bytes(count)
}

/// The event's next step: its status says which, and the indexes follow.
pub(crate) fn step(was: &Event) -> Event {
    use event::Status::{Delivered, Failed, Held, Processing, Retrying};
    let step = was.retry_count + 1;
    let status = [Processing, Retrying, Failed, Held, Delivered][step as usize % 5];
    Event { status, retry_count: step, pending_since: None, ..was.clone() }
}

/// Five rows of three tables that always carry the same token.
#[derive(Debug)]
pub(crate) struct Five {
    pub(crate) deliveries: [Delivery; 2],
    pub(crate) notifications: [Notification; 2],
    pub(crate) schedule: Schedule,
}

impl Five {
    pub(crate) fn new(number: u64, token: u64) -> Self {
        let at =
            |seconds: u64| Timestamp::from_seconds(1_767_225_600) + Duration::from_secs(seconds);
        let delivery = |connection: u64| Delivery {
            event_id: format!("evt_{number:016}").parse().unwrap(),
            connection_id: format!("conn_{connection:016}").parse().unwrap(),
            state: match token % 3 {
                0 => State::Delivered { settled_at: at(token) },
                _ => State::Waiting { next_attempt_at: at(token + connection) },
            },
            order_key: None,
            last_error: Some(token.to_string()),
            expires_at: None,
            ..samples::delivery()
        };
        let notification = |place: u64| Notification {
            user_id: format!("usr_{:016}", number % 2).parse().unwrap(),
            id: format!("ntf_{:016}", number * 2 + place).parse().unwrap(),
            is_read: (token + place).is_multiple_of(2),
            message: token.to_string(),
            expires_at: None,
            ..samples::notification()
        };
        let schedule = Schedule {
            source_id: source(0),
            id: format!("sch_{number:016}").parse().unwrap(),
            cron_expression: Some(token.to_string()),
            next_run_at: Timestamp::from_seconds(60 * (token % 4) as i64),
            ..samples::schedule()
        };
        Self {
            deliveries: [delivery(1), delivery(2)],
            notifications: [notification(0), notification(1)],
            schedule,
        }
    }
}
