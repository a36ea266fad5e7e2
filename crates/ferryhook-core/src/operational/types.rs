//! What is said about event types.

use serde_json::json;

use super::Operational;
use super::sayings::{PRETENDED, map};
use crate::Timestamp;
use crate::event_type::{Drift, DriftKind, JsonType, Mode};
use crate::notification::NotificationType;

pub(super) const DRIFTED: &str = "event_type.drifted";
pub(super) const MISMATCHED: &str = "event_type.mismatched";
pub(super) const FULL: &str = "event_type.full";

/// How many are told to people one by one. Programs get all of them.
const TOLD: usize = 5;

impl Operational {
    /// All that was found at once.
    pub fn type_drifted(name: &str, drifts: &[Drift]) -> Self {
        let told: Vec<_> = drifts.iter().take(TOLD).map(Drift::to_string).collect();
        let rest = match drifts.len().saturating_sub(TOLD) {
            0 => String::new(),
            rest => format!(", and {rest} more"),
        };
        Self {
            event_type: DRIFTED,
            data: map(json!({ "eventType": name, "drifts": drifts })),
            level: NotificationType::Warning,
            category: "event_type",
            title: format!("Events of type {name} look different"),
            message: format!("In {name}: {}{rest}.", told.join(", ")),
        }
    }

    /// Said of the first one since the schema was declared.
    pub fn type_mismatched(name: &str, mode: Mode, pointer: &str, reason: &str) -> Self {
        let (level, became) = match mode {
            Mode::Warn => (NotificationType::Warning, "was taken in all the same"),
            Mode::Reject => (NotificationType::Error, "was refused"),
        };
        let place = if pointer.is_empty() { "it" } else { pointer };
        Self {
            event_type: MISMATCHED,
            data: map(json!({
                "eventType": name, "mode": mode, "pointer": pointer, "reason": reason,
            })),
            level,
            category: "event_type",
            title: format!("An event of type {name} is not as declared"),
            message: format!(
                "It {became}: at {place}, {reason}. Further ones are counted on the type and not \
                 told again."
            ),
        }
    }

    pub fn types_full(most: usize) -> Self {
        Self {
            event_type: FULL,
            data: map(json!({ "limit": most })),
            level: NotificationType::Warning,
            category: "event_type",
            title: format!("There are more than {most} event types"),
            message: format!(
                "Only the first {most} types are counted and learned. Delete those that nobody \
                 needs; events of the others are taken in as ever."
            ),
        }
    }
}

pub(super) fn pretended() -> [Drift; 1] {
    let event_id = "evt_0000000000000000".parse();
    [Drift {
        path: "/amount".to_owned(),
        kind: DriftKind::Retyped,
        was: vec![JsonType::Integer],
        now: vec![JsonType::String],
        noted_at: Timestamp::from_seconds(PRETENDED),
        // An id of the right shape, which nothing has.
        event_id: event_id.unwrap_or_else(|error| unreachable!("{error}")),
    }]
}
