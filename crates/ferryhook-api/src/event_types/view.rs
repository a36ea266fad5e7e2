//! An event type as clients see it, and a declaration as they write it.

use ferryhook_core::Timestamp;
use ferryhook_core::event_type::{Declared, Drift, EventType, Mode};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::ToSchema;

/// What events of a type must look like.
#[derive(Debug, Clone, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schema(as = EventTypeDeclaration)]
pub struct NewDeclaration {
    /// JSON Schema: 2020-12, or draft-07 if `$schema` says so. References stay within it.
    #[schema(value_type = Object)]
    pub schema: Value,
    /// Whether an event that does not fit is taken in and counted, or refused.
    pub mode: Mode,
}

/// What is known of an event type.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = EventType)]
pub struct EventTypeView {
    pub event_type: String,
    /// Absent as long as it is only declared.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub first_seen_at: Option<Timestamp>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_seen_at: Option<Timestamp>,
    /// Events that were taken in, copies not included.
    pub count: u64,
    /// Those of them that were learned from.
    pub samples: u32,
    /// What they have in common, as JSON Schema. Not in lists.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Object>)]
    pub inferred_schema: Option<Value>,
    /// What was different, the oldest first.
    pub drifts: Vec<Drift>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub declared: Option<DeclaredView>,
    /// Events that were not as declared.
    pub mismatches: u64,
    /// Events that were taken in unchecked: more, or larger ones, than are looked at.
    pub unchecked: u64,
}

/// What its owner has declared.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = EventTypeDeclared)]
pub struct DeclaredView {
    #[schema(value_type = Object)]
    pub schema: Value,
    pub mode: Mode,
    pub declared_at: Timestamp,
}

impl EventTypeView {
    pub fn of(known: &EventType) -> Self {
        Self { inferred_schema: known.learned.json_schema(), ..Self::brief(known) }
    }

    /// Without the inferred schema.
    pub fn brief(known: &EventType) -> Self {
        Self {
            event_type: known.name.clone(),
            first_seen_at: known.first_seen_at,
            last_seen_at: known.last_seen_at,
            count: known.count,
            samples: known.learned.samples,
            inferred_schema: None,
            drifts: known.drifts.clone(),
            declared: known.declared.as_ref().map(DeclaredView::of),
            mismatches: known.mismatches,
            unchecked: known.unchecked,
        }
    }
}

impl DeclaredView {
    pub fn of(declared: &Declared) -> Self {
        // It was JSON when it was declared.
        let schema = serde_json::from_str(&declared.schema).unwrap_or_default();
        Self { schema, mode: declared.mode, declared_at: declared.declared_at }
    }
}
