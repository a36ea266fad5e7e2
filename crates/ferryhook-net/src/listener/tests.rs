//! Real sockets. Where a deadline must pass the clock is paused and runs ahead by itself as soon
//! as everybody waits; where it must not, the clock is real and the deadlines are far away.

use std::convert::Infallible;
use std::future::Future;
use std::sync::Arc;

use http_body_util::Full;
use hyper::service::service_fn;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::sync::{Notify, oneshot};
use tokio::task::JoinHandle;

use super::*;

mod streamed;

const GET: &[u8] = b"GET / HTTP/1.1\r\nhost: test\r\n\r\n";
const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

/// No stranger holds a connection for nothing longer than this.
const PATIENCE: Duration = Duration::from_secs(35);

struct Server {
    address: SocketAddr,
    stop: oneshot::Sender<()>,
    served: JoinHandle<usize>,
}

impl Server {
    /// Answers every request with "hello" as soon as `ready` resolves.
    #[expect(clippy::disallowed_methods, reason = "the handle is kept and awaited")]
    async fn start<F>(bounds: Bounds, ready: impl Fn() -> F + Clone + Send + Sync + 'static) -> Self
    where
        F: Future<Output = ()> + Send + 'static,
    {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let (stop, stopped) = oneshot::channel();
        let service = service_fn(move |request: Request<Incoming>| {
            assert!(request.extensions().get::<Peer>().is_some());
            let ready = ready();
            async move {
                ready.await;
                Ok::<_, Infallible>(Response::new(Full::new(Bytes::from_static(b"hello"))))
            }
        });
        let served = tokio::spawn(serve(listener, service, bounds, async {
            let _ = stopped.await;
        }));
        Self { address, stop, served }
    }

    async fn connect(&self) -> TcpStream {
        TcpStream::connect(self.address).await.unwrap()
    }

    /// Sends `bytes`, then reads until the server closes, which must not take long.
    async fn last_words(&self, bytes: &[u8]) -> Vec<u8> {
        let mut stream = self.connect().await;
        stream.write_all(bytes).await.unwrap();
        let mut answer = Vec::new();
        // A reset is a close too: what we sent may lie there unread.
        let closed = timeout(PATIENCE, stream.read_to_end(&mut answer)).await;
        assert!(closed.is_ok(), "open after {PATIENCE:?}, having said {answer:?}");
        answer
    }

    async fn stop(self) -> usize {
        let _ = self.stop.send(());
        self.served.await.unwrap()
    }
}

async fn at_once() {}

async fn read_answer(stream: &mut TcpStream) -> String {
    let mut answer = String::new();
    let mut chunk = [0; 1024];
    while !answer.ends_with("hello") {
        let read = stream.read(&mut chunk).await.unwrap();
        assert_ne!(read, 0, "closed after {answer:?}");
        answer.push_str(std::str::from_utf8(&chunk[..read]).unwrap());
    }
    answer
}

#[tokio::test(start_paused = true)]
async fn a_silent_connection_is_closed() {
    let server = Server::start(Bounds::default(), at_once).await;
    assert!(server.last_words(b"").await.is_empty());
    assert_eq!(server.stop().await, 0);
}

/// Half a request line, half a header, half the greeting of HTTP/2, and the greeting alone.
#[tokio::test(start_paused = true)]
async fn an_unfinished_head_is_closed() {
    let server = Server::start(Bounds::default(), at_once).await;
    for half in [b"GE", &GET[..20], &PREFACE[..1], &PREFACE[..10]] {
        assert!(server.last_words(half).await.is_empty());
    }
    let settings = server.last_words(PREFACE).await;
    assert_eq!(settings.get(3), Some(&4), "only HTTP/2 frames, first of them SETTINGS");
    assert_eq!(server.stop().await, 0);
}

/// A kept-alive connection on which nothing more is asked is closed as well.
#[tokio::test(start_paused = true)]
async fn an_idle_connection_is_closed() {
    let server = Server::start(Bounds::default(), at_once).await;
    let answer = server.last_words(GET).await;
    assert!(answer.starts_with(b"HTTP/1.1 200 OK"));
    assert_eq!(server.stop().await, 0);
}

#[tokio::test]
async fn a_head_beyond_the_bound_is_refused() {
    let server = Server::start(Bounds::default(), at_once).await;
    let mut head = GET[..GET.len() - 2].to_vec();
    head.extend_from_slice(b"x-long: ");
    head.resize(limits::HEAD_BYTES_MAX + 1, b'x');
    let answer = server.last_words(&head).await;
    assert!(answer.starts_with(b"HTTP/1.1 431 "));
    assert_eq!(server.stop().await, 0);
}

/// With room for one, the second connection is answered when the first has gone, not before.
#[tokio::test]
async fn who_does_not_fit_waits() {
    let bounds = Bounds { connections_max: 1, ..Bounds::default() };
    let (asked, asks) = (Arc::new(Notify::new()), Arc::new(Notify::new()));
    let (tell, go) = (asked.clone(), asks.clone());
    let server = Server::start(bounds, move || {
        let (tell, go) = (tell.clone(), go.clone());
        async move {
            tell.notify_one();
            go.notified().await;
        }
    })
    .await;

    let mut first = server.connect().await;
    first.write_all(GET).await.unwrap();
    asked.notified().await;
    let mut second = server.connect().await;
    second.write_all(GET).await.unwrap();

    asks.notify_one();
    read_answer(&mut first).await;
    // The first is still connected, so nobody else was asked.
    assert!(futures_util::FutureExt::now_or_never(asked.notified()).is_none());
    drop(first);
    asked.notified().await;
    asks.notify_one();
    read_answer(&mut second).await;
    assert_eq!(server.stop().await, 0);
}

/// One address does not get all there is; the others do not notice.
#[tokio::test]
async fn an_address_that_has_enough_is_closed() {
    let bounds = Bounds { connections_per_address_max: 1, ..Bounds::default() };
    let server = Server::start(bounds, at_once).await;
    let mut first = server.connect().await;
    first.write_all(GET).await.unwrap();
    read_answer(&mut first).await;
    assert!(server.last_words(GET).await.is_empty());
    first.write_all(GET).await.unwrap();
    read_answer(&mut first).await;
    drop(first);
    assert_eq!(server.stop().await, 0);
}

/// What is in doubt about a head is told to whoever answers.
#[tokio::test]
async fn a_doubtful_head_is_marked() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let service = service_fn(|request: Request<Incoming>| async move {
        let said = framing::check(&request).map_or_else(|doubt| doubt.0, |()| "fine");
        Ok::<_, Infallible>(Response::new(Full::new(Bytes::from_static(said.as_bytes()))))
    });
    let (stop, stopped) = oneshot::channel::<()>();
    let serving = serve(listener, service, Bounds::default(), async {
        let _ = stopped.await;
    });
    let asking = async {
        let mut heard = Vec::new();
        let chunks = "transfer-encoding: chunked\r\n\r\n0\r\n\r\n";
        for lines in [chunks, &format!("content-length: 5\r\n{chunks}")] {
            let mut stream = TcpStream::connect(address).await.unwrap();
            let head = format!("POST / HTTP/1.1\r\nhost: a\r\nconnection: close\r\n{lines}");
            stream.write_all(head.as_bytes()).await.unwrap();
            let mut answer = String::new();
            stream.read_to_string(&mut answer).await.unwrap();
            heard.push(answer.split_once("\r\n\r\n").unwrap().1.to_owned());
        }
        stop.send(()).unwrap();
        heard
    };
    let (_, heard) = tokio::join!(serving, asking);
    assert_eq!(heard, ["fine", "Content-Length and Transfer-Encoding exclude each other."]);
}

