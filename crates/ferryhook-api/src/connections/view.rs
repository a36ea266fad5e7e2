//! A connection as clients write it and see it.

use std::collections::BTreeMap;

use ferryhook_core::connection::{DestinationType, Method, OrderingPolicy, PipelineOrder, Status};
use ferryhook_core::destination_auth::{self, AuthStyle, DestinationAuth, Kind};
use ferryhook_core::id::{AccountId, ConnectionId, SourceId};
use ferryhook_core::{Connection, Timestamp, inbox};
use serde::{Deserialize, Serialize};
use serde_json::Value as Json;
use utoipa::ToSchema;

use crate::call::{ETag, Tagged};
use crate::settings::REDACTED;
use crate::sources::Standing;

/// The settings of a connection.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct NewConnection {
    #[schema(min_length = 1, max_length = 100)]
    pub name: String,
    /// `http` if nothing is said; from an `inbox` events are fetched. It stays what it is.
    #[schema(inline)]
    pub destination_type: Option<NewDestinationType>,
    /// Where events go, unless that is the inbox. Private addresses are refused.
    #[schema(min_length = 1, max_length = 2048)]
    pub destination_url: Option<String>,
    /// Of an inbox.
    pub destination_config: Option<NewInboxSettings>,
    /// `paused` holds what is meant for it.
    pub status: Option<Standing>,
    /// `POST` if nothing is said; `original` is the one the event came with.
    pub method: Option<Method>,
    /// Sent with each request. Their values are not shown again.
    pub headers: Option<BTreeMap<String, String>>,
    /// How it shows the destination who sends, beside the signature. Its secrets are not shown again.
    pub auth: Option<NewAuth>,
    /// Types that are wanted, with wildcards such as `order.*`; all if nothing is said.
    pub event_types: Option<Vec<String>>,
    /// Which events are wanted: rules with path, operator and value, in groups.
    pub filters: Option<Json>,
    /// What is made of them: `{"type": "field_map" | "javascript" | "passthrough", …}`.
    pub transform: Option<Json>,
    /// Whether filters see what came or what the transform made.
    pub pipeline_order: Option<PipelineOrder>,
    /// Waits before each attempt in seconds, `[0, 30, 120]`, or an object with rules by status.
    pub retry_config: Option<Json>,
    #[schema(minimum = 1000, maximum = 30000)]
    pub timeout_ms: Option<u32>,
    /// Requests at once.
    #[schema(minimum = 1, maximum = 1000)]
    pub concurrency: Option<u16>,
    #[schema(minimum = 1, maximum = 100000)]
    pub rate_per_second: Option<u32>,
    pub ordering: Option<Ordering>,
    /// What requests are signed with; one is made up where none is given.
    #[schema(min_length = 1, max_length = 1024)]
    pub signing_secret: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum NewDestinationType {
    Http,
    Inbox,
}

/// Whose inbox, and how patient it is.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct NewInboxSettings {
    /// Those who share it; `default` if nothing is said.
    #[schema(min_length = 1, max_length = 64, pattern = "^[a-z0-9_-]+$")]
    pub group: Option<String>,
    /// How often an event is leased before it is given up; 5 if nothing is said.
    #[schema(minimum = 1, maximum = 1000)]
    pub max_leases: Option<u16>,
}

/// Whose inbox, and how patient it is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct InboxSettings {
    pub group: String,
    pub max_leases: u16,
}

impl InboxSettings {
    /// Nothing for what is no inbox: what others need is not for showing.
    fn of(connection: &Connection) -> Option<Self> {
        if connection.destination_type != DestinationType::Inbox {
            return None;
        }
        let settings = inbox::Settings::parse(connection.destination_config.as_ref()).ok()?;
        Some(Self { group: settings.group.into(), max_leases: settings.leases_max })
    }
}

/// What a destination is shown. Each type has its own fields.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schema(as = NewDestinationAuth)]
pub struct NewAuth {
    pub r#type: Kind,
    /// `header`: its name and its value.
    pub name: Option<String>,
    pub value: Option<String>,
    /// `basic`: who, and their password.
    pub username: Option<String>,
    pub password: Option<String>,
    /// `bearer`.
    pub token: Option<String>,
    /// `oauth2`: where a token is fetched, and as whom.
    pub token_url: Option<String>,
    pub client_id: Option<String>,
    pub client_secret: Option<String>,
    pub scope: Option<String>,
    pub audience: Option<String>,
    pub auth_style: Option<AuthStyle>,
    /// More fields of the form in which a token is asked for.
    pub parameters: Option<BTreeMap<String, String>>,
    /// `mtls`, and beside any other.
    pub client_certificate: Option<NewCertificate>,
}

