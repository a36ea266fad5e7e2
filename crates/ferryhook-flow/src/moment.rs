//! Now, in the two senses that waiting needs: the time of day that due times are written in, and
//! the time that only passes.

use std::sync::{Mutex, PoisonError};
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
#[derive(Debug)]
pub(crate) struct Steady {
    env: Env,
    last: Mutex<Moment>,
}

impl Steady {
    pub(crate) fn new(env: Env) -> Self {
        let last = Moment { wall: env.now(), passed: env.elapsed() };
        Self { env, last: Mutex::new(last) }
    }

    pub(crate) fn now(&self) -> Moment {
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        let passed = self.env.elapsed().max(last.passed);
        let wall = self.env.now().max(last.wall + (passed - last.passed));
        *last = Moment { wall, passed };
        *last
    }
}

#[cfg(test)]
mod tests;
