//! What an account used on one day (UTC).

use serde::{Deserialize, Serialize};
use serde_json::Value;

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
    /// What was kept when the day began, and what came since.
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

impl Usage {
    /// Counts add up. What is a level rather than a count (users, sources, what was kept when the day
    /// began) has its highest value of the day; users are also known by name.
    pub fn add(&mut self, more: &Self) {
        let kept = self.kept_before().max(more.kept_before());
        let counts = [
            (&mut self.api_calls, more.api_calls),
            (&mut self.data_processed_bytes, more.data_processed_bytes),
            (&mut self.sync_jobs, more.sync_jobs),
            (&mut self.error_count, more.error_count),
        ];
        for (count, more) in counts {
            *count = count.saturating_add(more);
        }
        if let Some(more) = &more.by_user {
            add_map(self.by_user.get_or_insert_default(), more);
        }
        add_map(&mut self.by_platform, &more.by_platform);
        let users = self.by_user.as_ref().map_or(0, |users| users.len() as u64);
        self.active_users = self.active_users.max(more.active_users).max(users);
        self.active_sources = self.active_sources.max(more.active_sources);
        self.storage_used_bytes = kept.saturating_add(self.data_processed_bytes);
        let hours = self.hourly_counts.len().max(more.hourly_counts.len());
        self.hourly_counts.resize(hours, 0);
        for (count, more) in self.hourly_counts.iter_mut().zip(&more.hourly_counts) {
            *count = count.saturating_add(*more);
        }
        self.updated_at = self.updated_at.max(more.updated_at);
    }

    fn kept_before(&self) -> u64 {
        self.storage_used_bytes.saturating_sub(self.data_processed_bytes)
    }

    /// All events of the day, whatever platform they are of.
    pub fn events(&self) -> u64 {
        let events = |platform: &Value| platform.get("events").and_then(Value::as_u64);
        self.by_platform.values().filter_map(events).fold(0, u64::saturating_add)
    }
}

fn add_map(was: &mut Map, more: &Map) {
    for (name, more) in more {
        match was.get_mut(name) {
            None => {
                was.insert(name.clone(), more.clone());
            }
            Some(Value::Object(was)) => {
                if let Value::Object(more) = more {
                    add_map(was, more);
                }
            }
            Some(was) => {
                if let (Some(a), Some(b)) = (was.as_u64(), more.as_u64()) {
                    *was = a.saturating_add(b).into();
                }
            }
        }
    }
}

#[cfg(test)]
mod tests;
