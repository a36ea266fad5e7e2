//! `ferryhook listen`: a real server, a real command, and an app on this machine.

use std::io::{BufRead, BufReader, Read};
use std::net::{TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{self, Receiver};
use std::time::Duration;

use ferryhook_core::Env;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::client::{Client, comparable, told};
use crate::destination::{Destination, OK, say};
use crate::ferry::{Answer, Ferry, command, run, show, spawn};
use crate::message::Message;

/// However slow the machine, by then it must be so.
const PATIENCE: Duration = Duration::from_secs(60);
const PAUSE: Duration = Duration::from_millis(20);
/// Nothing that allows deliveries to this machine: listening needs no such thing.
const VARIABLES: [(&str, &str); 2] =
    [("FERRYHOOK_API_REQUESTS_PER_MINUTE", "0"), ("FERRYHOOK_SIGNUP", "open")];

/// A server with one source, seen by its owner, who has a key. A stranger has one too.
struct Harbour {
    ferry: Ferry,
    client: Client,
    /// The same person, signed in.
    person: Client,
    stranger: Client,
    source: String,
    folder: TempDir,
    /// Where the command runs: not where the data is.
    elsewhere: TempDir,
}

impl Harbour {
    fn open() -> Self {
        let (folder, elsewhere) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let ferry = Ferry::start_in(&folder, &VARIABLES);
        let (person, client) = signed_up(&ferry, "one");
        let (_, stranger) = signed_up(&ferry, "two");
        let made = told(&client.post("/v1/sources", json!({"name": "shop"})), 201);
        let source = made["sourceId"].as_str().unwrap().to_owned();
        Self { ferry, client, person, stranger, source, folder, elsewhere }
    }

    /// Another life at the same place.
    fn start_again(&mut self) {
        let address = self.client.address.clone();
        self.ferry = Ferry::start_at(&address, &self.folder, &VARIABLES);
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = command(&self.elsewhere);
        command.arg("listen").args(arguments).args(["--server"]);
        command.arg(format!("http://{}", self.client.address));
        command.env("FERRYHOOK_API_KEY", &self.client.credential);
        command
    }

    fn listen(&self, arguments: &[&str]) -> Listen {
        Listen::start(&mut self.command(arguments))
    }

    fn post(&self, path: &str, headers: &str, body: &[u8]) -> String {
        let answer = self.ferry.post_with(&format!("/in/{}{path}", self.source), headers, body);
        told(&answer, 200)["id"].as_str().unwrap().to_owned()
    }

    fn event(&self, id: &str) -> Value {
        told(&self.client.get(&format!("/v1/events/{id}")), 200)
    }

    fn connections(&self) -> Vec<Value> {
        let path = format!("/v1/sources/{}/connections", self.source);
        told(&self.client.get(&path), 200)["data"].as_array().unwrap().clone()
    }

    /// The event, once so many attempts are recorded.
    fn attempted(&self, id: &str, count: usize) -> Value {
        let shown = || self.event(id);
        until(shown, |event| event["attempts"].as_array().unwrap().len() >= count)
    }
}

/// Somebody with an account: signed in, and with a key.
fn signed_up(ferry: &Ferry, name: &str) -> (Client, Client) {
    let who = json!({"email": format!("{name}@example.com"), "password": "correct horse battery"});
    let person = told(&Client::of(ferry, "").post("/v1/auth/signup", who), 201);
    let person = Client::of(ferry, person["accessToken"].as_str().unwrap());
    let key = json!({"name": "tests", "permissions": "write"});
    let key = told(&person.post("/v1/api-keys", key), 201);
    let client = person.with(key["key"].as_str().unwrap());
    (person, client)
}

/// Looks until it is as wanted.
fn until<T: std::fmt::Debug>(look: impl Fn() -> T, wanted: impl Fn(&T) -> bool) -> T {
    let env = Env::system();
    let begun = env.elapsed();
    loop {
        let seen = look();
        if wanted(&seen) {
            return seen;
        }
        assert!(env.elapsed() - begun < PATIENCE, "still not as wanted: {seen:#?}");
        std::thread::sleep(PAUSE);
    }
}

/// A running command.
struct Listen {
    child: Child,
    lines: Receiver<String>,
    complaints: Receiver<String>,
}

impl Listen {
    fn start(command: &mut Command) -> Self {
        let mut child = spawn(command.stdout(Stdio::piped()).stderr(Stdio::piped()));
        let lines = lines_of(child.stdout.take().unwrap());
        let complaints = lines_of(child.stderr.take().unwrap());
        Self { child, lines, complaints }
    }

    fn line(&self) -> String {
        self.lines.recv_timeout(PATIENCE).unwrap_or_else(|_| {
            panic!("no line came; {:?}", self.complaints.try_iter().collect::<Vec<_>>())
        })
    }

    fn complaint(&self) -> String {
        self.complaints.recv_timeout(PATIENCE).unwrap()
    }

    /// Ctrl-C; says with which code it ended.
    fn interrupt(&mut self) -> Option<i32> {
        let id = self.child.id().to_string();
        assert!(spawn(Command::new("kill").args(["-s", "INT", &id])).wait().unwrap().success());
        self.child.wait().unwrap().code()
    }
}

impl Drop for Listen {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn lines_of(of: impl Read + Send + 'static) -> Receiver<String> {
    let (say, lines) = mpsc::channel();
    std::thread::spawn(move || {
        BufReader::new(of).lines().map_while(Result::ok).try_for_each(|line| say.send(line))
    });
    lines
}

fn port(app: &Destination) -> String {
    app.address.port().to_string()
}

/// Byte for byte, and the app's word is the attempt.
#[test]
fn an_event_reaches_the_app_and_its_answer_is_recorded() {
    let harbour = Harbour::open();
    let app = Destination::new(|_, stream| {
        say(stream, b"HTTP/1.1 201 Created\r\ncontent-length: 6\r\n\r\nthanks")
    });
    let mut listen = harbour.listen(&[&port(&app), "shop", "--print-secret", "--path", "/hooks"]);
    let url = format!("http://{}/in/{}", harbour.client.address, harbour.source);
    let to = format!("http://127.0.0.1:{}/hooks", port(&app));
    assert_eq!(listen.line(), format!("ready: {url} -> {to}"));
    let secret = listen.line().strip_prefix("signing secret: ").unwrap().to_owned();

    let headers = "content-type: application/json\r\nX-GitHub-Event: push\r\nx-twice: a\r\n\
                   x-twice: b\r\nauthorization: Bearer mine\r\n";
    let body = "{\"ref\" : \"refs/heads/é\\u0000\",\n \"n\":1.0 }";
    let first = harbour.post("/git/hub?a=b%20c&d", headers, body.as_bytes());
    let second = harbour.post("", "content-type: image/x\r\n", &[0, 159, 146, 150, 10, 13, 0]);
    let calls = app.wait_for(2);
    let of = |id: &str| {
        let its = |message: &Message| message.header("webhook-id") == Some(id);
        calls.iter().find(|call| its(&call.message)).unwrap().clone()
    };
    let call = of(&first);
    assert_eq!(call.message.first_line, "POST /hooks/git/hub?a=b%20c&d HTTP/1.1");
    assert_eq!(call.message.body, body.as_bytes());
    assert_eq!(call.message.header("x-github-event"), Some("push"));
    assert_eq!(call.message.header("content-type"), Some("application/json"));
    assert_eq!(call.message.header("authorization"), None, "that was for the server");
    assert_eq!(call.message.header("host"), Some(&*format!("127.0.0.1:{}", port(&app))));
    let twice = call.message.headers.iter().filter(|(name, _)| name == "x-twice");
    assert_eq!(twice.map(|(_, value)| value.as_str()).collect::<Vec<_>>(), ["a", "b"]);
    assert!(call.is_signed_with(&secret));
    let call = of(&second);
    assert_eq!(call.message.first_line, "POST /hooks HTTP/1.1");
    assert_eq!(call.message.body, [0, 159, 146, 150, 10, 13, 0]);
    assert!(call.is_signed_with(&secret));

    let event = harbour.attempted(&first, 1);
    assert_eq!(event["status"], "delivered", "{event:#}");
    let attempt = &event["attempts"][0];
    assert_eq!(attempt["statusCode"], 201);
    assert_eq!(attempt["responseBody"], "thanks");
    assert_eq!(attempt["destinationUrl"], to);
    let said = [listen.line(), listen.line()];
    let line = said.iter().find(|line| line.contains(&first)).unwrap();
    let begins = format!("POST /hooks/git/hub?a=b%20c&d  -  {first}  -> 201  ");
    assert!(line.starts_with(&begins) && line.ends_with(" ms"), "{line}");

    // While somebody listens there is a connection, which says what it is; then there is none.
    let connections = harbour.connections();
    assert_eq!(connections.len(), 1);
    assert_eq!(connections[0]["destinationType"], "cli");
    assert_eq!(listen.interrupt(), Some(130));
    assert_eq!(harbour.connections(), Vec::<Value>::new());
    harbour.ferry.stop();
}

#[test]
fn what_the_app_refuses_is_tried_again() {
    let harbour = Harbour::open();
    let app = Destination::new(|call, stream| match call.message.header("x-ferryhook-attempt") {
        Some("1") => say(stream, b"HTTP/1.1 500 No\r\ncontent-length: 4\r\n\r\noops"),
        _ => say(stream, OK),
    });
    let listen = harbour.listen(&[&port(&app), "-o", "json"]);
    let ready: Value = serde_json::from_str(&listen.line()).unwrap();
    assert_eq!(ready["type"], "ready");
    assert_eq!(ready.get("signingSecret"), None);
    let id = harbour.post("", "", b"{}");
    let calls = app.wait_for(2);
    assert_eq!(calls[0].message.header("webhook-id"), calls[1].message.header("webhook-id"));
    let event = harbour.attempted(&id, 2);
    assert_eq!(event["status"], "delivered", "{event:#}");
    let codes: Vec<_> =
        event["attempts"].as_array().unwrap().iter().map(|one| one["statusCode"].clone()).collect();
    assert_eq!(codes, [500, 200]);
    let said: Vec<Value> = (0..2).map(|_| serde_json::from_str(&listen.line()).unwrap()).collect();
    let told: Vec<_> = said.iter().map(|one| (&one["attempt"], &one["status"])).collect();
    assert_eq!(told, [(&json!(1), &json!(500)), (&json!(2), &json!(200))]);
}

/// The app is not there: that is an attempt that failed, a hint, and not the end.
#[test]
fn an_app_that_is_started_later_gets_what_has_failed() {
    let harbour = Harbour::open();
    let gone = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = gone.local_addr().unwrap();
    drop(gone);
    let listen = harbour.listen(&[&address.port().to_string(), "shop"]);
    listen.line();
    let id = harbour.post("", "", b"{}");
    let event = harbour.attempted(&id, 1);
    let error = event["attempts"][0]["error"].as_str().unwrap();
    assert!(error.starts_with(&format!("nothing answers at http://{address}: ")), "{error}");
    assert!(listen.line().contains("-> failed  nothing answers"));
    let hint = listen.complaint();
    assert!(hint.contains("start your app"), "{hint}");
    let app = TcpListener::bind(address).unwrap();
    let (stream, _) = app.accept().unwrap();
    let mut stream = BufReader::new(stream);
    let message = Message::read(&mut stream).unwrap().unwrap();
    assert_eq!(message.header("webhook-id"), Some(&*id));
    say(stream.get_mut(), OK);
    let shown = || harbour.event(&id);
    until(shown, |event| event["status"] == "delivered");
    assert!(listen.complaints.try_recv().is_err(), "it is said once");
}

/// The server stops and comes back, then dies and comes back: each time there is a session again,
/// with the secret that the app knows, and nothing of the one before.
#[test]
fn a_server_that_comes_back_is_listened_to_again() {
    let mut harbour = Harbour::open();
    let app = Destination::kind();
    let listen = harbour.listen(&[&port(&app), "shop", "--print-secret"]);
    let ready = listen.line();
    let secret = listen.line();
    for (life, signal) in ["TERM", "KILL"].into_iter().enumerate() {
        let before = harbour.connections();
        harbour.ferry.signal(signal);
        let ended = harbour.ferry.wait().code();
        assert_eq!(ended, (signal == "TERM").then_some(0), "nobody who listens holds it up");
        assert!(listen.complaint().contains("lost http://"));
        harbour.start_again();
        assert_eq!(listen.line(), ready);
        assert_eq!(listen.line(), secret);
        let id = harbour.post("", "", format!("{{\"life\":{life}}}").as_bytes());
        let calls = app.wait_for(life + 1);
        assert_eq!(calls[life].message.header("webhook-id"), Some(&*id));
        assert!(calls[life].is_signed_with(secret.strip_prefix("signing secret: ").unwrap()));
        assert!(listen.line().contains(&id));
        let now = until(|| harbour.connections(), |now| now.len() == 1);
        assert_ne!(now[0]["connectionId"], before[0]["connectionId"]);
    }
}

#[test]
fn two_who_listen_get_the_event_each() {
    let harbour = Harbour::open();
    let apps = [Destination::kind(), Destination::kind()];
    let filter = ["--filter-body", r#"{"kind":"paid"}"#];
    let first = harbour.listen(&[&port(&apps[0]), &harbour.source]);
    let second = harbour.listen(&[&[&*port(&apps[1]), "--all"], &filter[..]].concat());
    first.line();
    second.line();
    harbour.post("", "", br#"{"kind":"refunded"}"#);
    let paid = harbour.post("", "", br#"{"kind":"paid"}"#);
    assert_eq!(apps[0].wait_for(2).len(), 2);
    let calls = apps[1].wait_for(1);
    assert_eq!(calls[0].message.header("webhook-id"), Some(&*paid));
    let event = harbour.attempted(&paid, 2);
    assert_eq!(event["deliveries"].as_array().unwrap().len(), 2);
    drop((first, second));
}

/// To a stranger, and to anybody who is not its maker, a session is not there: byte for byte.
#[test]
fn a_session_is_its_makers_alone() {
    let harbour = Harbour::open();
    let own = json!({"sourceId": harbour.source, "path": "/hooks"});
    let made = told(&harbour.client.post("/v1/cli/sessions", own), 201);
    let theirs = made["sessionId"].as_str().unwrap();
    let missing = "lsn_0000000000000000";
    let ask = |who: &Client, id: &str| -> Vec<Answer> {
        let path = format!("/v1/cli/sessions/{id}");
        vec![
            who.get(&format!("{path}/stream")),
            who.post(&format!("{path}/results"), json!({"results": [{"id": 1, "status": 200}]})),
            who.delete(&path),
        ]
    };
    let shown = |answers: Vec<Answer>| answers.iter().map(comparable).collect::<Vec<_>>();
    let foreign = ask(&harbour.stranger, theirs);
    assert!(foreign.iter().all(|answer| answer.status == 404), "{foreign:?}");
    assert_eq!(shown(foreign), shown(ask(&harbour.stranger, missing)));
    // Its maker reads it, answers it and ends it.
    let mut stream = stream(&harbour.client, theirs);
    let id = harbour.post("", "", b"{}");
    let request = message(&mut stream, "request");
    assert_eq!((&request["eventId"], &request["path"]), (&json!(id), &json!("/hooks")));
    let result = json!({"results": [
        {"id": request["id"], "status": 204, "latencyMs": 7},
        {"id": 99, "error": "nobody asked"},
    ]});
    let path = format!("/v1/cli/sessions/{theirs}");
    let reported = told(&harbour.client.post(&format!("{path}/results"), result), 200);
    assert_eq!(reported, json!({"accepted": 1}));
    let event = harbour.attempted(&id, 1);
    assert_eq!(event["attempts"][0]["statusCode"], 204);
    assert_eq!(event["attempts"][0]["latencyMs"], 7);
    told(&harbour.client.delete(&path), 204);
    assert_eq!(message(&mut stream, "end"), json!({"reason": "closed"}));
    assert_eq!(harbour.client.delete(&path).status, 404);
}

/// A stream that is open gives out nothing any more.
#[test]
fn a_revoked_key_is_revoked_for_who_listens_too() {
    let harbour = Harbour::open();
    let app = Destination::kind();
    let mut listen = harbour.listen(&[&port(&app), "shop"]);
    listen.line();
    let keys = told(&harbour.person.get("/v1/api-keys"), 200);
    let key = keys["data"][0]["keyId"].as_str().unwrap();
    told(&harbour.person.delete(&format!("/v1/api-keys/{key}")), 204);
    harbour.post("", "", b"{}");
    assert_eq!(listen.child.wait().unwrap().code(), Some(3));
    assert!(app.calls().is_empty());
}

/// Opens the stream of a session.
fn stream(client: &Client, id: &str) -> BufReader<TcpStream> {
    use std::io::Write;
    let mut stream = TcpStream::connect(&client.address).unwrap();
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    write!(
        stream,
        "GET /v1/cli/sessions/{id}/stream HTTP/1.1\r\nhost: test\r\nauthorization: Bearer {}\r\n\r\n",
        client.credential
    )
    .unwrap();
    BufReader::new(stream)
}

/// The data of the next message of this name.
fn message(stream: &mut BufReader<TcpStream>, name: &str) -> Value {
    let mut named = false;
    loop {
        let mut line = String::new();
        assert_ne!(stream.read_line(&mut line).unwrap(), 0, "the stream ended before {name}");
        named |= line.trim_end() == format!("event: {name}");
        if let (true, Some(data)) = (named, line.strip_prefix("data: ")) {
            return serde_json::from_str(data).unwrap();
        }
    }
}

#[test]
fn what_cannot_be_listened_to_is_said() {
    let harbour = Harbour::open();
    let say = |arguments: &[&str]| {
        let mut command = harbour.command(arguments);
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        show(&spawn(&mut command).wait_with_output().unwrap())
    };
    let unknown = say(&["3000", "till"]);
    assert!(unknown.starts_with("exit 4\nferryhook: there is no source till"), "{unknown}");
    told(&harbour.client.post("/v1/sources", json!({"name": "till"})), 201);
    let which = say(&["3000"]);
    assert!(which.starts_with("exit 1\nferryhook: say which source is meant"), "{which}");
    assert!(which.contains("shop") && which.contains("till"), "{which}");
    let nonsense = say(&["http://a/b?c", "shop"]);
    assert!(nonsense.starts_with("exit 2\n"), "{nonsense}");
    let nobody = [("FERRYHOOK_API_KEY", "fh_live_wrong")];
    let server = format!("http://{}", harbour.client.address);
    let output = run(&harbour.elsewhere, &["listen", "3000", "--server", &server], &nobody);
    assert_eq!(output.status.code(), Some(3), "{}", show(&output));
}
