//! `ferryhook bench`: what this machine, with this disk, makes of Ferryhook.
//!
//! One run measures two floors (a bare HTTP handler, a bare durable relay) and a Ferryhook on a
//! temporary directory, all with the same load and the same sink. Servers are processes of their
//! own; load and sink are in this one. Absolute figures belong to a machine and an hour, so it is
//! the ratios that can be compared. [`api`] measures the other half: the answers of the API when
//! much is stored. [`inbox`] measures those who fetch, [`backlog`] a restart with much that is held.

mod api;
mod backlog;
mod child;
mod figures;
pub mod floor;
mod http;
mod inbox;
mod letter;
mod line;
mod load;
mod pass;
mod rounds;
mod scratch;
mod setup;
mod sink;
mod stage;
mod table;
mod usage;

use std::io::{self, StdoutLock, Write};
use std::process::ExitCode;
use std::time::Duration;

use anyhow::{Context, bail};
use ferryhook_core::Env;
use serde::Serialize;

use crate::cli::Bench;
use figures::{Growth, Report};
use pass::Extent;
use scratch::Scratch;

const SECONDS: u64 = 5;
/// What `--compare-growth` compares with, unless the command line says otherwise.
const GROWN_SOURCES: usize = 10_000;
const GROWN_STORED: u32 = 1_000_000;

pub fn run(asked: &Bench) -> anyhow::Result<ExitCode> {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let runtime = tokio::runtime::Builder::new_multi_thread()
        // Half of the machine is the server's.
        .worker_threads(cores.div_ceil(2))
        .enable_all()
        .build()
        .context("cannot start the runtime")?;
    let failures = if asked.inbox {
        let report = runtime.block_on(unless_interrupted(inbox::measure(asked, cores)))?;
        print(&report, asked.json, |out| inbox::table::print(out, &report))?;
        report.failures
    } else if asked.backlog {
        let report = runtime.block_on(unless_interrupted(backlog::measure(asked, cores)))?;
        print(&report, asked.json, |out| backlog::table::print(out, &report))?;
        report.failures
    } else if asked.api {
        let report = runtime.block_on(unless_interrupted(api::measure(asked, cores)))?;
        print(&report, asked.json, |out| api::table::print(out, &report))?;
        report.failures
    } else {
        let report = runtime.block_on(unless_interrupted(measure(asked, cores)))?;
        print(&report, asked.json, |out| table::print(out, &report))?;
        report.failures
    };
    for failure in &failures {
        eprintln!("ferryhook: {failure}");
    }
    Ok(if failures.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

async fn measure(asked: &Bench, cores: usize) -> anyhow::Result<Report> {
    let env = Env::system();
    let scratch = Scratch::make(&asked.directory, &env)?;
    let extent = Extent {
        connections: asked.connections.iter().copied().map(usize::from).collect(),
        time: Duration::from_secs(asked.seconds.unwrap_or(SECONDS)),
        events: asked.events,
    };
    let (sources, stored) = (asked.sources.map(|sources| sources as usize), asked.stored);
    let mut failures = Vec::new();
    let (first, second) = match asked.compare_growth {
        true => ((1, 0), Some((sources.unwrap_or(GROWN_SOURCES), stored.unwrap_or(GROWN_STORED)))),
        false => ((sources.unwrap_or(1), stored.unwrap_or(0)), None),
    };
    let pass = pass::run(&extent, first.0, first.1, &scratch, &env, &mut failures).await?;
    let grown = match second {
        Some((sources, stored)) => {
            Some(pass::run(&extent, sources, stored, &scratch, &env, &mut failures).await?)
        }
        None => None,
    };
    let growth = grown.iter().flat_map(|grown| pass.runs.iter().zip(&grown.runs));
    Ok(Report {
        version: env!("CARGO_PKG_VERSION"),
        optimized: !cfg!(debug_assertions),
        cores,
        body_bytes: letter::BODY_BYTES,
        growth: growth.map(|(before, after)| Growth::between(before, after)).collect(),
        pass,
        grown,
        failures,
    })
}

fn print(
    report: &impl Serialize,
    json: bool,
    table: impl FnOnce(&mut StdoutLock<'_>) -> io::Result<()>,
) -> anyhow::Result<()> {
    let mut out = io::stdout().lock();
    match json {
        true => writeln!(out, "{}", serde_json::to_string_pretty(report)?)?,
        false => table(&mut out)?,
    }
    Ok(())
}

async fn unless_interrupted<T>(work: impl Future<Output = anyhow::Result<T>>) -> anyhow::Result<T> {
    tokio::select! {
        done = work => done,
        () = interrupted() => bail!("interrupted"),
    }
}

/// By a person or by whoever runs us: the servers and the directory go all the same.
async fn interrupted() {
    use tokio::signal::unix::{SignalKind, signal};
    match signal(SignalKind::terminate()) {
        Ok(mut terminate) => {
            tokio::select! {
                _ = terminate.recv() => {}
                _ = tokio::signal::ctrl_c() => {}
            }
        }
        Err(_) => std::future::pending().await,
    }
}
