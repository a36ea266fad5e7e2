//! One file per command.

mod api_keys;
mod apply;
mod audit;
mod backup;
mod bench;
mod columns;
mod completions;
mod config;
mod connections;
mod context;
mod dead_letters;
mod dev;
mod erase;
mod event_types;
mod events;
mod explain;
mod export;
mod facts;
mod given;
mod inbox;
mod input;
mod keys;
mod listen;
mod login;
mod plans;
mod rejections;
mod replay;
mod restore;
mod schema;
mod send;
mod serve;
mod signature;
mod sources;
mod tail;
mod trigger;
mod what_if;
mod whoami;

use std::io::Write;
use std::process::ExitCode;

use anyhow::{Context, ensure};
use serde::Serialize;

use crate::cli::{Cli, Command, ConfigCommand, Dev, KeysCommand};
use crate::config::{Config, StoreKind, Values};
use crate::desk::Complaint;

/// What was named is not there.
const NOT_FOUND: u8 = 4;

pub fn run(cli: Cli) -> anyhow::Result<ExitCode> {
    match cli.command.unwrap_or_else(|| Command::Dev(Dev::default())) {
        Command::Dev(asked) => dev::run(&asked)?,
        Command::Serve(flags) => serve::run(&flags)?,
        Command::Apply(asked) => return apply::run(&asked),
        Command::Export(flags) => export::run(&flags)?,
        Command::Diff(asked) => return apply::diff(asked),
        Command::Sources(command) => return sources::run(&command),
        Command::Connections(command) => return connections::run(&command),
        Command::Send(asked) => send::run(&asked)?,
        Command::Trigger(asked) => trigger::run(&asked)?,
        Command::Tail(asked) => return tail::run(&asked),
        Command::ApiKeys(command) => api_keys::run(&command)?,
        Command::Login(asked) => login::run(&asked)?,
        Command::Logout(asked) => context::log_out(&asked)?,
        Command::Whoami(asked) => whoami::run(&asked)?,
        Command::Context(command) => context::run(&command)?,
        Command::Completions { shell } => completions::run(shell)?,
        Command::Man { command } => completions::man(&command)?,
        Command::Listen(asked) => return listen::run(&asked),
        Command::Inbox(command) => return inbox::run(&command),
        Command::Events(command) => return events::run(&command),
        Command::EventTypes(command) => return event_types::run(&command),
        Command::Explain(asked) => return explain::run(&asked),
        Command::WhatIf(asked) => return what_if::run(&asked),
        Command::Rejections(command) => return rejections::run(&command),
        Command::Replay(asked) => return replay::run(&asked),
        Command::Erase(asked) => return erase::run(&asked),
        Command::DeadLetters(command) => return dead_letters::run(&command),
        Command::Plans(command) => return plans::run(&command),
        Command::Audit(command) => return audit::run(&command),
        Command::Signature(command) => signature::run(&command)?,
        Command::Keys(KeysCommand::RotateMaster(asked)) => keys::rotate_master(&asked)?,
        Command::Backup(asked) => backup::run(&asked)?,
        Command::Restore(asked) => restore::run(&asked)?,
        Command::Schema(command) => return schema::run(command),
        Command::Config(ConfigCommand::Check(flags)) => config::check(&flags)?,
        Command::Bench(asked) => return bench::run(&asked),
        Command::BenchFloor(asked) => bench::floor::run(&asked)?,
    }
    Ok(ExitCode::SUCCESS)
}

/// For a command that does one thing and ends.
fn runtime() -> anyhow::Result<tokio::runtime::Runtime> {
    tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .context("cannot start the runtime")
}

/// Shows the answer of the desk, or says what is not there.
fn answered<T>(
    answer: anyhow::Result<T>,
    show: impl FnOnce(T) -> anyhow::Result<()>,
) -> anyhow::Result<ExitCode> {
    match answer {
        Ok(answer) => show(answer).map(|()| ExitCode::SUCCESS),
        Err(error) => match error.downcast_ref() {
            Some(Complaint::NotFound(what)) => {
                eprintln!("ferryhook: {what}");
                Ok(ExitCode::from(NOT_FOUND))
            }
            Some(Complaint::Refused(_)) | None => Err(error),
        },
    }
}

fn print_json(answer: &impl Serialize) -> anyhow::Result<()> {
    Ok(writeln!(std::io::stdout().lock(), "{}", serde_json::to_string(answer)?)?)
}

/// Refuses where the configuration names a store that has no data directory: what would be copied
/// is not what the server runs on.
fn require_embedded(config: &Config, values: &Values) -> anyhow::Result<()> {
    let (store, origin) = (config.store, values.origin("store"));
    ensure!(
        store == StoreKind::Embedded,
        "only the embedded store is copied like this; the configuration says {store} (setting \
         store, from {origin})"
    );
    Ok(())
}
