//! `ferryhook dead-letters`: what was given up, and once more.

use std::io::Write;
use std::process::ExitCode;

use ferryhook_api::dead_letters::Redriven;
use ferryhook_api::events::{DeliveryLine, EventLine};
use ferryhook_api::page::Page;

use super::columns::{Columns, or_dash, plain};
use super::{answered, print_json, runtime};
use crate::cli::{DeadLettersCommand, DeadLettersList, Redrive};
use crate::client::place;
use crate::desk::orders::Asked;

pub fn run(command: &DeadLettersCommand) -> anyhow::Result<ExitCode> {
    match command {
        DeadLettersCommand::List(asked) if asked.deliveries => deliveries(asked),
        DeadLettersCommand::List(asked) => list(asked),
        DeadLettersCommand::Redrive(asked) => redrive(asked),
    }
}

fn list(command: &DeadLettersList) -> anyhow::Result<ExitCode> {
    let asked = Asked::ListDeadLetters { limit: command.limit.into() };
    let answer = runtime()?.block_on(place::ask::<Page<EventLine>>(&command.flags, asked));
    answered(answer, |list| match command.json {
        true => print_json(&list),
        false => print_list(&list),
    })
}

fn print_list(list: &Page<EventLine>) -> anyhow::Result<()> {
    let mut out = std::io::stdout().lock();
    let mut columns = Columns::new(["EVENT", "RECEIVED", "SOURCE", "TYPE", "PROBLEM"]);
    for event in &list.data {
        columns.line([
            event.event_id.to_string(),
            event.received_at.to_string(),
            event.source.clone().unwrap_or_else(|| event.source_id.to_string()),
            or_dash(event.event_type.as_ref()),
            or_dash(event.processing_error.as_ref()),
        ]);
    }
    match list.data.is_empty() {
        true => writeln!(out, "no dead letters")?,
        false => write!(out, "{}", columns.show())?,
    }
    if list.has_more {
        writeln!(out, "there may be older ones; see --limit")?;
    }
    Ok(())
}

fn deliveries(command: &DeadLettersList) -> anyhow::Result<ExitCode> {
    let asked = Asked::ListFailures { limit: command.limit.into() };
    let answer = runtime()?.block_on(place::ask::<Page<DeliveryLine>>(&command.flags, asked));
    answered(answer, |list| match command.json {
        true => print_json(&list),
        false => print_deliveries(&list),
    })
}

fn print_deliveries(list: &Page<DeliveryLine>) -> anyhow::Result<()> {
    let mut out = std::io::stdout().lock();
    let headings = ["EVENT", "CONNECTION", "GIVEN UP", "ATTEMPTS", "REASON", "LAST"];
    let mut columns = Columns::new(headings);
    for one in &list.data {
        let last = one.last_status_code.map(|code| code.to_string());
        columns.line([
            one.event_id.to_string(),
            one.connection.clone().unwrap_or_else(|| one.connection_id.to_string()),
            or_dash(one.settled_at),
            one.attempts.to_string(),
            or_dash(one.reason.as_ref()),
            or_dash(last.or_else(|| one.last_error.clone())),
        ]);
    }
    match list.data.is_empty() {
        true => writeln!(out, "no delivery was given up")?,
        false => write!(out, "{}", columns.show())?,
    }
    if list.has_more {
        writeln!(out, "there may be older ones; see --limit")?;
    }
    Ok(())
}

fn redrive(command: &Redrive) -> anyhow::Result<ExitCode> {
    let asked = Asked::Redrive(command.events.clone());
    let answer = runtime()?.block_on(place::ask::<Redriven>(&command.flags, asked));
    let complete = answer.as_ref().is_ok_and(|told| told.refused.is_empty());
    let code = answered(answer, |told| match command.json {
        true => print_json(&told),
        false => print_redriven(&told),
    })?;
    Ok(if complete || code != ExitCode::SUCCESS { code } else { ExitCode::FAILURE })
}

fn print_redriven(told: &Redriven) -> anyhow::Result<()> {
    let mut out = std::io::stdout().lock();
    let when = match told.waits_for_server {
        true => "will be processed once more when a server runs",
        false => "processed once more",
    };
    let events = if told.redriven == 1 { "event" } else { "events" };
    writeln!(out, "{} {events} {when}", told.redriven)?;
    for reason in &told.refused {
        writeln!(out, "{}", plain(reason))?;
    }
    if told.has_more {
        writeln!(out, "there may be more; run it again")?;
    }
    Ok(())
}
