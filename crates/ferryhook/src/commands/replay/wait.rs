//! Waits for a replay to end, and says how far it is.

use std::io::{Write, stderr};
use std::process::ExitCode;
use std::time::Duration;

use anyhow::anyhow;
use ferryhook_api::replays::{ReplayJob, ReplayState};
use indicatif::{ProgressBar, ProgressStyle};
use tokio::runtime::Runtime;

use crate::client::place::Whom;
use crate::commands::columns::plain;
use crate::commands::{answered, print_json};
use crate::desk::orders::Asked;

const LOOK_EVERY: Duration = Duration::from_millis(250);

pub fn wait(
    runtime: &Runtime,
    begun: ReplayJob,
    json: bool,
    whom: &Whom,
) -> anyhow::Result<ExitCode> {
    let id = begun.replay_id;
    if !json {
        let _ = writeln!(stderr(), "replay {id} runs; ferryhook replay cancel {id} stops it");
    }
    let ended = runtime.block_on(until_ended(begun, whom));
    let complete =
        ended.as_ref().is_ok_and(|job| job.state == ReplayState::Done && job.counts.failed == 0);
    let code = answered(ended, |job| match json {
        true => print_json(&job),
        false => print_ended(&job),
    })?;
    Ok(if complete || code != ExitCode::SUCCESS { code } else { ExitCode::FAILURE })
}

async fn until_ended(begun: ReplayJob, whom: &Whom) -> anyhow::Result<ReplayJob> {
    let id = begun.replay_id;
    let mut job = begun;
    let bar = progress(&job);
    while job.is_running() {
        show(&bar, &job);
        tokio::time::sleep(LOOK_EVERY).await;
        let asked = whom.ask_server(Asked::ShowReplay(id)).await?;
        let gone = || anyhow!("the server has stopped; replay {id} goes on with the next");
        job = asked.ok_or_else(gone)?;
    }
    bar.finish_and_clear();
    Ok(job)
}

fn line(job: &ReplayJob) -> String {
    let counts = &job.counts;
    let of = job.ids.map(|ids| format!(" of {ids}")).unwrap_or_default();
    format!(
        "{} replayed, {} skipped, {} failed, {}{of} looked at",
        counts.replayed, counts.skipped, counts.failed, counts.matched
    )
}

/// On a terminal only. How many it will be is known where events were named.
fn progress(job: &ReplayJob) -> ProgressBar {
    let known = job.ids.map(|ids| ids as u64);
    let (bar, template) = match known {
        Some(count) => (ProgressBar::new(count), "{bar:30} {pos}/{len}  {msg}"),
        None => (ProgressBar::new_spinner(), "{spinner} {elapsed}  {msg}"),
    };
    match ProgressStyle::with_template(template) {
        Ok(style) => bar.with_style(style),
        Err(_) => bar,
    }
}

fn show(bar: &ProgressBar, job: &ReplayJob) {
    let waits = match &job.waiting_for {
        Some(connection) => format!(", waits for {connection}, whose queue is full"),
        None => String::new(),
    };
    bar.set_position(job.counts.matched);
    bar.set_message(format!("{}{waits}", line(job)));
    bar.tick();
}

fn print_ended(job: &ReplayJob) -> anyhow::Result<()> {
    let mut out = std::io::stdout().lock();
    let reason = job.reason.as_ref().or(job.last_error.as_ref()).map(|reason| plain(reason));
    let reason = reason.map(|reason| format!(" ({reason})")).unwrap_or_default();
    writeln!(out, "{}: {}{reason}", job.state, line(job))?;
    Ok(())
}
