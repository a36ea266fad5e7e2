//! One life of the server: from its start to the moment it is killed.

use std::fs::OpenOptions;
use std::io::{BufRead, BufReader};
use std::net::SocketAddr;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};

use rustix::process::{Pid, Signal, kill_process};

use crate::ferry::{command, spawn};

const LOG: &str = "server.log";
const LOG_LINES_SHOWN: usize = 30;

/// What all lives have logged; a test that fails shows the end of it.
pub struct Log(PathBuf);

impl Log {
    pub fn of(folder: &Path) -> Self {
        Self(folder.join(LOG))
    }
}

impl Drop for Log {
    fn drop(&mut self) {
        if std::thread::panicking() {
            let text = std::fs::read_to_string(&self.0).unwrap_or_default();
            let lines: Vec<_> = text.lines().collect();
            let last = lines.len().saturating_sub(LOG_LINES_SHOWN);
            println!("{}", lines[last..].join("\n"));
        }
    }
}

pub struct Life {
    child: Child,
    address: Option<SocketAddr>,
}

impl Life {
    /// Starts a server and does not wait for it.
    pub fn begin(folder: &Path) -> Self {
        let log = OpenOptions::new().create(true).append(true).open(folder.join(LOG)).unwrap();
        let child = spawn(
            command(folder)
                .args(["serve", "--listen", "127.0.0.1:0"])
                .env("FERRYHOOK_DESTINATION_ALLOW", "127.0.0.0/8")
                .stdout(Stdio::piped())
                .stderr(log),
        );
        Self { child, address: None }
    }

    /// Waits until it says where it listens.
    pub fn greeted(mut self) -> Self {
        let mut stdout = BufReader::new(self.child.stdout.take().unwrap());
        let mut line = String::new();
        while self.address.is_none() {
            line.clear();
            assert_ne!(stdout.read_line(&mut line).unwrap(), 0, "it did not start");
            self.address = line.split_once("http://").map(|(_, text)| text.trim().parse().unwrap());
        }
        self
    }

    pub fn address(&self) -> SocketAddr {
        self.address.unwrap()
    }

    /// Kills it at once, from any thread.
    pub fn killer(&self) -> impl FnOnce() + Send + 'static {
        let pid = Pid::from_child(&self.child);
        move || kill_process(pid, Signal::KILL).unwrap()
    }

    pub fn kill(mut self) {
        self.killer()();
        self.wait_for_death();
    }

    /// Someone kills it; that it ends by itself is a failure.
    pub fn wait_for_death(&mut self) {
        let status = self.child.wait().unwrap();
        assert_eq!(status.signal(), Some(Signal::KILL.as_raw()), "it ended by itself: {status}");
    }

    /// Asks it to stop, which it must do cleanly.
    pub fn stop(mut self) {
        kill_process(Pid::from_child(&self.child), Signal::TERM).unwrap();
        assert_eq!(self.child.wait().unwrap().code(), Some(0));
    }
}

impl Drop for Life {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
