//! An address that an account wants to be told at: of what happens in Ferryhook itself, or of its
//! own events.
//!
//! To the data plane a hook is a way beside the connections of a source ([`Hook::way`]), with the
//! same attempts, signatures and retries. It names patterns and no source, and it stops by itself
//! when nobody is there any more.

mod way;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::id::Identified;
use crate::secret::Previous;
use crate::time::seconds;
use crate::{Account, Id, Map, Secret, Timestamp};

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Hook {
    #[serde(rename = "webhookId")]
    pub id: Id<Hook>,
    pub account_id: Id<Account>,
    pub url: String,
    /// What it is told about.
    pub events: Vec<String>,
    #[serde(with = "one_or_zero")]
    pub is_active: bool,
    /// Why it is not active, when nobody asked for that.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status_reason: Option<String>,
    pub secret: Secret,
    /// Signed with as well while a rotation is under way.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub previous_secrets: Vec<Previous>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub headers: Option<BTreeMap<String, String>>,
    pub retry_policy: Map,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_response_code: Option<u16>,
    #[serde(default, with = "seconds::option", skip_serializing_if = "Option::is_none")]
    pub last_called_at: Option<Timestamp>,
    /// Failures since the last success.
    pub failure_count: u32,
    #[serde(with = "seconds")]
    pub created_at: Timestamp,
    #[serde(with = "seconds")]
    pub updated_at: Timestamp,
}

impl Identified for Hook {
    const PREFIX: &'static str = "hook_";
}

/// A truth value as a number, because an index cannot be keyed by a boolean.
mod one_or_zero {
    use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

    pub(super) fn serialize<S: Serializer>(is: &bool, s: S) -> Result<S::Ok, S::Error> {
        u8::from(*is).serialize(s)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(d: D) -> Result<bool, D::Error> {
        match u64::deserialize(d)? {
            0 => Ok(false),
            1 => Ok(true),
            other => Err(de::Error::custom(format!("{other} is neither 1 nor 0"))),
        }
    }
}

#[cfg(test)]
mod tests;
