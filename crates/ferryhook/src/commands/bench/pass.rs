//! One pass: floors, sink and a fresh Ferryhook side by side, and every measurement on them.
//!
//! What is compared is measured one right after the other, because a machine that others use as
//! well is not the same a minute later. A server is always given time to come to rest, so that
//! what it puts off counts as its own.

use std::sync::Arc;
use std::time::Duration;

use anyhow::Context;
use ferryhook_core::Env;

use super::child::Server;
use super::figures::{Figures, Latency, Paced, Pass, Percentiles, Ratios, Run};
use super::load::{Load, Numbers, Sent, Until};
use super::scratch::Scratch;
use super::setup::{self, Doors};
use super::sink::{Received, Sink};
use super::usage::Usage;

const WARM_UP: Duration = Duration::from_secs(1);
const PACED_PER_SECOND: u32 = 100;
const PACED_CONNECTIONS: usize = 8;
const FILLING_CONNECTIONS: usize = 128;

/// How much to measure.
#[derive(Debug, Clone)]
pub struct Extent {
    pub connections: Vec<usize>,
    pub time: Duration,
    /// Instead of the time, where it is given.
    pub events: Option<u32>,
}

impl Extent {
    fn until(&self) -> Until {
        self.events.map_or(Until::Time(self.time), Until::Count)
    }

