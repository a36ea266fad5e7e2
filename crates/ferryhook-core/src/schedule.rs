//! When a source is pulled, and for which types of data.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::id::Identified;
use crate::time::seconds;
use crate::{Id, Map, Source, Timestamp};

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Schedule {
    pub source_id: Id<Source>,
    #[serde(rename = "scheduleId")]
    pub id: Id<Schedule>,
    #[serde(rename = "scheduleType")]
    pub kind: ScheduleType,
    /// Present when the type is `custom`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cron_expression: Option<String>,
    pub data_types: Vec<String>,
    pub is_active: bool,
    /// A whole minute: the due ones are looked up minute by minute.
    #[serde(with = "seconds")]
    pub next_run_at: Timestamp,
    #[serde(default, with = "seconds::option", skip_serializing_if = "Option::is_none")]
    pub last_run_at: Option<Timestamp>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retry_policy: Option<Map>,
    #[serde(with = "seconds")]
    pub created_at: Timestamp,
    #[serde(with = "seconds")]
    pub updated_at: Timestamp,
}

impl Identified for Schedule {
    const PREFIX: &'static str = "sch_";
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum ScheduleType {
    Hourly,
    Daily,
    Weekly,
    Monthly,
    Custom,
}
