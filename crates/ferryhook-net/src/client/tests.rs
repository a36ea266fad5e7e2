//! Real sockets on the loopback net, which the guard of these clients allows. A receiver is a
//! script that is run for each connection it gets.

use std::net::{IpAddr, SocketAddr};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

use super::*;

mod answers;
mod hostile;
mod identity;
mod pooling;
mod rebinding;
mod secure;

/// Long enough for a slow machine; a test that waits for it has failed.
const PATIENCE: Duration = Duration::from_secs(20);

/// For calls that are meant to run into their deadline.
const SHORT: Duration = Duration::from_millis(300);

const OK: &[u8] = b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok";

fn guard() -> Guard {
    Guard::new(vec!["127.0.0.0/8".parse().unwrap()])
}

fn client() -> Client {
    client_of(&Env::system())
}

fn client_of(env: &Env) -> Client {
    Client::new(guard(), env.clone(), Tasks::new(), Roots::public())
}

/// A POST of "{}" that may take its time.
fn post(url: &str) -> Outgoing {
    Outgoing {
        target: guard().target(url).unwrap(),
        method: Method::POST,
        headers: HeaderMap::new(),
        body: Bytes::from_static(b"{}"),
        identity: None,
        timeout: PATIENCE,
    }
}

/// A destination. What it gets to read is kept, in order of arrival.
struct Receiver {
    address: SocketAddr,
    seen: Arc<Seen>,
    _tasks: Tasks,
}

#[derive(Default)]
struct Seen {
    connections: AtomicUsize,
    /// Bytes that a receiver got rid of without being asked for them.
    flooded: AtomicUsize,
    requests: Mutex<Vec<String>>,
}

/// A connection that a receiver got, and which one it is, counted from 1.
struct Visit {
    stream: TcpStream,
    number: usize,
    seen: Arc<Seen>,
}

impl Receiver {
    async fn start<F>(script: impl Fn(Visit) -> F + Send + 'static) -> Self
    where
        F: Future<Output = ()> + Send + 'static,
    {
        Self::start_at("127.0.0.1:0", script).await
    }

    async fn start_at<F>(address: &str, script: impl Fn(Visit) -> F + Send + 'static) -> Self
    where
        F: Future<Output = ()> + Send + 'static,
    {
        let listener = TcpListener::bind(address).await.unwrap();
        let address = listener.local_addr().unwrap();
        let (tasks, seen) = (Tasks::new(), Arc::new(Seen::default()));
        let visited = seen.clone();
        tasks.spawn("receiver", async move {
            let visits = Tasks::new(); // go when the receiver goes
            while let Ok((stream, _)) = listener.accept().await {
                let number = visited.connections.fetch_add(1, Ordering::SeqCst) + 1;
                let visit = Visit { stream, number, seen: visited.clone() };
                visits.spawn("visit", script(visit));
            }
        });
        Self { address, seen, _tasks: tasks }
    }

    /// Gives the same answer to every request, on as many connections as it takes.
    async fn answering(answer: &'static [u8]) -> Self {
        Self::start(async move |mut visit| {
            while visit.request().await {
                visit.say(answer).await;
            }
        })
        .await
    }

    fn url(&self) -> String {
        format!("http://{}/hook", self.address)
    }

    fn connections(&self) -> usize {
        self.seen.connections.load(Ordering::SeqCst)
    }

    fn requests(&self) -> Vec<String> {
        self.seen.requests.lock().unwrap().clone()
    }
}

impl Visit {
    /// Reads one request to its end. False when the client has gone.
    async fn request(&mut self) -> bool {
        let mut text = Vec::new();
        loop {
            if let Some(end) = find(&text, b"\r\n\r\n") {
                let head = String::from_utf8(text[..end].to_vec()).unwrap();
                let length = head
                    .lines()
                    .find_map(|line| {
                        line.to_lowercase().strip_prefix("content-length: ")?.parse().ok()
                    })
                    .unwrap_or(0);
                if text.len() >= end + 4 + length {
                    self.seen.requests.lock().unwrap().push(String::from_utf8(text).unwrap());
                    return true;
                }
            }
            if !matches!(self.stream.read_buf(&mut text).await, Ok(1..)) {
                return false;
            }
        }
    }

    async fn say(&mut self, bytes: &[u8]) -> bool {
        self.stream.write_all(bytes).await.is_ok()
    }

    /// Waits until the client closes.
    async fn wait(&mut self) {
        while let Ok(1..) = self.stream.read(&mut [0; 1024]).await {}
    }
}

fn find(text: &[u8], what: &[u8]) -> Option<usize> {
    text.windows(what.len()).position(|window| window == what)
}
