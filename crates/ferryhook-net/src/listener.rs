//! The accept loop: takes connections from a bound socket and lets a service answer them.
//!
//! Every wait for a stranger has a deadline and every count a cap ([`Bounds`]), so that idle,
//! slow and broken clients cost a bounded amount and never stop the others. It speaks HTTP/1.1
//! and HTTP/2 and looks at no path and no body: a body's deadline belongs to whoever reads it.

mod addresses;
pub mod framing;
mod heads;
mod stream;
mod trusted;

use std::error::Error;
use std::future::Future;
use std::io;
use std::net::SocketAddr;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use bytes::Bytes;
use hyper::body::{Body, Incoming};
use hyper::service::{Service, service_fn};
use hyper::{Request, Response};
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use hyper_util::server::conn::auto;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;
use tokio::time::{sleep, timeout};

use crate::alarm::HeadTimer;
use crate::{Tasks, limits};
use addresses::Addresses;
use stream::{State, Stream};

pub use trusted::Trusted;

type BoxError = Box<dyn Error + Send + Sync>;

/// How long and how many. The defaults are those of [`limits`].
#[derive(Debug, Clone)]
pub struct Bounds {
    pub connections_max: usize,
    pub connections_per_address_max: usize,
    pub first_byte: Duration,
    pub head: Duration,
    pub head_bytes_max: usize,
    pub drain: Duration,
}

impl Default for Bounds {
    fn default() -> Self {
        Self {
            connections_max: limits::CONNECTIONS_MAX,
            connections_per_address_max: limits::CONNECTIONS_PER_ADDRESS_MAX,
            first_byte: limits::FIRST_BYTE,
            head: limits::HEAD,
            head_bytes_max: limits::HEAD_BYTES_MAX,
            drain: limits::DRAIN,
        }
    }
}

/// Who is at the other end; an extension of every request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Peer(pub SocketAddr);

/// Serves until `stop` resolves. Then takes no new connection, finishes the requests that have
/// begun, and returns how many connections were still busy after [`Bounds::drain`] and cut.
pub async fn serve<S, B>(
    listener: TcpListener,
    service: S,
    bounds: Bounds,
    stop: impl Future<Output = ()>,
) -> usize
where
    S: Service<Request<Incoming>, Response = Response<B>> + Clone + Send + Sync + 'static,
    S::Future: Send + 'static,
    S::Error: Into<BoxError>,
    B: Body<Data = Bytes> + Send + 'static,
    B::Error: Into<BoxError>,
{
    let http = Arc::new(http(&bounds));
    let room = Arc::new(Semaphore::new(bounds.connections_max));
    let addresses = Addresses::default();
    let connections = Tasks::new();
    let accepting = async {
        loop {
            // First the room, then the connection: who does not fit waits outside.
            let Ok(place) = room.clone().acquire_owned().await else {
                return;
            };
            let (stream, peer) = accept(&listener).await;
            let most = bounds.connections_per_address_max;
            let Some(share) = addresses.enter(peer.ip(), most) else {
                tracing::debug!(%peer, "one address has too many connections");
                continue;
            };
            let connection =
                Connection { stream, peer: Peer(peer), http: http.clone(), bounds: bounds.clone() };
            let (service, stop) = (service.clone(), connections.stopping());
            connections.spawn("connection", async move {
                connection.answer(service, stop).await;
                drop((place, share));
            });
        }
    };
    tokio::select! {
        () = accepting => {}
        () = stop => {}
    }
    drop(listener);
    connections.finish(bounds.drain).await
}

fn http(bounds: &Bounds) -> auto::Builder<TokioExecutor> {
    let mut http = auto::Builder::new(TokioExecutor::new());
    http.http1() // its timer is each connection's own
        .header_read_timeout(bounds.head)
        .max_buf_size(bounds.head_bytes_max)
        .max_headers(limits::HEADERS_MAX);
    http.http2()
        .timer(TokioTimer::new())
        .keep_alive_interval(limits::PING_EVERY)
        .keep_alive_timeout(limits::PING_ANSWER)
        .max_concurrent_streams(limits::STREAMS_MAX)
        .max_header_list_size(u32::try_from(bounds.head_bytes_max).unwrap_or(u32::MAX));
    http
}

async fn accept(listener: &TcpListener) -> (TcpStream, SocketAddr) {
    loop {
        match listener.accept().await {
            Ok(accepted) => return accepted,
            Err(error) if only_that_connection(&error) => {}
            Err(error) => {
                tracing::warn!(%error, "cannot accept a connection; trying again");
                sleep(limits::ACCEPT_PAUSE).await;
            }
        }
    }
}

/// The client went away before we came to the door; the next one may be fine.
fn only_that_connection(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::ConnectionAborted
            | io::ErrorKind::ConnectionRefused
            | io::ErrorKind::ConnectionReset
    )
}

struct Connection {
    stream: TcpStream,
    peer: Peer,
    http: Arc<auto::Builder<TokioExecutor>>,
    bounds: Bounds,
}

impl Connection {
    async fn answer<S, B>(self, service: S, stop: impl Future<Output = ()>)
    where
        S: Service<Request<Incoming>, Response = Response<B>> + Send + 'static,
        S::Future: Send + 'static,
        S::Error: Into<BoxError>,
        B: Body<Data = Bytes> + Send + 'static,
        B::Error: Into<BoxError>,
    {
        let mut stop = pin!(stop);
        tokio::select! {
            spoke = self.says_something() => if !spoke { return },
            () = stop.as_mut() => return,
        }
        let _ = self.stream.set_nodelay(true); // a socket that refuses this is only slower

        let state = Arc::new(State::default());
        let (peer, its) = (self.peer, state.clone());
        let service = service_fn(move |mut request: Request<Incoming>| {
            its.heard.store(true, Ordering::Relaxed);
            request.extensions_mut().insert(peer);
            if let Some(doubt) = its.doubt() {
                request.extensions_mut().insert(doubt);
            }
            service.call(request)
        });
        let io = TokioIo::new(Stream::new(self.stream, state.clone()));
        let mut http = auto::Builder::clone(&self.http);
        http.http1().timer(HeadTimer::new());
        let mut http = pin!(http.serve_connection(io, service));

        // Telling HTTP/1 from HTTP/2 has no deadline in hyper, nor has an HTTP/2 connection
        // that never asks anything. So the first whole head has one here.
        let mut first_head = pin!(sleep(self.bounds.head));
        let (mut waiting, mut stopping) = (true, false);
        loop {
            tokio::select! {
                ended = http.as_mut() => {
                    if let Err(error) = ended {
                        tracing::debug!(error, peer = %peer.0, "a connection broke");
                    }
                    return;
                }
                () = first_head.as_mut(), if waiting => {
                    waiting = false;
                    if !state.heard.load(Ordering::Relaxed) {
                        return;
                    }
                }
                () = stop.as_mut(), if !stopping => {
                    stopping = true;
                    state.stopping.store(true, Ordering::Relaxed);
                    http.as_mut().graceful_shutdown();
                }
            }
        }
    }

    /// Whether a first byte comes in time. Until then the connection costs no buffer.
    async fn says_something(&self) -> bool {
        let peeked = timeout(self.bounds.first_byte, self.stream.peek(&mut [0])).await;
        matches!(peeked, Ok(Ok(1)))
    }
}

#[cfg(test)]
mod tests;
