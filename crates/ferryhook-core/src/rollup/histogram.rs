//! How long things took, on a logarithmic scale: percentiles of what was counted on many nodes in
//! many hours, by adding.

use super::sparse::Sparse;

/// Up to here each millisecond has a bucket of its own.
const EXACT: u32 = 16;
/// Buckets between a power of two and the next.
const STEPS: u32 = 8;
/// Whatever took longer, about seventeen minutes, counts as that. No attempt may take so long.
const LAST: u16 = 143;

/// Milliseconds by bucket. A percentile is off by at most [`Histogram::ERROR`].
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Histogram(pub(super) Sparse);

impl Histogram {
    /// The most by which a percentile differs from the true one, as a share of it: half a bucket.
    pub const ERROR: f64 = 1.0 / (2.0 * STEPS as f64);

    pub fn record(&mut self, millis: u32) {
        self.0.add(bucket(millis), 1);
    }

    pub fn merge(&mut self, other: &Self) {
        self.0.merge(&other.0);
    }

    pub fn count(&self) -> u64 {
        self.0.total()
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The least time that this many of a hundred took no longer than; none when nothing did.
    pub fn percentile(&self, percent: u8) -> Option<u32> {
        let total = u128::from(self.count());
        let rank = (total * u128::from(percent.min(100))).div_ceil(100).max(1);
        let mut seen = 0u128;
        for (bucket, count) in self.0.iter() {
            seen += u128::from(count);
            if seen >= rank {
                return Some(middle(bucket));
            }
        }
        None
    }

    /// By number of the bucket, for whoever keeps it.
    pub(super) fn buckets(&self) -> impl Iterator<Item = (u16, u64)> + '_ {
        self.0.iter()
    }

    pub(super) fn add_bucket(&mut self, bucket: u16, more: u64) {
        self.0.add(bucket.min(LAST), more);
    }
}

fn bucket(millis: u32) -> u16 {
    if millis < EXACT {
        return millis as u16;
    }
    let power = millis.ilog2();
    let step = (millis >> (power - STEPS.ilog2())) % STEPS;
    let bucket = EXACT + (power - EXACT.ilog2()) * STEPS + step;
    (bucket as u16).min(LAST)
}

fn middle(bucket: u16) -> u32 {
    let bucket = u32::from(bucket);
    if bucket < EXACT {
        return bucket;
    }
    let (octave, step) = ((bucket - EXACT) / STEPS, (bucket - EXACT) % STEPS);
    let width = 1u32 << (octave + EXACT.ilog2() - STEPS.ilog2());
    (STEPS + step) * width + width / 2
}
