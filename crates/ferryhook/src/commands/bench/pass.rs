//! One pass: every measurement, on one stage.
//!
//! The parts take turns, a short round each, because a machine that others use as well is not the
//! same a minute later and what is compared must have seen the same machine. After a round its
//! server is given time to come to rest: what it has put off counts as its own.

use std::time::Duration;

use ferryhook_core::Env;

use super::figures::{Latency, Paced, Pass, Percentiles, Ratios, Run};
use super::load::Until;
use super::rounds::{self, Round, Spent};
use super::scratch::Scratch;
use super::stage::{Part, Stage};
use super::usage::Usage;

const ROUNDS: u32 = 5;
const WARM_UP: Duration = Duration::from_secs(1);
const PACED_PER_SECOND: u32 = 100;
const PACED_CONNECTIONS: usize = 8;

/// How much to measure.
#[derive(Debug, Clone)]
pub struct Extent {
    pub connections: Vec<usize>,
    pub time: Duration,
    /// Instead of the time, where it is given.
    pub events: Option<u32>,
}

impl Extent {
    fn round(&self) -> Until {
        match self.events {
            Some(events) => Until::Count(events.div_ceil(ROUNDS)),
            None => Until::Time(self.time / ROUNDS),
        }
    }

    fn warm_up(&self) -> Until {
        match self.events {
            Some(_) => self.round(),
            None => Until::Time(WARM_UP),
        }
    }

    fn paced(&self) -> Duration {
        let events = self.events.map(|events| Duration::from_secs(1) * events / PACED_PER_SECOND);
        events.map_or(self.time, |time| time.min(self.time))
    }
}

pub async fn run(
    extent: &Extent,
    sources: usize,
    stored: u32,
    scratch: &Scratch,
    env: &Env,
    failures: &mut Vec<String>,
) -> anyhow::Result<Pass> {
    let mut stage = Stage::set(sources, scratch, env).await?;
    stage.fill(stored).await?;
    let mut runs = Vec::new();
    for connections in extent.connections.iter().copied() {
        runs.push(stage.run(connections, extent).await?);
    }
    let paced = stage.paced(extent).await?;
    failures.append(&mut stage.failures);
    Ok(Pass { sources, stored, runs, paced })
}

impl Stage {
    async fn run(&mut self, connections: usize, extent: &Extent) -> anyhow::Result<Run> {
        for part in Part::ALL {
            self.round(part, connections, extent.warm_up()).await?;
        }
        let mut rounds = Part::ALL.map(|_| Vec::new());
        for _ in 0..ROUNDS {
            for (part, rounds) in Part::ALL.into_iter().zip(&mut rounds) {
                rounds.push(self.round(part, connections, extent.round()).await?);
            }
        }
        let [bare_http, ingest, bare_relay, end_to_end] =
            rounds.map(|rounds| rounds::gather(&rounds));
        let ratios = Ratios::of(&bare_http, &bare_relay, &ingest, &end_to_end);
        Ok(Run { connections, bare_http, bare_relay, ingest, end_to_end, ratios })
    }

    /// Connecting is not measured.
    async fn round(
        &mut self,
        part: Part,
        connections: usize,
        until: Until,
    ) -> anyhow::Result<Round> {
        let name = format!("{connections} connections, {}", part.name());
        let mut load = self.load(part, connections).await?;
        let server = self.server(part);
        server.forget_peak();
        let (before, own_before) = (server.usage(), Usage::of(std::process::id()));
        let sent = load.press(until).await?;
        let received = self.received(part, &sent).await;
        let own = Spent { before: own_before, after: Usage::of(std::process::id()) };
        server.settle().await;
        let server = Spent { before, after: server.usage() };
        self.complain(&name, &sent, received.as_ref());
        let round = Round { sent, received, server, own };
        eprintln!("{name}: {:.0} events/s", round.rate());
        Ok(round)
    }

    async fn paced(&mut self, extent: &Extent) -> anyhow::Result<Paced> {
        let bare_relay = self.latency(Part::Relay, extent).await?;
        let end_to_end = self.latency(Part::Whole, extent).await?;
        Ok(Paced { per_second: PACED_PER_SECOND, bare_relay, end_to_end })
    }

    async fn latency(&mut self, part: Part, extent: &Extent) -> anyhow::Result<Latency> {
        let name = format!("{PACED_PER_SECOND} events/s, {}", part.name());
        let mut load = self.load(part, PACED_CONNECTIONS).await?;
        load.pace(PACED_PER_SECOND, extent.paced().min(WARM_UP)).await?;
        let sent = load.pace(PACED_PER_SECOND, extent.paced()).await?;
        let received = self.received(part, &sent).await;
        self.complain(&name, &sent, received.as_ref());

        let arrivals = received.iter().flat_map(|received| &received.at);
        let arrived: Vec<_> = sent
            .answered
            .iter()
            .zip(arrivals)
            .filter_map(|(one, at)| Some((one, (*at)?)))
            .collect();
        let latency = Latency {
            events: sent.answered.len(),
            ack_ms: Percentiles::of(sent.answered.iter().map(|one| one.answered_at - one.sent_at)),
            ack_to_arrival_ms: Percentiles::of(
                arrived.iter().map(|(one, at)| at.saturating_sub(one.answered_at)),
            ),
            send_to_arrival_ms: Percentiles::of(
                arrived.iter().map(|(one, at)| at.saturating_sub(one.sent_at)),
            ),
            failed: sent.failed(),
            lost: sent.answered.len() - arrived.len(),
        };
        eprintln!("{name}: {:.2} ms from request to arrival", latency.send_to_arrival_ms.p50);
        Ok(latency)
    }
}
