//! Replays as clients see them: of one event at once, and of many as a job.

use std::fmt;

use ferryhook_core::event::Status;
use ferryhook_core::id::{ConnectionId, EventId, ReplayId, SourceId};
use ferryhook_core::replay::{Counts, Filter, Selection};
use ferryhook_core::{Replay, Timestamp, replay};
use ferryhook_store::search::Count;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// What came of replaying one event.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = ReplayedEvent)]
pub struct ReplayTold {
    pub event_id: EventId,
    pub connections: Vec<ReplayLine>,
    /// Nobody is there to send it before a server starts.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub waits_for_server: bool,
}

/// The same for one connection.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = ReplayedDelivery)]
pub struct ReplayLine {
    pub connection_id: ConnectionId,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub connection: Option<String>,
    pub what: What,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
#[schema(as = ReplayOutcome)]
pub enum What {
    Replayed,
    /// The connection is paused.
    Held,
    /// It was on its way.
    AlreadyOpen,
}

/// A replay of many events.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Replay)]
pub struct ReplayJob {
    pub replay_id: ReplayId,
    pub state: State,
    /// Why it failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// How many events it names, if it names any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ids: Option<usize>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub filter: Option<Filtered>,
    /// Only to these; empty means all that want the event.
    pub connections: Vec<ConnectionId>,
    pub rate_per_second: u32,
    #[serde(flatten)]
    pub counts: Counts,
    /// When the last event came that was looked at.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reached: Option<Timestamp>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub waiting_for: Option<ConnectionId>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_error: Option<String>,
    pub created_at: Timestamp,
    pub updated_at: Timestamp,
    /// Nobody is there to do it before a server starts.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub waits_for_server: bool,
}

/// How many events a replay would be about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = ReplayCount)]
pub struct Counted {
    pub matched: u64,
    pub looked_at: u64,
    /// Not all events have been looked at; there may be more than were counted.
    pub is_lower_bound: bool,
}

impl From<Count> for Counted {
    fn from(count: Count) -> Self {
        let Count { matched, looked_at, next } = count;
        Self { matched, looked_at, is_lower_bound: next.is_some() }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
#[schema(as = ReplayState)]
pub enum State {
    Running,
    Done,
    Cancelled,
    Failed,
}

impl From<&replay::State> for State {
    fn from(state: &replay::State) -> Self {
        match state {
            replay::State::Running { .. } => Self::Running,
            replay::State::Done { .. } => Self::Done,
            replay::State::Cancelled { .. } => Self::Cancelled,
            replay::State::Failed { .. } => Self::Failed,
        }
    }
}

impl fmt::Display for State {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Running => "running",
            Self::Done => "done",
            Self::Cancelled => "cancelled",
            Self::Failed => "failed",
        })
    }
}

/// Which events are meant. What is absent does not matter.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schema(as = EventFilter)]
pub struct Filtered {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source_id: Option<SourceId>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<Status>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub event_type: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<Timestamp>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub to: Option<Timestamp>,
}

impl From<Filter> for Filtered {
    fn from(filter: Filter) -> Self {
        let Filter { source_id, status, event_type, from, to } = filter;
        Self { source_id, status, event_type, from, to }
    }
}

impl From<Filtered> for Filter {
    fn from(filtered: Filtered) -> Self {
        let Filtered { source_id, status, event_type, from, to } = filtered;
        Self { source_id, status, event_type, from, to }
    }
}

impl ReplayJob {
    pub fn new(replay: &Replay, waits_for_server: bool) -> Self {
        let (ids, filter) = match &replay.selection {
            Selection::Ids { ids } => (Some(ids.len()), None),
            Selection::Filter { filter } => (None, Some(Filtered::from(filter.clone()))),
        };
        let reason = match &replay.state {
            replay::State::Failed { reason, .. } => Some(reason.clone()),
            _ => None,
        };
        Self {
            replay_id: replay.id,
            state: State::from(&replay.state),
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
        self.state == State::Running
    }
}
