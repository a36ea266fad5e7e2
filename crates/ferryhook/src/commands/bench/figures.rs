//! What was measured, as `--json` shows it.

use std::time::Duration;

use serde::Serialize;

/// Everything one call of `ferryhook bench` has found out.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Report {
    pub version: &'static str,
    /// A build for development is several times slower and says nothing.
    pub optimized: bool,
    pub cores: usize,
    pub body_bytes: usize,
    #[serde(flatten)]
    pub pass: Pass,
    /// The same again on a server that has much already.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub grown: Option<Pass>,
    /// What is left of each figure in `grown`, for each number of connections.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub growth: Vec<Growth>,
    /// Empty when everything was answered with 200 and everything arrived.
    pub failures: Vec<String>,
}

/// All measurements on one server.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Pass {
    pub sources: usize,
    pub stored: u32,
    pub runs: Vec<Run>,
    pub paced: Paced,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Run {
    pub connections: usize,
    pub bare_http: Figures,
    pub bare_relay: Figures,
    pub ingest: Figures,
    pub end_to_end: Figures,
    pub ratios: Ratios,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Figures {
    pub events: usize,
    /// Answered, or where there is a sink: arrived there.
    pub events_per_second: f64,
    /// The same, round by round.
    pub rounds: Vec<f64>,
    pub ack_ms: Percentiles,
    pub cpu_micros_per_event: Option<f64>,
    pub written_bytes_per_event: Option<f64>,
    pub peak_memory_bytes: Option<u64>,
    /// What the load and the sink have spent themselves.
    pub load_cpu_micros_per_event: Option<f64>,
    pub failed: u64,
    /// Acknowledged, and never seen at the sink.
    pub lost: usize,
    /// Seen at the sink more than once.
    pub repeated: u64,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Ratios {
    pub ingest_to_bare_http: f64,
    pub end_to_end_to_relay: f64,
    pub cpu_to_relay: Option<f64>,
    pub written_bytes_to_relay: Option<f64>,
}

impl Ratios {
    pub fn of(http: &Figures, relay: &Figures, ingest: &Figures, whole: &Figures) -> Self {
        let both = |part: Option<f64>, of: Option<f64>| Some(ratio(part?, of?));
        Self {
            ingest_to_bare_http: ratio(ingest.events_per_second, http.events_per_second),
            end_to_end_to_relay: ratio(whole.events_per_second, relay.events_per_second),
            cpu_to_relay: both(whole.cpu_micros_per_event, relay.cpu_micros_per_event),
            written_bytes_to_relay: both(
                whole.written_bytes_per_event,
                relay.written_bytes_per_event,
            ),
        }
    }
}

/// Few events at an even pace: how long one takes when nothing is in its way.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Paced {
    pub per_second: u32,
    pub bare_relay: Latency,
    pub end_to_end: Latency,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Latency {
    pub events: usize,
    pub ack_ms: Percentiles,
    /// From the moment the sender has read its 200; 0 for what was there before that.
    pub ack_to_arrival_ms: Percentiles,
    pub send_to_arrival_ms: Percentiles,
    pub failed: u64,
    pub lost: usize,
}

/// As parts of what it was before; 1 is no change. The floors say how much of a change is the
/// machine's.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Growth {
    pub connections: usize,
    pub bare_http: f64,
    pub bare_relay: f64,
    pub ingest: f64,
    pub end_to_end: f64,
    /// CPU for each event; others on the machine change it less than a rate.
    pub ingest_cpu: Option<f64>,
    pub end_to_end_cpu: Option<f64>,
}

impl Growth {
    pub fn between(before: &Run, after: &Run) -> Self {
        let rate = |of: fn(&Run) -> &Figures| {
            ratio(of(after).events_per_second, of(before).events_per_second)
        };
        let cpu = |of: fn(&Run) -> &Figures| {
            let (before, after) = (of(before), of(after));
            Some(ratio(after.cpu_micros_per_event?, before.cpu_micros_per_event?))
        };
        Self {
            connections: before.connections,
            bare_http: rate(|run| &run.bare_http),
            bare_relay: rate(|run| &run.bare_relay),
            ingest: rate(|run| &run.ingest),
            end_to_end: rate(|run| &run.end_to_end),
            ingest_cpu: cpu(|run| &run.ingest),
            end_to_end_cpu: cpu(|run| &run.end_to_end),
        }
    }
}

/// Nothing of nothing is nothing, and not a hole in the JSON.
fn ratio(part: f64, of: f64) -> f64 {
    if of > 0.0 { part / of } else { 0.0 }
}

/// In milliseconds.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize)]
pub struct Percentiles {
    pub p50: f64,
    pub p99: f64,
    pub max: f64,
}

impl Percentiles {
    pub fn of(times: impl Iterator<Item = Duration>) -> Self {
        let mut times: Vec<_> = times.collect();
        times.sort_unstable();
        let at = |percent| not_exceeded(&times, percent);
        Self { p50: at(50), p99: at(99), max: at(100) }
    }
}

/// The smallest of times in order that this many of a hundred do not exceed, in milliseconds.
pub fn not_exceeded(sorted: &[Duration], percent: usize) -> f64 {
    let place = (sorted.len() * percent).div_ceil(100).saturating_sub(1);
    sorted.get(place).map_or(0.0, |time| time.as_secs_f64() * 1e3)
}

#[cfg(test)]
mod tests;
