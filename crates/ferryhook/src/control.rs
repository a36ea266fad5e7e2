//! The control socket: how another `ferryhook` reaches the one that has the data directory open.
//!
//! It lies in that directory and only its owner may connect. A request and its answer are one line
//! of JSON each. Every connection has a task of its own, so that a long backup keeps nobody
//! waiting but the next backup.
//!
//! A new request is a variant of [`Request`], an arm in [`Handlers::handle`] and, where it needs
//! something new, a field there.

mod handlers;
mod local;

use std::future::Future;
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, anyhow, bail};
use ferryhook_api::apply;
use ferryhook_core::Secret;
use ferryhook_net::Tasks;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::{UnixListener, UnixSocket, UnixStream};
use tokio::sync::Semaphore;

use crate::desk;

pub use handlers::{Bell, Handlers, Turns};

const NAME: &str = "control.sock";
/// A manifest of the largest size, with every character escaped, and room for its secrets.
const LINE_BYTES_MAX: u64 = 8 * 1024 * 1024;
/// Who connects has its request ready.
const REQUEST_WAIT: Duration = Duration::from_secs(5);
const WAITING_MAX: u32 = 16;
/// Answered at the same time; more wait for their turn.
const REQUESTS_MAX: usize = 8;
/// After a failed accept. What fails at once again (no file handles left) must not spin.
const ACCEPT_PAUSE: Duration = Duration::from_millis(100);

#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Request {
    /// Into this directory, named absolutely. Answered with [`Copied`](crate::copied::Copied).
    Backup(PathBuf),
    /// Answered with [`Outcome`](apply::Outcome).
    Apply(apply::Asked),
    /// Answered with the text of a manifest.
    Export,
    /// To this key, or to a new one of our own. Answered with [`Rotation`](crate::master::Rotation).
    RotateMaster(Option<Secret>),
    /// Answered with [`Local`](crate::client::local::Local).
    Local,
    /// Answered with what was asked for, or a [`Complaint`](crate::desk::Complaint).
    Desk(desk::Asked),
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
enum Answer {
    Done(Value),
    Failed(String),
}

/// The server's end. The file goes with it.
#[derive(Debug)]
pub struct Control {
    listener: UnixListener,
    path: PathBuf,
    // Dropped after the file is removed: while the engine lives, the directory is ours.
    handlers: Arc<Handlers>,
}

impl Control {
    /// Replaces the socket of a process that did not get to remove its own: the engine holds the
    /// lock of the directory, so nobody else listens there.
    pub fn listen(directory: &Path, handlers: Handlers) -> io::Result<Self> {
        let path = directory.join(NAME);
        match std::fs::remove_file(&path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
        let socket = UnixSocket::new_stream()?;
        socket.bind(&path)?;
        // Before anyone can connect.
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o600))?;
        Ok(Self { listener: socket.listen(WAITING_MAX)?, path, handlers: Arc::new(handlers) })
    }

    pub async fn answer_until(self, tasks: Tasks, stop: impl Future<Output = ()>) {
        let room = Arc::new(Semaphore::new(REQUESTS_MAX));
        let mut stop = pin!(stop);
        loop {
            let accepted = async {
                let turn = room.clone().acquire_owned().await;
                (turn, self.listener.accept().await)
            };
            let (turn, accepted) = tokio::select! {
                accepted = accepted => accepted,
                () = stop.as_mut() => return,
            };
            match accepted {
                Ok((stream, _)) => {
                    let handlers = self.handlers.clone();
                    tasks.spawn("control request", async move {
                        let _turn = turn;
                        if let Err(error) = answer(&handlers, stream).await {
                            tracing::warn!(%error, "a request on the control socket was lost");
                        }
                    });
                }
                Err(error) => {
                    tracing::warn!(%error, "cannot accept on the control socket; trying again");
                    tokio::time::sleep(ACCEPT_PAUSE).await;
                }
            }
        }
    }
}

impl Drop for Control {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.path);
    }
}

async fn answer(handlers: &Handlers, stream: UnixStream) -> io::Result<()> {
    let mut stream = BufReader::new(stream);
    let line = tokio::time::timeout(REQUEST_WAIT, read_line(&mut stream)).await??;
    let answer = match serde_json::from_str(&line) {
        Ok(request) => handlers.handle(request).await,
        Err(error) => Err(format!("the server knows no such request: {error}")),
    };
    let answer = answer.map_or_else(Answer::Failed, Answer::Done);
    write_line(stream.get_mut(), &answer).await
}

/// Asks the server that has the directory open; `None` when none listens there.
pub async fn ask<T: DeserializeOwned>(
    directory: &Path,
    request: &Request,
) -> anyhow::Result<Option<T>> {
    let path = directory.join(NAME);
    let mut stream = match UnixStream::connect(&path).await {
        Ok(stream) => BufReader::new(stream),
        Err(error) if is_nobody(&error) => return Ok(None),
        Err(error) => {
            return Err(anyhow!(error).context(format!("cannot connect to {}", path.display())));
        }
    };
    let lost = "the server stopped before it was done";
    let strange = "the server's answer is not understood";
    write_line(stream.get_mut(), request).await.context(lost)?;
    let line = read_line(&mut stream).await.context(lost)?;
    match serde_json::from_str(&line).context(strange)? {
        Answer::Done(value) => serde_json::from_value(value).context(strange).map(Some),
        Answer::Failed(reason) => bail!(reason),
    }
}

/// There is no socket, nobody behind it any more, or its name would be longer than a socket's may
/// be, so that no server can have made it.
fn is_nobody(error: &io::Error) -> bool {
    use io::ErrorKind::{ConnectionRefused, InvalidInput, NotFound};
    matches!(error.kind(), NotFound | ConnectionRefused | InvalidInput)
}

async fn read_line(stream: &mut BufReader<UnixStream>) -> io::Result<String> {
    let mut line = String::new();
    stream.take(LINE_BYTES_MAX).read_line(&mut line).await?;
    match line.ends_with('\n') {
        true => Ok(line),
        false => Err(io::ErrorKind::UnexpectedEof.into()),
    }
}

async fn write_line(stream: &mut UnixStream, message: &impl Serialize) -> io::Result<()> {
    let mut line = serde_json::to_string(message)?;
    line.push('\n');
    stream.write_all(line.as_bytes()).await
}
