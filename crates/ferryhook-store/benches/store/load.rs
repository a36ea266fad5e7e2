//! Many producers, each waiting for its answer before the next.

use std::future::Future;
use std::ops::Range;
use std::sync::Arc;
use std::time::{Duration, Instant};

use ferryhook_store::engine::embedded::Embedded;
use ferryhook_store::{Batch, Durability, Engine};

use super::Options;

/// In microseconds, which are smaller to keep: the process's memory is a figure as well.
#[derive(Debug, Default)]
pub(super) struct Latencies(Vec<u32>);

impl Latencies {
    pub(super) fn push(&mut self, latency: Duration) {
        self.0.push(micros(latency));
    }

    /// In milliseconds.
    pub(super) fn percentile(&self, percent: f64) -> f64 {
        let mut sorted = self.0.clone();
        sorted.sort_unstable();
        let place = ((sorted.len() as f64 * percent / 100.0).ceil() as usize).max(1) - 1;
        sorted.get(place).map_or(0.0, |micros| f64::from(*micros) / 1e3)
    }
}

fn micros(latency: Duration) -> u32 {
    u32::try_from(latency.as_micros()).unwrap_or(u32::MAX)
}

/// Commits what `make` makes of every number of the range.
pub(super) async fn commit(
    engine: &Arc<Embedded>,
    durability: Durability,
    options: &Options,
    numbers: Range<u64>,
    make: impl Fn(u64) -> Batch + Clone + Send + Sync + 'static,
) -> Latencies {
    let engine = engine.clone();
    spread(options.producers, numbers.end - numbers.start, move |number| {
        let (engine, batch) = (engine.clone(), make(numbers.start + number));
        async move { engine.commit(batch, durability).await.unwrap() }
    })
    .await
}

/// Runs `work(0..count)` spread over the producers.
pub(super) async fn spread<F>(
    producers: usize,
    count: u64,
    work: impl Fn(u64) -> F + Clone + Send + Sync + 'static,
) -> Latencies
where
    F: Future<Output = ()> + Send,
{
    let tasks: Vec<_> = (0..producers as u64)
        .map(|first| {
            let work = work.clone();
            tokio::spawn(async move {
                let mut latencies = Vec::new();
                for number in (first..count).step_by(producers) {
                    let started = Instant::now();
                    work(number).await;
                    latencies.push(micros(started.elapsed()));
                }
                latencies
            })
        })
        .collect();
    let mut all = Latencies::default();
    for task in tasks {
        all.0.extend(task.await.unwrap());
    }
    all
}
