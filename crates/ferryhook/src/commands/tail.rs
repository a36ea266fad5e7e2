//! `ferryhook tail`: events as they come, until it is interrupted.
//!
//! The server's stream of changes rings for it ([`bell`]); then it looks. Events become visible a
//! moment after they were received and not always in that order, so each look begins a little
//! before the last event seen, and what was shown is remembered for as long: none is missed and
//! none is shown twice. A server that goes away is waited for.

mod bell;
mod seen;

use std::io::{IsTerminal, Write};
use std::process::ExitCode;

use ferryhook_api::events::EventLine;
use ferryhook_api::page::Page;
use ferryhook_core::event::Status;
use ferryhook_core::{Env, Timestamp};

use super::columns::plain;
use super::{print_json, runtime};
use crate::cli::Tail;
use crate::client::{Client, Failure, errands, place, with_query};
use crate::desk::orders::Wanted;
use bell::Bell;
use seen::Seen;

/// As many as one look takes in; the next goes on from there.
const LOOK_MAX: usize = 5000;
const INTERRUPTED: u8 = 130;

pub fn run(asked: &Tail) -> anyhow::Result<ExitCode> {
    runtime()?.block_on(async {
        tokio::select! {
            ended = watch(asked) => ended.map(|()| ExitCode::SUCCESS),
            _ = tokio::signal::ctrl_c() => Ok(ExitCode::from(INTERRUPTED)),
        }
    })
}

async fn watch(asked: &Tail) -> anyhow::Result<()> {
    let mut client = place::client(&asked.server).await?;
    let since = asked.since.map(|since| since.seen_from(Env::system().now()));
    let wanted = Wanted {
        source: asked.source.clone(),
        status: asked.status,
        event_type: asked.event_type.clone(),
        ..Wanted::default()
    };
    // A name is looked up once; the path has its id.
    let path = errands::events_path(&client, &wanted).await?;
    // Before the first look: what comes behind that rings.
    let mut bell = Bell::listening(&client, asked.event_type.as_deref()).await;
    let mut seen = begin(&client, &path, since, asked.status).await?;
    if std::io::stderr().is_terminal() {
        eprintln!("watching {}; ctrl-c ends it", client.server());
    }
    let mut is_away = false;
    loop {
        match look(&client, &path, &seen).await {
            Ok(events) => {
                if std::mem::take(&mut is_away) {
                    eprintln!("ferryhook: {} is back", client.server());
                }
                for event in seen.fresh(events) {
                    show(asked, &event)?;
                }
            }
            Err(failure) if failure.is_passing() => {
                if !std::mem::replace(&mut is_away, true) {
                    eprintln!("ferryhook: {} is away, waiting for it", client.server());
                }
                // On this machine it may come back on another port.
                if let Ok(found) = place::client(&asked.server).await {
                    client = found;
                }
                bell = Bell::broken();
            }
            Err(failure) => return Err(failure.into()),
        }
        if !bell.rings(seen.wants_another_look()).await {
            bell = Bell::listening(&client, asked.event_type.as_deref()).await;
        }
    }
}

/// From the moment that was asked for, or from the newest event on: by the server's clock, since
/// ours may be wrong.
async fn begin(
    client: &Client,
    path: &str,
    since: Option<Timestamp>,
    status: Option<Status>,
) -> Result<Seen, Failure> {
    if let Some(since) = since {
        return Ok(Seen::from(since, status));
    }
    let newest = client.list::<EventLine>("/v1/events", 1).await?.data;
    let Some(newest) = newest.first() else { return Ok(Seen::everything(status)) };
    let mut seen = Seen::from(newest.received_at, status);
    let events = look(client, path, &seen).await?;
    seen.pass_over(events.data);
    Ok(seen)
}

/// What has come since, oldest first.
async fn look(client: &Client, path: &str, seen: &Seen) -> Result<Page<EventLine>, Failure> {
    let from = seen.begins_at().map(|from| from.to_string());
    let path = with_query(path, [("order", Some("asc".to_owned())), ("from", from)]);
    client.list(&path, LOOK_MAX).await
}

fn show(asked: &Tail, event: &EventLine) -> anyhow::Result<()> {
    if asked.json {
        return print_json(event);
    }
    let at = event.received_at.to_string();
    let time = at.get(11..19).unwrap_or_default(); // the time of day, in UTC
    let source = event.source.as_deref().map_or_else(|| event.source_id.to_string(), plain);
    let event_type = event.event_type.as_deref().map(plain).unwrap_or_else(|| "-".to_owned());
    let status = painted(event.status);
    let (id, bytes) = (event.event_id, event.body_bytes);
    let why = event.processing_error.as_deref().map(|why| format!("  {}", plain(why)));
    let why = why.unwrap_or_default();
    let mut out = std::io::stdout().lock();
    writeln!(out, "{time}  {id}  {source}  {event_type}  {status}  {bytes} B{why}")?;
    Ok(out.flush()?)
}

/// In colour for eyes that want it.
fn painted(status: Status) -> String {
    let is_plain = !std::io::stdout().is_terminal()
        || std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
    let colour = match status {
        _ if is_plain => return status.to_string(),
        Status::Delivered => 32,
        Status::Failed | Status::SignatureFailed => 31,
        Status::Retrying | Status::Held => 33,
        _ => 2,
    };
    format!("\x1b[{colour}m{status}\x1b[0m")
}
