//! A replay of many events: what was asked for, and how far it has come.
//!
//! The record is the whole memory of the work. Whoever runs it saves where it stands now and then;
//! whoever takes it over after a crash goes on from there. It is over once, and stays so.

mod selection;
mod step;

use serde::{Deserialize, Serialize};

use crate::id::Identified;
use crate::time::{millis, seconds};
use crate::{Account, Connection, Event, Id, Timestamp};

pub use selection::{BadSelection, Filter, Matcher, Selection};
pub use step::Counts;

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Replay {
    #[serde(rename = "replayId")]
    pub id: Id<Replay>,
    pub account_id: Id<Account>,
    #[serde(flatten)]
    pub selection: Selection,
    /// Only to these; empty means all that want the event.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub connections: Vec<Id<Connection>>,
    /// Events, however many deliveries each comes to.
    pub rate_per_second: u32,
    #[serde(flatten)]
    pub state: State,
    #[serde(flatten)]
    pub counts: Counts,
    /// The last event that was looked at.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub position: Option<Position>,
    /// The connection whose queue is so full that the rest has to wait.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub waiting_for: Option<Id<Connection>>,
    /// Why the last event that failed did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_error: Option<String>,
    #[serde(with = "millis")]
    pub created_at: Timestamp,
    #[serde(with = "millis")]
    pub updated_at: Timestamp,
    /// Absent as long as it runs.
    #[serde(default, with = "seconds::option", skip_serializing_if = "Option::is_none")]
    pub expires_at: Option<Timestamp>,
}

impl Identified for Replay {
    const PREFIX: &'static str = "rpl_";
    const SORTABLE: bool = true;
}

/// Events are passed in this order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Position {
    #[serde(with = "millis")]
    pub received_at: Timestamp,
    pub event_id: Id<Event>,
}

impl Position {
    pub fn of(event: &Event) -> Self {
        Self { received_at: event.received_at, event_id: event.id }
    }
}

/// Stored flat: the word under `state`, and beside it what that state has.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "state", rename_all = "snake_case", rename_all_fields = "camelCase")]
pub enum State {
    /// Somebody has it until then; before the first one it is the moment it was asked for.
    Running {
        #[serde(with = "millis")]
        lease_until: Timestamp,
    },
    Done {
        #[serde(with = "millis")]
        ended_at: Timestamp,
    },
    Cancelled {
        #[serde(with = "millis")]
        ended_at: Timestamp,
    },
    /// It could not go on; events before its position were replayed.
    Failed {
        reason: String,
        #[serde(with = "millis")]
        ended_at: Timestamp,
    },
}

impl State {
    pub const fn word(&self) -> &'static str {
        match self {
            Self::Running { .. } => "running",
            Self::Done { .. } => "done",
            Self::Cancelled { .. } => "cancelled",
            Self::Failed { .. } => "failed",
        }
    }
}

impl Replay {
    pub fn is_running(&self) -> bool {
        matches!(self.state, State::Running { .. })
    }
}

#[cfg(test)]
mod tests;
