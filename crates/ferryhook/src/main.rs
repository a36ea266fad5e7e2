//! The one binary: reads what the user wants, wires the parts together, runs.
//!
//! Exit codes: 0 done, 1 failed (stderr says how), 2 the command line makes no sense, or
//! `schema plan`, `diff` or `apply --dry-run` has found something to change, 3 the server wants
//! another proof of who asks, 4 what was named is not there, 130 interrupted.

#![allow(
    unreachable_pub,
    reason = "nothing is outside a program: `pub` is what a module shows the others"
)]

mod carriers;
mod cli;
mod client;
mod commands;
mod config;
mod control;
mod copied;
mod desk;
mod echo;
mod front;
mod master;
mod roots;
mod server;
mod storage;
mod telemetry;
mod wire;

use std::process::ExitCode;

use clap::Parser;
use rustix::fs::Mode;

#[global_allocator]
static ALLOCATOR: tikv_jemallocator::Jemalloc = tikv_jemallocator::Jemalloc;

fn main() -> ExitCode {
    // What we write holds secrets and other people's data: files are their owner's only.
    rustix::process::umask(Mode::RWXG | Mode::RWXO);
    match commands::run(cli::Cli::parse()) {
        Ok(code) => code,
        Err(error) => failed(&error),
    }
}

fn failed(error: &anyhow::Error) -> ExitCode {
    let is_unread = |cause: &std::io::Error| cause.kind() == std::io::ErrorKind::BrokenPipe;
    if error.downcast_ref().is_some_and(is_unread) {
        return ExitCode::SUCCESS; // whoever read us has seen enough
    }
    eprintln!("ferryhook: {error:#}");
    error.downcast_ref().map_or(ExitCode::FAILURE, client::Failure::exit_code)
}
