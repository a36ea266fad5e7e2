//! `ferryhook dev`: what it makes, and what it leaves alone.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc;
use std::time::Duration;

use ferryhook_api::owner;
use serde_json::Value;

use crate::ferry::{command, run, show, spawn};
use crate::storage::{DATA, look};

/// A line that has not come by then does not come.
const PATIENCE: Duration = Duration::from_secs(60);

/// A running `dev`, whose output is not a terminal.
struct Dev {
    child: Child,
    lines: mpsc::Receiver<String>,
    startup: Value,
}

impl Dev {
    fn start(folder: &Path, arguments: &[&str]) -> Self {
        Self::spawn(command(folder).arg("dev").args(arguments))
    }

    fn spawn(command: &mut Command) -> Self {
        let mut child = spawn(command.stdout(Stdio::piped()).stderr(Stdio::null()));
        let stdout = BufReader::new(child.stdout.take().unwrap());
        let (say, lines) = mpsc::channel();
        std::thread::spawn(move || {
            stdout.lines().map_while(Result::ok).try_for_each(|line| say.send(line))
        });
        let mut dev = Self { child, lines, startup: Value::Null };
        dev.startup = dev.next("startup");
        dev
    }

    /// The next line it prints, which is about this.
    fn next(&mut self, what: &str) -> Value {
        let line = self.lines.recv_timeout(PATIENCE).unwrap();
        let mut said: Value = serde_json::from_str(&line).unwrap();
        assert!(said[what].is_object(), "not {what}: {line}");
        said[what].take()
    }

    /// Sends an event to the first source; says what was answered.
    fn send(&self, body: &str) -> Value {
        let url = self.startup["sources"][0]["sendTo"].as_str().unwrap();
        let path = &url[url.find("/in/").unwrap()..];
        serde_json::from_str(&self.post(path, body).1).unwrap()
    }

    /// The head and the body of the answer.
    fn post(&self, path: &str, body: &str) -> (String, String) {
        let mut stream = TcpStream::connect(self.address()).unwrap();
        let head = format!("POST {path} HTTP/1.1\r\nhost: a\r\nconnection: close");
        let length = body.len();
        write!(stream, "{head}\r\ncontent-length: {length}\r\n\r\n{body}").unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        let (head, body) = answer.split_once("\r\n\r\n").unwrap();
        (head.to_owned(), body.to_owned())
    }

    fn address(&self) -> &str {
        self.startup["url"].as_str().unwrap().strip_prefix("http://").unwrap()
    }

    fn stop(mut self) -> Value {
        let pid = self.child.id().to_string();
        let mut kill = spawn(Command::new("kill").args(["-s", "TERM", &pid]));
        assert!(kill.wait().unwrap().success());
        assert_eq!(self.child.wait().unwrap().code(), Some(0));
        self.startup.take()
    }
}

impl Drop for Dev {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

const ANY_PORT: [&str; 2] = ["--listen", "127.0.0.1:0"];

#[test]
fn a_first_start_makes_a_demo_and_a_second_one_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let dev = Dev::start(folder.path(), &ANY_PORT);
    let address = dev.address().to_owned();
    let first = dev.stop();
    let sources = first["sources"].as_array().unwrap();
    assert_eq!(sources.len(), 1, "{first}");
    assert_eq!(sources[0]["name"], "demo");
    let send_to = sources[0]["sendTo"].as_str().unwrap();
    assert!(send_to.starts_with(&format!("http://{address}/in/src_")), "{first}");
    let delivers_to = &sources[0]["deliversTo"][0];
    assert_eq!(delivers_to["url"], format!("http://{address}/_dev/echo"));
    let curl = first["curl"].as_str().unwrap();
    assert!(curl.starts_with("curl ") && curl.ends_with(send_to), "{curl}");

    let dev = Dev::start(folder.path(), &ANY_PORT);
    let address = dev.address().to_owned();
    let second = dev.stop();
    let id = |startup: &Value| {
        let send_to = startup["sources"][0]["sendTo"].as_str().unwrap();
        send_to.rsplit('/').next().unwrap().to_owned()
    };
    assert_eq!(second["sources"].as_array().unwrap().len(), 1);
    assert_eq!(id(&second), id(&first));
    let echo = &second["sources"][0]["deliversTo"][0]["url"];
    assert_eq!(*echo, format!("http://{address}/_dev/echo"), "it follows the port");
}

/// Whoever deleted the demo does not want it back.
#[test]
fn a_deleted_demo_stays_away() {
    let folder = tempfile::tempdir().unwrap();
    Dev::start(folder.path(), &ANY_PORT).stop();
    std::fs::write(folder.path().join("none.yaml"), "sources: []").unwrap();
    let output = run(&folder, &["apply", "-f", "none.yaml", "--prune"], &[]);
    assert!(output.status.success(), "{}", show(&output));
    let startup = Dev::start(folder.path(), &ANY_PORT).stop();
    assert_eq!(startup["sources"], serde_json::json!([]));
}

#[test]
fn without_a_demo_nothing_is_made() {
    let folder = tempfile::tempdir().unwrap();
    let startup = Dev::start(folder.path(), &["--no-demo", "--listen", "127.0.0.1:0"]).stop();
    assert_eq!(startup["sources"], serde_json::json!([]));
    let owner = look(&folder.path().join(DATA), async |store| owner::find(&store).await.unwrap());
    assert_eq!(owner, None);
}

