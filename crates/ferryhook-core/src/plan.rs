//! What an account may use, and what that costs. Plans are rows, not constants: an operator edits
//! them, and [`seeded`] is only what a new installation begins with.

mod edit;
mod sale;
mod seeded;

use std::time::Duration;

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::schedule::ScheduleType;
use crate::time::seconds;
use crate::{Map, Timestamp};

pub use edit::{BadPlan, Edit, StripePrice};
pub use seeded::seeded;

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Plan {
    #[serde(rename = "planId")]
    pub id: String,
    #[serde(rename = "planName")]
    pub name: String,
    #[serde(rename = "planType")]
    pub kind: PlanType,
    /// For a month.
    #[serde(rename = "price")]
    pub price_cents: u64,
    pub currency: String,
    pub limits: Limits,
    pub features: Vec<String>,
    /// Whether it is on offer.
    pub is_active: bool,
    /// Whether new accounts get it.
    pub is_default: bool,
    pub customizable: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub metadata: Option<Map>,
    #[serde(with = "seconds")]
    pub created_at: Timestamp,
    #[serde(with = "seconds")]
    pub updated_at: Timestamp,
}

impl Plan {
    /// How long events are kept; `None` is for ever.
    pub fn retention(&self) -> Option<Duration> {
        self.limits
            .data_retention_days
            .map(|days| Duration::from_secs(u64::from(days) * 24 * 60 * 60))
    }

    /// When something that arrives at `now` expires: a whole second, as it is stored.
    pub fn expiry(&self, now: Timestamp) -> Option<Timestamp> {
        let kept = self.retention()?;
        Some(Timestamp::from_seconds((now + kept).as_seconds()))
    }
}

/// An absent limit is no limit.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = PlanLimits)]
pub struct Limits {
    /// Of each source.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub events_per_minute: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub events_per_month: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub api_calls_per_month: Option<u64>,
    #[serde(rename = "storageGB", default, skip_serializing_if = "Option::is_none")]
    pub storage_gb: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub users: Option<u32>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sources: Option<u32>,
    /// The most frequent schedule on offer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sync_frequency: Option<ScheduleType>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub data_retention_days: Option<u32>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub webhooks: Option<u32>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub custom_domains: Option<u32>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum PlanType {
    Free,
    Starter,
    Professional,
    Enterprise,
}

#[cfg(test)]
mod tests;
