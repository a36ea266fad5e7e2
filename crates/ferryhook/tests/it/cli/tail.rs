//! `ferryhook tail`: each event once, in order, also when the server was away.

use std::io::{BufRead, BufReader};
use std::process::{Child, Stdio};
use std::sync::mpsc;
use std::time::Duration;

use serde_json::Value;

use super::shell::{Shell, VARIABLES};
use crate::ferry::{Ferry, spawn};

const PATIENCE: Duration = Duration::from_secs(60);

struct Tail {
    child: Child,
    out: mpsc::Receiver<String>,
    err: mpsc::Receiver<String>,
}

fn lines(stream: impl std::io::Read + Send + 'static) -> mpsc::Receiver<String> {
    let (say, lines) = mpsc::channel();
    std::thread::spawn(move || {
        BufReader::new(stream).lines().map_while(Result::ok).try_for_each(|line| say.send(line))
    });
    lines
}

impl Tail {
    fn start(shell: &Shell, arguments: &[&str]) -> Self {
        let mut command = shell.command(&[&["tail", "--json"], arguments].concat());
        let mut child = spawn(command.stdout(Stdio::piped()).stderr(Stdio::piped()));
        let out = lines(child.stdout.take().unwrap());
        let err = lines(child.stderr.take().unwrap());
        Self { child, out, err }
    }

    fn next(&self) -> Value {
        serde_json::from_str(&self.out.recv_timeout(PATIENCE).unwrap()).unwrap()
    }

    fn said(&self) -> String {
        self.err.recv_timeout(PATIENCE).unwrap()
    }
}

impl Drop for Tail {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn send(shell: &Shell, number: u32) -> String {
    let data = format!(r#"{{"type":"order.created","number":{number}}}"#);
    let sent = shell.json(&["send", "shop", "--data", &data, "--json"]);
    sent["answer"]["id"].as_str().unwrap().to_owned()
}

fn shell() -> Shell {
    let shell = Shell::new();
    shell.json(&["sources", "create", "shop", "--event-type", "body.type", "--json"]);
    shell
}

/// `--since` takes in what was there; the events after it follow, none twice.
#[test]
fn events_come_once_and_in_order() {
    let shell = shell();
    let mut sent: Vec<_> = (0..3).map(|number| send(&shell, number)).collect();
    let mut tail = Tail::start(&shell, &["--since", "1h"]);
    let first: Vec<_> = (0..3).map(|_| tail.next()["eventId"].clone()).collect();
    assert_eq!(first, sent);
    for number in 3..20 {
        sent.push(send(&shell, number));
    }
    for id in &sent[3..] {
        assert_eq!(tail.next()["eventId"], **id);
    }
    let last = send(&shell, 99);
    assert_eq!(tail.next()["eventId"], last, "nothing was repeated before it");
    let pid = tail.child.id().to_string();
    spawn(std::process::Command::new("kill").args(["-s", "INT", &pid])).wait().unwrap();
    assert_eq!(tail.child.wait().unwrap().code(), Some(130));
}

/// Only what comes from now on, of this type, with this status.
#[test]
fn only_what_is_wanted_is_shown() {
    let shell = shell();
    send(&shell, 0);
    shell.json(&["sources", "create", "other", "--json"]);
    let tail =
        Tail::start(&shell, &["--source", "shop", "--type", "order.*", "--status", "filtered"]);
    // Until it has begun nobody knows what is new: the first that it shows says that it has.
    let mut sent = Vec::new();
    let shown = loop {
        shell.json(&["send", "other", "--data", r#"{"type":"order.created"}"#, "--json"]);
        shell.json(&["send", "shop", "--data", r#"{"type":"refund"}"#, "--json"]);
        sent.push(send(&shell, 1));
        match tail.out.recv_timeout(Duration::from_millis(200)) {
            Ok(line) => break serde_json::from_str::<Value>(&line).unwrap(),
            Err(_) => assert!(sent.len() < 300),
        }
    };
    let place = sent.iter().position(|id| shown["eventId"] == **id).expect("one that is wanted");
    for id in &sent[place + 1..] {
        assert_eq!(tail.next()["eventId"], **id);
    }
    let last = send(&shell, 2);
    assert_eq!(tail.next()["eventId"], last);
}

#[test]
fn a_server_that_comes_back_is_watched_on() {
    let mut shell = shell();
    let before = send(&shell, 1);
    let tail = Tail::start(&shell, &["--since", "1h"]);
    assert_eq!(tail.next()["eventId"], before);
    let address = shell.ferry.address.clone();
    shell.ferry.signal("TERM");
    assert_eq!(shell.ferry.wait().code(), Some(0));
    assert!(tail.said().contains("is away, waiting for it"));
    shell.ferry = Ferry::start_at(&address, &shell.data, &VARIABLES);
    assert!(tail.said().contains("is back"));
    let after = send(&shell, 2);
    assert_eq!(tail.next()["eventId"], after);
}