/// A client certificate with its key, both in PEM.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schema(as = NewDestinationAuthCertificate)]
pub struct NewCertificate {
    pub certificate: String,
    pub private_key: String,
}

/// Events that agree in a key are delivered one after the other.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Ordering {
    /// Where the key is, such as `body.order.id`.
    pub key: String,
    /// What those behind a failing one do; `block` if nothing is said.
    pub policy: Option<Behind>,
    /// With `skip`: they go ahead when it has failed this often.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(minimum = 1, maximum = 32)]
    pub skip_after: Option<u16>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
#[schema(as = OrderingPolicy)]
pub enum Behind {
    /// They wait until it is delivered or given up.
    Block,
    /// Once it is given up, they wait until somebody replays it.
    Park,
    Skip,
}

/// A connection, without its secrets.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Connection)]
pub struct ConnectionView {
    pub connection_id: ConnectionId,
    pub source_id: SourceId,
    pub account_id: AccountId,
    pub name: String,
    pub status: Status,
    /// Why it is not active, when nobody asked for that.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status_reason: Option<String>,
    pub destination_type: DestinationType,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub destination_url: Option<String>,
    /// Of an inbox.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub destination_config: Option<InboxSettings>,
    pub method: Method,
    /// The names are true, the values are redacted.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub headers: BTreeMap<String, String>,
    /// How it shows the destination who sends, beside the signature; without its secrets.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub auth: Option<destination_auth::View>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub event_types: Vec<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub filters: Option<Json>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub transform: Option<Json>,
    pub pipeline_order: PipelineOrder,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retry_config: Option<Json>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timeout_ms: Option<u32>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub concurrency: Option<u16>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rate_per_second: Option<u32>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ordering: Option<Ordering>,
    /// Until then requests are signed with the secret before this one as well.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub previous_secret_valid_until: Option<Timestamp>,
    pub delivery_count: u64,
    pub failure_count: u64,
    pub created_at: Timestamp,
    pub updated_at: Timestamp,
}

impl From<&Connection> for ConnectionView {
    fn from(connection: &Connection) -> Self {
        let json = |text: &Option<String>| {
            text.as_deref().and_then(|text| serde_json::from_str(text).ok())
        };
        let hidden = |(name, _): (&str, &str)| (name.to_owned(), REDACTED.to_owned());
        let previous = connection.previous_secrets.iter().map(|old| old.valid_until);
        Self {
            connection_id: connection.id,
            source_id: connection.source_id,
            account_id: connection.account_id,
            name: connection.name.clone(),
            status: connection.status,
            status_reason: connection.status_reason.clone(),
            destination_type: connection.destination_type,
            destination_url: connection.destination_url.clone(),
            destination_config: InboxSettings::of(connection),
            method: connection.method,
            headers: connection.headers.iter().map(hidden).collect(),
            auth: connection.auth.as_ref().and_then(|auth| {
                DestinationAuth::parse(auth.expose()).ok().map(|auth| auth.view())
            }),
            event_types: connection.event_types.clone(),
            filters: json(&connection.filters),
            transform: json(&connection.transform),
            pipeline_order: connection.pipeline_order,
            retry_config: json(&connection.retry_config),
            timeout_ms: connection.timeout_ms,
            concurrency: connection.concurrency_max,
            rate_per_second: connection.rate_per_second_max,
            ordering: Ordering::of(connection),
            previous_secret_valid_until: previous.max(),
            delivery_count: connection.delivery_count,
            failure_count: connection.failure_count,
            created_at: connection.created_at,
            updated_at: connection.updated_at,
        }
    }
}

impl Ordering {
    fn of(connection: &Connection) -> Option<Self> {
        let key = connection.ordering_key.clone()?;
        let (policy, skip_after) = match connection.ordering_policy.unwrap_or_default() {
            OrderingPolicy::Block => (Behind::Block, None),
            OrderingPolicy::Park => (Behind::Park, None),
            OrderingPolicy::Skip { after } => (Behind::Skip, Some(after)),
        };
        Some(Self { key, policy: Some(policy), skip_after })
    }
}

impl ConnectionView {
    /// Of its settings: what is counted about it does not change it.
    pub fn tag(&self) -> ETag {
        ETag::of(&Self { delivery_count: 0, failure_count: 0, ..self.clone() })
    }

    pub fn tagged(self) -> Tagged<Self> {
        Tagged { tag: self.tag(), body: self }
    }
}
