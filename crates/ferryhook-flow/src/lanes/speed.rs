//! How long a destination takes for an attempt, lately.

use std::time::Duration;

use crate::limits;

/// One attempt counts for this part of what is known.
const PART: u32 = 8;

#[derive(Debug, Default)]
pub(super) struct Speed {
    ended_at: Option<Duration>,
    average: Duration,
}

impl Speed {
    pub(super) fn took(&mut self, time: Duration, now: Duration) {
        self.average = match self.ended_at.replace(now) {
            None => time,
            Some(_) => (self.average * (PART - 1) + time) / PART,
        };
    }

    /// Whether it is known to be.
    pub(super) fn is_quick(&self, now: Duration) -> bool {
        let is_heard = |at| now.saturating_sub(at) <= limits::SILENT;
        self.ended_at.is_some_and(is_heard) && self.average <= limits::QUICK
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: Duration = Duration::from_millis(1);

    #[test]
    fn who_was_not_heard_or_not_lately_is_not_known_to_be_quick() {
        let mut speed = Speed::default();
        assert!(!speed.is_quick(Duration::ZERO));
        speed.took(MS, 10 * MS);
        assert!(speed.is_quick(10 * MS));
        assert!(speed.is_quick(10 * MS + limits::SILENT));
        assert!(!speed.is_quick(11 * MS + limits::SILENT));
    }

    #[test]
    fn those_that_end_together_took_no_less_for_it() {
        let mut speed = Speed::default();
        (0..64).for_each(|_| speed.took(500 * MS, 500 * MS));
        assert!(!speed.is_quick(500 * MS));
        (0..64).for_each(|_| speed.took(MS, 501 * MS));
        assert!(speed.is_quick(501 * MS));
        speed.took(400 * MS, 900 * MS);
        assert!(speed.is_quick(900 * MS), "one alone says little");
    }
}
