//! A destination that does with each call what a test says, byte for byte, and remembers them all.

use std::io::{BufReader, ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Condvar, Mutex};
use std::time::Duration;

use aws_lc_rs::hmac;
use ferryhook_core::Env;

use crate::message::Message;

/// However slow the machine, by then it must have come.
const PATIENCE: Duration = Duration::from_secs(30);

pub const OK: &[u8] = b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n";

#[derive(Debug)]
pub struct Call {
    /// On the clock of [`Destination::now`].
    pub at: Duration,
    /// How many came before it on the same connection.
    pub before_on_line: usize,
    pub message: Message,
}

/// What becomes of the connection after a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Then {
    Keep,
    Close,
}

pub struct Destination {
    pub address: SocketAddr,
    shared: Arc<Shared>,
}

struct Shared {
    env: Env,
    calls: Mutex<Vec<Arc<Call>>>,
    changed: Condvar,
}

impl Destination {
    pub fn new(
        answer: impl Fn(&Call, &mut TcpStream) -> Then + Send + Sync + Clone + 'static,
    ) -> Self {
        let env = Env::system();
        let shared = Arc::new(Shared { env, calls: Mutex::default(), changed: Condvar::new() });
        let serving = shared.clone();
        let address = meet(move |stream| serving.serve(stream, &answer));
        Self { address, shared }
    }

    /// Says 200 to everything.
    pub fn kind() -> Self {
        Self::new(|_, stream| say(stream, OK))
    }

    pub fn url(&self, path: &str) -> String {
        format!("http://{}/{path}", self.address)
    }

    pub fn now(&self) -> Duration {
        self.shared.env.elapsed()
    }

    pub fn calls(&self) -> Vec<Arc<Call>> {
        self.shared.calls.lock().unwrap().clone()
    }

    /// Waits until so many have come in all.
    pub fn wait_for(&self, count: usize) -> Vec<Arc<Call>> {
        let calls = self.shared.calls.lock().unwrap();
        let few = |calls: &mut Vec<Arc<Call>>| calls.len() < count;
        let (calls, waited) = self.shared.changed.wait_timeout_while(calls, PATIENCE, few).unwrap();
        assert!(!waited.timed_out(), "{} calls of {count} came", calls.len());
        calls.clone()
    }
}

impl Shared {
    fn serve(&self, stream: TcpStream, answer: &impl Fn(&Call, &mut TcpStream) -> Then) {
        let _ = stream.set_nodelay(true); // one that is gone already needs none
        let mut stream = BufReader::new(stream);
        let mut before_on_line = 0;
        while let Ok(Some(message)) = Message::read(&mut stream) {
            let at = self.env.elapsed();
            let mut calls = self.calls.lock().unwrap();
            let call = Arc::new(Call { at, before_on_line, message });
            calls.push(call.clone());
            drop(calls);
            self.changed.notify_all();
            if answer(&call, stream.get_mut()) == Then::Close {
                return;
            }
            before_on_line += 1;
        }
    }
}

impl Call {
    /// Without the slash before it.
    pub fn path(&self) -> &str {
        self.message.first_line.split(' ').nth(1).unwrap().trim_start_matches('/')
    }

    pub fn body(&self) -> &str {
        std::str::from_utf8(&self.message.body).unwrap()
    }

    /// Whether one of its signatures, `t=<seconds>,v1=<hex>[,v1=<hex>]`, was made with this.
    pub fn is_signed_with(&self, secret: &str) -> bool {
        let header = self.message.header("x-ferryhook-signature").unwrap();
        let mut parts = header.split(',');
        let time = parts.next().unwrap().strip_prefix("t=").unwrap();
        let signed = [time.as_bytes(), b".", &self.message.body].concat();
        let key = hmac::Key::new(hmac::HMAC_SHA256, secret.as_bytes());
        let tag = hmac::sign(&key, &signed);
        let tag: String = tag.as_ref().iter().map(|byte| format!("{byte:02x}")).collect();
        parts.any(|part| part == format!("v1={tag}"))
    }
}

/// Listens, and gives every connection a thread of its own.
pub fn meet(with: impl Fn(TcpStream) + Send + Sync + Clone + 'static) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let with = with.clone();
            std::thread::spawn(move || with(stream));
        }
    });
    address
}

pub fn say(stream: &mut TcpStream, words: impl AsRef<[u8]>) -> Then {
    match stream.write_all(words.as_ref()) {
        Ok(()) => Then::Keep,
        Err(_) => Then::Close,
    }
}

/// The same again and again, until nobody listens.
pub fn say_for_ever(stream: &mut TcpStream, words: &[u8], pause: Duration) -> Then {
    while say(stream, words) == Then::Keep {
        std::thread::sleep(pause);
    }
    Then::Close
}

/// Says nothing more until the other side gives up.
pub fn hang(stream: &mut TcpStream) -> Then {
    loop {
        match stream.read(&mut [0; 1024]) {
            Ok(1..) => {}
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            _ => return Then::Close,
        }
    }
}
