//! A destination: checks what it is given, answers as a moody one would, and remembers all of it.
//!
//! It knows which life of the server a delivery came from. When a life has ended,
//! [`Receiver::end_life`] hears out what its connections still hold before the next begins.

use std::collections::{BTreeMap, HashMap};
use std::io::{BufReader, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Condvar, Mutex, MutexGuard};
use std::time::Duration;

use aws_lc_rs::hmac;

use crate::dice::Dice;
use crate::message::Message;
use crate::parcel;

/// However slow the machine, by then something must have happened.
const PATIENCE: Duration = Duration::from_secs(60);

/// What the receiver does with a delivery.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reaction {
    Accept,
    Refuse,
    /// Hangs up without a word.
    Drop,
}

#[derive(Debug, Clone)]
pub struct Arrival {
    /// Its place among all arrivals.
    pub place: u64,
    pub event: String,
    pub life: u64,
    pub reaction: Reaction,
}

pub struct Receiver {
    pub address: SocketAddr,
    shared: Arc<Shared>,
}

struct Shared {
    state: Mutex<State>,
    changed: Condvar,
    secret: hmac::Key,
    /// Nobody is refused when it is not set.
    moods: Option<u64>,
}

#[derive(Default)]
struct State {
    life: u64,
    open: HashMap<SocketAddr, ()>,
    arrivals: BTreeMap<u64, Vec<Arrival>>,
    count: u64,
    /// What must never happen.
    complaints: Vec<String>,
}

impl Receiver {
    /// Answers 200 to everything.
    pub fn kind(secret: &str) -> Self {
        Self::open(secret, None)
    }

    /// Refuses one in ten or so, and hangs up on some.
    pub fn moody(secret: &str, seed: u64) -> Self {
        Self::open(secret, Some(seed))
    }

    fn open(secret: &str, moods: Option<u64>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let shared = Arc::new(Shared {
            state: Mutex::default(),
            changed: Condvar::new(),
            secret: hmac::Key::new(hmac::HMAC_SHA256, secret.as_bytes()),
            moods,
        });
        let accepting = shared.clone();
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                accepting.clone().meet(stream.unwrap());
            }
        });
        Self { address, shared }
    }

    /// The server is dead: waits until everything it has sent is heard.
    pub fn end_life(&self) {
        // Connections are met in their order, so when this one is, all of the dead were.
        let last = TcpStream::connect(self.address).unwrap();
        let own = last.local_addr().unwrap();
        let state = self.shared.lock();
        let mut state = self.shared.wait(state, |state| state.open.contains_key(&own));
        last.shutdown(Shutdown::Both).unwrap();
        state = self.shared.wait(state, |state| state.open.is_empty());
        state.life += 1;
    }

    /// Waits until each of these was accepted at least once.
    pub fn wait_for(&self, numbers: &[u64]) {
        let mut open = numbers.to_vec();
        let mut state = self.shared.lock();
        loop {
            open.retain(|number| !state.was_accepted(*number));
            if open.is_empty() {
                return;
            }
            let seen = state.count;
            let (next, waited) = self
                .shared
                .changed
                .wait_timeout_while(state, PATIENCE, |state| state.count == seen)
                .unwrap();
            state = next;
            let few: Vec<_> = open.iter().take(10).map(|number| state.story(*number)).collect();
            assert!(!waited.timed_out(), "{} never arrived: {few:#?}", open.len());
        }
    }

    /// Waits until nothing has come for this long.
    pub fn wait_until_quiet(&self, time: Duration) {
        let mut state = self.shared.lock();
        loop {
            let seen = state.count;
            let changed = &self.shared.changed;
            let waited = changed.wait_timeout_while(state, time, |state| state.count == seen);
            let (next, waited) = waited.unwrap();
            if waited.timed_out() {
                return;
            }
            state = next;
        }
    }

    pub fn arrivals(&self) -> BTreeMap<u64, Vec<Arrival>> {
        self.shared.lock().arrivals.clone()
    }

    pub fn complaints(&self) -> Vec<String> {
        self.shared.lock().complaints.clone()
    }
}

