//! The rounds of one part, gathered into its figures.
//!
//! A rate is the median of its rounds: a machine that others use as well stumbles now and then,
//! and one round that stumbled says nothing about the server. What is counted for each event
//! (CPU, bytes) is counted over all rounds.

use std::time::Duration;

use super::figures::{Figures, Percentiles};
use super::load::Sent;
use super::sink::Received;
use super::usage::Usage;

/// One round of load, and what the server and we ourselves had used before and after it.
#[derive(Debug)]
pub struct Round {
    pub sent: Sent,
    pub received: Option<Received>,
    pub server: Spent,
    pub own: Spent,
}

#[derive(Debug, Clone, Copy)]
pub struct Spent {
    pub before: Option<Usage>,
    pub after: Option<Usage>,
}

impl Round {
    pub fn rate(&self) -> f64 {
        let ended = self.received.as_ref().map_or(self.sent.ended, |received| received.last_at);
        let took = ended.saturating_sub(self.sent.began).as_secs_f64();
        if took > 0.0 { self.sent.answered.len() as f64 / took } else { 0.0 }
    }
}

impl Spent {
    fn get<T>(&self, see: impl Fn(Usage, Usage) -> T) -> Option<T> {
        self.before.zip(self.after).map(|(before, after)| see(before, after))
    }

    pub fn cpu(&self) -> Option<Duration> {
        self.get(|before, after| after.cpu.saturating_sub(before.cpu))
    }

    fn written_bytes(&self) -> Option<u64> {
        self.get(|before, after| after.written_bytes.saturating_sub(before.written_bytes))
    }
}

pub fn gather(rounds: &[Round]) -> Figures {
    let events = rounds.iter().map(|round| round.sent.answered.len()).sum();
    let each = |total: f64| total / (events as f64).max(1.0);
    let micros = |cpu: Duration| each(cpu.as_secs_f64() * 1e6);
    let rates: Vec<f64> = rounds.iter().map(Round::rate).collect();
    let received = || rounds.iter().filter_map(|round| round.received.as_ref());
    let answered = rounds.iter().flat_map(|round| &round.sent.answered);
    Figures {
        events,
        events_per_second: median(&rates),
        ack_ms: Percentiles::of(answered.map(|one| one.answered_at - one.sent_at)),
        cpu_micros_per_event: rounds.iter().map(|r| r.server.cpu()).sum::<Option<_>>().map(micros),
        written_bytes_per_event: rounds
            .iter()
            .map(|round| round.server.written_bytes())
            .sum::<Option<u64>>()
            .map(|bytes| each(bytes as f64)),
        peak_memory_bytes: rounds
            .iter()
            .filter_map(|round| Some(round.server.after?.peak_memory_bytes))
            .max(),
        load_cpu_micros_per_event: rounds
            .iter()
            .map(|round| round.own.cpu())
            .sum::<Option<_>>()
            .map(micros),
        failed: rounds.iter().map(|round| round.sent.failed()).sum(),
        lost: received().map(Received::lost).sum(),
        repeated: received().map(|received| received.repeats).sum(),
        rounds: rates,
    }
}

fn median(rates: &[f64]) -> f64 {
    let mut sorted = rates.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted.get(sorted.len() / 2).copied().unwrap_or_default()
}

#[cfg(test)]
mod tests;
