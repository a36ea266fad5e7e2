//! `ferryhook events`: which events there are, and what became of each.

pub(super) mod story;

use std::io::Write;
use std::process::ExitCode;

use ferryhook_api::events::{EventLine, EventStory};
use ferryhook_api::page::Page;
use ferryhook_core::Env;

use super::columns::{Columns, or_dash};
use super::{answered, print_json, runtime};
use crate::cli::{EventsCommand, EventsList, EventsShow, Which};
use crate::config::Config;
use crate::desk::orders::{Asked, Shown, Wanted};
use crate::desk::{self};

pub fn run(command: &EventsCommand) -> anyhow::Result<ExitCode> {
    match command {
        EventsCommand::List(asked) => list(asked),
        EventsCommand::Show(asked) => show(asked),
    }
}

/// What the flags mean at this moment.
pub fn wanted(which: &Which, limit: usize) -> Wanted {
    let now = Env::system().now();
    let Which { source, status, event_type, since, until } = which.clone();
    Wanted {
        source,
        status,
        event_type,
        from: since.map(|since| since.seen_from(now)),
        to: until.map(|until| until.seen_from(now)),
        limit,
    }
}

fn list(command: &EventsList) -> anyhow::Result<ExitCode> {
    let (config, values) = Config::load(&command.flags.0)?;
    let asked = Asked::ListEvents(wanted(&command.which, command.limit.into()));
    let answer = runtime()?.block_on(desk::ask::<Page<EventLine>>(&config, &values, asked));
    answered(answer, |list| match command.json {
        true => print_json(&list),
        false => print_list(&list),
    })
}

fn print_list(list: &Page<EventLine>) -> anyhow::Result<()> {
    let mut out = std::io::stdout().lock();
    if list.data.is_empty() {
        writeln!(out, "no events{}", if list.has_more { " among the newest" } else { "" })?;
        return Ok(());
    }
    let mut columns = Columns::new(["EVENT", "RECEIVED", "SOURCE", "TYPE", "STATUS", "BYTES"]);
    for event in &list.data {
        columns.line([
            event.event_id.to_string(),
            event.received_at.to_string(),
            event.source.clone().unwrap_or_else(|| event.source_id.to_string()),
            or_dash(event.event_type.as_ref()),
            event.status.to_string(),
            event.body_bytes.to_string(),
        ]);
    }
    write!(out, "{}", columns.show())?;
    if list.has_more {
        writeln!(out, "there may be older ones; see --limit, --since and --until")?;
    }
    Ok(())
}

fn show(command: &EventsShow) -> anyhow::Result<ExitCode> {
    let (config, values) = Config::load(&command.flags.0)?;
    let shown = Shown { event: command.event, with_body: command.body };
    let asked = Asked::ShowEvent(shown);
    let answer = runtime()?.block_on(desk::ask::<EventStory>(&config, &values, asked));
    answered(answer, |story| match command.json {
        true => print_json(&story),
        false => Ok(write!(std::io::stdout().lock(), "{}", story::tell(&story))?),
    })
}
