//! Somebody at a keyboard: a home of their own, and a server that is somewhere else.

use std::io::Write;
use std::process::{Command, Output, Stdio};
use std::time::Duration;

use ferryhook_core::Env;
use serde_json::{Value, json};
use tempfile::TempDir;

use super::calm::narrow;
use crate::ferry::{Ferry, command, show, spawn};

pub const EMAIL: &str = "ada@example.com";
pub const PASSWORD: &str = "correct horse 7";

const PATIENCE: Duration = Duration::from_secs(60);
/// Between two looks.
const PAUSE: Duration = Duration::from_millis(50);

pub struct Shell {
    pub ferry: Ferry,
    /// Working directory and home; nothing of the server is in it.
    pub home: TempDir,
    pub key: String,
    /// Where the server keeps its data, for one that is started again.
    pub data: TempDir,
}

impl Shell {
    /// With a key in the environment, that may do everything.
    pub fn new() -> Self {
        let data = tempfile::tempdir().unwrap();
        let ferry = Ferry::start_in(&data, &VARIABLES);
        let who = json!({ "email": EMAIL, "password": PASSWORD, "name": "Ada" }).to_string();
        let json_type = "content-type: application/json\r\n";
        let signed_in = ferry.post_with("/v1/auth/signup", json_type, who.as_bytes()).json();
        let token = signed_in["accessToken"].as_str().unwrap();
        let headers = format!("{json_type}authorization: Bearer {token}\r\n");
        let wanted = json!({ "name": "tests", "permissions": "admin" }).to_string();
        let key = ferry.post_with("/v1/api-keys", &headers, wanted.as_bytes()).json();
        let key = key["key"].as_str().unwrap_or_else(|| panic!("{key}")).to_owned();
        Self { ferry, home: tempfile::tempdir().unwrap(), key, data }
    }

    pub fn url(&self) -> String {
        format!("http://{}", self.ferry.address)
    }

    pub fn command(&self, arguments: &[&str]) -> Command {
        let mut command = self.stranger(arguments);
        command.env("FERRYHOOK_URL", self.url()).env("FERRYHOOK_API_KEY", &self.key);
        command
    }

    /// Who says neither where the server is nor who they are.
    pub fn stranger(&self, arguments: &[&str]) -> Command {
        let mut command = command(&self.home);
        command.args(arguments).env("HOME", self.home.path());
        command
    }

    /// Exit code and output, without what differs from run to run.
    pub fn run(&self, arguments: &[&str]) -> String {
        narrow(&show(&output(&mut self.command(arguments), "")))
    }

    pub fn json(&self, arguments: &[&str]) -> Value {
        let output = output(&mut self.command(arguments), "");
        assert!(output.status.success(), "{arguments:?}: {}", show(&output));
        serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{}", show(&output)))
    }

    /// Runs it until it says this.
    pub fn wait(&self, arguments: &[&str], wanted: &str) -> String {
        let env = Env::system();
        let begun = env.elapsed();
        loop {
            let said = self.run(arguments);
            if said.contains(wanted) {
                return said;
            }
            assert!(env.elapsed() - begun < PATIENCE, "no {wanted:?} in {said}");
            std::thread::sleep(PAUSE);
        }
    }

    pub fn write(&self, name: &str, text: &str) {
        std::fs::write(self.home.path().join(name), text).unwrap();
    }
}

pub const VARIABLES: [(&str, &str); 3] = [
    ("FERRYHOOK_DESTINATION_ALLOW", "127.0.0.0/8"),
    ("FERRYHOOK_SIGNUP", "open"),
    ("FERRYHOOK_API_REQUESTS_PER_MINUTE", "0"),
];

/// Runs it to its end with this on its standard input.
pub fn output(command: &mut Command, input: &str) -> Output {
    let pipes = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = spawn(pipes);
    // One that does not read has ended already.
    let _ = child.stdin.take().unwrap().write_all(input.as_bytes());
    child.wait_with_output().unwrap()
}
