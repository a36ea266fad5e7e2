//! The platforms of the tests: a certified provider of OpenID Connect in a process of its own,
//! and a GitHub that answers as its documents say, refusals included.

use std::collections::HashMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::sync::{Arc, Mutex};

use aws_lc_rs::digest::{SHA256, digest};
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde_json::{Value, json};

use crate::ferry::spawn;

pub struct OpenId {
    child: Child,
    pub issuer: String,
    /// It would die of a closed pipe.
    _output: BufReader<ChildStdout>,
}

impl OpenId {
    /// Sends people back to this address only.
    pub fn start(redirect_uri: &str) -> Option<Self> {
        let Ok(modules) = std::env::var("FERRYHOOK_TEST_NODE_MODULES") else {
            let missing = "FERRYHOOK_TEST_NODE_MODULES is not set";
            eprintln!("\n!!! SKIPPED, NOT PASSED: OpenID Connect: {missing} !!!\n");
            return None;
        };
        let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/it/auth/provider.mjs");
        let mut command = Command::new("node");
        command.args([script, &modules, &port.to_string(), redirect_uri]);
        let mut child = spawn(command.stdout(Stdio::piped()).stderr(Stdio::null()));
        let mut output = BufReader::new(child.stdout.take().unwrap());
        let mut lines = output.by_ref().lines();
        assert!(lines.any(|line| line.unwrap() == "ready"), "the provider does not start");
        Some(Self { child, issuer: format!("http://127.0.0.1:{port}"), _output: output })
    }
}

impl Drop for OpenId {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A small GitHub. Codes are good once; what it says depends on who has signed in.
pub struct Github {
    pub url: String,
    state: Arc<Mutex<State>>,
}

#[derive(Default)]
struct State {
    /// Who is at its keyboard.
    user: Value,
    emails: Value,
    /// The challenge that each code was given out for.
    codes: HashMap<String, String>,
    complaints: Vec<String>,
}

impl Github {
    pub fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let state = Arc::new(Mutex::new(State::default()));
        let shared = state.clone();
        std::thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                answer(stream, &shared);
            }
        });
        Self { url, state }
    }

    pub fn sit_down(&self, id: u64, login: &str, emails: Value) {
        let mut state = self.state.lock().unwrap();
        state.user = json!({ "id": id, "login": login, "name": null });
        state.emails = emails;
    }

    /// What it was asked in a way that the real one would not take.
    pub fn complaints(&self) -> Vec<String> {
        self.state.lock().unwrap().complaints.clone()
    }
}

fn answer(mut stream: TcpStream, state: &Mutex<State>) {
    let mut reader = BufReader::new(stream.try_clone().unwrap());
    let mut lines = Vec::new();
    loop {
        let mut line = String::new();
        if reader.read_line(&mut line).unwrap_or(0) == 0 || line == "\r\n" {
            break;
        }
        lines.push(line.trim_end().to_owned());
    }
    let Some(first) = lines.first() else { return };
    let header = |name: &str| {
        let found = lines.iter().skip(1).filter_map(|line| line.split_once(':'));
        let mut found = found.filter(|(key, _)| key.eq_ignore_ascii_case(name));
        found.next().map(|(_, value)| value.trim().to_owned()).unwrap_or_default()
    };
    let mut body = vec![0; header("content-length").parse().unwrap_or(0)];
    reader.read_exact(&mut body).unwrap();
    let target = first.split(' ').nth(1).unwrap_or_default();
    let (path, query) = target.split_once('?').unwrap_or((target, ""));
    let mut state = state.lock().unwrap();
    if header("user-agent").is_empty() && path.starts_with("/user") {
        state.complaints.push("no User-Agent".into());
    }
    let is_known = header("authorization") == "Bearer gho_token";
    let (status, headers, answer) = match path {
        "/login/oauth/authorize" => {
            let asked = fields(query);
            let place = state.codes.len();
            let code = format!("code-{place}");
            if asked.get("code_challenge_method").map(String::as_str) != Some("S256") {
                state.complaints.push("no PKCE".into());
            }
            state.codes.insert(code.clone(), asked["code_challenge"].clone());
            let to = format!("{}?code={code}&state={}", asked["redirect_uri"], asked["state"]);
            ("302 Found", format!("location: {to}\r\n"), String::new())
        }
        "/login/oauth/access_token" => {
            let asked = fields(&String::from_utf8(body).unwrap());
            let challenge = state.codes.remove(&asked["code"]);
            let shown = URL_SAFE_NO_PAD.encode(digest(&SHA256, asked["code_verifier"].as_bytes()));
            let answer = if asked["client_secret"] != "github-secret" {
                json!({ "error": "incorrect_client_credentials" })
            } else if challenge != Some(shown) {
                json!({ "error": "bad_verification_code", "error_description": "Expired." })
            } else {
                json!({ "access_token": "gho_token", "token_type": "bearer", "scope": "" })
            };
            // Refusals come with 200 too.
            ("200 OK", String::new(), answer.to_string())
        }
        "/user" if is_known => ("200 OK", String::new(), state.user.to_string()),
        "/user/emails" if is_known => ("200 OK", String::new(), state.emails.to_string()),
        _ => {
            ("401 Unauthorized", String::new(), json!({ "message": "Bad credentials" }).to_string())
        }
    };
    let length = answer.len();
    let head = format!("HTTP/1.1 {status}\r\ncontent-type: application/json\r\n{headers}");
    let _ = write!(stream, "{head}connection: close\r\ncontent-length: {length}\r\n\r\n{answer}");
}

fn fields(text: &str) -> HashMap<String, String> {
    let pairs = text.split('&').filter_map(|pair| pair.split_once('='));
    pairs.map(|(name, value)| (name.to_owned(), plain(value))).collect()
}

/// Without percent signs.
fn plain(text: &str) -> String {
    let mut bytes = Vec::new();
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        match byte {
            b'%' => {
                let digits = [rest.next().unwrap(), rest.next().unwrap()];
                let digits = std::str::from_utf8(&digits).unwrap();
                bytes.push(u8::from_str_radix(digits, 16).unwrap());
            }
            b'+' => bytes.push(b' '),
            byte => bytes.push(byte),
        }
    }
    String::from_utf8(bytes).unwrap()
}
