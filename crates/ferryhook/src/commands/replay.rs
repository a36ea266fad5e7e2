//! `ferryhook replay`: sends events again.

use std::io::Write;
use std::process::ExitCode;

use super::columns::plain;
use super::{answered, print_json, runtime};
use crate::cli::Replay;
use crate::config::Config;
use crate::desk;
use crate::desk::orders::{Asked, ReplayOne};
use crate::desk::view::{ReplayTold, What};

pub fn run(command: &Replay) -> anyhow::Result<ExitCode> {
    let (config, values) = Config::load(&command.flags.0)?;
    let asked = Asked::Replay(ReplayOne { event: command.event, to: command.to.clone() });
    let answer = runtime()?.block_on(desk::ask::<ReplayTold>(&config, &values, asked));
    answered(answer, |told| match command.json {
        true => print_json(&told),
        false => print_told(&told),
    })
}

fn print_told(told: &ReplayTold) -> anyhow::Result<()> {
    let mut out = std::io::stdout().lock();
    if told.connections.is_empty() {
        writeln!(out, "no connection wants {}; name one with --to", told.event_id)?;
        return Ok(());
    }
    for line in &told.connections {
        let name = match &line.connection {
            Some(name) => plain(name),
            None => line.connection_id.to_string(),
        };
        let says = match line.what {
            What::Replayed if told.waits_for_server => "goes out when a server runs",
            What::Replayed => "goes out again",
            What::Held => "goes out when the connection is resumed",
            What::AlreadyOpen => "is on its way already, left alone",
        };
        writeln!(out, "{name}: {says}")?;
    }
    Ok(())
}
