//! Counts as clients see them, with what follows from them.

use std::collections::BTreeMap;

use ferryhook_core::rollup::Counts;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// How much came in, and what became of it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = AnalyticsFigures)]
pub struct Figures {
    /// Taken in, copies not included.
    pub events: u64,
    /// What came again.
    pub duplicates: u64,
    /// Refused at the door.
    pub rejected: u64,
    /// Taken in, and wanted by no connection.
    pub filtered: u64,
    /// Of the bodies.
    pub bytes: u64,
    /// Deliveries that ended well.
    pub delivered: u64,
    /// Deliveries that were given up.
    pub failed: u64,
    pub attempts: u64,
    /// The share of the ended deliveries that ended well, from 0 to 1; absent when none has ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub success_rate: Option<f64>,
    /// The share that was given up.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error_rate: Option<f64>,
    /// How long destinations took to answer; absent when none did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub latency: Option<Latency>,
    /// Attempts by the status of the answer: a code such as `200`, a class such as `4xx` for those
    /// that are rare, and `none` where there was no answer.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub status_codes: BTreeMap<String, u64>,
}

/// In milliseconds. Percentiles are off by at most a sixteenth.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = AnalyticsLatency)]
pub struct Latency {
    pub avg_ms: f64,
    pub p50_ms: u32,
    pub p95_ms: u32,
    pub p99_ms: u32,
}

impl Figures {
    pub(crate) fn of(counts: &Counts) -> Self {
        let success_rate = counts.success_rate();
        Self {
            events: counts.events,
            duplicates: counts.duplicates,
            rejected: counts.rejected,
            filtered: counts.filtered,
            bytes: counts.bytes,
            delivered: counts.delivered,
            failed: counts.failed,
            attempts: counts.attempts,
            success_rate,
            error_rate: success_rate.map(|rate| 1.0 - rate),
            latency: Latency::of(counts),
            status_codes: counts.codes.iter().map(|(code, n)| (code.to_string(), n)).collect(),
        }
    }
}

impl Latency {
    fn of(counts: &Counts) -> Option<Self> {
        let percentile = |percent| counts.latency.percentile(percent);
        Some(Self {
            avg_ms: counts.latency_mean()?,
            p50_ms: percentile(50)?,
            p95_ms: percentile(95)?,
            p99_ms: percentile(99)?,
        })
    }
}
