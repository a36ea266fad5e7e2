//! What was measured, as it is told to programs.

use serde::Serialize;

use crate::commands::bench::figures::Percentiles;

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Report {
    pub version: &'static str,
    /// A debug build says nothing about speed.
    pub optimized: bool,
    pub cores: usize,
    pub body_bytes: usize,
    pub ingested: Ingested,
    pub fetched: Fetched,
    pub fetched_to_ingested: f64,
    pub pages: Pages,
    pub failures: Vec<String>,
}

/// One event in each request, durable when it is answered.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Ingested {
    pub events: usize,
    pub events_per_second: f64,
    pub ack_ms: Percentiles,
}

/// Leased and acknowledged.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Fetched {
    pub workers: usize,
    pub at_once: usize,
    pub events: usize,
    pub events_per_second: f64,
    pub lease_ms: Percentiles,
    pub ack_ms: Percentiles,
}

/// The first page of the inbox and a far one, read in turns.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Pages {
    /// Its number.
    pub far: u32,
    pub first_ms: Percentiles,
    pub far_ms: Percentiles,
    /// Of their medians.
    pub far_to_first: f64,
}
