//! Chance that a seed decides, so that a run can be had again.

use std::ops::Range;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// SplitMix64. Clones draw from the same stream; [`Chance::apart`] begins one of its own.
#[derive(Debug, Clone)]
pub(crate) struct Chance(Arc<Mutex<u64>>);

impl Chance {
    pub(crate) fn new(seed: u64) -> Self {
        Self(Arc::new(Mutex::new(seed)))
    }

    pub(crate) fn apart(&self) -> Self {
        Self::new(self.next())
    }

    pub(crate) fn next(&self) -> u64 {
        let mut state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = *state;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    pub(crate) fn of(&self, range: Range<u64>) -> u64 {
        range.start + self.next() % (range.end - range.start)
    }

    pub(crate) fn percent(&self, percent: u64) -> bool {
        self.of(0..100) < percent
    }

    pub(crate) fn millis(&self, range: Range<u64>) -> Duration {
        Duration::from_millis(self.of(range))
    }

    pub(crate) fn pick<'a, T>(&self, some: &'a [T]) -> &'a T {
        &some[self.of(0..some.len() as u64) as usize]
    }
}
