//! What is said about a session, in the words that were asked for.

use std::io::Write;
use std::sync::atomic::{AtomicBool, Ordering};

use ferryhook_api::cli_sessions::{CliRequest, CliResult, CliSessionView};
use serde_json::{Value, json};

use crate::cli::Output;
use crate::commands::columns::plain;

#[derive(Debug)]
pub struct Lines {
    output: Output,
    /// Where events go, with the path.
    to: String,
    shows_secret: bool,
    has_hinted: AtomicBool,
}

impl Lines {
    pub fn new(output: Output, to: String, shows_secret: bool) -> Self {
        Self { output, to, shows_secret, has_hinted: AtomicBool::new(false) }
    }

    pub fn ready(&self, session: &CliSessionView) -> anyhow::Result<()> {
        let secret = Some(session.signing_secret.expose()).filter(|_| self.shows_secret);
        if self.output == Output::Json {
            let sources = &session.sources;
            let mut line = json!({ "type": "ready", "forwardTo": self.to, "sources": sources });
            if let Some(secret) = secret {
                line["signingSecret"] = secret.into();
            }
            return say(&line.to_string());
        }
        for source in &session.sources {
            say(&format!("ready: {} -> {}", source.ingest_url, self.to))?;
        }
        match secret {
            Some(secret) => say(&format!("signing secret: {secret}")),
            None => Ok(()),
        }
    }

    pub fn done(&self, request: &CliRequest, result: &CliResult) -> anyhow::Result<()> {
        match self.output {
            Output::Quiet => Ok(()),
            Output::Compact => say(&compact(request, result)),
            Output::Json => say(&whole(request, result).to_string()),
        }
    }

    /// Said once: who starts an app later sees the retries arrive.
    pub fn hint(&self, origin: &str) {
        if !self.has_hinted.swap(true, Ordering::Relaxed) {
            eprintln!(
                "ferryhook: nothing answers at {origin} yet; start your app, and what has failed \
                 is tried again"
            );
        }
    }
}

fn compact(request: &CliRequest, result: &CliResult) -> String {
    let CliRequest { method, path, event_id, attempt, .. } = request;
    let kind = request.event_type.as_deref().unwrap_or("-");
    let became = match (result.status, &result.error) {
        (Some(status), _) => format!("{status}  {} ms", result.latency_ms),
        (None, error) => format!("failed  {}", error.as_deref().unwrap_or_default()),
    };
    let again = if *attempt > 1 { format!("  attempt {attempt}") } else { String::new() };
    plain(&format!("{method} {path}  {kind}  {event_id}  -> {became}{again}"))
}

fn whole(request: &CliRequest, result: &CliResult) -> Value {
    json!({
        "type": "event",
        "eventId": request.event_id,
        "eventType": request.event_type,
        "sourceId": request.source_id,
        "attempt": request.attempt,
        "method": request.method,
        "path": request.path,
        "status": result.status,
        "error": result.error,
        "latencyMs": result.latency_ms,
    })
}

fn say(line: &str) -> anyhow::Result<()> {
    let mut out = std::io::stdout().lock();
    writeln!(out, "{line}")?;
    Ok(out.flush()?)
}
