//! An event type of an account: what its traffic has taught about it, and what its owner has said
//! it must look like.
//!
//! Written by the data plane, which counts and learns, and by the API, which declares. Everything
//! in here is a function of samples and schemas; which sample is looked at, and who is told of
//! what was found, is decided in `ferryhook-flow`. No value of a sample is kept, only where one was
//! and of which type.

pub mod declared;
pub mod drift;
mod json_schema;
mod json_type;
pub mod learned;

use serde::{Deserialize, Serialize};

use crate::{Account, Event, Id, Source, Timestamp, limits};

pub use declared::{Declared, Mode};
pub use drift::{Drift, DriftKind};
pub use json_type::JsonType;
pub use learned::Learned;

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct EventType {
    pub account_id: Id<Account>,
    /// Such as `order.paid`.
    #[serde(rename = "eventType")]
    pub name: String,
    /// Absent as long as it is only declared.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub first_seen_at: Option<Timestamp>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_seen_at: Option<Timestamp>,
    /// Events that were taken in, copies not included.
    #[serde(default)]
    pub count: u64,
    #[serde(default, skip_serializing_if = "Learned::is_empty")]
    pub learned: Learned,
    /// The last ones, the oldest first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub drifts: Vec<Drift>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub declared: Option<Declared>,
    /// Events that were not as declared, whatever became of them.
    #[serde(default)]
    pub mismatches: u64,
    /// Events that were taken in without a look at whether they are as declared.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub unchecked: u64,
    /// Where the last samples came from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_source: Option<LastSource>,
}

/// The source of the last sample, and how many in a row were its.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct LastSource {
    pub source_id: Id<Source>,
    pub samples: u32,
}

impl EventType {
    /// One that nothing is known of.
    pub fn new(account_id: Id<Account>, name: &str) -> Self {
        Self {
            account_id,
            name: name.to_owned(),
            first_seen_at: None,
            last_seen_at: None,
            count: 0,
            learned: Learned::default(),
            drifts: Vec::new(),
            declared: None,
            mismatches: 0,
            unchecked: 0,
            last_source: None,
        }
    }

    /// Events of it came in, the last of them then.
    pub fn count(&mut self, events: u64, last_at: Timestamp) {
        if events == 0 {
            return;
        }
        self.count = self.count.saturating_add(events);
        self.first_seen_at.get_or_insert(last_at);
        self.last_seen_at = self.last_seen_at.max(Some(last_at));
    }

    /// Learns from the content of an event; what is new about it, where the type was known well
    /// enough to tell. Each is told once, and noted here.
    ///
    /// Two sources can have a type of the same name and mean different things by it: that is learned
    /// as one, and nothing is drift until a source has been alone for a while.
    pub fn learn(
        &mut self,
        sample: &serde_json::Value,
        from: Id<Source>,
        of: Id<Event>,
        now: Timestamp,
    ) -> Vec<Drift> {
        let before = self.last_source.filter(|last| last.source_id == from);
        let before = before.map_or(0, |last| last.samples);
        self.last_source = Some(LastSource { source_id: from, samples: before.saturating_add(1) });
        let mut changes = self.learned.learn(sample);
        if before < limits::TYPE_SETTLED_SAMPLES {
            changes.clear();
        }
        let drifts: Vec<_> = changes.into_iter().map(|change| change.noted(of, now)).collect();
        self.drifts.extend(drifts.iter().cloned());
        let old = self.drifts.len().saturating_sub(limits::TYPE_DRIFTS_KEPT);
        self.drifts.drain(..old);
        drifts
    }
}

fn is_zero(count: &u64) -> bool {
    *count == 0
}

/// Whether something that a sender called a type can be one of the catalogue.
pub fn is_name(text: &str) -> bool {
    !text.is_empty()
        && text.len() <= limits::TYPE_NAME_BYTES_MAX
        && !text.contains(char::is_control)
}

#[cfg(test)]
mod tests;
