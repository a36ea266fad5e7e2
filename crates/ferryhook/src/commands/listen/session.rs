//! A session from its making to its end, over every loss of the server in between.

use std::sync::Arc;
use std::time::Duration;

use anyhow::bail;
use ferryhook_api::cli_sessions::{CliEnd, CliEnded, CliRequest, CliSessionView, NewCliSession};
use ferryhook_core::Env;
use ferryhook_net::Tasks;
use futures_util::StreamExt;
use tokio::sync::mpsc::Sender;
use tokio::time::{sleep, timeout};

use super::forward::forward;
use super::lines::Lines;
use super::messages::{Message, Messages};
use super::reports::{self, report, results};
use crate::cli::Listen;
use crate::client::with_query;
use crate::client::{Client, Failure};

/// The server says something at least every 15 seconds.
const SILENCE_MAX: Duration = Duration::from_secs(45);
/// Until a server that is away is asked again: at first, and at most.
const PAUSE_FIRST: Duration = Duration::from_millis(250);
const PAUSE_MAX: Duration = Duration::from_secs(10);

pub struct Listener {
    client: Client,
    wanted: NewCliSession,
    origin: String,
    lines: Arc<Lines>,
    env: Env,
    tasks: Tasks,
    results: Sender<reports::Result>,
    session: Option<CliSessionView>,
    /// The last request that was read.
    after: u64,
}

/// How reading came to an end.
enum Over {
    /// The line is gone; the session may be there.
    Lost,
    Ended(CliEnded),
}

impl Listener {
    pub fn new(client: Client, asked: &Listen, wanted: NewCliSession) -> Self {
        let to = wanted.forward_to.clone().unwrap_or_default();
        let lines = Lines::new(asked.output, to, asked.print_secret);
        let (tasks, (results, waiting)) = (Tasks::new(), results());
        tasks.spawn("report", report(client.clone(), waiting));
        Self {
            client,
            wanted,
            origin: asked.to.origin.clone(),
            lines: Arc::new(lines),
            env: Env::system(),
            tasks,
            results,
            session: None,
            after: 0,
        }
    }

    /// Until something is wrong that waiting does not mend.
    pub async fn run(&mut self) -> anyhow::Result<()> {
        self.open().await?;
        let mut pause = PAUSE_FIRST;
        loop {
            let lost = match self.read().await {
                Ok(Over::Ended(CliEnded::Closed)) => bail!("somebody has ended this session"),
                // A server that stops is as gone as one that is not there yet.
                Ok(Over::Ended(CliEnded::Silent | CliEnded::Stopping)) => {
                    self.session = None;
                    None
                }
                Ok(Over::Ended(CliEnded::Replaced) | Over::Lost) => {
                    pause = PAUSE_FIRST; // it was there until now
                    None
                }
                Err(Failure::NotFound { .. }) => {
                    self.session = None;
                    None
                }
                Err(failure) if failure.is_passing() => Some(failure),
                Err(failure) => return Err(failure.into()),
            };
            if lost.is_none() && self.session.is_none() {
                match self.open().await {
                    // A server that knows nothing of what it has just made is one of several; one
                    // after the other, not as fast as it goes.
                    Ok(()) => {
                        sleep(pause).await;
                        pause = (pause * 2).min(PAUSE_MAX);
                        continue;
                    }
                    Err(error) => {
                        let failure = error.downcast_ref::<Failure>();
                        if !failure.is_some_and(Failure::is_passing) {
                            return Err(error);
                        }
                    }
                }
            }
            if pause == PAUSE_FIRST {
                eprintln!("ferryhook: lost {}; waiting for it", self.client.server());
            }
            sleep(pause).await;
            pause = (pause * 2).min(PAUSE_MAX);
        }
    }

    /// Nobody listens any more.
    pub async fn end(&self) {
        if let Some(session) = &self.session {
            let path = format!("/v1/cli/sessions/{}", session.session_id);
            let _ = self.client.delete(&path).await;
        }
    }

    async fn open(&mut self) -> anyhow::Result<()> {
        let session: CliSessionView = self.client.post("/v1/cli/sessions", &self.wanted).await?;
        self.wanted.signing_secret = Some(session.signing_secret.clone());
        self.lines.ready(&session)?;
        self.session = Some(session);
        self.after = 0;
        Ok(())
    }

    async fn read(&mut self) -> Result<Over, Failure> {
        let Some(session) = &self.session else {
            return Err(Failure::not_found("there is no session"));
        };
        let id = session.session_id;
        let path = format!("/v1/cli/sessions/{id}/stream");
        let after = Some(self.after).filter(|after| *after > 0).map(|after| after.to_string());
        let mut stream = self.client.stream(&with_query(&path, [("after", after)])).await?;
        let mut messages = Messages::default();
        loop {
            let Ok(Some(Ok(piece))) = timeout(SILENCE_MAX, stream.next()).await else {
                return Ok(Over::Lost);
            };
            let Ok(whole) = messages.read(&piece) else { return Ok(Over::Lost) };
            for Message { name, data } in whole {
                match name.as_str() {
                    "request" => {
                        let Ok(request) = serde_json::from_str::<CliRequest>(&data) else {
                            let server = self.client.server().to_owned();
                            return Err(Failure::Strange { server });
                        };
                        self.after = request.id;
                        self.take(request);
                    }
                    "end" => {
                        if let Ok(CliEnd { reason }) = serde_json::from_str(&data) {
                            return Ok(Over::Ended(reason));
                        }
                    }
                    _ => {}
                }
            }
        }
    }

    /// Makes the request beside all the others that are under way.
    fn take(&self, request: CliRequest) {
        let Some(session) = self.session.as_ref().map(|session| session.session_id) else { return };
        let (client, env, lines) = (self.client.clone(), self.env.clone(), self.lines.clone());
        let (origin, results) = (self.origin.clone(), self.results.clone());
        self.tasks.spawn("forward", async move {
            let forwarded = forward(&client, &origin, &request, &env).await;
            if forwarded.is_absent {
                lines.hint(&origin);
            }
            let _ = lines.done(&request, &forwarded.result); // whoever read us may be gone
            let _ = results.send((session, forwarded.result)).await;
        });
    }
}
