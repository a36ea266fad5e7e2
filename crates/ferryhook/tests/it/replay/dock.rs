//! A destination that answers as it is told, and can be waited for.

use std::collections::HashMap;
use std::io::{BufReader, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Condvar, Mutex};
use std::time::Duration;

use crate::message::Message;

/// However slow the machine, by then something must have happened.
const PATIENCE: Duration = Duration::from_secs(60);

pub struct Dock {
    pub address: SocketAddr,
    shared: Arc<(Mutex<State>, Condvar)>,
}

struct State {
    status: u16,
    /// How often each event has come.
    came: HashMap<String, usize>,
}

impl Dock {
    pub fn open(status: u16) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let state = State { status, came: HashMap::new() };
        let shared = Arc::new((Mutex::new(state), Condvar::new()));
        let accepting = shared.clone();
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                let (stream, shared) = (stream.unwrap(), accepting.clone());
                std::thread::spawn(move || serve(&stream, &shared));
            }
        });
        Self { address, shared }
    }

    pub fn answer(&self, status: u16) {
        self.shared.0.lock().unwrap().status = status;
    }

    /// Until so many requests have come in all.
    pub fn wait_for(&self, count: usize) {
        self.wait(|state| state.came.values().sum::<usize>() >= count);
    }

    /// Until so many events have come so often each.
    pub fn wait_for_each(&self, events: usize, times: usize) {
        self.wait(|state| state.came.values().filter(|came| **came >= times).count() >= events);
    }

    fn wait(&self, enough: impl Fn(&State) -> bool) {
        let (state, changed) = &*self.shared;
        let state = state.lock().unwrap();
        let (state, waited) =
            changed.wait_timeout_while(state, PATIENCE, |state| !enough(state)).unwrap();
        assert!(!waited.timed_out(), "only {:?}", state.came);
    }
}

fn serve(stream: &TcpStream, (state, changed): &(Mutex<State>, Condvar)) {
    let mut reader = BufReader::new(stream.try_clone().unwrap());
    // A server that was killed hangs up in the middle of anything.
    while let Ok(Some(message)) = Message::read(&mut reader) {
        let event = message.header("x-ferryhook-event-id").unwrap().to_owned();
        let mut state = state.lock().unwrap();
        *state.came.entry(event).or_default() += 1;
        let status = state.status;
        changed.notify_all();
        drop(state);
        let answer = format!("HTTP/1.1 {status} Told\r\ncontent-length: 0\r\n\r\n");
        if (&mut &*stream).write_all(answer.as_bytes()).is_err() {
            return;
        }
    }
}
