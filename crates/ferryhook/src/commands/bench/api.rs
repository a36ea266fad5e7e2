//! `ferryhook bench --api`: how long the API takes to answer when much is stored.
//!
//! A data directory is filled with events, sources, connections and keys; then a server on it gets
//! so many requests a second, of every kind that a dashboard and its scripts send. Beside it
//! stands what the machine costs alone: the same load on `/healthz` of the same server, and the
//! least that a durable write takes on the same disk.

mod disk;
mod figures;
mod load;
mod mix;
mod stock;
pub mod table;

use std::sync::Arc;

use ferryhook_core::Env;

use super::child::Server;
use super::letter;
use super::rounds::Spent;
use super::scratch::Scratch;
use crate::cli::Bench;
use figures::{Filled, Gathered, Report};
use load::Load;
use mix::{Ask, Mix};
use stock::Extent;

const SECONDS: u64 = 30;
const EVENTS: u32 = 1_000_000;
const SOURCES: u32 = 300;
/// What is compared takes turns, because a shared machine is not the same a minute later.
const ROUNDS: u32 = 5;
/// Requests that are not counted: connections are opened, pages of the disk are read once.
const WARM_UP: u32 = 500;
/// Durable writes of the floor in each round.
const SYNCS: usize = 50;

pub async fn measure(asked: &Bench, cores: usize) -> anyhow::Result<Report> {
    let env = Env::system();
    let scratch = Scratch::make(&asked.directory, &env)?;
    let data = scratch.path().join("data");
    let events = asked.events.unwrap_or(EVENTS);
    let sources = asked.sources.unwrap_or(SOURCES).min(events);
    let began = env.elapsed();
    let stock = stock::fill(&data, Extent { events, sources: sources as usize }, &env).await?;
    let filled =
        Filled { seconds: (env.elapsed() - began).as_secs_f64(), bytes: scratch.bytes_in("data")? };

    let serve = ["serve", LISTEN, ALLOW, "--log=warn", "--data"].map(AsRef::as_ref);
    let serve = [serve.as_slice(), &[data.as_os_str()]].concat();
    let server = Server::start(&serve, scratch.path())?;
    let mix = Arc::new(Mix::of(stock, env.clone()));
    let mut load = Load::open(server.address, asked.rate, mix, &env).await?;
    // What the filling has left to do is not what is measured.
    server.settle().await;
    let seconds = asked.seconds.unwrap_or(SECONDS);
    let count = (u64::from(asked.rate) * seconds).div_ceil(ROUNDS.into());
    let count = u32::try_from(count).unwrap_or(u32::MAX);
    load.offer(count.min(WARM_UP), Mix::ask).await?;

    let mut gathered = Gathered::default();
    server.forget_peak();
    for round in 1..=ROUNDS {
        let before = server.usage();
        let floor = load.offer(count, |_, _| Ask::health()).await?;
        let between = server.usage();
        let answered = load.offer(count, Mix::ask).await?;
        gathered.api_spent.push(Spent { before: between, after: server.usage() });
        gathered.floor_spent.push(Spent { before, after: between });
        eprintln!("round {round} of {ROUNDS}: {} requests answered", answered.len());
        gathered.floor.extend(floor);
        gathered.api.extend(answered);
        gathered.disk.extend(disk::sync(scratch.path(), SYNCS, &env).await?);
    }
    Ok(Report {
        version: env!("CARGO_PKG_VERSION"),
        optimized: !cfg!(debug_assertions),
        cores,
        body_bytes: letter::BODY_BYTES,
        events,
        sources,
        filled,
        rate: asked.rate,
        seconds,
        connections: load::LINES,
        figures: gathered.figures(server.usage().map(|usage| usage.peak_memory_bytes)),
        failures: gathered.failures(),
    })
}

const LISTEN: &str = "--listen=127.0.0.1:0";
const ALLOW: &str = "--destination-allow=127.0.0.0/8";
