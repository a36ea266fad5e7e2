//! What was measured, as it is told to programs.

use std::time::Duration;

use serde::Serialize;

use crate::commands::bench::figures::not_exceeded;
use crate::commands::bench::load::Sent;

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Report {
    pub version: &'static str,
    /// A debug build says nothing about speed.
    pub optimized: bool,
    pub cores: usize,
    pub body_bytes: usize,
    /// Deliveries that waited when the server was killed.
    pub held: usize,
    /// From the start of the next one.
    pub ready_seconds: f64,
    pub ready_memory_bytes: Option<u64>,
    /// A source that leads nowhere takes events in, while there is nothing else to do...
    pub idle: Answers,
    /// ...and while what was held is delivered.
    pub beside: Answers,
    pub beside_to_idle: Ratios,
    pub delivered_per_second: f64,
    /// Whether there was a backlog for as long as was measured beside it.
    pub lasted: bool,
    /// Seen at the sink more than once.
    pub repeated: u64,
    pub peak_memory_bytes: Option<u64>,
    pub failures: Vec<String>,
}

/// How long answers took, in milliseconds.
#[derive(Debug, Clone, Copy, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Answers {
    pub count: usize,
    pub p50: f64,
    pub p90: f64,
    pub p99: f64,
    pub max: f64,
}

#[derive(Debug, Clone, Copy, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Ratios {
    pub p50: f64,
    pub p90: f64,
    pub p99: f64,
}

impl Answers {
    pub fn of(sent: &Sent) -> Self {
        let took = sent.answered.iter().map(|one| one.answered_at - one.sent_at);
        let mut took: Vec<Duration> = took.collect();
        took.sort_unstable();
        let at = |percent| not_exceeded(&took, percent);
        Self { count: took.len(), p50: at(50), p90: at(90), p99: at(99), max: at(100) }
    }

    pub fn to(self, idle: &Self) -> Ratios {
        let ratio = |part: f64, of: f64| if of > 0.0 { part / of } else { 0.0 };
        Ratios {
            p50: ratio(self.p50, idle.p50),
            p90: ratio(self.p90, idle.p90),
            p99: ratio(self.p99, idle.p99),
        }
    }
}
