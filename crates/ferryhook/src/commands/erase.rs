//! `ferryhook erase`: events and all that was tried with them, gone for good. How many is said first.

mod jobs;

use std::io::{IsTerminal, Write, stderr, stdin};
use std::path::Path;
use std::process::ExitCode;
use std::time::Duration;

use anyhow::{anyhow, bail, ensure};
use clap::CommandFactory;
use clap::error::ErrorKind;
use ferryhook_api::erasures::{ErasureJob, ErasureState};
use ferryhook_core::Env;
use ferryhook_core::filter::FILTER_BYTES_MAX;
use ferryhook_core::replay::Position;
use ferryhook_store::search::Count;
use tokio::runtime::Runtime;

use super::{answered, input, print_json, runtime};
use crate::cli::{Cli, Erase, EraseAsked};
use crate::client::place::{self, Whom};
use crate::desk::orders;
use crate::desk::orders::Asked;

const LOOK_EVERY: Duration = Duration::from_millis(250);

pub fn run(command: &Erase) -> anyhow::Result<ExitCode> {
    match &command.command {
        Some(command) => jobs::run(command),
        None => ask(&command.asked),
    }
}

fn ask(asked: &EraseAsked) -> anyhow::Result<ExitCode> {
    if asked.events.is_empty() && asked.filter.is_none() {
        let mut cli = Cli::command();
        cli.build(); // so that the command knows its whole name
        let wrong = "name an EVENT, or say what is meant with --where";
        match cli.find_subcommand_mut("erase") {
            Some(command) => command.error(ErrorKind::MissingRequiredArgument, wrong).exit(),
            None => cli.error(ErrorKind::MissingRequiredArgument, wrong).exit(),
        }
    }
    let order = order(asked)?;
    let runtime = runtime()?;
    let whom = runtime.block_on(place::whom(&asked.flags))?;
    let count = match runtime.block_on(count_all(&order, &whom)) {
        Ok(count) => count,
        refused => return answered(refused, |_| Ok(())),
    };
    let Count { matched, looked_at, .. } = count;
    if asked.dry_run && asked.json {
        print_json(&serde_json::json!({ "matched": matched, "lookedAt": looked_at }))?;
        return Ok(ExitCode::SUCCESS);
    }
    let events = if matched == 1 { "event" } else { "events" };
    let mut err = stderr().lock();
    writeln!(err, "{matched} {events} would be erased; looked at {looked_at}")?;
    drop(err);
    if asked.dry_run {
        return Ok(ExitCode::SUCCESS);
    }
    if !asked.yes && !agreed()? {
        return Ok(ExitCode::FAILURE);
    }
    let answer = runtime.block_on(whom.ask(Asked::Erase(order)));
    let job: ErasureJob = match answer {
        Ok(job) => job,
        refused => return answered(refused, |_: ErasureJob| Ok(())),
    };
    if job.waits_for_server && whom.unattended().is_some() {
        return answered(Ok(job), |job| show(asked, &job));
    }
    wait(&runtime, asked, job, &whom)
}

/// What the flags mean at this moment.
fn order(asked: &EraseAsked) -> anyhow::Result<orders::Erase> {
    let now = Env::system().now();
    let filter = match asked.filter.as_deref() {
        Some(filter) => match filter.strip_prefix('@') {
            Some(file) => Some(input::text(Path::new(file), FILTER_BYTES_MAX as u64)?),
            None => Some(filter.to_owned()),
        },
        None => None,
    };
    Ok(orders::Erase {
        ids: asked.events.clone(),
        filter,
        source: asked.source.clone(),
        from: asked.since.map(|since| since.seen_from(now)),
        to: asked.until.map(|until| until.seen_from(now)),
    })
}

/// One look after the other: the server looks at so many at a time.
async fn count_all(order: &orders::Erase, whom: &Whom) -> anyhow::Result<Count> {
    let mut all = Count { matched: 0, looked_at: 0, next: None };
    let mut after: Option<Position> = None;
    loop {
        let order = Asked::CountErasure(order.clone(), after);
        let count: Count = whom.ask(order).await?;
        all.matched += count.matched;
        all.looked_at += count.looked_at;
        if count.next.is_none() || count.next == after {
            return Ok(all);
        }
        after = count.next;
    }
}

/// Nothing is erased by a slip of the hand.
fn agreed() -> anyhow::Result<bool> {
    ensure!(stdin().is_terminal(), "nobody is here to ask; --yes erases them without");
    write!(stderr(), "This cannot be undone. Erase? [y/N] ")?;
    let mut line = String::new();
    stdin().read_line(&mut line)?;
    Ok(matches!(line.trim(), "y" | "Y" | "yes"))
}

fn wait(
    runtime: &Runtime,
    asked: &EraseAsked,
    begun: ErasureJob,
    whom: &Whom,
) -> anyhow::Result<ExitCode> {
    let ended = runtime.block_on(until_gone(begun, whom));
    if stderr().is_terminal() {
        let _ = write!(stderr(), "\r\x1b[K");
    }
    let complete = ended.as_ref().is_ok_and(|job| job.state == ErasureState::Done);
    let code = answered(ended, |job| show(asked, &job))?;
    Ok(if complete || code != ExitCode::SUCCESS { code } else { ExitCode::FAILURE })
}

async fn until_gone(begun: ErasureJob, whom: &Whom) -> anyhow::Result<ErasureJob> {
    let id = begun.erasure_id;
    let mut job = begun;
    while !job.is_gone {
        if stderr().is_terminal() {
            let _ = write!(stderr(), "\r\x1b[K{}: {}", job.state, jobs::line(&job));
        }
        tokio::time::sleep(LOOK_EVERY).await;
        let asked = whom.ask_server(Asked::ShowErasure(id)).await?;
        let gone = || anyhow!("the server has stopped; erasure {id} goes on with the next");
        job = asked.ok_or_else(gone)?;
        if job.waits_for_server {
            bail!("no server works on this store; erasure {id} goes on with the next");
        }
    }
    Ok(job)
}

fn show(asked: &EraseAsked, job: &ErasureJob) -> anyhow::Result<()> {
    match asked.json {
        true => print_json(job),
        false => jobs::print_job(job),
    }
}
