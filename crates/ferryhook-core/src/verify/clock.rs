//! Timestamps: how they are written, and how far they may be from now.

use chrono::{DateTime, NaiveDateTime};

use super::reason::Reason;
use super::scheme::Unit;
use crate::Timestamp;

/// Unless the provider or the source says otherwise.
pub const TOLERANCE_SECONDS: u32 = 300;

/// Ten digits of seconds last until 2286; milliseconds had eleven digits in 1970.
const SECONDS_DIGITS_MAX: usize = 10;
const DIGITS_MAX: usize = 17;
const SHOWN_CHARACTERS: usize = 40;

impl Unit {
    pub(super) fn parse(self, text: &str) -> Result<Timestamp, Reason> {
        self.read(text)
            .ok_or_else(|| Reason::NotATime(text.chars().take(SHOWN_CHARACTERS).collect()))
    }

    fn read(self, text: &str) -> Option<Timestamp> {
        match self {
            Self::Seconds => number(text).map(Timestamp::from_seconds),
            Self::Milliseconds => number(text).map(Timestamp::from_millis),
            Self::Either if text.contains('-') => Self::Rfc3339.read(text),
            Self::Either if text.len() <= SECONDS_DIGITS_MAX => Self::Seconds.read(text),
            Self::Either => Self::Milliseconds.read(text),
            Self::Rfc3339 => {
                let zoned = DateTime::parse_from_rfc3339(text).map(|at| at.timestamp_millis());
                let plain = || {
                    let at = NaiveDateTime::parse_from_str(text, "%Y-%m-%dT%H:%M:%S%.f");
                    at.map(|at| at.and_utc().timestamp_millis())
                };
                zoned.or_else(|_| plain()).ok().map(Timestamp::from_millis)
            }
        }
    }

    pub(super) fn write(self, at: Timestamp) -> String {
        match self {
            Self::Seconds | Self::Either => at.as_seconds().to_string(),
            Self::Milliseconds => at.as_millis().to_string(),
            Self::Rfc3339 => at.to_string(),
        }
    }
}

fn number(text: &str) -> Option<i64> {
    let is_number = (1..=DIGITS_MAX).contains(&text.len());
    let is_number = is_number && text.bytes().all(|byte| byte.is_ascii_digit());
    is_number.then(|| text.parse().ok()).flatten()
}

/// Just at the tolerance is still in time.
pub(super) fn check(
    at: Timestamp,
    unit: Unit,
    now: Timestamp,
    tolerance: u32,
) -> Result<(), Reason> {
    // Who writes whole seconds means the second that now lies in.
    let now = match unit {
        Unit::Seconds => Timestamp::from_seconds(now.as_seconds()),
        Unit::Milliseconds | Unit::Rfc3339 | Unit::Either => now,
    };
    let allowed = u64::from(tolerance);
    let (old, ahead) = (now.saturating_since(at), at.saturating_since(now));
    let over = |apart: std::time::Duration| apart.as_millis() > u128::from(allowed) * 1000;
    if over(old) {
        return Err(Reason::TooOld { seconds: old.as_secs(), allowed });
    }
    if over(ahead) {
        return Err(Reason::FromTheFuture { seconds: ahead.as_secs(), allowed });
    }
    Ok(())
}

#[cfg(test)]
mod tests;
