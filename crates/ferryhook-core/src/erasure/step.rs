//! How an erasure goes on. Each function takes it as it stands and gives it as it stands next; one
//! that is over is given back unchanged.

use serde::{Deserialize, Serialize};

use super::{Erasure, Outcome, State, Subject, What};
use crate::replay::Position;
use crate::{Account, Env, Id, Timestamp, User, limits};

/// Events and rejections.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Counts {
    pub looked_at: u64,
    pub erased: u64,
    pub failed: u64,
}

impl Erasure {
    /// Asked for now, and nobody has it yet.
    pub fn new(account: Id<Account>, what: What, by: Option<Id<User>>, env: &Env) -> Self {
        let now = env.now();
        Self {
            id: Id::at(now, env),
            account_id: account,
            what,
            state: State::Running { lease_until: now },
            counts: Counts::default(),
            position: None,
            last_error: None,
            created_by: by,
            created_at: now,
            updated_at: now,
            expires_at: None,
        }
    }

    /// Whoever runs it keeps it until `until`.
    pub fn lease(&self, until: Timestamp) -> Self {
        let mut next = self.clone();
        if let State::Running { lease_until } | State::Scrubbing { lease_until, .. } =
            &mut next.state
        {
            *lease_until = until;
        }
        next
    }

    /// It has come so far.
    pub fn advance(
        &self,
        counts: Counts,
        position: Option<Position>,
        until: Timestamp,
        now: Timestamp,
    ) -> Self {
        match self.state {
            State::Running { .. } => {
                Self { counts, position, updated_at: now, ..self.lease(until) }
            }
            _ => self.clone(),
        }
    }

    /// Everything was looked at.
    pub fn looked_through(&self, now: Timestamp) -> Self {
        match self.counts.failed {
            0 => self.scrubbing(Outcome::Done, None, now),
            1 => self.give_up("one event could not be erased", now),
            failed => self.give_up(&format!("{failed} events could not be erased"), now),
        }
    }

    pub fn give_up(&self, reason: &str, now: Timestamp) -> Self {
        let reason = reason.chars().take(limits::ERROR_CHARACTERS_KEPT).collect();
        self.scrubbing(Outcome::Failed, Some(reason), now)
    }

    /// Nothing more is erased. What was already stays so, and goes as it would have.
    pub fn cancel(&self, now: Timestamp) -> Self {
        self.scrubbing(Outcome::Cancelled, None, now)
    }

    fn scrubbing(&self, outcome: Outcome, reason: Option<String>, now: Timestamp) -> Self {
        if !matches!(self.state, State::Running { .. }) {
            return self.clone();
        }
        let what = match &self.what {
            What::Subject { subject } => {
                What::Subject { subject: Subject { filter: None, ..subject.clone() } }
            }
            what => what.clone(),
        };
        let state = State::Scrubbing { lease_until: now, outcome, reason };
        Self { what, state, updated_at: now, ..self.clone() }
    }

    /// Nothing is left of what was deleted.
    pub fn scrubbed(&self, now: Timestamp) -> Self {
        let State::Scrubbing { outcome, reason, .. } = &self.state else { return self.clone() };
        let ended_at = now;
        let state = match outcome {
            Outcome::Done => State::Done { ended_at },
            Outcome::Cancelled => State::Cancelled { ended_at },
            Outcome::Failed => {
                State::Failed { reason: reason.clone().unwrap_or_default(), ended_at }
            }
        };
        let expires_at = Timestamp::from_seconds((now + limits::ERASURE_KEPT).as_seconds());
        Self { state, updated_at: now, expires_at: Some(expires_at), ..self.clone() }
    }
}
