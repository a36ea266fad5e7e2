//! A server that is measured: this same program in a process of its own.

use std::ffi::OsStr;
use std::io::{BufRead, BufReader, Read};
use std::net::SocketAddr;
use std::path::Path;
use std::process::{Child, ChildStdout, Command, Stdio};
use std::time::Duration;

use anyhow::{Context, bail};
use tokio::time::sleep;

use super::usage::Usage;

const GREETING_BYTES_MAX: u64 = 4096;
/// Quiet is less than one part in twenty of a core for this long...
const QUIET: Duration = Duration::from_millis(400);
const QUIET_CPU_MAX: Duration = Duration::from_millis(20);
/// ...and whoever is not quiet after this is measured as it is.
const SETTLE_MAX: Duration = Duration::from_secs(20);

/// Killed when it is dropped: what it has on disk is thrown away as well.
#[derive(Debug)]
pub struct Server {
    child: Child,
    pub address: SocketAddr,
    /// Held open, so that the child can go on talking.
    _stdout: BufReader<ChildStdout>,
}

impl Server {
    /// Runs this program with other arguments, in a directory that has no configuration and
    /// without the environment, and waits until it says where it listens.
    pub fn start<A: AsRef<OsStr>>(arguments: &[A], directory: &Path) -> anyhow::Result<Self> {
        let program = std::env::current_exe().context("cannot find this program")?;
        let mut child = Command::new(program)
            .args(arguments)
            .env_clear()
            .current_dir(directory)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .context("cannot start a server")?;
        let mut stdout = BufReader::new(child.stdout.take().context("a server without output")?);
        match greeting(&mut stdout) {
            Ok(address) => Ok(Self { child, address, _stdout: stdout }),
            Err(error) => {
                let _ = child.kill();
                let _ = child.wait();
                Err(error)
            }
        }
    }

    pub fn usage(&self) -> Option<Usage> {
        Usage::of(self.child.id())
    }

    pub fn forget_peak(&self) {
        Usage::forget_peak(self.child.id());
    }

    /// Waits until what it does behind the answers is done, so that it counts as well and does
    /// not disturb what is measured next.
    pub async fn settle(&self) {
        for _ in 0..SETTLE_MAX.as_millis() / QUIET.as_millis() {
            let before = self.usage();
            sleep(QUIET).await;
            match (before, self.usage()) {
                (Some(before), Some(after)) if after.cpu - before.cpu > QUIET_CPU_MAX => {}
                _ => return,
            }
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Both `serve` and the floors print a URL first.
fn greeting(stdout: &mut impl BufRead) -> anyhow::Result<SocketAddr> {
    let mut stdout = stdout.take(GREETING_BYTES_MAX);
    let mut line = String::new();
    loop {
        line.clear();
        if stdout.read_line(&mut line)? == 0 {
            bail!("a server did not start; what it said is above");
        }
        if let Some((_, address)) = line.split_once("http://") {
            return address.trim().parse().context("a server listens at no address");
        }
    }
}
