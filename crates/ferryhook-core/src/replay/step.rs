//! How a replay goes on. Each function takes it as it stands and gives it as it stands next; one
//! that is over is given back unchanged.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::{BadSelection, Position, Replay, Selection, State};
use crate::{Account, Connection, Env, Id, Timestamp, limits};

/// Of the events that were meant and have been looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = ReplayCounts)]
pub struct Counts {
    pub matched: u64,
    /// Something of it goes out again.
    pub replayed: u64,
    /// There was nothing to do: on its way already, or nobody wants it.
    pub skipped: u64,
    pub failed: u64,
}

impl Replay {
    /// Asked for now, and nobody has it yet.
    pub fn new(
        account: Id<Account>,
        selection: Selection,
        mut connections: Vec<Id<Connection>>,
        rate_per_second: u32,
        env: &Env,
    ) -> Result<Self, BadSelection> {
        connections.sort_unstable();
        connections.dedup();
        if connections.len() > limits::REPLAY_CONNECTIONS_MAX {
            return Err(BadSelection::Connections(connections.len()));
        }
        if !(1..=limits::REPLAY_RATE_MAX).contains(&rate_per_second) {
            return Err(BadSelection::Rate(rate_per_second));
        }
        let now = env.now();
        Ok(Self {
            id: Id::at(now, env),
            account_id: account,
            selection,
            connections,
            rate_per_second,
            state: State::Running { lease_until: now },
            counts: Counts::default(),
            position: None,
            waiting_for: None,
            last_error: None,
            created_at: now,
            updated_at: now,
            expires_at: None,
        })
    }

    /// Whoever runs it has come so far, and keeps it until `until`.
    pub fn advance(
        &self,
        counts: Counts,
        position: Option<Position>,
        until: Timestamp,
        now: Timestamp,
    ) -> Self {
        if !self.is_running() {
            return self.clone();
        }
        let state = State::Running { lease_until: until };
        Self { counts, position, state, updated_at: now, ..self.clone() }
    }

    pub fn finish(&self, now: Timestamp) -> Self {
        self.ended(State::Done { ended_at: now }, now)
    }

    pub fn cancel(&self, now: Timestamp) -> Self {
        self.ended(State::Cancelled { ended_at: now }, now)
    }

    pub fn fail(&self, reason: &str, now: Timestamp) -> Self {
        let reason = reason.chars().take(limits::ERROR_CHARACTERS_KEPT).collect();
        self.ended(State::Failed { reason, ended_at: now }, now)
    }

    fn ended(&self, state: State, now: Timestamp) -> Self {
        if !self.is_running() {
            return self.clone();
        }
        let expires_at = Timestamp::from_seconds((now + limits::REPLAY_KEPT).as_seconds());
        Self {
            state,
            waiting_for: None,
            updated_at: now,
            expires_at: Some(expires_at),
            ..self.clone()
        }
    }
}
