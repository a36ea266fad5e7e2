//! Something a user should see the next time they look.

use serde::{Deserialize, Serialize};

use crate::id::Identified;
use crate::time::seconds;
use crate::{Id, Map, Timestamp, User};

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Notification {
    pub user_id: Id<User>,
    #[serde(rename = "notificationId")]
    pub id: Id<Notification>,
    #[serde(rename = "type")]
    pub kind: NotificationType,
    pub title: String,
    pub message: String,
    /// Kept beside `read_at`, because the index of unread ones has it in its key.
    pub is_read: bool,
    #[serde(default, with = "seconds::option", skip_serializing_if = "Option::is_none")]
    pub read_at: Option<Timestamp>,
    pub category: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub metadata: Option<Map>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub action_url: Option<String>,
    #[serde(with = "seconds")]
    pub created_at: Timestamp,
    #[serde(default, with = "seconds::option", skip_serializing_if = "Option::is_none")]
    pub expires_at: Option<Timestamp>,
}

impl Identified for Notification {
    const PREFIX: &'static str = "ntf_";
    const SORTABLE: bool = true;
}

impl Notification {
    /// The same, read; the first time counts.
    pub fn read(mut self, now: Timestamp) -> Self {
        self.is_read = true;
        self.read_at.get_or_insert(now);
        self
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum NotificationType {
    Info,
    Warning,
    Error,
    Success,
}

#[cfg(test)]
mod tests;
