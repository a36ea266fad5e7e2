//! `ferryhook listen`: brings a source's events to an app on this machine.
//!
//! The server tells which requests to make, they are made several at once, and what came of each is
//! reported back. When the server goes away this waits for it; a session that it no longer knows is
//! made anew, with the same secret, so that the app goes on believing us.

mod forward;
mod lines;
mod messages;
mod reports;
mod session;

use std::process::ExitCode;
use std::time::Duration;

use anyhow::bail;
use ferryhook_api::cli_sessions::NewCliSession;
use ferryhook_api::sources::SourceView;
use ferryhook_core::id::SourceId;
use ferryhook_core::source::ConnectionType;
use serde_json::json;
use tokio::signal::unix::{SignalKind, signal};
use tokio::time::timeout;

use super::columns::plain;
use super::runtime;
use crate::cli::Listen;
use crate::client::{Client, Failure, place};
use session::Listener;

/// Ended by whoever ran it, as shells put it.
const INTERRUPTED: u8 = 130;
/// For the server to hear that nobody listens any more.
const GOODBYE: Duration = Duration::from_secs(3);
/// Sources that are looked through for a name.
const SOURCES_MAX: usize = 1000;

pub fn run(asked: &Listen) -> anyhow::Result<ExitCode> {
    runtime()?.block_on(listen(asked))
}

async fn listen(asked: &Listen) -> anyhow::Result<ExitCode> {
    let mut interrupt = signal(SignalKind::interrupt())?;
    let mut terminate = signal(SignalKind::terminate())?;
    let client = place::client(&asked.server).await?;
    let wanted = wanted(&client, asked).await?;
    let mut listener = Listener::new(client, asked, wanted);
    tokio::select! {
        ended = listener.run() => ended?,
        _ = interrupt.recv() => {}
        _ = terminate.recv() => {}
    }
    // If it does not hear it, it finds out by itself.
    let _ = timeout(GOODBYE, listener.end()).await;
    Ok(ExitCode::from(INTERRUPTED))
}

async fn wanted(client: &Client, asked: &Listen) -> anyhow::Result<NewCliSession> {
    let path = match (&asked.path, &asked.to.path) {
        (Some(_), Some(_)) => bail!("the URL has a path already; leave it there, or take --path"),
        (path, own) => path.clone().or_else(|| own.clone()),
    };
    let source_id = match asked.all {
        true => None,
        false => Some(pick(client, asked.source.as_deref()).await?),
    };
    Ok(NewCliSession {
        source_id,
        forward_to: Some(format!("{}{}", asked.to.origin, path.as_deref().unwrap_or_default())),
        path,
        filters: asked.filter_body.as_ref().map(|body| json!({ "body": body })),
        signing_secret: None,
    })
}

/// The source that is meant: by its id or name, or the only one.
async fn pick(client: &Client, named: Option<&str>) -> anyhow::Result<SourceId> {
    if let Some(id) = named.and_then(|named| named.parse::<SourceId>().ok()) {
        let found = client.get::<SourceView>(&format!("/v1/sources/{id}")).await;
        return match found {
            Ok(source) => Ok(source.source_id),
            Err(Failure::NotFound { .. }) => Err(unknown(id.as_str()).into()),
            Err(failure) => Err(failure.into()),
        };
    }
    let sources = client.list::<SourceView>("/v1/sources", SOURCES_MAX).await?.data;
    let is_meant = |source: &&SourceView| match named {
        Some(name) => source.name == name,
        None => source.connection_type == ConnectionType::Webhook,
    };
    let mut meant = sources.iter().filter(is_meant);
    match (meant.next(), meant.next(), named) {
        (Some(one), None, _) => Ok(one.source_id),
        (None, _, Some(name)) => Err(unknown(&plain(name)).into()),
        (None, _, None) => Err(Failure::not_found(
            "there is no source to listen to yet; make one with `ferryhook sources create`",
        )
        .into()),
        (Some(_), Some(_), _) => bail!(
            "say which source is meant, or --all for all of them:{}",
            sources
                .iter()
                .map(|source| format!("\n  {}  {}", source.source_id, plain(&source.name)))
                .collect::<String>()
        ),
    }
}

fn unknown(name: &str) -> Failure {
    Failure::not_found(format!("there is no source {name}; `ferryhook sources list` shows them"))
}