    fn warm_up(&self) -> Until {
        self.events.map_or(Until::Time(WARM_UP), |events| Until::Count(events.div_ceil(5)))
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

/// Everyone who plays a part.
struct Stage {
    env: Env,
    numbers: Numbers,
    sink: Sink,
    http: Server,
    relay: Server,
    ferryhook: Server,
    doors: Doors,
    /// The one door of a floor.
    root: Arc<[String]>,
    failures: Vec<String>,
}

impl Stage {
    async fn set(sources: usize, scratch: &Scratch, env: &Env) -> anyhow::Result<Self> {
        let sink = Sink::open(env).await.context("cannot open the sink")?;
        let directory = scratch.path();
        // A directory for each pass, so that none finds the files of the last.
        let name = format!("{sources}-sources");
        let journal = directory.join(format!("{name}.journal"));
        let data = directory.join(name);
        let forward = format!("http://{}/", sink.address);
        eprintln!("setting up {sources} sources");
        let doors = setup::configure(&data, sink.address, sources, env).await?;

        let http = Server::start(&["bench-floor", "http"], directory)?;
        let relay = Server::start(
            &[
                "bench-floor".as_ref(),
                "relay".as_ref(),
                "--file".as_ref(),
                journal.as_os_str(),
                "--forward".as_ref(),
                forward.as_ref(),
            ],
            directory,
        )?;
        let ferryhook = Server::start(
            &[
                "serve".as_ref(),
                "--listen=127.0.0.1:0".as_ref(),
                "--destination-allow=127.0.0.0/8".as_ref(),
                "--log=warn".as_ref(),
                "--data".as_ref(),
                data.as_os_str(),
            ],
            directory,
        )?;
        Ok(Self {
            env: env.clone(),
            numbers: Numbers::default(),
            sink,
            http,
            relay,
            ferryhook,
            doors,
            root: ["/".to_owned()].into(),
            failures: Vec::new(),
        })
    }

    /// Has so many events go the whole way before anything is measured.
    async fn fill(&mut self, stored: u32) -> anyhow::Result<()> {
        if stored == 0 {
            return Ok(());
        }
        eprintln!("storing {stored} events");
        let load = self.load(&self.ferryhook, &self.doors.delivered, FILLING_CONNECTIONS);
        let sent = load.await?.press(Until::Count(stored)).await?;
        let received = self.sink.wait_for(&sent).await;
        self.complain("storing", &sent, Some(&received));
        self.ferryhook.settle().await;
        Ok(())
    }

    async fn run(&mut self, connections: usize, extent: &Extent) -> anyhow::Result<Run> {
        let bare_http = self.measure(Part::Http, connections, extent).await?;
        let ingest = self.measure(Part::Ingest, connections, extent).await?;
        let bare_relay = self.measure(Part::Relay, connections, extent).await?;
        let end_to_end = self.measure(Part::Whole, connections, extent).await?;
        let ratios = Ratios::of(&bare_http, &bare_relay, &ingest, &end_to_end);
        Ok(Run { connections, bare_http, bare_relay, ingest, end_to_end, ratios })
    }

    async fn measure(
        &mut self,
        part: Part,
        connections: usize,
        extent: &Extent,
    ) -> anyhow::Result<Figures> {
        let (server, paths) = self.cast(part);
        let name = format!("{connections} connections, {}", part.name());
        let mut load = self.load(server, paths, connections).await?;
        let warm = load.press(extent.warm_up()).await?;
        let warm_received = self.arrived(part, &warm).await;
        server.settle().await;

        server.forget_peak();
        let before = (server.usage(), Usage::of(std::process::id()));
        let sent = load.press(extent.until()).await?;
        let received = self.arrived(part, &sent).await;
        let own = Usage::of(std::process::id());
        server.settle().await;
        let after = (server.usage(), own);

        let events = sent.answered.len();
        let end = received.as_ref().map_or(sent.ended, |received| received.last_at);
        let each = |total: f64| total / events.max(1) as f64;
        let spent =
            |(before, after): (Usage, Usage)| each((after.cpu - before.cpu).as_secs_f64() * 1e6);
        let server_usage = before.0.zip(after.0);
        let figures = Figures {
            events,
            events_per_second: events as f64 / (end - sent.began).as_secs_f64(),
            ack_ms: acknowledged(&sent),
            cpu_micros_per_event: server_usage.map(spent),
            written_bytes_per_event: server_usage
                .map(|(before, after)| each((after.written_bytes - before.written_bytes) as f64)),
            peak_memory_bytes: after.0.map(|usage| usage.peak_memory_bytes),
            load_cpu_micros_per_event: before.1.zip(after.1).map(spent),
            failed: sent.failed(),
            lost: received.as_ref().map_or(0, Received::lost),
            repeated: received.as_ref().map_or(0, |received| received.repeats),
        };
        eprintln!("{name}: {:.0} events/s", figures.events_per_second);
        self.complain(&format!("{name}, warming up"), &warm, warm_received.as_ref());
        self.complain(&name, &sent, received.as_ref());
        Ok(figures)
    }

    async fn paced(&mut self, extent: &Extent) -> anyhow::Result<Paced> {
        let bare_relay = self.latency(Part::Relay, extent).await?;
        let end_to_end = self.latency(Part::Whole, extent).await?;
        Ok(Paced { per_second: PACED_PER_SECOND, bare_relay, end_to_end })
    }

    async fn latency(&mut self, part: Part, extent: &Extent) -> anyhow::Result<Latency> {
        let (server, paths) = self.cast(part);
        let name = format!("{PACED_PER_SECOND} events/s, {}", part.name());
        let mut load = self.load(server, paths, PACED_CONNECTIONS).await?;
        load.pace(PACED_PER_SECOND, extent.paced().min(WARM_UP)).await?;
        let sent = load.pace(PACED_PER_SECOND, extent.paced()).await?;
        let received = self.sink.wait_for(&sent).await;
        let arrived = || sent.answered.iter().zip(received.at.iter().copied());
        let latency = Latency {
            events: sent.answered.len(),
            ack_ms: acknowledged(&sent),
            ack_to_arrival_ms: Percentiles::of(
                arrived().filter_map(|(sent, at)| Some(at?.saturating_sub(sent.answered_at))),
            ),
            send_to_arrival_ms: Percentiles::of(
                arrived().filter_map(|(sent, at)| Some(at?.saturating_sub(sent.sent_at))),
            ),
            failed: sent.failed(),
            lost: received.lost(),
        };
        eprintln!("{name}: arrived {:.2} ms after the answer", latency.ack_to_arrival_ms.p50);
        self.complain(&name, &sent, Some(&received));
        Ok(latency)
    }

    fn cast(&self, part: Part) -> (&Server, &Arc<[String]>) {
        match part {
            Part::Http => (&self.http, &self.root),
            Part::Relay => (&self.relay, &self.root),
            Part::Ingest => (&self.ferryhook, &self.doors.kept),
            Part::Whole => (&self.ferryhook, &self.doors.delivered),
        }
    }

    async fn arrived(&self, part: Part, sent: &Sent) -> Option<Received> {
        match part {
            Part::Relay | Part::Whole => Some(self.sink.wait_for(sent).await),
            Part::Http | Part::Ingest => None,
        }
    }

    async fn load(
        &self,
        server: &Server,
        paths: &Arc<[String]>,
        connections: usize,
    ) -> anyhow::Result<Load> {
        Load::open(server.address, paths, connections, &self.numbers, &self.env).await
    }

    /// A figure that hides a failure is worth nothing.
    fn complain(&mut self, name: &str, sent: &Sent, received: Option<&Received>) {
        for (what, times) in &sent.failures {
            self.failures.push(format!("{name}: {what}, {times} times"));
        }
        let Some(received) = received else { return };
        if received.lost() > 0 {
            let lost = received.lost();
            self.failures.push(format!("{name}: {lost} events acknowledged but not delivered"));
        }
        if received.strange > 0 {
            let strange = received.strange;
            self.failures.push(format!("{name}: {strange} deliveries were not what was sent"));
        }
    }
}

/// What is measured.
#[derive(Debug, Clone, Copy)]
enum Part {
    Http,
    Relay,
    Ingest,
    Whole,
}

impl Part {
    fn name(self) -> &'static str {
        match self {
            Self::Http => "bare HTTP",
            Self::Relay => "bare relay",
            Self::Ingest => "Ferryhook ingest",
            Self::Whole => "Ferryhook end to end",
        }
    }
}

fn acknowledged(sent: &Sent) -> Percentiles {
    Percentiles::of(sent.answered.iter().map(|one| one.answered_at - one.sent_at))
}
