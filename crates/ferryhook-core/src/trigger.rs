//! What an app posts by itself: what happened, to what, and when.
//!
//! The rules an event obeys before it is stored, one for each field, so that whoever posts a
//! hundred of them is told which one is wrong and where. It makes no event: that is the door's.

use std::time::Duration;

use crate::{Map, Timestamp, limits};

/// An event as its app knows it.
#[derive(Debug, Clone, PartialEq)]
pub struct Posted {
    /// Such as `order.paid`.
    pub event_type: String,
    pub payload: Map,
    /// When it happened, if not now.
    pub occurred_at: Option<Timestamp>,
    /// What the app wants to remember beside the payload.
    pub metadata: Option<Map>,
    /// What makes it the same event as another, whenever that came.
    pub key: Option<String>,
}

/// Which field is wrong, and why, in words that follow its name.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{field} {reason}")]
pub struct Unfit {
    pub field: &'static str,
    pub reason: String,
}

impl Unfit {
    fn new(field: &'static str, reason: impl Into<String>) -> Self {
        Self { field, reason: reason.into() }
    }
}

impl Posted {
    /// Everything that is wrong with it, at this moment.
    pub fn check(&self, now: Timestamp) -> Result<(), Vec<Unfit>> {
        let wrong = [
            check_type(&self.event_type),
            check_map("payload", &self.payload, limits::BODY_BYTES_DEFAULT),
            self.metadata.as_ref().map_or(Ok(()), |map| {
                check_map("metadata", map, limits::TRIGGER_METADATA_BYTES_MAX)
            }),
            self.occurred_at.map_or(Ok(()), |at| check_time(at, now)),
            self.key.as_deref().map_or(Ok(()), check_key),
        ];
        let wrong: Vec<_> = wrong.into_iter().filter_map(Result::err).collect();
        if wrong.is_empty() { Ok(()) } else { Err(wrong) }
    }
}

/// Two or more words with a dot between them: what it is about, and what happened to it.
fn check_type(text: &str) -> Result<(), Unfit> {
    let most = limits::TRIGGER_TYPE_BYTES_MAX;
    if text.len() > most {
        return Err(Unfit::new("eventType", format!("must have at most {most} characters")));
    }
    let is_word = |word: &str| {
        let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"_-".contains(&byte);
        !word.is_empty() && word.bytes().all(is_plain)
    };
    if text.split('.').count() < 2 || !text.split('.').all(is_word) {
        let reason = "must be words of letters, digits, _ and - with dots between them, such as \
                      order.paid";
        return Err(Unfit::new("eventType", reason));
    }
    Ok(())
}

fn check_map(field: &'static str, map: &Map, bytes_max: usize) -> Result<(), Unfit> {
    let depth_max = limits::TRIGGER_DEPTH_MAX;
    if map.values().any(|value| is_deeper(value, depth_max - 1)) {
        return Err(Unfit::new(field, format!("must nest at most {depth_max} deep")));
    }
    let bytes = serde_json::to_vec(map).map_or(usize::MAX, |text| text.len());
    if bytes > bytes_max {
        return Err(Unfit::new(field, format!("must have at most {bytes_max} bytes as JSON")));
    }
    Ok(())
}

fn is_deeper(value: &serde_json::Value, levels: usize) -> bool {
    match (value, levels) {
        (serde_json::Value::Object(_) | serde_json::Value::Array(_), 0) => true,
        (serde_json::Value::Object(map), _) => map.values().any(|one| is_deeper(one, levels - 1)),
        (serde_json::Value::Array(list), _) => list.iter().any(|one| is_deeper(one, levels - 1)),
        _ => false,
    }
}

/// Clocks differ; what has not happened yet is still no event.
fn check_time(at: Timestamp, now: Timestamp) -> Result<(), Unfit> {
    let ahead: Duration = limits::TRIGGER_CLOCK_AHEAD_MAX;
    if at > now + ahead {
        let seconds = ahead.as_secs();
        let reason = format!("must not lie more than {seconds} seconds in the future");
        return Err(Unfit::new("timestamp", reason));
    }
    Ok(())
}

fn check_key(key: &str) -> Result<(), Unfit> {
    let most = limits::TRIGGER_KEY_BYTES_MAX;
    if key.is_empty() || key.len() > most || key.contains(char::is_control) {
        return Err(Unfit::new("eventId", format!("must have 1 to {most} plain characters")));
    }
    Ok(())
}

#[cfg(test)]
mod tests;
