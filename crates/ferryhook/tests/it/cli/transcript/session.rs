//! The terminals of somebody who follows the README.

use std::fs::File;
use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc;
use std::time::Duration;

use ferryhook_core::Env;
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use tempfile::TempDir;

use super::app::App;
use crate::cli::calm::narrow;
use crate::cli::shell::output;
use crate::ferry::{command, show, spawn};

const PATIENCE: Duration = Duration::from_secs(60);
const PAUSE: Duration = Duration::from_millis(100);
/// Where the README says that the app listens.
const APP_PORT: &str = "3000";

pub struct Session {
    folder: TempDir,
    home: TempDir,
    app: App,
    running: Vec<Running>,
}

/// Something that goes on, in a terminal of its own.
struct Running {
    typed: String,
    child: Child,
    lines: mpsc::Receiver<String>,
    said: Vec<String>,
    wanted: Vec<String>,
}

impl Session {
    pub fn new(app: App) -> Self {
        let (folder, home) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        Self { folder, home, app, running: Vec::new() }
    }

    pub fn take(&mut self, typed: &str, shown: &[String]) {
        let words: Vec<_> = typed.split_whitespace().collect();
        match &words[..] {
            ["make", "run"] => self.start(typed, &["dev", "--listen", "127.0.0.1:0"], shown),
            ["ferryhook", "listen", rest @ ..] => {
                let port = self.app.address.port().to_string();
                let own =
                    |word: &&str| if *word == APP_PORT { port.clone() } else { (*word).to_owned() };
                let rest: Vec<_> = rest.iter().map(own).collect();
                let rest: Vec<_> = rest.iter().map(String::as_str).collect();
                self.start(typed, &[&["listen"], &rest[..]].concat(), shown);
            }
            ["ferryhook", rest @ ..] => self.run(typed, rest, shown),
            _ => panic!("nobody knows how to type {typed:?}"),
        }
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = command(&self.folder);
        command.args(arguments).env("HOME", self.home.path()).env("NO_COLOR", "1");
        command
    }

    /// One that ends. What only looks may look again until it sees what is wanted.
    fn run(&self, typed: &str, arguments: &[&str], shown: &[String]) {
        let wanted = narrow(&shown.join("\n"));
        let env = Env::system();
        let begun = env.elapsed();
        loop {
            let output = output(&mut self.command(arguments), "");
            let said = show(&output);
            let only_looks = arguments.first() == Some(&"events");
            let own = narrow(said.strip_prefix("exit 0\n").unwrap_or(&said));
            if own == wanted {
                return;
            }
            let is_late = env.elapsed() - begun >= PATIENCE;
            assert!(only_looks && !is_late, "$ {typed}\n{own}\n--- the README says\n{wanted}");
            std::thread::sleep(PAUSE);
        }
    }

    /// One that goes on, on a terminal. It has said its first line before the next is typed.
    fn start(&mut self, typed: &str, arguments: &[&str], shown: &[String]) {
        let master = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
        grantpt(&master).unwrap();
        unlockpt(&master).unwrap();
        let name = ptsname(&master, Vec::new()).unwrap().into_string().unwrap();
        let terminal = File::options().read(true).write(true).open(name).unwrap();
        let mut command = self.command(arguments);
        let child = spawn(command.stdout(terminal).stderr(Stdio::null()));
        let (say, lines) = mpsc::channel();
        std::thread::spawn(move || {
            let lines = BufReader::new(File::from(master)).lines();
            lines.map_while(Result::ok).try_for_each(|line| say.send(line))
        });
        let wanted = shown.to_vec();
        let mut running =
            Running { typed: typed.to_owned(), child, lines, said: Vec::new(), wanted };
        running.hear(match typed {
            "make run" => shown.len(),
            _ => 1,
        });
        self.running.push(running);
    }

    /// By now those that went on have said all that the README shows.
    pub fn end(mut self) {
        for running in &mut self.running {
            running.hear(running.wanted.len());
            let (said, wanted) = (running.said.join("\n"), running.wanted.join("\n"));
            let typed = &running.typed;
            let (said, wanted) = (narrow(&said), narrow(&wanted));
            assert_eq!(said, wanted, "$ {typed}\n{said}\n--- the README says\n{wanted}");
        }
    }
}

impl Running {
    fn hear(&mut self, count: usize) {
        while self.said.len() < count {
            let line = self.lines.recv_timeout(PATIENCE);
            let so_far = self.said.join("\n");
            let line = line.unwrap_or_else(|_| panic!("$ {} said only\n{so_far}", self.typed));
            self.said.push(line.trim_end_matches('\r').to_owned());
        }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
