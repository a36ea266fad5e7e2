//! Gives a destination that keeps failing a rest, and tries it again with a single delivery.
//!
//! What waits is held, never dropped. The probe is a real attempt of a real delivery.

use std::time::Duration;

use crate::limits;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Closed {
        failures: u32,
    },
    Open {
        until: Duration,
        rest: Duration,
    },
    /// One attempt is under way and decides.
    Probing {
        rest: Duration,
    },
}

#[derive(Debug, Clone)]
pub(crate) struct Breaker(State);

impl Breaker {
    pub(crate) fn new() -> Self {
        Self(State::Closed { failures: 0 })
    }

    /// When the next attempt may start; `None` while a probe is under way.
    pub(crate) fn opens(&self, now: Duration) -> Option<Duration> {
        match self.0 {
            State::Closed { .. } => Some(now),
            State::Open { until, .. } => Some(until),
            State::Probing { .. } => None,
        }
    }

    pub(crate) fn is_closed(&self) -> bool {
        matches!(self.0, State::Closed { .. })
    }

    /// Closed, and nothing has failed lately.
    pub(crate) fn is_at_ease(&self) -> bool {
        self.0 == State::Closed { failures: 0 }
    }

    pub(crate) fn started(&mut self) {
        if let State::Open { rest, .. } = self.0 {
            self.0 = State::Probing { rest };
        }
    }

    pub(crate) fn succeeded(&mut self) {
        self.0 = State::Closed { failures: 0 };
    }

    /// Tells whether the destination rests from now on.
    pub(crate) fn failed(&mut self, now: Duration) -> bool {
        let rest = match self.0 {
            State::Closed { failures } if failures + 1 < limits::FAILURES_UNTIL_OPEN => {
                self.0 = State::Closed { failures: failures + 1 };
                return false;
            }
            State::Closed { .. } => limits::REST_FIRST,
            State::Probing { rest } => (rest * 2).min(limits::REST_MAX),
            // An attempt that had started before the rest began.
            State::Open { .. } => return false,
        };
        self.0 = State::Open { until: now + rest, rest };
        true
    }

    /// The probe came to nothing that could be judged.
    pub(crate) fn withdrawn(&mut self, now: Duration) {
        if let State::Probing { rest } = self.0 {
            self.0 = State::Open { until: now, rest };
        }
    }
}

#[cfg(test)]
mod tests;
