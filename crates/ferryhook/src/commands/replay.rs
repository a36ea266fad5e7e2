//! `ferryhook replay`: sends events again. One at once; several as a job of the server.

mod jobs;
mod wait;

use std::io::Write;
use std::path::Path;
use std::process::ExitCode;

use anyhow::{Context, bail, ensure};
use clap::CommandFactory;
use clap::error::ErrorKind;
use ferryhook_api::replays::{ReplayJob, ReplayTold, What};
use ferryhook_core::replay::Position;
use ferryhook_core::{Event, Id, limits};
use ferryhook_store::search::Count;
use tokio::runtime::Runtime;

use super::columns::plain;
use super::events::wanted;
use super::{answered, input, print_json, runtime};
use crate::cli::{Cli, Replay, ReplayAsked, Which};
use crate::client::place::{self, Whom};
use crate::desk::orders::{Asked, ReplayMany, ReplayOne};

/// An id and what may stand around it, for as many as a replay may name.
const FILE_BYTES_MAX: u64 = 64 * limits::REPLAY_IDS_MAX as u64;

pub fn run(command: &Replay) -> anyhow::Result<ExitCode> {
    match &command.command {
        Some(command) => jobs::run(command),
        None => ask(&command.asked),
    }
}

fn ask(asked: &ReplayAsked) -> anyhow::Result<ExitCode> {
    require_sense(asked);
    let runtime = runtime()?;
    let whom = runtime.block_on(place::whom(&asked.flags))?;
    if let ([event], None, false) = (&asked.events[..], &asked.file, asked.dry_run) {
        return one(&runtime, asked, *event, &whom);
    }
    let mut ids = asked.events.clone();
    if let Some(file) = &asked.file {
        ids.extend(read_ids(file)?);
        ensure!(!ids.is_empty(), "{} names no event", file.display());
    }
    let order = ReplayMany {
        ids,
        wanted: wanted(&asked.which, 0),
        to: asked.to.clone(),
        rate_per_second: asked.rate,
    };
    match asked.dry_run {
        true => count(&runtime, asked, order, &whom),
        false => many(&runtime, asked, order, &whom),
    }
}

/// Nothing is sent again by a slip of the hand.
fn require_sense(asked: &ReplayAsked) {
    let Which { source, status, event_type, since, until } = &asked.which;
    let filtered = source.is_some()
        || status.is_some()
        || event_type.is_some()
        || since.is_some()
        || until.is_some();
    let named = !asked.events.is_empty() || asked.file.is_some();
    let wrong = match (named, filtered, asked.all) {
        (false, false, false) => {
            "name an EVENT, or say which ones: --source, --status, --type, --since, --until, or --all"
        }
        (true, true, _) | (true, _, true) => {
            "either name events, or say which ones with --source, --status, --type, --since or --all"
        }
        _ => return,
    };
    let mut cli = Cli::command();
    cli.build(); // so that the command knows its whole name
    let command = cli.find_subcommand_mut("replay");
    match command {
        Some(command) => command.error(ErrorKind::MissingRequiredArgument, wrong).exit(),
        None => cli.error(ErrorKind::MissingRequiredArgument, wrong).exit(),
    }
}

fn one(
    runtime: &Runtime,
    asked: &ReplayAsked,
    event: Id<Event>,
    whom: &Whom,
) -> anyhow::Result<ExitCode> {
    let order = Asked::Replay(ReplayOne { event, to: asked.to.clone() });
    let answer = runtime.block_on(whom.ask::<ReplayTold>(order));
    answered(answer, |told| match asked.json {
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

fn count(
    runtime: &Runtime,
    asked: &ReplayAsked,
    order: ReplayMany,
    whom: &Whom,
) -> anyhow::Result<ExitCode> {
    let counted = runtime.block_on(count_all(order, whom));
    answered(counted, |count| match asked.json {
        true => print_json(&serde_json::json!({
            "matched": count.matched,
            "lookedAt": count.looked_at,
        })),
        false => {
            let (matched, looked_at) = (count.matched, count.looked_at);
            let events = if matched == 1 { "event" } else { "events" };
            let mut out = std::io::stdout().lock();
            Ok(writeln!(out, "{matched} {events} would be replayed; looked at {looked_at}")?)
        }
    })
}

/// One look after the other: the server looks at so many at a time.
async fn count_all(order: ReplayMany, whom: &Whom) -> anyhow::Result<Count> {
    let mut all = Count { matched: 0, looked_at: 0, next: None };
    let mut after: Option<Position> = None;
    loop {
        let order = Asked::CountReplay(order.clone(), after);
        let count: Count = whom.ask(order).await?;
        all.matched += count.matched;
        all.looked_at += count.looked_at;
        if count.next.is_none() || count.next == after {
            return Ok(all);
        }
        after = count.next;
    }
}

fn many(
    runtime: &Runtime,
    asked: &ReplayAsked,
    order: ReplayMany,
    whom: &Whom,
) -> anyhow::Result<ExitCode> {
    let order = Asked::ReplayMany(order);
    let answer = runtime.block_on(whom.ask::<ReplayJob>(order));
    let job = match answer {
        Ok(job) if asked.wait => job,
        answer => {
            return answered(answer, |job| match asked.json {
                true => print_json(&job),
                false => jobs::print_begun(&job),
            });
        }
    };
    if job.waits_for_server
        && let Some(data) = whom.unattended()
    {
        jobs::print_begun(&job)?;
        bail!("no server runs on {}, so there is nothing to wait for", data.display());
    }
    wait::wait(runtime, job, asked.json, whom)
}

fn read_ids(file: &Path) -> anyhow::Result<Vec<Id<Event>>> {
    let text = input::text(file, FILE_BYTES_MAX)?;
    let lines = text.lines().map(str::trim).zip(1..).filter(|(line, _)| !line.is_empty());
    let id = |(line, number): (&str, usize)| {
        line.parse().with_context(|| format!("{}, line {number}", file.display()))
    };
    lines.map(id).collect()
}
