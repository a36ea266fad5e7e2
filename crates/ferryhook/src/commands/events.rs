//! `ferryhook events`: which events there are, and what became of each.

pub(super) mod story;

use std::io::Write;
use std::process::ExitCode;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use ferryhook_api::events::{EventLine, EventStory};
use ferryhook_api::page::Page;
use ferryhook_core::Env;
use futures_util::StreamExt;

use super::columns::{Columns, or_dash};
use super::{answered, print_json, runtime};
use crate::cli::{EventsBody, EventsCommand, EventsList, EventsShow, Which};
use crate::client::place::{self, Whom};
use crate::desk::orders::{Asked, Shown, Wanted};

pub fn run(command: &EventsCommand) -> anyhow::Result<ExitCode> {
    match command {
        EventsCommand::List(asked) => list(asked),
        EventsCommand::Show(asked) => show(asked),
        EventsCommand::Body(asked) => body(asked),
        EventsCommand::Search(asked) => list_with(&asked.list, Some(&asked.text)),
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
        text: None,
        limit,
    }
}

fn list(command: &EventsList) -> anyhow::Result<ExitCode> {
    list_with(command, None)
}

fn list_with(command: &EventsList, text: Option<&str>) -> anyhow::Result<ExitCode> {
    let wanted = wanted(&command.which, command.limit.into());
    let asked = Asked::ListEvents(Wanted { text: text.map(str::to_owned), ..wanted });
    let answer = runtime()?.block_on(place::ask::<Page<EventLine>>(&command.flags, asked));
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
    let shown = Shown { event: command.event, with_body: command.body };
    let asked = Asked::ShowEvent(shown);
    let answer = runtime()?.block_on(place::ask::<EventStory>(&command.flags, asked));
    answered(answer, |story| match command.json {
        true => print_json(&story),
        false => Ok(write!(std::io::stdout().lock(), "{}", story::tell(&story))?),
    })
}

fn body(command: &EventsBody) -> anyhow::Result<ExitCode> {
    runtime()?.block_on(async {
        match place::whom(&command.flags).await? {
            Whom::Server(client) => {
                let path = format!("/v1/events/{}/body", command.event);
                let body = client.stream(&path).await;
                let mut body = body.map_err(|failure| failure.about("event", command.event))?;
                let mut out = std::io::stdout().lock();
                while let Some(piece) = body.next().await {
                    out.write_all(&piece?)?;
                }
                Ok(ExitCode::SUCCESS)
            }
            whom => {
                let shown = Shown { event: command.event, with_body: true };
                let answer = whom.ask::<EventStory>(Asked::ShowEvent(shown)).await;
                answered(answer, |story| Ok(std::io::stdout().write_all(&bytes(&story)?)?))
            }
        }
    })
}

fn bytes(story: &EventStory) -> anyhow::Result<Vec<u8>> {
    match (&story.body, &story.body_base64) {
        (Some(text), _) => Ok(text.as_bytes().to_vec()),
        (None, Some(text)) => Ok(STANDARD.decode(text)?),
        (None, None) => Ok(Vec::new()),
    }
}
