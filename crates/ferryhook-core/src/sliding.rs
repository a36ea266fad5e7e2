//! A sliding window: how many there were in the past stretch of time, whichever one looks at.
//!
//! Two buckets, this stretch's and the last one's, the latter weighted by how much of it still
//! lies within sight. It costs the same however many there were, and a fixed stretch's edge opens
//! no gate.

use std::time::Duration;

/// One window. Its length is given with each call, and is the same each time.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Window {
    /// Which stretch `current` counts.
    number: u64,
    current: u64,
    last: u64,
}

/// What one who is over the limit is told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Full {
    pub limit: u64,
    pub remaining: u64,
    /// Until one more would be taken.
    pub wait_seconds: u64,
}

impl Window {
    /// Takes one in, unless there were `limit` already.
    pub fn take(&mut self, limit: u64, length: Duration, now: Duration) -> Result<(), Full> {
        let length = Length::of(length);
        self.turn(length, now);
        let left_ms = length.0 - length.into_stretch(now);
        let used = self.current.saturating_add(length.weighted(self.last, left_ms));
        if used < limit {
            self.current += 1;
            return Ok(());
        }
        let wait_ms = self.wait_ms(limit, length, left_ms);
        let wait_seconds = wait_ms.div_ceil(1000).clamp(1, 2 * length.0.div_ceil(1000));
        Err(Full { limit, remaining: limit.saturating_sub(used), wait_seconds })
    }

    /// There were more than was thought when one was taken in.
    pub fn add(&mut self, more: u64) {
        self.current = self.current.saturating_add(more);
    }

    /// One that was taken in does not count after all.
    pub fn give_back(&mut self) {
        self.current = self.current.saturating_sub(1);
    }

    /// How many more would be taken in.
    pub fn remaining(&mut self, limit: u64, length: Duration, now: Duration) -> u64 {
        let length = Length::of(length);
        self.turn(length, now);
        let left_ms = length.0 - length.into_stretch(now);
        let used = self.current.saturating_add(length.weighted(self.last, left_ms));
        limit.saturating_sub(used)
    }

    /// Whether nothing of it is within sight any more.
    pub fn is_quiet(&self, length: Duration, now: Duration) -> bool {
        self.number + 1 < Length::of(length).stretch(now)
    }

    fn turn(&mut self, length: Length, now: Duration) {
        let number = length.stretch(now);
        match number.saturating_sub(self.number) {
            0 => {}
            1 => *self = Self { number, current: 0, last: self.current },
            _ => *self = Self { number, current: 0, last: 0 },
        }
    }

    /// How long until there is room for one: as the last stretch fades, or as this one will.
    fn wait_ms(&self, limit: u64, length: Length, left_ms: u64) -> u64 {
        if limit == 0 {
            return length.0;
        }
        match self.current < limit {
            true => left_ms.saturating_sub(length.fades_at(self.last, limit - self.current - 1)),
            false => left_ms + length.0.saturating_sub(length.fades_at(self.current, limit - 1)),
        }
    }
}

/// Of a stretch, in milliseconds; never zero.
#[derive(Debug, Clone, Copy)]
struct Length(u64);

impl Length {
    fn of(length: Duration) -> Self {
        Self(u64::try_from(length.as_millis()).unwrap_or(u64::MAX).max(1))
    }

    fn stretch(self, now: Duration) -> u64 {
        u64::try_from(now.as_millis() / u128::from(self.0)).unwrap_or(u64::MAX)
    }

    fn into_stretch(self, now: Duration) -> u64 {
        u64::try_from(now.as_millis() % u128::from(self.0)).unwrap_or(0)
    }

    /// What is left of a bucket with `left_ms` of its stretch within sight, rounded up.
    fn weighted(self, count: u64, left_ms: u64) -> u64 {
        let weighted = u128::from(count) * u128::from(left_ms);
        u64::try_from(weighted.div_ceil(u128::from(self.0))).unwrap_or(u64::MAX)
    }

    /// With how much left in sight a bucket weighs no more than `most`.
    fn fades_at(self, count: u64, most: u64) -> u64 {
        if count <= most {
            return self.0;
        }
        let left = u128::from(most) * u128::from(self.0) / u128::from(count);
        u64::try_from(left).unwrap_or(0)
    }
}

#[cfg(test)]
mod tests;
