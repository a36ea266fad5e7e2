//! What an account used on one day (UTC).

use serde::{Deserialize, Serialize};

use crate::time::seconds;
use crate::{Account, Id, Map, Timestamp};

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Usage {
    pub account_id: Id<Account>,
    /// `2026-01-31`; see [`Timestamp::day`].
    #[serde(rename = "metricDate")]
    pub day: String,
    pub api_calls: u64,
    #[serde(rename = "dataProcessed")]
    pub data_processed_bytes: u64,
    #[serde(rename = "storageUsed")]
    pub storage_used_bytes: u64,
    pub sync_jobs: u64,
    pub active_users: u64,
    pub active_sources: u64,
    pub error_count: u64,
    pub by_platform: Map,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by_user: Option<Map>,
    /// One count for each hour of the day.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub hourly_counts: Vec<u64>,
    #[serde(with = "seconds")]
    pub updated_at: Timestamp,
}
