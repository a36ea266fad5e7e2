//! A hook as clients write it and see it.

use std::collections::BTreeMap;

use ferryhook_core::id::{AccountId, HookId};
use ferryhook_core::{Hook, Map, Timestamp};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::call::{ETag, Tagged};
use crate::settings::REDACTED;

/// Where to call, and about what.
#[derive(Debug, Clone, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct NewHook {
    /// Where it is called. Private addresses are refused.
    #[schema(min_length = 1, max_length = 2048)]
    pub url: String,
    /// Patterns of event types: what Ferryhook itself says (`delivery.failed`, `quota.*`), or
    /// events of the account (`order.*`, `*`).
    #[schema(min_items = 1, max_items = 100)]
    pub events: Vec<String>,
    /// On unless this says otherwise.
    pub is_active: Option<bool>,
    /// Sent with each call. Their values are not shown again.
    pub headers: Option<BTreeMap<String, String>>,
    /// `schedule` with the waits before each attempt in seconds, `rules` by status.
    #[schema(value_type = Option<Object>)]
    pub retry_policy: Option<Map>,
}

/// What is to be different about a hook.
#[derive(Debug, Clone, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct HookChange {
    #[schema(min_length = 1, max_length = 2048)]
    pub url: Option<String>,
    #[schema(min_items = 1, max_items = 100)]
    pub events: Option<Vec<String>>,
    /// To turn one on again that was turned off begins its count of failures anew.
    pub is_active: Option<bool>,
    /// Takes the place of those it had; a value that says `[redacted]` stays as it was.
    pub headers: Option<BTreeMap<String, String>>,
    #[schema(value_type = Option<Object>)]
    pub retry_policy: Option<Map>,
}

/// A subscription.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Hook)]
pub struct HookView {
    pub hook_id: HookId,
    pub account_id: AccountId,
    pub url: String,
    pub events: Vec<String>,
    pub is_active: bool,
    /// Why it is not, when nobody asked for that.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status_reason: Option<String>,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub headers: BTreeMap<String, String>,
    #[schema(value_type = Object)]
    pub retry_policy: Map,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_response_code: Option<u16>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_called_at: Option<Timestamp>,
    /// Failures since the last success.
    pub failure_count: u32,
    pub created_at: Timestamp,
    pub updated_at: Timestamp,
    /// What calls are signed with. Shown once, in the answer to its creation.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub secret: Option<String>,
}

impl HookView {
    /// Without the secret.
    pub fn of(hook: &Hook) -> Self {
        let headers = hook.headers.iter().flatten();
        Self {
            hook_id: hook.id,
            account_id: hook.account_id,
            url: hook.url.clone(),
            events: hook.events.clone(),
            is_active: hook.is_active,
            status_reason: hook.status_reason.clone(),
            headers: headers.map(|(name, _)| (name.clone(), REDACTED.to_owned())).collect(),
            retry_policy: hook.retry_policy.clone(),
            last_response_code: hook.last_response_code,
            last_called_at: hook.last_called_at,
            failure_count: hook.failure_count,
            created_at: hook.created_at,
            updated_at: hook.updated_at,
            secret: None,
        }
    }

    /// Of what can be set.
    pub fn tag(&self) -> ETag {
        let Self { url, events, is_active, headers, retry_policy, .. } = self;
        ETag::of(&(url, events, is_active, headers, retry_policy))
    }

    pub fn tagged(self) -> Tagged<Self> {
        Tagged { tag: self.tag(), body: self }
    }
}
