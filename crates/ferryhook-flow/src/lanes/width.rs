//! How many attempts a destination gets at once: more while it answers, fewer when it does not.
//!
//! It doubles with every round of successes up to the first failure, grows slowly afterwards, and
//! halves with every failure. A destination that hangs therefore holds few slots.

use crate::limits;

#[derive(Debug, Clone)]
pub(crate) struct Width {
    now: usize,
    /// Successes since it grew last.
    successes: usize,
    doubling: bool,
}

impl Width {
    pub(crate) fn new() -> Self {
        Self { now: limits::CONCURRENCY_FIRST, successes: 0, doubling: true }
    }

    pub(crate) fn get(&self, most: usize) -> usize {
        self.now.min(most).max(1)
    }

    pub(crate) fn succeeded(&mut self, most: usize) {
        self.successes += 1;
        let wanted = if self.doubling { 1 } else { self.now };
        if self.now < most && self.successes >= wanted {
            self.now += 1;
            self.successes = 0;
        }
    }

    pub(crate) fn failed(&mut self) {
        *self = Self { now: (self.now / 2).max(1), successes: 0, doubling: false };
    }

    /// After a rest: from a single one, doubling.
    pub(crate) fn begin_again(&mut self) {
        *self = Self { now: 1, successes: 0, doubling: true };
    }
}

#[cfg(test)]
mod tests;
