//! A running `ferryhook`, and the little HTTP that the tests need.

use std::io::{BufRead, BufReader, ErrorKind, Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, ChildStderr, Command, ExitStatus, Output, Stdio};
use std::sync::{PoisonError, RwLock};
use std::time::Duration;

/// A child that is being born has a copy of every file we have open, until it becomes another
/// program. Whoever opens a data directory in this process keeps births out with a read lock,
/// or its lock would outlive it.
pub static BIRTHS: RwLock<()> = RwLock::new(());

/// A server that does not answer in this time has failed the test.
const PATIENCE: Duration = Duration::from_secs(30);
/// What whoever collects metrics has to send.
pub const METRICS_TOKEN: &str = "of-the-collector";
const SERVE: [&str; 3] = ["serve", "--listen", "127.0.0.1:0"];

pub struct Ferry {
    child: Child,
    log: BufReader<ChildStderr>,
    /// `127.0.0.1:port`
    pub address: String,
    /// What it printed when it was ready.
    pub greeting: String,
    /// Its working directory, unless the test has its own.
    _folder: Option<tempfile::TempDir>,
}

impl Ferry {
    pub fn start() -> Self {
        Self::start_with(&[])
    }

    /// Starts in an empty directory.
    pub fn start_with(variables: &[(&str, &str)]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let mut ferry = Self::start_in(&folder, variables);
        ferry._folder = Some(folder);
        ferry
    }

    /// Starts on a free port and waits until it says where it listens.
    pub fn start_in(folder: impl AsRef<Path>, variables: &[(&str, &str)]) -> Self {
        let mut command = command(folder);
        command.args(SERVE).env("FERRYHOOK_METRICS_TOKEN", METRICS_TOKEN);
        Self::start_as(command.envs(variables.iter().copied()))
    }

    /// The same where another one was, `127.0.0.1:port`, after that has gone.
    pub fn start_at(address: &str, folder: impl AsRef<Path>, variables: &[(&str, &str)]) -> Self {
        let serve = ["serve", "--listen", address];
        Self::start_as(command(folder).args(serve).envs(variables.iter().copied()))
    }

    /// The same under `strace`, which writes down when the server meets the disk and the network.
    pub fn start_traced(folder: impl AsRef<Path>, trace: &Path) -> Self {
        let calls = "trace=read,recvfrom,write,writev,sendto,sendmsg,fsync,fdatasync";
        let mut strace = Command::new("strace");
        // With -D the process we start is the server itself, and what we tell it reaches it.
        strace.args(["-D", "-f", "-s", "64", "-e", calls, "-o"]).arg(trace);
        strace.arg(env!("CARGO_BIN_EXE_ferryhook")).args(SERVE);
        Self::start_as(strace.current_dir(folder).stdin(Stdio::null()))
    }

    fn start_as(command: &mut Command) -> Self {
        let mut child = spawn(command.stdout(Stdio::piped()).stderr(Stdio::piped()));
        let mut stdout = BufReader::new(child.stdout.take().unwrap());
        let log = BufReader::new(child.stderr.take().unwrap());
        let mut greeting = String::new();
        while !greeting.contains("data") {
            assert_ne!(stdout.read_line(&mut greeting).unwrap(), 0, "{greeting}");
        }
        let url = greeting.split_once("http://").expect("a URL").1;
        let address = url.lines().next().unwrap().to_owned();
        Self { child, log, address, greeting, _folder: None }
    }

    pub fn get(&self, path: &str) -> Answer {
        let mut stream = TcpStream::connect(&self.address).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        let proof = match path {
            "/metrics" => format!("authorization: Bearer {METRICS_TOKEN}\r\n"),
            _ => String::new(),
        };
        let head = format!("GET {path} HTTP/1.1\r\nhost: test\r\nconnection: close\r\n{proof}\r\n");
        stream.write_all(head.as_bytes()).unwrap();
        let mut text = String::new();
        stream.read_to_string(&mut text).unwrap();
        Answer::parse(&text)
    }

    pub fn connect(&self) -> TcpStream {
        let stream = TcpStream::connect(&self.address).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        stream
    }

    /// Sends these bytes and reads until the server closes. All that it said.
    pub fn last_words(&self, bytes: &[u8]) -> String {
        let mut stream = self.connect();
        // It may have closed before it was sent everything.
        let _ = stream.write_all(bytes);
        read_to_close(&mut stream)
    }

