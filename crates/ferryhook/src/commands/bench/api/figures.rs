//! What was measured, as `--json` shows it.

use std::collections::BTreeMap;
use std::time::Duration;

use serde::Serialize;

use super::load::Answered;
use super::mix::Operation;
use crate::commands::bench::figures::Percentiles;
use crate::commands::bench::rounds::Spent;

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Report {
    pub version: &'static str,
    /// A build for development is several times slower and says nothing.
    pub optimized: bool,
    pub cores: usize,
    pub body_bytes: usize,
    pub events: u32,
    pub sources: u32,
    pub filled: Filled,
    /// Requests a second, and for how many seconds.
    pub rate: u32,
    pub seconds: u64,
    pub connections: usize,
    #[serde(flatten)]
    pub figures: Figures,
    /// Empty when everything was answered as it should be.
    pub failures: Vec<String>,
}

/// How long it took to store the events, and what they take on disk.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Filled {
    pub seconds: f64,
    pub bytes: u64,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Figures {
    pub operations: Vec<Line>,
    pub reads: Times,
    pub writes: Times,
    pub all: Times,
    /// The same load on `/healthz`: what the machine and HTTP take alone.
    pub floor: Times,
    /// A few kilobytes appended to a file and synced: what a durable write takes alone.
    pub disk_ms: Percentiles,
    pub cpu_micros_per_request: Option<f64>,
    pub floor_cpu_micros_per_request: Option<f64>,
    pub peak_memory_bytes: Option<u64>,
}

#[derive(Debug, Serialize)]
pub struct Line {
    pub operation: Operation,
    #[serde(flatten)]
    pub times: Times,
}

/// From when a request was due until its answer was read.
#[derive(Debug, Default, PartialEq, Serialize)]
pub struct Times {
    pub count: usize,
    pub ms: Percentiles,
    pub failed: usize,
}

impl Times {
    fn of<'a>(answered: impl Iterator<Item = &'a Answered> + Clone) -> Self {
        Self {
            count: answered.clone().count(),
            ms: Percentiles::of(answered.clone().map(|one| one.took)),
            failed: answered.filter(|one| one.failure.is_some()).count(),
        }
    }
}

/// All rounds.
#[derive(Debug, Default)]
pub struct Gathered {
    pub api: Vec<Answered>,
    pub floor: Vec<Answered>,
    pub disk: Vec<Duration>,
    pub api_spent: Vec<Spent>,
    pub floor_spent: Vec<Spent>,
}

impl Gathered {
    pub fn figures(&self, peak_memory_bytes: Option<u64>) -> Figures {
        let api = self.api.iter();
        let of = |wanted: Operation| Times::of(api.clone().filter(|one| one.operation == wanted));
        let line = |(operation, _)| Line { operation, times: of(operation) };
        Figures {
            operations: Operation::MIX.into_iter().map(line).collect(),
            reads: Times::of(api.clone().filter(|one| !one.operation.is_write())),
            writes: Times::of(api.clone().filter(|one| one.operation.is_write())),
            all: Times::of(api.clone()),
            floor: Times::of(self.floor.iter()),
            disk_ms: Percentiles::of(self.disk.iter().copied()),
            cpu_micros_per_request: cpu(&self.api_spent, self.api.len()),
            floor_cpu_micros_per_request: cpu(&self.floor_spent, self.floor.len()),
            peak_memory_bytes,
        }
    }

    /// What went wrong and how often.
    pub fn failures(&self) -> Vec<String> {
        let mut seen: BTreeMap<(Operation, &str), u32> = BTreeMap::new();
        for one in self.api.iter().chain(&self.floor) {
            if let Some(failure) = &one.failure {
                *seen.entry((one.operation, failure)).or_default() += 1;
            }
        }
        let said = |((operation, failure), times)| format!("{operation}: {failure}, {times} times");
        seen.into_iter().map(said).collect()
    }
}

fn cpu(spent: &[Spent], requests: usize) -> Option<f64> {
    let all: Duration = spent.iter().map(Spent::cpu).sum::<Option<_>>()?;
    (requests > 0).then(|| all.as_secs_f64() * 1e6 / requests as f64)
}

#[cfg(test)]
mod tests;
