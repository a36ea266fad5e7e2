//! Now, in the two senses that waiting needs: the time of day that due times are written in, and
//! the time that only passes.

use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

use ferryhook_core::{Env, Timestamp};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Moment {
    pub(crate) wall: Timestamp,
    pub(crate) passed: Duration,
}

impl Moment {
    /// When `at` will have come, in time that passes.
    pub(crate) fn reaches(&self, at: Timestamp) -> Duration {
        self.passed + at.saturating_since(self.wall)
    }
}

/// A time of day that never runs backwards. When someone sets the machine's clock back by an hour,
/// what was due in a minute is still due in a minute.
///
/// Asked several times for each event, by all threads: so it keeps one number and no lock.
#[derive(Debug)]
pub(crate) struct Steady {
    env: Env,
    /// By how many microseconds the time of day has been ahead of the time that passes, at most.
    ahead: AtomicI64,
}

impl Steady {
    pub(crate) fn new(env: Env) -> Self {
        let steady = Self { env, ahead: AtomicI64::new(i64::MIN) };
        steady.now();
        steady
    }

    pub(crate) fn now(&self) -> Moment {
        let passed = self.env.elapsed();
        let micros = i64::try_from(passed.as_micros()).unwrap_or(i64::MAX);
        let seen = self.env.now().as_millis().saturating_mul(1000).saturating_sub(micros);
        let mut ahead = self.ahead.load(Ordering::Relaxed);
        if seen > ahead {
            ahead = self.ahead.fetch_max(seen, Ordering::Relaxed).max(seen);
        }
        let wall = Timestamp::from_millis(micros.saturating_add(ahead).div_euclid(1000));
        Moment { wall, passed }
    }
}

#[cfg(test)]
mod tests;
