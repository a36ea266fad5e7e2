//! Words that a flag may have as its value.

use std::time::Duration;

use ferryhook_core::Timestamp;
use ferryhook_core::event::Status;

/// A moment as it is typed: by the calendar, or so long before now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Moment {
    At(Timestamp),
    Ago(Duration),
}

impl Moment {
    pub fn seen_from(self, now: Timestamp) -> Timestamp {
        match self {
            Self::At(at) => at,
            Self::Ago(ago) => now - ago,
        }
    }
}

pub fn moment(text: &str) -> Result<Moment, String> {
    if let Ok(at) = text.parse() {
        return Ok(Moment::At(at));
    }
    ago(text).map(Moment::Ago).ok_or_else(|| {
        "expected how long ago, such as 90s, 30m, 1h or 7d, or a time such as \
         2026-01-31T12:00:00Z"
            .to_owned()
    })
}

fn ago(text: &str) -> Option<Duration> {
    let (number, unit) = text.split_at_checked(text.len().checked_sub(1)?)?;
    let seconds = match unit {
        "s" => 1,
        "m" => 60,
        "h" => 60 * 60,
        "d" => 24 * 60 * 60,
        _ => return None,
    };
    let number: u32 = number.parse().ok()?;
    Some(Duration::from_secs(u64::from(number) * seconds))
}

pub fn status(text: &str) -> Result<Status, String> {
    serde_json::from_value(text.into()).map_err(|_| {
        "expected received, processing, delivered, retrying, failed, filtered, signature_failed \
         or held"
            .to_owned()
    })
}

#[cfg(test)]
mod tests;
