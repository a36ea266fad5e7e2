//! `ferryhook bench --backlog`: a start with much that was held, and what those who send notice
//! while it is delivered.
//!
//! A server takes events in for a connection that is paused, and is killed. The next one on the
//! same directory is asked how soon it is ready, what an answer takes while it has nothing else to
//! do, and what it takes while all that was held goes out. Load and sink run beside it, as ever.

mod figures;
pub mod table;

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, bail};
use ferryhook_core::{Connection, Env, connection};
use ferryhook_store::Store;
use ferryhook_store::engine::embedded::{Embedded, EmbeddedConfig};
use serde::de::IgnoredAny;
use tokio::time::sleep;

use super::child::Server;
use super::letter;
use super::line::Line;
use super::load::{Load, Numbers, Sent, Until};
use super::scratch::Scratch;
use super::setup::Owner;
use super::sink::Sink;
use crate::cli::Bench;
use figures::{Answers, Report};

const EVENTS: u32 = 1_000_000;
const FILLING_CONNECTIONS: usize = 128;
const SECONDS: u64 = 10;
const PER_SECOND: u32 = 100;
/// As a few senders would: mostly one request after the other.
const CONNECTIONS: usize = 8;
const WARM_UP: Duration = Duration::from_secs(1);
/// A server that is not ready after this never will be.
const READY_MAX: Duration = Duration::from_secs(60);
const LOOK_EVERY: Duration = Duration::from_millis(5);

pub async fn measure(asked: &Bench, cores: usize) -> anyhow::Result<Report> {
    let env = Env::system();
    let scratch = Scratch::make(&asked.directory, &env)?;
    let data = scratch.path().join("data");
    let events = asked.events.unwrap_or(EVENTS);
    let time = Duration::from_secs(asked.seconds.unwrap_or(SECONDS));
    let sink = Sink::open(&env).await.context("cannot open the sink")?;
    let stage = Stage::configure(&data, &sink, &env).await?;
    let mut failures = Vec::new();
    let mut complain = |name: &str, sent: &Sent| {
        let said = sent.failures.iter();
        failures.extend(said.map(|(what, times)| format!("{name}: {what}, {times} times")));
    };

    let serve = ["serve", LISTEN, ALLOW, "--log=warn", "--data"].map(AsRef::as_ref);
    let serve = [serve.as_slice(), &[data.as_os_str()]].concat();
    eprintln!("holding {events} events");
    let numbers = Numbers::default();
    let held = {
        let server = Server::start(&serve, scratch.path())?;
        let load = Load::open(server.address, &stage.held, FILLING_CONNECTIONS, &numbers, &env);
        let sent = load.await?.press(Until::Count(events)).await?;
        complain("holding", &sent);
        server.settle().await;
        sent
    };

    let began = env.elapsed();
    let server = Server::start(&serve, scratch.path())?;
    let mut line = Line::open(server.address, &stage.key, &env).await?;
    let ready = ready(&mut line, began, &env).await?;
    let ready_memory_bytes = server.usage().map(|usage| usage.peak_memory_bytes);
    server.settle().await;

    let mut load = Load::open(server.address, &stage.kept, CONNECTIONS, &numbers, &env).await?;
    load.pace(PER_SECOND, WARM_UP).await?;
    eprintln!("{PER_SECOND} requests a second, and nothing else");
    let idle = load.pace(PER_SECOND, time).await?;
    complain("idle", &idle);

    server.forget_peak();
    let resumed = env.elapsed();
    line.post::<IgnoredAny>(&stage.resume, "").await?;
    eprintln!("{PER_SECOND} requests a second, while what was held is delivered");
    load.pace(PER_SECOND, WARM_UP).await?;
    let beside = load.pace(PER_SECOND, time).await?;
    complain("beside the backlog", &beside);
    let received = sink.wait_for(&held).await;
    let drained = received.last_at.saturating_sub(resumed);
    if received.lost() > 0 {
        failures.push(format!("{} events were held and never delivered", received.lost()));
    }
    let (idle, beside) = (Answers::of(&idle), Answers::of(&beside));
    Ok(Report {
        version: env!("CARGO_PKG_VERSION"),
        optimized: !cfg!(debug_assertions),
        cores,
        body_bytes: letter::BODY_BYTES,
        held: held.answered.len(),
        ready_seconds: ready.as_secs_f64(),
        ready_memory_bytes,
        beside_to_idle: beside.to(&idle),
        idle,
        beside,
        delivered_per_second: held.answered.len() as f64 / drained.as_secs_f64().max(f64::EPSILON),
        lasted: drained >= WARM_UP + time,
        repeated: received.repeats,
        peak_memory_bytes: server.usage().map(|usage| usage.peak_memory_bytes),
        failures,
    })
}

/// How long after `began` the server says so itself.
async fn ready(line: &mut Line, began: Duration, env: &Env) -> anyhow::Result<Duration> {
    loop {
        let is_ready = line.get::<IgnoredAny>("/readyz").await.is_ok();
        let took = env.elapsed().saturating_sub(began);
        match is_ready {
            true => return Ok(took),
            false if took > READY_MAX => bail!("the server is not ready after {took:.0?}"),
            false => sleep(LOOK_EVERY).await,
        }
    }
}

/// What the server finds in its directory.
struct Stage {
    /// Brought nowhere.
    kept: Arc<[String]>,
    /// For a connection that is paused.
    held: Arc<[String]>,
    /// Where that one is resumed.
    resume: String,
    key: String,
}

impl Stage {
    async fn configure(data: &Path, sink: &Sink, env: &Env) -> anyhow::Result<Self> {
        let engine = Embedded::open(EmbeddedConfig::new(data), env.clone())?;
        let store = Store::new(Arc::new(engine), env.clone());
        let owner = Owner::sign_up(&store, env).await?;
        let kept = owner.source("Bench, kept", env);
        store.sources().create(&kept).await?;
        let (source, connection) = owner.way(0, sink.address, env);
        let connection = Connection { status: connection::Status::Paused, ..connection };
        store.sources().create(&source).await?;
        store.connections().create(&connection).await?;
        let key = owner.key(&store, "Operator", env).await?;
        Ok(Self {
            kept: [format!("/in/{}", kept.id)].into(),
            held: [format!("/in/{}", source.id)].into(),
            resume: format!("/v1/connections/{}/resume", connection.id),
            key: key.expose().to_owned(),
        })
    }
}

const LISTEN: &str = "--listen=127.0.0.1:0";
const ALLOW: &str = "--destination-allow=127.0.0.0/8";
