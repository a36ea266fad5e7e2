//! The one binary: reads what the user wants, wires the parts together, runs.
//!
//! Exit codes: 0 done, 1 failed (stderr says how), 2 the command line makes no sense, or
//! `schema plan` or `apply --dry-run` has found something to change, 4 what was named is not there.

#![allow(
    unreachable_pub,
    reason = "nothing is outside a program: `pub` is what a module shows the others"
)]

mod cli;
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
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    // What we write holds secrets and other people's data: files are their owner's only.
    rustix::process::umask(Mode::RWXG | Mode::RWXO);
    match commands::run(cli::Cli::parse()) {
        Ok(code) => code,
        Err(error) => {
            eprintln!("ferryhook: {error:#}");
            ExitCode::FAILURE
        }
    }
}
