//! What `dev` says on its standard output: a picture and then lines for a person, JSON objects,
//! one a line, for a program. Nobody there is fine too.

use std::future::Future;
use std::io::{self, IsTerminal, Write};
use std::pin::pin;

use ferryhook_api::mail::mailbox;
use ferryhook_core::event::Status;
use ferryhook_core::{Env, Timestamp};
use ferryhook_flow::Happening;
use serde::Serialize;
use serde_json::json;
use tokio::sync::broadcast;
use tokio::sync::broadcast::error::RecvError;

use super::demo::{SAMPLE, SAMPLE_TYPE, Seen};
use crate::config::Config;
use crate::echo;

/// Sources that are shown; somebody with more knows where to look.
const SHOWN_MAX: usize = 10;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Lines {
    ForPeople,
    ForPrograms,
}

/// Everything that is known once the server listens.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Startup {
    version: &'static str,
    mode: &'static str,
    url: String,
    /// Makes whoever opens it the owner, once; absent when there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    setup: Option<String>,
    /// Letters that would have been sent.
    mailbox: String,
    data: String,
    store: String,
    /// The port that was asked for, when another one was taken.
    #[serde(skip_serializing_if = "Option::is_none")]
    busy_port: Option<u16>,
    sources: Vec<ShownSource>,
    #[serde(skip_serializing_if = "Option::is_none")]
    curl: Option<String>,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct ShownSource {
    name: String,
    send_to: String,
    delivers_to: Vec<ShownConnection>,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct ShownConnection {
    name: String,
    url: String,
    built_in: bool,
}

impl Startup {
    pub fn new(config: &Config, busy: Option<u16>, setup: Option<String>, seen: &[Seen]) -> Self {
        let url = format!("http://{}", config.listen);
        let sources: Vec<_> = seen.iter().take(SHOWN_MAX).map(|seen| shown(seen, &url)).collect();
        let curl = sources.first().map(|source| {
            format!("curl -d '{SAMPLE}' -H content-type:{SAMPLE_TYPE} {}", source.send_to)
        });
        Self {
            version: env!("CARGO_PKG_VERSION"),
            mode: "dev",
            mailbox: format!("{url}{}", mailbox::PATH),
            setup,
            url,
            data: config.place(),
            store: config.store.to_string(),
            busy_port: busy,
            sources,
            curl,
        }
    }

    fn picture(&self) -> String {
        let Self { version, url, data, store, .. } = self;
        let mut text = format!(
            "ferryhook {version}, for development: reachable from this machine only\n  \
             url   {url}\n  data  {data} ({store} store)\n"
        );
        if let Some(link) = &self.setup {
            text += &format!("  set up {link}\n         (once, within 30 minutes)\n");
        }
        if let Some(port) = self.busy_port {
            text += &format!("  port {port} is busy, so this is the next one that was free\n");
        }
        for ShownSource { name, send_to, delivers_to } in &self.sources {
            text += &format!("\n  {name}\n    send to      {send_to}\n");
            for ShownConnection { url, built_in, .. } in delivers_to {
                let note = if *built_in { "  (built in, checks the signature)" } else { "" };
                text += &format!("    delivers to  {url}{note}\n");
            }
        }
        match &self.curl {
            Some(curl) => text += &format!("\n  try it:\n    {curl}\n\n"),
            None => text += "\n  there are no sources yet: ferryhook apply -f hooks.yaml\n\n",
        }
        text
    }
}

fn shown(seen: &Seen, url: &str) -> ShownSource {
    let connection = |connection: &ferryhook_core::Connection| ShownConnection {
        name: connection.name.clone(),
        url: connection.destination_url.clone().unwrap_or_default(),
        built_in: echo::is_here(connection),
    };
    ShownSource {
        name: seen.source.name.clone(),
        send_to: format!("{url}/in/{}", seen.source.id),
        delivers_to: seen.connections.iter().map(connection).collect(),
    }
}

impl Lines {
    pub fn to_stdout() -> Self {
        match io::stdout().is_terminal() {
            true => Self::ForPeople,
            false => Self::ForPrograms,
        }
    }

    pub fn start(self, startup: &Startup) {
        match self {
            Self::ForPeople => say(&startup.picture()),
            Self::ForPrograms => say(&format!("{}\n", json!({ "startup": startup }))),
        }
    }

    pub fn note(self, text: &str) {
        match self {
            Self::ForPeople => say(&format!("  {text}\n")),
            Self::ForPrograms => say(&format!("{}\n", json!({ "note": text }))),
        }
    }

    /// A line for each event that comes in and each attempt to deliver it.
    pub async fn tell(
        self,
        env: Env,
        mut happenings: broadcast::Receiver<Happening>,
        stop: impl Future<Output = ()>,
    ) {
        let mut stop = pin!(stop);
        loop {
            let happening = tokio::select! {
                happening = happenings.recv() => happening,
                () = stop.as_mut() => return,
            };
            match (happening, self) {
                (Ok(happening), Self::ForPeople) => say(&for_people(&happening, env.now())),
                (Ok(happening), Self::ForPrograms) => say(&for_programs(&happening, env.now())),
                (Err(RecvError::Lagged(missed)), _) => {
                    self.note(&format!("{missed} lines left out: too fast to print"));
                }
                (Err(RecvError::Closed), _) => return,
            }
        }
    }
}

fn for_people(happening: &Happening, now: Timestamp) -> String {
    let now = now.to_string();
    let time = now.get(11..19).unwrap_or_default(); // the time of day, in UTC
    match happening {
        Happening::Accepted { event, source_name, method, bytes, status, is_duplicate, .. } => {
            let method = method.as_deref().unwrap_or("-");
            let note = match (is_duplicate, status) {
                (true, _) => ", a copy of one that came before",
                (false, Status::Held) => ", held: the source is paused",
                (false, Status::Filtered) => ", goes nowhere: the source has no active connection",
                _ => "",
            };
            format!("  {time}  {event}  {source_name}: {method} {bytes} B{note}\n")
        }
        Happening::Attempted { event, destination, status, error, latency_ms, .. } => {
            let answer = match (status, error) {
                (0, Some(error)) => error.clone(),
                (status, _) => status.to_string(),
            };
            format!("  {time}  {event}  -> {destination}  {answer} in {latency_ms} ms\n")
        }
    }
}

fn for_programs(happening: &Happening, now: Timestamp) -> String {
    let line = match happening {
        Happening::Accepted { event, source, source_name, method, bytes, status, is_duplicate } => {
            json!({ "accepted": {
            "at": now, "event": event, "source": source, "sourceName": source_name,
            "method": method, "bytes": bytes, "status": status, "duplicate": is_duplicate,
        } })
        }
        Happening::Attempted {
            event,
            source,
            connection,
            destination,
            status,
            error,
            latency_ms,
            delivered,
        } => json!({ "attempted": {
            "at": now, "event": event, "source": source, "connection": connection,
            "destination": destination, "status": status, "error": error,
            "latencyMs": latency_ms, "delivered": delivered,
        } }),
    };
    format!("{line}\n")
}

fn say(text: &str) {
    let _ = io::stdout().write_all(text.as_bytes());
}
