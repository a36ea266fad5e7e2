//! Replays of several events: which there are, how far one is, and stop.

use std::io::Write;
use std::process::ExitCode;

use ferryhook_api::page::Page;
use ferryhook_api::replays::ReplayJob;

use crate::cli::{ReplayCommand, ReplayList as Listed, ReplayOf};
use crate::client::place;
use crate::commands::columns::{Columns, plain};
use crate::commands::{answered, print_json, runtime};
use crate::desk::orders::Asked;

pub fn run(command: &ReplayCommand) -> anyhow::Result<ExitCode> {
    match command {
        ReplayCommand::List(asked) => list(asked),
        ReplayCommand::Show(asked) => show(asked, Asked::ShowReplay(asked.replay)),
        ReplayCommand::Cancel(asked) => show(asked, Asked::CancelReplay(asked.replay)),
    }
}

fn list(command: &Listed) -> anyhow::Result<ExitCode> {
    let asked = Asked::ListReplays { limit: command.limit.into() };
    let answer = runtime()?.block_on(place::ask::<Page<ReplayJob>>(&command.flags, asked));
    answered(answer, |list| match command.json {
        true => print_json(&list),
        false => print_list(&list),
    })
}

fn print_list(list: &Page<ReplayJob>) -> anyhow::Result<()> {
    let mut out = std::io::stdout().lock();
    if list.data.is_empty() {
        writeln!(out, "no replays")?;
        return Ok(());
    }
    let headings =
        ["REPLAY", "ASKED FOR", "STATE", "MATCHED", "REPLAYED", "SKIPPED", "FAILED", "EVENTS"];
    let mut columns = Columns::new(headings);
    for job in &list.data {
        columns.line([
            job.replay_id.to_string(),
            job.created_at.to_string(),
            job.state.to_string(),
            job.counts.matched.to_string(),
            job.counts.replayed.to_string(),
            job.counts.skipped.to_string(),
            job.counts.failed.to_string(),
            meant(job),
        ]);
    }
    write!(out, "{}", columns.show())?;
    if list.has_more {
        writeln!(out, "there are older ones; see --limit")?;
    }
    Ok(())
}

fn show(command: &ReplayOf, asked: Asked) -> anyhow::Result<ExitCode> {
    let answer = runtime()?.block_on(place::ask::<ReplayJob>(&command.flags, asked));
    answered(answer, |job| match command.json {
        true => print_json(&job),
        false => print_job(&job),
    })
}

fn print_job(job: &ReplayJob) -> anyhow::Result<()> {
    let counts = &job.counts;
    let connections: Vec<_> = job.connections.iter().map(ToString::to_string).collect();
    let state = match &job.reason {
        Some(reason) => format!("{}: {reason}", job.state),
        None if job.waits_for_server => "waits for a server to run".to_owned(),
        None => job.state.to_string(),
    };
    let facts = [
        ("replay", Some(job.replay_id.to_string())),
        ("state", Some(state)),
        ("asked for", Some(job.created_at.to_string())),
        ("updated", Some(job.updated_at.to_string())),
        ("events", Some(meant(job))),
        ("to", Some(connections.join(", ")).filter(|to| !to.is_empty())),
        ("rate", Some(format!("{} a second", job.rate_per_second))),
        ("matched", Some(counts.matched.to_string())),
        ("replayed", Some(counts.replayed.to_string())),
        ("skipped", Some(counts.skipped.to_string())),
        ("failed", Some(counts.failed.to_string())),
        ("reached", job.reached.map(|at| at.to_string())),
        ("waits for", job.waiting_for.map(|id| format!("{id}, whose queue is full"))),
        ("last error", job.last_error.clone()),
    ];
    let mut out = std::io::stdout().lock();
    for (name, value) in facts {
        if let Some(value) = value {
            writeln!(out, "{name:<12}{}", plain(&value))?;
        }
    }
    Ok(())
}

pub fn print_begun(job: &ReplayJob) -> anyhow::Result<()> {
    let id = job.replay_id;
    let says = match job.waits_for_server {
        true => "waits for a server to run",
        false => "runs",
    };
    let mut out = std::io::stdout().lock();
    writeln!(out, "replay {id} {says}; see ferryhook replay show {id}")?;
    Ok(())
}

/// What is meant, in a few words.
fn meant(job: &ReplayJob) -> String {
    let Some(filter) = &job.filter else {
        return format!("{} named", job.ids.unwrap_or(0));
    };
    let parts = [
        filter.source_id.map(|source| format!("source {source}")),
        filter.status.map(|status| format!("status {status}")),
        filter.event_type.as_ref().map(|event_type| format!("type {event_type}")),
        filter.from.map(|from| format!("since {from}")),
        filter.to.map(|to| format!("until {to}")),
    ];
    parts.into_iter().flatten().collect::<Vec<_>>().join(", ")
}
