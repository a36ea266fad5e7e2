//! Retry: when a delivery that failed is tried again, and when it is given up.
//!
//! A policy is data and its answers are pure: the caller brings the dice. Who asks, and what
//! becomes of the delivery, is in [`delivery`](crate::delivery).

mod config;

use std::ops::RangeInclusive;
use std::time::Duration;

use chrono::DateTime;
use serde::Deserialize;

use crate::{Timestamp, limits};

pub use config::BadPolicy;

const RETRY_AFTER_MAX: Duration = Duration::from_secs(limits::RETRY_DELAY_SECONDS_MAX);

/// How often, how long after one another, and after which answers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Policy {
    /// The wait before each attempt, so its length is the number of attempts.
    schedule: Vec<Duration>,
    jitter_percent: u8,
    /// The first that matches decides.
    rules: Vec<Rule>,
}

/// What a destination's answer means.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// It has the event.
    Accept,
    /// Not now.
    Retry,
    /// Never, for this event.
    Fail,
    /// Never, for any event.
    Disable,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Rule {
    codes: RangeInclusive<u16>,
    then: Verdict,
}

impl Default for Policy {
    /// Eight attempts over almost two days.
    fn default() -> Self {
        const MINUTE: u64 = 60;
        const HOUR: u64 = 60 * MINUTE;
        let schedule = [0, 30, 2 * MINUTE, 15 * MINUTE, HOUR, 4 * HOUR, 12 * HOUR, 24 * HOUR];
        Self {
            schedule: schedule.map(Duration::from_secs).to_vec(),
            jitter_percent: limits::JITTER_PERCENT_MAX,
            rules: Vec::new(),
        }
    }
}

impl Policy {
    /// Attempts in all, the first one included.
    pub fn attempts(&self) -> u16 {
        u16::try_from(self.schedule.len()).unwrap_or(u16::MAX)
    }

    /// The wait before the next attempt after `made` of them, or `None` when that was the last.
    ///
    /// `fraction`, from 0 to 1, is how much of the jitter to use. What the destination asked for
    /// can only lengthen the wait, and by no more than a day.
    pub fn wait_after(
        &self,
        made: u16,
        retry_after: Option<Duration>,
        fraction: f64,
    ) -> Option<Duration> {
        let planned = *self.schedule.get(usize::from(made))?;
        let jittered = planned + self.jitter(planned, fraction);
        let asked = retry_after.unwrap_or_default().min(RETRY_AFTER_MAX);
        Some(jittered.max(asked))
    }

    pub fn verdict(&self, status_code: u16) -> Verdict {
        if (200..=299).contains(&status_code) {
            return Verdict::Accept;
        }
        let rule = self.rules.iter().find(|r| r.codes.contains(&status_code));
        match (rule, status_code) {
            (Some(rule), _) => rule.then,
            (None, 410) => Verdict::Disable,
            (None, _) => Verdict::Retry,
        }
    }

    fn jitter(&self, planned: Duration, fraction: f64) -> Duration {
        let most = planned.as_millis() as f64 * f64::from(self.jitter_percent) / 100.0;
        // The cast turns a fraction that is not a number into no jitter at all.
        Duration::from_millis((most * fraction.clamp(0.0, 1.0)) as u64)
    }
}

/// Reads a `Retry-After` header: seconds, or a date. `None` when it is neither.
pub fn parse_retry_after(value: &str, now: Timestamp) -> Option<Duration> {
    let value = value.trim();
    if let Ok(seconds) = value.parse() {
        return Some(Duration::from_secs(seconds));
    }
    let at = DateTime::parse_from_rfc2822(value).ok()?;
    Some(Timestamp::from_millis(at.timestamp_millis()).saturating_since(now))
}

#[cfg(test)]
mod tests;
