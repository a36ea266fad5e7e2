//! A line of the audit log: who did what to which thing.
//!
//! The lines of an account are a chain: each carries its number, the hash of the one before it and
//! its own ([`chain`]), and the [`head`] says how many there are. A line that was changed, removed,
//! put in or moved shows ([`check`]).

pub mod chain;
pub mod check;
pub mod head;

use serde::{Deserialize, Serialize};

use crate::id::Identified;
use crate::time::seconds;
use crate::{Account, Id, Map, Timestamp, User};

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Activity {
    pub account_id: Id<Account>,
    /// Called an event in the table; it is not one of ours.
    #[serde(rename = "eventId")]
    pub id: Id<Activity>,
    #[serde(rename = "timestamp", with = "seconds")]
    pub at: Timestamp,
    /// Absent when the system acted by itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub user_id: Option<Id<User>>,
    /// Such as `source_created`.
    pub event_type: String,
    /// The type of the thing, such as `source`.
    pub resource: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resource_id: Option<String>,
    pub action: String,
    /// Before and after, without secrets.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub details: Option<Map>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ip_address: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub user_agent: Option<String>,
    /// Its place in the chain, from 1. Absent, like both hashes, in lines from before there was one.
    #[serde(rename = "lineNumber", default, skip_serializing_if = "Option::is_none")]
    pub number: Option<u64>,
    /// Absent in the first line of an account.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub previous_hash: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hash: Option<String>,
}

impl Identified for Activity {
    const PREFIX: &'static str = "act_";
    const SORTABLE: bool = true;
}