#[test]
fn a_busy_port_is_passed_over_and_named() {
    let folder = tempfile::tempdir().unwrap();
    let busy = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let holder = TcpListener::bind(busy).unwrap();
    let dev = Dev::start(folder.path(), &["--listen", &busy.to_string()]);
    assert_eq!(dev.startup["busyPort"], busy.port());
    assert_ne!(dev.address(), busy.to_string());
    drop(holder);
    dev.stop();
}

#[test]
fn it_is_for_this_machine_only() {
    let folder = tempfile::tempdir().unwrap();
    let output = run(&folder, &["dev", "--listen", "0.0.0.0:0"], &[]);
    insta::assert_snapshot!(show(&output), @"
    exit 1
    ferryhook: dev listens to this machine only, and 0.0.0.0:0 (setting listen, from --listen) is open to others; that is what ferryhook serve is for
    ");
    assert!(!folder.path().join(DATA).exists());
}

/// No command is `dev`.
#[test]
fn it_is_what_runs_without_a_command() {
    let folder = tempfile::tempdir().unwrap();
    let dev = Dev::spawn(command(&folder).env("FERRYHOOK_LISTEN", "127.0.0.1:0"));
    assert_eq!(dev.startup["mode"], "dev");
    dev.stop();
}

/// A connection to this machine can be applied while `dev` runs.
#[test]
fn this_machine_can_be_a_destination() {
    let folder = tempfile::tempdir().unwrap();
    let dev = Dev::start(folder.path(), &ANY_PORT);
    let text =
        "sources: [{ name: demo, connections: [{ name: app, url: 'http://localhost:3000' }] }]";
    std::fs::write(folder.path().join("hooks.yaml"), text).unwrap();
    let said = show(&run(&folder, &["apply", "-f", "hooks.yaml"], &[]));
    assert!(said.starts_with("exit 0\n+ connection  demo/app "), "{said}");
    assert!(said.contains("= connection  demo/echo  not in the file"), "{said}");
    dev.stop();
}

#[test]
fn the_echo_refuses_strangers() {
    let folder = tempfile::tempdir().unwrap();
    let dev = Dev::start(folder.path(), &ANY_PORT);
    let (head, body) = dev.post("/_dev/echo", "{}");
    assert!(head.starts_with("HTTP/1.1 401 "), "{head}");
    assert_eq!(body, r#"{"signature":"there is no signature"}"#);
    dev.stop();
}

/// The echo answers 200 only to a signature that holds.
#[test]
fn the_first_event_arrives_and_a_second_start_sends_none() {
    let folder = tempfile::tempdir().unwrap();
    let mut dev = Dev::start(folder.path(), &ANY_PORT);
    let accepted = dev.next("accepted");
    assert_eq!((&accepted["sourceName"], &accepted["method"]), (&"demo".into(), &"POST".into()));
    let attempted = dev.next("attempted");
    assert_eq!(attempted["event"], accepted["event"]);
    assert_eq!((&attempted["status"], &attempted["delivered"]), (&200.into(), &true.into()));
    dev.stop();

    let mut dev = Dev::start(folder.path(), &ANY_PORT);
    let answer = dev.send(r#"{"order":8}"#);
    assert_eq!(dev.next("accepted")["event"], answer["id"], "the first it speaks of");
    let attempted = dev.next("attempted");
    assert_eq!((&attempted["event"], &attempted["status"]), (&answer["id"], &200.into()));
    dev.stop();
}

/// A change counts from the next event on: the server that was asked makes it, and forgets what
/// it knew.
#[test]
fn a_change_counts_at_once() {
    let folder = tempfile::tempdir().unwrap();
    let mut dev = Dev::start(folder.path(), &ANY_PORT);
    dev.next("accepted");
    dev.next("attempted");
    let url = dev.startup["sources"][0]["deliversTo"][0]["url"].as_str().unwrap().to_owned();
    let apply = |fields: &str| {
        let text = format!("sources: [{{ name: demo, {fields} }}]").replace("ECHO", &url);
        std::fs::write(folder.path().join("hooks.yaml"), text).unwrap();
        show(&run(&folder, &["apply", "-f", "hooks.yaml"], &[]))
    };

    let said = apply("status: paused");
    assert!(said.contains("~ source      demo       changed: status"), "{said}");
    let held = dev.send(r#"{"order":9}"#);
    assert_eq!(held["status"], "held");
    assert_eq!(dev.next("accepted")["status"], "held");
    apply("status: active");
    let attempted = dev.next("attempted");
    assert_eq!((&attempted["event"], &attempted["status"]), (&held["id"], &200.into()));

    let said = apply("connections: [{ name: echo, url: 'ECHO', signingSecret: another }]");
    assert!(said.contains("~ connection  demo/echo  changed: signingSecret"), "{said}");
    dev.send(r#"{"order":10}"#);
    dev.next("accepted");
    assert_eq!(dev.next("attempted")["status"], 200, "signed with the new secret");

    apply(
        "eventType: body.type, connections: [{ name: echo, url: 'ECHO', eventTypes: [order.*] }]",
    );
    dev.send(r#"{"type":"refund.paid"}"#);
    dev.next("accepted");
    let wanted = dev.send(r#"{"type":"order.paid"}"#);
    dev.next("accepted");
    assert_eq!(dev.next("attempted")["event"], wanted["id"], "the other was not wanted");
    dev.stop();
}
