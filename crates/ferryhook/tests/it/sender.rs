//! Senders: each posts its parcels one after the other, over a connection it keeps, and notes
//! what was answered 200. They outlive the server and go on when the next life of it opens.
//!
//! Every second sender is a stubborn one: it names its parcels with an `Idempotency-Key` and asks
//! again after a connection broke, as providers do, until it has an answer. The others give an
//! unanswered parcel up.

use std::io::{self, BufReader, ErrorKind, Write};
use std::net::{SocketAddr, TcpStream};
use std::sync::{Arc, Condvar, Mutex, MutexGuard};
use std::thread::JoinHandle;
use std::time::Duration;

use crate::message::Message;
use crate::parcel;

/// A server that lives answers within this time.
const PATIENCE: Duration = Duration::from_secs(60);

/// A parcel that was answered 200.
#[derive(Debug, Clone)]
pub struct Acknowledged {
    pub number: u64,
    pub event: String,
    /// By a sender that asks again.
    pub stubborn: bool,
}

pub struct Senders {
    shared: Arc<Shared>,
    threads: Vec<JoinHandle<()>>,
}

struct Shared {
    path: String,
    count: u64,
    state: Mutex<State>,
    changed: Condvar,
}

struct State {
    door: Door,
    acknowledged: Vec<Acknowledged>,
    /// Of the door that is open.
    heard: u64,
    fuse: Option<Fuse>,
    complaints: Vec<String>,
}

#[derive(Clone, Copy, PartialEq)]
enum Door {
    Open(SocketAddr),
    Closed,
    Over,
}

/// What happens, on the sender's own thread, when so many answers were read.
struct Fuse {
    at: u64,
    burn: Box<dyn FnOnce() + Send>,
}

impl Senders {
    /// They wait until a door opens.
    pub fn start(path: &str, count: u64) -> Self {
        let shared = Arc::new(Shared {
            path: path.to_owned(),
            count,
            state: Mutex::new(State {
                door: Door::Closed,
                acknowledged: Vec::new(),
                heard: 0,
                fuse: None,
                complaints: Vec::new(),
            }),
            changed: Condvar::new(),
        });
        let start = |first| {
            let shared = shared.clone();
            std::thread::spawn(move || shared.send_all(first))
        };
        Self { threads: (0..count).map(start).collect(), shared }
    }

    /// A server lives at this address, until `burn` is called right after that many answers.
    pub fn open(&self, address: SocketAddr, answers: u64, burn: impl FnOnce() + Send + 'static) {
        let mut state = self.shared.lock();
        state.door = Door::Open(address);
        state.heard = 0;
        state.fuse = Some(Fuse { at: answers, burn: Box::new(burn) });
        drop(state);
        self.shared.changed.notify_all();
    }

    /// Nobody lives there any more.
    pub fn close(&self) {
        self.shared.lock().door = Door::Closed;
    }

    /// No more new parcels. Returns what was acknowledged, and what went wrong.
    pub fn finish(self) -> (Vec<Acknowledged>, Vec<String>) {
        self.shared.lock().door = Door::Over;
        self.shared.changed.notify_all();
        for thread in self.threads {
            thread.join().unwrap();
        }
        let state = self.shared.lock();
        (state.acknowledged.clone(), state.complaints.clone())
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap()
    }

    fn send_all(&self, first: u64) {
        let stubborn = first.is_multiple_of(2);
        let mut number = first;
        let mut line: Option<(SocketAddr, BufReader<TcpStream>)> = None;
        while let Some(address) = self.wait_for_door() {
            if line.as_ref().is_none_or(|(own, _)| *own != address) {
                line = connect(address).ok().map(|stream| (address, stream));
            }
            let Some((_, stream)) = &mut line else {
                self.wait_for_change(address);
                continue;
            };
            match self.post(stream, number, stubborn) {
                Ok(answer) => {
                    self.hear(number, stubborn, &answer);
                    number += self.count;
                }
                // Nobody knows whether it was stored.
                Err(error) => {
                    if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) {
                        self.complain(format!("parcel {number} was not answered: {error}"));
                    }
                    line = None;
                    if !stubborn {
                        number += self.count;
                    }
                }
            }
        }
    }

    fn wait_for_door(&self) -> Option<SocketAddr> {
        let state = self.lock();
        let state = self.changed.wait_while(state, |state| state.door == Door::Closed).unwrap();
        match state.door {
            Door::Open(address) => Some(address),
            Door::Closed | Door::Over => None,
        }
    }

    /// The server is dead and nobody has said so yet.
    fn wait_for_change(&self, address: SocketAddr) {
        let short = Duration::from_millis(20);
        let still = |state: &mut State| state.door == Door::Open(address);
        drop(self.changed.wait_timeout_while(self.lock(), short, still).unwrap());
    }

    fn post(
        &self,
        stream: &mut BufReader<TcpStream>,
        number: u64,
        stubborn: bool,
    ) -> io::Result<Message> {
        let body = parcel::pack(number);
        let (path, length) = (&self.path, body.len());
        let key = match stubborn {
            true => format!("idempotency-key: parcel-{number}\r\n"),
            false => String::new(),
        };
        let head = format!(
            "POST {path} HTTP/1.1\r\nhost: test\r\ncontent-type: application/octet-stream\r\n\
             {key}content-length: {length}\r\n\r\n"
        );
        stream.get_mut().write_all(&[head.into_bytes(), body].concat())?;
        Message::read(stream)?.ok_or_else(|| io::ErrorKind::UnexpectedEof.into())
    }

    fn complain(&self, what: String) {
        println!("{what}"); // at once, so that one can go and look
        self.lock().complaints.push(what);
    }

    fn hear(&self, number: u64, stubborn: bool, answer: &Message) {
        let text = String::from_utf8_lossy(&answer.body).into_owned();
        let id = serde_json::from_str::<serde_json::Value>(&text)
            .ok()
            .and_then(|told| Some(told["id"].as_str()?.to_owned()));
        let mut state = self.lock();
        match (answer.status(), id) {
            (Some(200), Some(event)) => {
                state.acknowledged.push(Acknowledged { number, event, stubborn });
            }
            (status, _) => state.complaints.push(format!("parcel {number}: {status:?} {text}")),
        }
        state.heard += 1;
        let heard = state.heard;
        if let Some(fuse) = state.fuse.take_if(|fuse| fuse.at <= heard) {
            (fuse.burn)();
        }
    }
}

fn connect(address: SocketAddr) -> io::Result<BufReader<TcpStream>> {
    let stream = TcpStream::connect(address)?;
    stream.set_nodelay(true)?;
    stream.set_read_timeout(Some(PATIENCE))?;
    Ok(BufReader::new(stream))
}
