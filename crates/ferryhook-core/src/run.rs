//! One pull from a source, from its start to what it brought.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::id::Identified;
use crate::time::seconds;
use crate::{Id, Map, Schedule, Source, Timestamp};

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Run {
    pub source_id: Id<Source>,
    #[serde(rename = "syncId")]
    pub id: Id<Run>,
    /// Absent when someone asked for it by hand.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub schedule_id: Option<Id<Schedule>>,
    pub status: Status,
    #[serde(with = "seconds")]
    pub started_at: Timestamp,
    #[serde(default, with = "seconds::option", skip_serializing_if = "Option::is_none")]
    pub completed_at: Option<Timestamp>,
    #[serde(rename = "duration", default, skip_serializing_if = "Option::is_none")]
    pub duration_seconds: Option<u64>,
    pub data_types: Vec<String>,
    /// By type of data.
    pub records_processed: BTreeMap<String, u64>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub errors: Vec<String>,
    /// Where the records were put; a path of the object store, whichever that is.
    #[serde(rename = "s3Location", default, skip_serializing_if = "Option::is_none")]
    pub location: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub metadata: Option<Map>,
}

impl Identified for Run {
    const PREFIX: &'static str = "run_";
    const SORTABLE: bool = true;
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    Pending,
    Running,
    Completed,
    Failed,
}
