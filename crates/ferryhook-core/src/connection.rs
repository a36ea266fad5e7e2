//! A way from a source to a destination: which events take it, in what shape, how fast.
//!
//! The rules (`filters`, `transform`, `retry_config`) are kept as the JSON text they came in;
//! each is compiled once by the module that owns it, and refused there if it is not understood.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::id::Identified;
use crate::secret::Previous;
use crate::{Account, Headers, Id, Map, Secret, Source, Timestamp, User};

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Connection {
    #[serde(rename = "connectionId")]
    pub id: Id<Connection>,
    pub source_id: Id<Source>,
    pub user_id: Id<User>,
    pub account_id: Id<Account>,
    pub name: String,
    pub status: Status,
    /// Why it is not active, when nobody asked for that: a destination that said it is gone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status_reason: Option<String>,

    pub destination_type: DestinationType,
    /// Absent where the type has no address, such as the inbox.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub destination_url: Option<String>,
    /// What the type needs beyond an address: dataset and tables, bucket, region.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub destination_config: Option<Map>,
    #[serde(default)]
    pub method: Method,
    #[serde(default, skip_serializing_if = "Headers::is_empty")]
    pub headers: Headers,
    /// How an attempt shows who sends it, as JSON text: see [`crate::destination_auth`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub auth: Option<Secret>,
    pub signing_secret: Secret,
    /// Signed with as well while a rotation is under way.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub previous_secrets: Vec<Previous>,

    /// Types this connection wants, with wildcards; empty means all.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub event_types: Vec<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub filters: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub transform: Option<String>,
    #[serde(default)]
    pub pipeline_order: PipelineOrder,

    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retry_config: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timeout_ms: Option<u32>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub concurrency_max: Option<u16>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rate_per_second_max: Option<u32>,
    /// Events that agree in this path are delivered one after the other.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ordering_key: Option<String>,
    /// What those behind a failing one do. Means nothing without a key.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ordering_policy: Option<OrderingPolicy>,

    pub delivery_count: u64,
    pub failure_count: u64,
    pub created_at: Timestamp,
    pub updated_at: Timestamp,
}

impl Identified for Connection {
    const PREFIX: &'static str = "conn_";
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
#[schema(as = ConnectionStatus)]
pub enum Status {
    Active,
    Paused,
    Deleted,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum DestinationType {
    Http,
    Inbox,
    PowerBi,
    Sqs,
    S3,
    /// Whoever runs `ferryhook listen`; see [`crate::cli_session`].
    Cli,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "UPPERCASE")]
#[schema(as = DeliveryMethod)]
pub enum Method {
    #[default]
    Post,
    Put,
    Patch,
    Delete,
    Get,
    /// The one the event came with.
    #[serde(rename = "original")]
    Original,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum PipelineOrder {
    #[default]
    FilterFirst,
    TransformFirst,
}

/// What becomes of the events of a key while the first of them cannot be delivered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(tag = "policy", rename_all = "snake_case")]
pub enum OrderingPolicy {
    /// They wait until it is delivered or given up.
    #[default]
    Block,
    /// Once it is given up, they wait until somebody replays it.
    Park,
    /// They go ahead when it has failed this often; it keeps its own attempts.
    Skip { after: u16 },
}