/// Stopping lets a request in flight finish, ends idle connections, and takes no new ones.
#[tokio::test]
async fn stopping_finishes_what_has_begun() {
    let (asked, go) = (Arc::new(Notify::new()), Arc::new(Notify::new()));
    let (tell, wait) = (asked.clone(), go.clone());
    let server = Server::start(Bounds::default(), move || {
        let (tell, wait) = (tell.clone(), wait.clone());
        async move {
            tell.notify_one();
            wait.notified().await;
        }
    })
    .await;
    let address = server.address;
    let mut silent = server.connect().await;
    let mut busy = server.connect().await;
    busy.write_all(GET).await.unwrap();
    asked.notified().await;

    server.stop.send(()).unwrap();
    assert_eq!(silent.read(&mut [0]).await.unwrap(), 0, "closed");
    assert!(TcpStream::connect(address).await.is_err());
    go.notify_one();
    let answer = read_answer(&mut busy).await;
    assert!(answer.contains("connection: close"), "{answer}");
    assert_eq!(server.served.await.unwrap(), 0);
}

/// A request that does not end is cut after the drain time.
#[tokio::test(start_paused = true)]
async fn stopping_cuts_what_does_not_end() {
    let asked = Arc::new(Notify::new());
    let tell = asked.clone();
    let server = Server::start(Bounds::default(), move || {
        let tell = tell.clone();
        async move {
            tell.notify_one();
            std::future::pending().await
        }
    })
    .await;
    let mut busy = server.connect().await;
    busy.write_all(GET).await.unwrap();
    asked.notified().await;
    assert_eq!(server.stop().await, 1);
    assert_eq!(busy.read(&mut [0]).await.unwrap(), 0, "closed");
}
