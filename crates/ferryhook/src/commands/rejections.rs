//! `ferryhook rejections`: what a source refused and why, and letting it in after all.

use std::io::Write;
use std::process::ExitCode;

use ferryhook_api::events::HeaderLine;
use ferryhook_api::page::Page;
use ferryhook_api::rejections::{Readmitted, RejectionLine, RejectionStory};
use ferryhook_core::rejection::Cause;

use super::columns::{Columns, or_dash, plain};
use super::{answered, print_json, runtime};
use crate::cli::{RejectionsCommand, RejectionsList, RejectionsReadmit, RejectionsShow};
use crate::client::place;
use crate::desk::orders::{Asked, Readmit, Refused};

/// Some of what should have been let in stayed out.
const SOME_REFUSED: u8 = 1;

pub fn run(command: &RejectionsCommand) -> anyhow::Result<ExitCode> {
    match command {
        RejectionsCommand::List(asked) => list(asked),
        RejectionsCommand::Show(asked) => show(asked),
        RejectionsCommand::Readmit(asked) => readmit(asked),
    }
}

fn list(command: &RejectionsList) -> anyhow::Result<ExitCode> {
    let RejectionsList { source, cause, limit, .. } = command;
    let asked = Refused { source: source.clone(), cause: *cause, limit: usize::from(*limit) };
    let asked = Asked::ListRejections(asked);
    let answer = runtime()?.block_on(place::ask::<Page<RejectionLine>>(&command.flags, asked));
    answered(answer, |list| match command.json {
        true => print_json(&list),
        false => print_list(&list),
    })
}

fn print_list(list: &Page<RejectionLine>) -> anyhow::Result<()> {
    let mut out = std::io::stdout().lock();
    if list.data.is_empty() {
        return Ok(writeln!(out, "nothing was refused")?);
    }
    let mut columns = Columns::new(["REJECTION", "AT", "CAUSE", "FROM", "BYTES", "WHY"]);
    for one in &list.data {
        columns.line([
            one.rejection_id.to_string(),
            one.rejected_at.to_string(),
            word(one.cause),
            or_dash(one.source_ip.as_ref()),
            one.body_bytes.to_string(),
            or_dash(one.detail.as_ref()),
        ]);
    }
    write!(out, "{}", columns.show())?;
    if list.has_more {
        writeln!(out, "there may be older ones; see --limit")?;
    }
    Ok(())
}

fn show(command: &RejectionsShow) -> anyhow::Result<ExitCode> {
    let (source, id) = (command.source.clone(), command.rejection);
    let asked = Asked::ShowRejection { source, id };
    let answer = runtime()?.block_on(place::ask::<RejectionStory>(&command.flags, asked));
    answered(answer, |story| match command.json {
        true => print_json(&story),
        false => print_story(&story),
    })
}

fn print_story(story: &RejectionStory) -> anyhow::Result<()> {
    let line = &story.line;
    let path = story.path.as_deref().unwrap_or_default();
    let query = story.query.as_ref().map(|query| format!("?{query}")).unwrap_or_default();
    let facts = [
        ("rejection", line.rejection_id.to_string()),
        ("at", line.rejected_at.to_string()),
        ("cause", word(line.cause)),
        ("why", or_dash(line.detail.as_ref())),
        ("request", format!("{} {path}{query}", line.method)),
        ("from", or_dash(line.source_ip.as_ref())),
    ];
    let mut out = std::io::stdout().lock();
    for (name, value) in facts {
        writeln!(out, "{name:<12}{}", plain(value.trim_end()))?;
    }
    writeln!(out, "\nheaders")?;
    for HeaderLine { name, value } in &story.headers {
        writeln!(out, "  {}: {}", plain(name), plain(value))?;
    }
    match &story.body {
        Some(body) if !body.is_empty() => writeln!(out, "\n{}", plain(body))?,
        Some(_) => {}
        None => writeln!(out, "\nthe body is not text; --json has it as base64")?,
    }
    if !line.is_whole {
        writeln!(out, "\nit was not read to its end, so it cannot be let in")?;
    }
    Ok(())
}

fn readmit(command: &RejectionsReadmit) -> anyhow::Result<ExitCode> {
    let RejectionsReadmit { source, rejections, cause, .. } = command;
    let order = Readmit { source: source.clone(), ids: rejections.clone(), cause: *cause };
    let asked = Asked::Readmit(order);
    let answer = runtime()?.block_on(place::ask::<Readmitted>(&command.flags, asked));
    let stayed_out = answer.as_ref().is_ok_and(|told| !told.refused.is_empty());
    let code = answered(answer, |told| match command.json {
        true => print_json(&told),
        false => print_readmitted(&told),
    })?;
    Ok(if stayed_out { ExitCode::from(SOME_REFUSED) } else { code })
}

fn print_readmitted(told: &Readmitted) -> anyhow::Result<()> {
    let mut out = std::io::stdout().lock();
    for event in &told.events {
        writeln!(out, "{event}")?;
    }
    for reason in &told.refused {
        writeln!(out, "{}", plain(reason))?;
    }
    writeln!(out, "{} events let in, {} refused again", told.events.len(), told.refused.len())?;
    if told.has_more {
        writeln!(out, "there are older ones; run it again")?;
    }
    Ok(())
}

fn word(cause: Cause) -> String {
    match cause {
        Cause::Signature => "signature",
        Cause::TooLarge => "too_large",
        Cause::Rate => "rate",
        Cause::Quota => "quota",
        Cause::Unparsable => "unparsable",
        Cause::Schema => "schema",
    }
    .to_owned()
}
