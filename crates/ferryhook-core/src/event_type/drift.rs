//! Drift: what is different about an event type, against what it has been for a while.

use std::fmt;

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::JsonType;
use crate::id::EventId;
use crate::{Event, Id, Timestamp};

/// Something that a sample showed and those before it had not.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Change {
    /// A JSON pointer in which `*` stands for any element of a list.
    pub path: String,
    pub kind: DriftKind,
    /// What was there until now; nothing in place of a new field.
    pub was: Vec<JsonType>,
    /// What is there now; nothing where it has vanished.
    pub now: Vec<JsonType>,
}

impl Change {
    pub(super) fn noted(self, event_id: Id<Event>, noted_at: Timestamp) -> Drift {
        let Self { path, kind, was, now } = self;
        Drift { path, kind, was, now, noted_at, event_id }
    }
}

/// The same, as it is kept.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = EventTypeDrift)]
pub struct Drift {
    /// A JSON pointer in which `*` stands for any element of a list.
    pub path: String,
    pub kind: DriftKind,
    /// What was there until then; nothing in place of a new field.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub was: Vec<JsonType>,
    /// What was there then; nothing where it has vanished.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub now: Vec<JsonType>,
    pub noted_at: Timestamp,
    /// The event that showed it.
    pub event_id: EventId,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
#[schema(as = EventTypeDriftKind)]
pub enum DriftKind {
    New,
    Vanished,
    Retyped,
}

/// For people.
impl fmt::Display for Drift {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { path, was, now, .. } = self;
        match self.kind {
            DriftKind::New => write!(f, "{path} is new"),
            DriftKind::Vanished => write!(f, "{path} has vanished"),
            DriftKind::Retyped if path.is_empty() => {
                write!(f, "the whole was {} and is {}", words(was), words(now))
            }
            DriftKind::Retyped => write!(f, "{path} was {} and is {}", words(was), words(now)),
        }
    }
}

fn words(types: &[JsonType]) -> String {
    types.iter().map(|one| one.as_str()).collect::<Vec<_>>().join(" or ")
}
