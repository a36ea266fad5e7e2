//! The control socket: how another `ferryhook` reaches the one that has the data directory open.
//!
//! It lies in that directory and only its owner may connect. A request and its answer are one line
//! of JSON each. Requests are answered one after the other: there is one thing to ask for, a
//! backup, and two of those at once would only fight over the disk.

use std::future::Future;
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, anyhow, bail};
use ferryhook_store::engine::embedded::Embedded;
use serde::{Deserialize, Serialize};
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::{UnixListener, UnixSocket, UnixStream};

use crate::copied::Copied;

const NAME: &str = "control.sock";
const LINE_BYTES_MAX: u64 = 16 * 1024;
/// Who connects has its request ready.
const REQUEST_WAIT: Duration = Duration::from_secs(5);
const WAITING_MAX: u32 = 16;

#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Request {
    /// Into this directory, named absolutely.
    Backup(PathBuf),
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
enum Answer {
    Copied(Copied),
    Failed(String),
}

/// The server's end. The file goes with it.
#[derive(Debug)]
pub struct Control {
    listener: UnixListener,
    path: PathBuf,
    // Dropped after the file is removed: while the engine lives, the directory is ours.
    engine: Arc<Embedded>,
}

impl Control {
    /// Replaces the socket of a process that did not get to remove its own: the engine holds the
    /// lock of the directory, so nobody else listens there.
    pub fn listen(directory: &Path, engine: Arc<Embedded>) -> io::Result<Self> {
        let path = directory.join(NAME);
        match std::fs::remove_file(&path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
        let socket = UnixSocket::new_stream()?;
        socket.bind(&path)?;
        // Before anyone can connect.
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o600))?;
        Ok(Self { listener: socket.listen(WAITING_MAX)?, path, engine })
    }

    pub async fn answer_until(self, stop: impl Future<Output = ()>) {
        let mut stop = pin!(stop);
        loop {
            let stream = tokio::select! {
                accepted = self.listener.accept() => accepted.map(|(stream, _)| stream),
                () = stop.as_mut() => return,
            };
            let answered = match stream {
                Ok(stream) => self.answer(stream).await,
                Err(error) => Err(error),
            };
            if let Err(error) = answered {
                tracing::warn!(%error, "a request on the control socket was lost");
                // What fails at once again (no file handles left) must not spin.
                tokio::time::sleep(Duration::from_millis(100)).await;
            }
        }
    }

    async fn answer(&self, stream: UnixStream) -> io::Result<()> {
        let mut stream = BufReader::new(stream);
        let line = tokio::time::timeout(REQUEST_WAIT, read_line(&mut stream)).await??;
        let answer = match serde_json::from_str(&line) {
            Ok(Request::Backup(target)) => self.backup(&target).await,
            Err(error) => Answer::Failed(format!("the server knows no such request: {error}")),
        };
        write_line(stream.get_mut(), &answer).await
    }

    async fn backup(&self, target: &Path) -> Answer {
        if !target.is_absolute() {
            return Answer::Failed("a backup needs an absolute path".into());
        }
        match self.engine.backup(target).await {
            Ok(summary) => {
                let (files, bytes) = (summary.files, summary.bytes);
                tracing::info!(directory = %target.display(), files, bytes, "backed up");
                Answer::Copied(Copied { files, bytes })
            }
            Err(error) => {
                tracing::warn!(directory = %target.display(), %error, "a backup failed");
                Answer::Failed(error.to_string())
            }
        }
    }
}

impl Drop for Control {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.path);
    }
}

/// Asks the server that has the directory open; `None` when none listens there.
pub async fn ask(directory: &Path, request: &Request) -> anyhow::Result<Option<Copied>> {
    let path = directory.join(NAME);
    let mut stream = match UnixStream::connect(&path).await {
        Ok(stream) => BufReader::new(stream),
        Err(error) if is_nobody(&error) => return Ok(None),
        Err(error) => {
            return Err(anyhow!(error).context(format!("cannot connect to {}", path.display())));
        }
    };
    let lost = "the server stopped before it was done";
    write_line(stream.get_mut(), request).await.context(lost)?;
    let line = read_line(&mut stream).await.context(lost)?;
    match serde_json::from_str(&line).context("the server's answer is not understood")? {
        Answer::Copied(copied) => Ok(Some(copied)),
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
