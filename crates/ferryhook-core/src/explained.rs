//! What the rules of a connection make of an event, told to whoever asks.
//!
//! Only the words: the data plane runs the rules and fills these in.

use serde::{Deserialize, Serialize};
use utoipa::openapi::RefOr;
use utoipa::openapi::schema::{ObjectBuilder, Schema, Type};
use utoipa::{PartialSchema, ToSchema};

use crate::connection::PipelineOrder;
use crate::filter::Explanation;
use crate::id::ConnectionId;

/// What becomes of an event at one connection.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "verdict", rename_all = "snake_case")]
pub enum Verdict {
    Delivered,
    /// Its type is none of those that are listed.
    OtherType,
    /// The filter does not hold.
    Filtered,
    /// The transform gave nothing back.
    Dropped {
        reason: String,
    },
    /// The rules cannot be carried out. In time it would be tried again.
    Failed {
        reason: String,
    },
}

/// As one object: whoever reads it need not know which words come with a reason.
impl PartialSchema for Verdict {
    fn schema() -> RefOr<Schema> {
        let words = ["delivered", "other_type", "filtered", "dropped", "failed"];
        let verdict = ObjectBuilder::new().schema_type(Type::String).enum_values(Some(words));
        let reason = ObjectBuilder::new().schema_type(Type::String);
        ObjectBuilder::new()
            .property("verdict", verdict)
            .required("verdict")
            .property("reason", reason)
            .into()
    }
}

impl ToSchema for Verdict {}

/// One connection's view of an event.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Explained {
    pub connection_id: ConnectionId,
    pub connection: String,
    #[serde(flatten)]
    pub verdict: Verdict,
    /// The listed types, where there are any.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub event_types: Vec<String>,
    pub pipeline_order: PipelineOrder,
    /// Every clause with what it saw. Absent without a filter, or where its turn never came.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub filter: Option<Explanation>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub transform: Option<Transformed>,
}

#[derive(Debug, Clone, Default, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Transformed {
    /// What it changed; nothing where it left the event as it was, dropped it or failed.
    pub changes: Vec<Change>,
    /// What the script wrote to its console.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub console: Vec<String>,
}

/// One place that differs. What is absent was not there before, or is not there any more.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Change {
    /// Such as `body.order.items[2].price`, `headers.x-kind` or `method`.
    pub at: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub before: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after: Option<String>,
}

/// One event under the rules that a connection has, and under others.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Compared {
    pub before: Verdict,
    pub after: Verdict,
    /// How what would be sent differs from what is, where both send something.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub changes: Vec<Change>,
}

impl Compared {
    pub fn differs(&self) -> bool {
        self.changes_verdict() || self.changes_content()
    }

    pub fn changes_verdict(&self) -> bool {
        std::mem::discriminant(&self.before) != std::mem::discriminant(&self.after)
    }

    pub fn changes_content(&self) -> bool {
        !self.changes.is_empty()
    }
}

#[cfg(test)]
mod tests;