impl State {
    fn was_accepted(&self, number: u64) -> bool {
        let all = self.arrivals.get(&number);
        all.is_some_and(|all| all.iter().any(|one| one.reaction == Reaction::Accept))
    }

    fn story(&self, number: u64) -> (u64, Option<&Vec<Arrival>>) {
        (number, self.arrivals.get(&number))
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap()
    }

    fn wait<'a>(
        &self,
        state: MutexGuard<'a, State>,
        enough: impl Fn(&State) -> bool,
    ) -> MutexGuard<'a, State> {
        let waited = self.changed.wait_timeout_while(state, PATIENCE, |state| !enough(state));
        let (state, waited) = waited.unwrap();
        assert!(!waited.timed_out(), "the receiver stood still");
        state
    }

    fn meet(self: Arc<Self>, stream: TcpStream) {
        // One that is gone already had nothing to say either.
        let Ok(peer) = stream.peer_addr() else { return };
        stream.set_nodelay(true).unwrap();
        self.lock().open.insert(peer, ());
        self.changed.notify_all();
        std::thread::spawn(move || {
            self.serve(stream);
            self.lock().open.remove(&peer);
            self.changed.notify_all();
        });
    }

    /// Until the other end hangs up or dies.
    fn serve(&self, stream: TcpStream) {
        let mut stream = BufReader::new(stream);
        while let Ok(Some(request)) = Message::read(&mut stream) {
            let answer = match self.take(&request) {
                Reaction::Accept => "200 OK",
                Reaction::Refuse => "500 Internal Server Error",
                Reaction::Drop => return,
            };
            let answer = format!("HTTP/1.1 {answer}\r\ncontent-length: 0\r\n\r\n");
            if stream.get_mut().write_all(answer.as_bytes()).is_err() {
                return;
            }
        }
    }

    /// What is accepted counts from before it is said: the server may not live to hear it.
    fn take(&self, request: &Message) -> Reaction {
        let checked = parcel::unpack(&request.body);
        let signed = self.check_signature(request);
        let event = request.header("x-ferryhook-event-id").unwrap_or_default().to_owned();
        let mut state = self.lock();
        state.count += 1;
        if let Err(complaint) = signed {
            state.complaints.push(format!("{complaint}: {:?}", request.headers));
        }
        let reaction = match checked {
            Ok(number) => {
                let (life, place) = (state.life, state.count);
                let arrivals = state.arrivals.entry(number).or_default();
                let reaction = self.react(number, arrivals.len() as u64);
                arrivals.push(Arrival { place, event, life, reaction });
                reaction
            }
            Err(complaint) => {
                state.complaints.push(complaint);
                Reaction::Accept
            }
        };
        drop(state);
        self.changed.notify_all();
        reaction
    }

    /// The same for the same delivery of the same parcel, whatever else goes on.
    fn react(&self, number: u64, before: u64) -> Reaction {
        let Some(seed) = self.moods else { return Reaction::Accept };
        match Dice(seed ^ (number << 8) ^ before).roll(24) {
            0 | 1 => Reaction::Refuse,
            2 => Reaction::Drop,
            _ => Reaction::Accept,
        }
    }

    /// `t=<seconds>,v1=<hex>`, over the time, a dot and the body.
    fn check_signature(&self, request: &Message) -> Result<(), &'static str> {
        let header = request.header("x-ferryhook-signature").ok_or("not signed")?;
        let parts =
            header.split_once(",v1=").and_then(|(t, hex)| Some((t.strip_prefix("t=")?, hex)));
        let (time, hex) = parts.ok_or("a signature of another form")?;
        let bytes =
            (0..hex.len()).step_by(2).map(|at| u8::from_str_radix(hex.get(at..at + 2)?, 16).ok());
        let tag: Option<Vec<u8>> = bytes.collect();
        let message = [time.as_bytes(), b".", &request.body].concat();
        let held = hmac::verify(&self.secret, &message, &tag.ok_or("a signature that is not hex")?);
        held.map_err(|_| "a signature that does not hold")
    }
}
