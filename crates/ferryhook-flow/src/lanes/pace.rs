//! A destination's own limit of attempts a second, evenly spaced.

use std::time::Duration;

use crate::limits;

#[derive(Debug, Clone, Default)]
pub(crate) struct Pace {
    interval: Duration,
    /// When the next attempt would start if all were evenly spaced.
    next: Duration,
}

impl Pace {
    /// Keeps its place when the limit stays as it is or changes.
    pub(crate) fn set(&mut self, per_second: Option<u32>) {
        self.interval = match per_second {
            Some(rate) if rate > 0 => Duration::from_secs(1) / rate,
            _ => Duration::ZERO,
        };
    }

    /// There is no limit.
    pub(crate) fn is_free(&self) -> bool {
        self.interval == Duration::ZERO
    }

    /// When the next attempt may start.
    pub(crate) fn opens(&self) -> Duration {
        match self.interval {
            Duration::ZERO => Duration::ZERO,
            _ => self.next.saturating_sub(self.slack()),
        }
    }

    pub(crate) fn started(&mut self, now: Duration) {
        if self.interval > Duration::ZERO {
            self.next = self.next.max(now) + self.interval;
        }
    }

    /// The next moment that is free, which is then taken.
    pub(crate) fn reserve(&mut self, now: Duration) -> Duration {
        let at = self.opens().max(now);
        self.started(at);
        at
    }

    fn slack(&self) -> Duration {
        limits::PACE_GRAIN.saturating_sub(self.interval)
    }
}

#[cfg(test)]
mod tests;
