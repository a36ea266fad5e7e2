//! How long a destination takes for an attempt, as far as its lane can tell: from how many are
//! under way and how soon after each other they end.

use std::time::Duration;

/// One end says little, and nothing after a pause.
const GAP_MAX: Duration = Duration::from_secs(1);
const WEIGHT: u32 = 8;

#[derive(Debug, Default)]
pub(super) struct Speed {
    ended_at: Option<Duration>,
    attempt: Duration,
}

impl Speed {
    /// One of so many has ended.
    pub(super) fn attempted(&mut self, running: usize, now: Duration) {
        if let Some(before) = self.ended_at.replace(now) {
            let gap = now.saturating_sub(before).min(GAP_MAX);
            let took = gap * u32::try_from(running).unwrap_or(u32::MAX);
            self.attempt = (self.attempt * (WEIGHT - 1) + took) / WEIGHT;
        }
    }

    /// What one takes, lately.
    pub(super) fn attempt(&self) -> Duration {
        self.attempt
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// After a thousand ends, so far apart, of attempts that go on beside so many others.
    fn after(gap: Duration, running: usize) -> Duration {
        let mut speed = Speed::default();
        (0..1000).for_each(|end| speed.attempted(running, gap * end));
        speed.attempt()
    }

    #[test]
    fn many_that_end_often_are_as_quick_as_one_that_ends_at_once() {
        let ms = Duration::from_millis;
        for (gap, running, took) in [(1, 1, 1), (1, 64, 64), (100, 1, 100), (5, 8, 40)] {
            let told = after(ms(gap), running);
            assert!(told <= ms(took) && told > ms(took) * 9 / 10, "{told:?} and not {took} ms");
        }
    }

    #[test]
    fn a_pause_is_soon_forgotten() {
        let mut speed = Speed::default();
        speed.attempted(1, Duration::ZERO);
        let morning = Duration::from_secs(60 * 60);
        (0..50).for_each(|end| speed.attempted(1, morning + Duration::from_millis(end)));
        assert!(speed.attempt() < Duration::from_millis(5), "{:?}", speed.attempt());
    }
}
