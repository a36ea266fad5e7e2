//! The state machine of a delivery. Each function takes it as it stands and gives it as it stands
//! next; one that does not apply gives it back unchanged.

use std::time::Duration;

use super::{Cancel, Delivery, Failure, Hold, Lane, State};
use crate::retry::{Policy, Verdict};
use crate::{Connection, Event, Timestamp, limits};

/// What came of one attempt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome {
    Answered {
        status_code: u16,
        retry_after: Option<Duration>,
    },
    /// No answer: refused, timed out, broken off.
    Unanswered {
        error: String,
    },
    /// Not even tried, because the address may not be delivered to.
    Blocked {
        error: String,
    },
}

#[derive(Debug, Clone, PartialEq)]
pub struct Next {
    pub delivery: Delivery,
    pub consequence: Consequence,
}

/// What the caller owes the rest of the system after a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Consequence {
    Nothing,
    /// People should hear that it failed.
    Alert,
    /// They should hear, and the connection should stop.
    DisableConnection,
}

impl Delivery {
    /// The plan to bring `event` over `connection`, due after the first wait of the policy.
    pub fn plan(
        event: &Event,
        connection: &Connection,
        policy: &Policy,
        now: Timestamp,
        fraction: f64,
    ) -> Self {
        let wait = policy.wait_after(0, None, fraction).unwrap_or_default();
        Self {
            event_id: event.id,
            connection_id: connection.id,
            source_id: event.source_id,
            account_id: event.account_id,
            state: State::Waiting { next_attempt_at: now + wait },
            lane: Lane::Live,
            attempts: 0,
            attempts_before: 0,
            order_key: None,
            last_status_code: None,
            last_error: None,
            created_at: now,
            updated_at: now,
            expires_at: event.expires_at,
            inbox: None,
        }
    }

    /// Taken by a worker until `until`; `None` when there is nothing to do yet, or someone else
    /// is doing it. One that is held may be taken too, because nobody else would find out that it
    /// may go on or is not wanted any more; one that is parked waits for somebody's word.
    pub fn lease(&self, until: Timestamp, now: Timestamp) -> Option<Self> {
        let due = match self.state {
            State::Held { reason: Hold::Parked, .. } => None,
            State::Held { next_attempt_at, .. } => Some(next_attempt_at),
            _ => self.due_at(),
        };
        due.filter(|due| *due <= now && self.inbox.is_none())
            .map(|_| self.moved(State::Sending { lease_until: until }, now))
    }

    /// Where it stands after an attempt. `fraction` is how much of the policy's jitter to use.
    pub fn after(&self, outcome: &Outcome, policy: &Policy, now: Timestamp, fraction: f64) -> Next {
        if self.is_settled() {
            return Next { delivery: self.clone(), consequence: Consequence::Nothing };
        }
        let mut delivery = self.clone();
        delivery.attempts = self.attempts.saturating_add(1);
        (delivery.last_status_code, delivery.last_error) = match outcome {
            Outcome::Answered { status_code, .. } => (Some(*status_code), None),
            Outcome::Unanswered { error } | Outcome::Blocked { error } => {
                let kept = error.chars().take(limits::ERROR_CHARACTERS_KEPT);
                (None, Some(kept.collect()))
            }
        };
        let (state, consequence) = match outcome {
            Outcome::Blocked { .. } => failed(Failure::Blocked, now),
            Outcome::Unanswered { .. } => delivery.again(policy, None, now, fraction),
            Outcome::Answered { status_code, retry_after } => match policy.verdict(*status_code) {
                Verdict::Accept => (State::Delivered { settled_at: now }, Consequence::Nothing),
                Verdict::Retry => delivery.again(policy, *retry_after, now, fraction),
                Verdict::Fail => failed(Failure::Refused, now),
                Verdict::Disable => failed(Failure::Gone, now),
            },
        };
        Next { delivery: delivery.moved(state, now), consequence }
    }

