//! Where events come from: an address that providers post to, a platform that is pulled, or an
//! app that triggers.
//!
//! Its id is the address, so whoever knows the id can send; the signature says who they are.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::id::Identified;
use crate::secret::Previous;
use crate::time::seconds;
use crate::{Account, Id, Map, Secret, Timestamp, User};

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Source {
    #[serde(rename = "sourceId")]
    pub id: Id<Source>,
    /// The owner of the account, under whom the record is kept.
    pub user_id: Id<User>,
    pub account_id: Id<Account>,
    pub created_by: Id<User>,
    pub name: String,
    /// A name from the catalogue of providers, or `custom`.
    pub provider: String,
    pub connection_type: ConnectionType,
    pub status: Status,
    /// What the platform needs to be pulled from; empty for a plain webhook.
    pub config: Map,

    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub signing_secret: Option<Secret>,
    /// Still accepted while a rotation is under way.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub previous_secrets: Vec<Previous>,
    /// Such as `hmac-sha256`. One that nobody knows refuses everything.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub signing_algorithm: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub verification_mode: Option<VerificationMode>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub body_bytes_max: Option<u32>,
    /// Says which part of a request makes it the same event as another.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dedup_expression: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub custom_response: Option<CustomResponse>,

    pub event_count: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_event_at: Option<Timestamp>,
    #[serde(default, with = "seconds::option", skip_serializing_if = "Option::is_none")]
    pub last_sync_at: Option<Timestamp>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sync_status: Option<SyncStatus>,
    pub created_at: Timestamp,
    pub updated_at: Timestamp,
}

impl Source {
    /// The one that Ferryhook speaks through in an account; see [`crate::operational`]. Made of the
    /// account's id, so that nobody can make a second one.
    pub fn own_id(account: Id<Account>) -> Id<Source> {
        Id::of_text(&format!("own source of {account}"))
    }

    /// The one that the apps of an account post to through the API. There is one in the same way.
    pub fn triggers_id(account: Id<Account>) -> Id<Source> {
        Id::of_text(&format!("triggers of {account}"))
    }

    /// Whether it is there without anybody having asked for it: only Ferryhook itself brings events
    /// to it. The one it speaks through is of this type too.
    pub fn is_built_in(&self) -> bool {
        self.connection_type == ConnectionType::Trigger
    }

    /// Whether Ferryhook speaks through it.
    pub fn is_own(&self) -> bool {
        self.id == Self::own_id(self.account_id)
    }
}

impl Identified for Source {
    const PREFIX: &'static str = "src_";
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
#[schema(as = SourceStatus)]
pub enum Status {
    Active,
    /// Events are kept and wait.
    Paused,
    /// Answers as if it had never been.
    Deleted,
    /// The platform refuses to be pulled.
    Error,
    /// The platform withdrew its consent.
    Disconnected,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
#[schema(as = SourceConnectionType)]
pub enum ConnectionType {
    Oauth,
    ApiKey,
    Webhook,
    Trigger,
}

/// What becomes of a request whose signature does not hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum VerificationMode {
    /// Refused at the door and kept as a rejection.
    Reject,
    /// Accepted, marked, and delivered nowhere.
    Mark,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SyncStatus {
    Success,
    Failed,
    InProgress,
}

/// What the sender is told instead of the usual answer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct CustomResponse {
    pub status: u16,
    pub content_type: String,
    pub body: String,
}
