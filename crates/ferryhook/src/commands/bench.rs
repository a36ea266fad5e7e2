//! `ferryhook bench`: what this machine, with this disk, makes of Ferryhook.
//!
//! One run measures two floors (a bare HTTP handler, a bare durable relay) and a Ferryhook on a
//! temporary directory, all with the same load and the same sink. Servers are processes of their
//! own; load and sink are in this one. Absolute figures belong to a machine and an hour, so it is
//! the ratios that can be compared.

mod child;
mod figures;
pub mod floor;
mod http;
mod letter;
mod load;
mod pass;
mod rounds;
mod scratch;
mod setup;
mod sink;
mod stage;
mod table;
mod usage;

use std::io::{self, Write};
use std::process::ExitCode;
use std::time::Duration;

use anyhow::{Context, bail};
use ferryhook_core::Env;

use crate::cli::Bench;
use figures::{Growth, Report};
use pass::Extent;
use scratch::Scratch;

/// What `--compare-growth` compares with, unless the command line says otherwise.
const GROWN_SOURCES: usize = 10_000;
const GROWN_STORED: u32 = 1_000_000;

pub fn run(asked: &Bench) -> anyhow::Result<ExitCode> {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let report = tokio::runtime::Builder::new_multi_thread()
        // Half of the machine is the server's.
        .worker_threads(cores.div_ceil(2))
        .enable_all()
        .build()
        .context("cannot start the runtime")?
        .block_on(async {
            tokio::select! {
                report = measure(asked, cores) => report,
                () = interrupted() => bail!("interrupted"),
            }
        })?;
    print(&report, asked.json)?;
    Ok(if report.failures.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

async fn measure(asked: &Bench, cores: usize) -> anyhow::Result<Report> {
    let env = Env::system();
    let scratch = Scratch::make(&asked.directory, &env)?;
    let extent = Extent {
        connections: asked.connections.iter().copied().map(usize::from).collect(),
        time: Duration::from_secs(asked.seconds),
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

fn print(report: &Report, json: bool) -> anyhow::Result<()> {
    let mut out = io::stdout().lock();
    if json {
        writeln!(out, "{}", serde_json::to_string_pretty(report)?)?;
    } else {
        table::print(&mut out, report)?;
    }
    for failure in &report.failures {
        eprintln!("ferryhook: {failure}");
    }
    Ok(())
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