    /// Stopped before its next attempt. One that is fetched makes none of its own.
    pub fn hold(&self, reason: Hold, now: Timestamp) -> Self {
        let next_attempt_at = match self.state {
            _ if self.inbox.is_some() => return self.clone(),
            State::Waiting { next_attempt_at } | State::Held { next_attempt_at, .. } => {
                next_attempt_at
            }
            State::Sending { .. } => now,
            _ => return self.clone(),
        };
        let held = State::Held { reason, next_attempt_at };
        self.moved(held, now)
    }

    /// Not tried now, for a reason that is ours: no attempt is counted, and it is looked at again
    /// then.
    pub fn put_off(&self, until: Timestamp, now: Timestamp) -> Self {
        match self.is_settled() {
            true => self.clone(),
            false => self.moved(State::Waiting { next_attempt_at: until }, now),
        }
    }

    /// Goes on after a hold: at once, unless it would have had to wait longer anyway.
    pub fn release(&self, now: Timestamp) -> Self {
        match self.state {
            State::Held { next_attempt_at, .. } => {
                let next_attempt_at = next_attempt_at.max(now);
                self.moved(State::Waiting { next_attempt_at }, now)
            }
            _ => self.clone(),
        }
    }

    pub fn cancel(&self, reason: Cancel, now: Timestamp) -> Self {
        if self.is_settled() {
            return self.clone();
        }
        let cancelled = State::Cancelled { reason, settled_at: now };
        self.moved(cancelled, now)
    }

    /// Begins again, due at once and with all the attempts of the policy before it: in the lane of
    /// replays, or where it was parked, because those behind it wait there. One that is still open
    /// goes on as it was.
    pub fn replay(&self, now: Timestamp) -> Self {
        let lane = match self.state {
            State::Held { reason: Hold::Parked, .. } => self.lane,
            _ if self.is_settled() => Lane::Replay,
            _ => return self.clone(),
        };
        let waiting = State::Waiting { next_attempt_at: now };
        Self { lane, attempts_before: self.attempts, ..self.moved(waiting, now) }
    }

    /// Given up because its event is about to go. Said while both can still be seen: what is gone
    /// has no failures.
    pub fn expire(&self, now: Timestamp) -> Next {
        if self.is_settled() {
            return Next { delivery: self.clone(), consequence: Consequence::Nothing };
        }
        let (state, consequence) = failed(Failure::Expired, now);
        Next { delivery: self.moved(state, now), consequence }
    }

    /// Another attempt if the policy has one left, and the event is still there then.
    fn again(
        &self,
        policy: &Policy,
        retry_after: Option<Duration>,
        now: Timestamp,
        fraction: f64,
    ) -> (State, Consequence) {
        let made = self.attempts.saturating_sub(self.attempts_before);
        let Some(wait) = policy.wait_after(made, retry_after, fraction) else {
            return failed(Failure::Exhausted, now);
        };
        let next_attempt_at = now + wait;
        if self.expires_at.is_some_and(|end| end <= next_attempt_at) {
            return failed(Failure::Expired, now);
        }
        let state = match self.state {
            // Paused while the attempt was under way: the pause goes on.
            State::Held { reason, .. } => State::Held { reason, next_attempt_at },
            _ => State::Waiting { next_attempt_at },
        };
        (state, Consequence::Nothing)
    }

    fn moved(&self, state: State, now: Timestamp) -> Self {
        Self { state, updated_at: now, ..self.clone() }
    }
}

fn failed(reason: Failure, now: Timestamp) -> (State, Consequence) {
    let consequence = match reason {
        Failure::Gone => Consequence::DisableConnection,
        Failure::Exhausted | Failure::Refused | Failure::Blocked | Failure::Expired => {
            Consequence::Alert
        }
    };
    let settled_at = now;
    (State::Failed { reason, settled_at }, consequence)
}
