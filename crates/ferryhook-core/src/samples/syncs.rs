//! What is fetched: a schedule and one of its runs.

use std::collections::BTreeMap;

use serde_json::json;

use super::{CREATED, UPDATED, id, map, text};
use crate::{Run, Schedule, run, schedule};

pub fn schedule() -> Schedule {
    Schedule {
        source_id: id("src_0000000000000001"),
        id: id("sch_0000000000000001"),
        kind: schedule::ScheduleType::Custom,
        cron_expression: text("15 * * * *"),
        data_types: vec!["contacts".to_owned(), "orders".to_owned()],
        is_active: true,
        next_run_at: UPDATED,
        last_run_at: Some(CREATED),
        retry_policy: Some(map([("schedule", json!([0, 60]))])),
        created_at: CREATED,
        updated_at: UPDATED,
    }
}

pub fn run() -> Run {
    Run {
        source_id: id("src_0000000000000001"),
        id: id("run_-OhqqeV-00000001"),
        schedule_id: Some(id("sch_0000000000000001")),
        status: run::Status::Completed,
        started_at: CREATED,
        completed_at: Some(UPDATED),
        duration_seconds: Some(3600),
        data_types: vec!["contacts".to_owned()],
        records_processed: BTreeMap::from([("contacts".to_owned(), 120)]),
        errors: vec!["page 7 came twice".to_owned()],
        location: text("syncs/src_0000000000000001/2026-01-01.ndjson.zst"),
        metadata: Some(map([("pages", json!(12))])),
    }
}