    /// Posts to a source, or to whatever else is there.
    pub fn post(&self, path: &str, body: &[u8]) -> Answer {
        self.post_with(path, "", body)
    }

    /// Each header with its line end.
    pub fn post_with(&self, path: &str, headers: &str, body: &[u8]) -> Answer {
        let length = body.len();
        let mut request = format!(
            "POST {path} HTTP/1.1\r\nhost: test\r\nconnection: close\r\n\
             content-length: {length}\r\n{headers}\r\n"
        )
        .into_bytes();
        request.extend_from_slice(body);
        Answer::parse(&self.last_words(&request))
    }

    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// `TERM`, `INT`, ...
    pub fn signal(&self, name: &str) {
        let pid = self.child.id().to_string();
        assert!(spawn(Command::new("kill").args(["-s", name, &pid])).wait().unwrap().success());
    }

    /// Reads the log until a line holds `text`.
    pub fn wait_for_log(&mut self, text: &str) {
        let mut line = String::new();
        while !line.contains(text) {
            line.clear();
            assert_ne!(self.log.read_line(&mut line).unwrap(), 0, "the log ended");
        }
    }

    /// Asks it to stop, and tells what it has logged that nobody has read yet.
    pub fn last_log(mut self) -> String {
        self.signal("TERM");
        let mut log = String::new();
        self.log.read_to_string(&mut log).unwrap();
        log
    }

    pub fn wait(&mut self) -> ExitStatus {
        self.child.wait().unwrap()
    }

    /// Asks it to stop, which it must do cleanly.
    pub fn stop(mut self) {
        self.signal("TERM");
        assert_eq!(self.wait().code(), Some(0));
    }
}

impl Drop for Ferry {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Whatever comes until the other side closes, which a reset does too.
pub fn read_to_close(stream: &mut TcpStream) -> String {
    let (mut words, mut chunk) = (Vec::new(), [0; 4096]);
    loop {
        match stream.read(&mut chunk) {
            Ok(0) => break,
            Ok(read) => words.extend_from_slice(&chunk[..read]),
            Err(error) if error.kind() == ErrorKind::ConnectionReset => break,
            Err(error) => panic!("{error} after {:?}", String::from_utf8_lossy(&words)),
        }
    }
    String::from_utf8(words).unwrap()
}

/// Runs `ferryhook` to its end in `folder`, with nothing of our own environment that it reads.
pub fn run(folder: impl AsRef<Path>, arguments: &[&str], variables: &[(&str, &str)]) -> Output {
    let mut command = command(folder);
    command.args(arguments).envs(variables.iter().copied());
    spawn(command.stdout(Stdio::piped()).stderr(Stdio::piped())).wait_with_output().unwrap()
}

/// Returns when the child has become the other program.
pub fn spawn(command: &mut Command) -> Child {
    let _alone = BIRTHS.write().unwrap_or_else(PoisonError::into_inner);
    command.spawn().unwrap()
}

pub fn command(folder: impl AsRef<Path>) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_ferryhook"));
    command.env_clear().current_dir(folder).stdin(Stdio::null());
    command
}

/// Exit code, stdout and stderr.
pub fn show(output: &Output) -> String {
    let text = |bytes| String::from_utf8_lossy(bytes).into_owned();
    let code = output.status.code().unwrap();
    format!("exit {code}\n{}{}", text(&output.stdout), text(&output.stderr))
}

#[derive(Debug)]
pub struct Answer {
    pub status: u16,
    pub head: String,
    pub body: String,
}

impl Answer {
    pub fn parse(text: &str) -> Self {
        let (head, body) = text.split_once("\r\n\r\n").expect("a whole answer");
        Self {
            status: head.split(' ').nth(1).unwrap().parse().unwrap(),
            head: head.to_owned(),
            body: body.to_owned(),
        }
    }

    pub fn json(&self) -> serde_json::Value {
        serde_json::from_str(&self.body).unwrap()
    }

    pub fn header(&self, name: &str) -> Option<&str> {
        self.head.lines().skip(1).find_map(|line| {
            let (key, value) = line.split_once(": ")?;
            key.eq_ignore_ascii_case(name).then_some(value)
        })
    }
}
