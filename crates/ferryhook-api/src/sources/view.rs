//! A source as clients write it and see it.

use ferryhook_core::dedup::EVENT_TYPE_SETTING;
use ferryhook_core::id::{AccountId, SourceId};
use ferryhook_core::source::{ConnectionType, CustomResponse, Status, VerificationMode};
use ferryhook_core::{Map, Source, Timestamp, split};
use serde::{Deserialize, Serialize};
use serde_json::Value as Json;
use utoipa::ToSchema;

use crate::address::Address;
use crate::call::{ETag, Tagged};
use crate::settings;

/// The settings of a source.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct NewSource {
    #[schema(min_length = 1, max_length = 100)]
    pub name: String,
    /// From the catalogue of providers, or `custom`, which it is if nothing is said.
    #[schema(pattern = "^[a-z0-9_-]{1,64}$")]
    pub provider: Option<String>,
    /// `paused` holds what comes in.
    pub status: Option<Standing>,
    /// What the provider signs with. It is not shown again.
    #[schema(min_length = 1, max_length = 1024)]
    pub signing_secret: Option<String>,
    /// What becomes of a request whose signature does not hold.
    pub verification_mode: Option<VerificationMode>,
    #[schema(minimum = 1, maximum = 10485760)]
    pub body_bytes_max: Option<u32>,
    /// Says which part of a request makes it the same event as another, such as `body.id`.
    pub dedup: Option<String>,
    /// Where a request says what type of event it is, such as `body.type`.
    pub event_type: Option<String>,
    /// Takes a request apart that brings several events: `"array"`, a path, `true` or `false`.
    pub split: Option<Json>,
    /// What the sender is told instead of the usual answer.
    pub custom_response: Option<NewResponse>,
    /// What the provider's way of signing needs to know.
    #[schema(value_type = Option<Object>)]
    pub config: Option<Map>,
}

/// What people may make of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum Standing {
    Active,
    Paused,
}

/// An answer to senders.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct NewResponse {
    #[schema(minimum = 200, maximum = 299)]
    pub status: Option<u16>,
    #[schema(min_length = 1, max_length = 128)]
    pub content_type: Option<String>,
    #[schema(max_length = 16384)]
    pub body: Option<String>,
}

/// A source, without its secrets.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Source)]
pub struct SourceView {
    pub source_id: SourceId,
    pub account_id: AccountId,
    pub name: String,
    pub provider: String,
    pub connection_type: ConnectionType,
    pub status: Status,
    /// Where senders post to.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub ingest_url: String,
    pub has_signing_secret: bool,
    /// Until then a secret that was replaced is honoured as well.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub previous_secret_valid_until: Option<Timestamp>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub verification_mode: Option<VerificationMode>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub body_bytes_max: Option<u32>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dedup: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub event_type: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub split: Option<Json>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub custom_response: Option<CustomResponse>,
    /// Secrets among the settings are redacted.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    #[schema(value_type = Object)]
    pub config: Map,
    pub event_count: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_event_at: Option<Timestamp>,
    pub created_at: Timestamp,
    pub updated_at: Timestamp,
}

impl SourceView {
    pub fn new(source: &Source, address: &Address) -> Self {
        let mut config = settings::redacted(&source.config);
        let split = config.shift_remove(split::SETTING);
        let event_type = config.shift_remove(EVENT_TYPE_SETTING);
        Self {
            source_id: source.id,
            account_id: source.account_id,
            name: source.name.clone(),
            provider: source.provider.clone(),
            connection_type: source.connection_type,
            status: source.status,
            ingest_url: address.of(&format!("/in/{}", source.id)),
            has_signing_secret: source.signing_secret.is_some(),
            previous_secret_valid_until: source
                .previous_secrets
                .iter()
                .map(|old| old.valid_until)
                .max(),
            verification_mode: source.verification_mode,
            body_bytes_max: source.body_bytes_max,
            dedup: source.dedup_expression.clone(),
            event_type: event_type.and_then(|text| text.as_str().map(str::to_owned)),
            split,
            custom_response: source.custom_response.clone(),
            config,
            event_count: source.event_count,
            last_event_at: source.last_event_at,
            created_at: source.created_at,
            updated_at: source.updated_at,
        }
    }

    /// Of its settings: what is counted about it, and where it is reached, do not change it.
    pub fn tag(&self) -> ETag {
        let ingest_url = String::new();
        ETag::of(&Self { event_count: 0, last_event_at: None, ingest_url, ..self.clone() })
    }

    pub fn tagged(self) -> Tagged<Self> {
        Tagged { tag: self.tag(), body: self }
    }
}
