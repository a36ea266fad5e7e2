//! Erasures: which there are, how far one is, and stop.

use std::io::Write;
use std::process::ExitCode;

use ferryhook_api::erasures::ErasureJob;
use ferryhook_api::page::Page;

use crate::cli::{EraseCommand, EraseOf, ReplayList as Listed};
use crate::client::place;
use crate::commands::columns::{Columns, plain};
use crate::commands::{answered, print_json, runtime};
use crate::desk::orders::Asked;

pub fn run(command: &EraseCommand) -> anyhow::Result<ExitCode> {
    match command {
        EraseCommand::List(asked) => list(asked),
        EraseCommand::Show(asked) => show(asked, Asked::ShowErasure(asked.erasure)),
        EraseCommand::Cancel(asked) => show(asked, Asked::CancelErasure(asked.erasure)),
    }
}

fn list(command: &Listed) -> anyhow::Result<ExitCode> {
    let asked = Asked::ListErasures { limit: command.limit.into() };
    let answer = runtime()?.block_on(place::ask::<Page<ErasureJob>>(&command.flags, asked));
    answered(answer, |list| match command.json {
        true => print_json(&list),
        false => print_list(&list),
    })
}

fn print_list(list: &Page<ErasureJob>) -> anyhow::Result<()> {
    let mut out = std::io::stdout().lock();
    if list.data.is_empty() {
        writeln!(out, "no erasures")?;
        return Ok(());
    }
    let headings = ["ERASURE", "ASKED FOR", "STATE", "LOOKED AT", "ERASED", "FAILED", "BY"];
    let mut columns = Columns::new(headings);
    for job in &list.data {
        columns.line([
            job.erasure_id.to_string(),
            job.created_at.to_string(),
            job.state.to_string(),
            job.looked_at.to_string(),
            job.erased.to_string(),
            job.failed.to_string(),
            meant(job),
        ]);
    }
    write!(out, "{}", columns.show())?;
    if list.has_more {
        writeln!(out, "there are older ones; see --limit")?;
    }
    Ok(())
}

fn meant(job: &ErasureJob) -> String {
    match (&job.subject, job.ids) {
        (Some(subject), _) => plain(&subject.paths.join(", ")),
        (None, Some(1)) => "1 id".to_owned(),
        (None, ids) => format!("{} ids", ids.unwrap_or_default()),
    }
}

fn show(command: &EraseOf, asked: Asked) -> anyhow::Result<ExitCode> {
    let answer = runtime()?.block_on(place::ask::<ErasureJob>(&command.flags, asked));
    answered(answer, |job| match command.json {
        true => print_json(&job),
        false => print_job(&job),
    })
}

pub fn print_job(job: &ErasureJob) -> anyhow::Result<()> {
    let mut out = std::io::stdout().lock();
    let reason = job.reason.as_ref().or(job.last_error.as_ref()).map(|reason| plain(reason));
    let reason = reason.map(|reason| format!(" ({reason})")).unwrap_or_default();
    let state = match job.waits_for_server {
        true => "waits for a server to run".to_owned(),
        false => job.state.to_string(),
    };
    writeln!(out, "{} {state}: {}{reason}", job.erasure_id, line(job))?;
    Ok(())
}

pub fn line(job: &ErasureJob) -> String {
    let failed = match job.failed {
        0 => String::new(),
        failed => format!(", {failed} could not be"),
    };
    format!("{} erased{failed}, {} looked at", job.erased, job.looked_at)
}
