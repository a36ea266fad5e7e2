//! The bytes of one connection, plain or in TLS, and a meter on what comes in.
//!
//! The meter tells what the HTTP library does not: whether any byte of an answer was read
//! (then a call must not be repeated), when the first one came, and when a destination has sent
//! more in front of its answer than anyone needs to.

use std::io::{self, IoSlice};
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::task::{Context, Poll};
use std::time::Duration;

use ferryhook_core::Env;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio_rustls::client::TlsStream;

pub(super) enum Stream {
    Plain(TcpStream),
    Secure(Box<TlsStream<TcpStream>>),
}

/// Shared by the connection's two halves: who reads and who asks. They run in one task.
pub(super) struct Meter {
    env: Env,
    read: AtomicU64,
    read_max: AtomicU64,
    first_nanos: AtomicU64,
}

impl Meter {
    pub(super) fn new(env: Env) -> Arc<Self> {
        Arc::new(Self {
            env,
            read: AtomicU64::new(0),
            read_max: AtomicU64::new(u64::MAX),
            first_nanos: AtomicU64::new(0),
        })
    }

    /// Starts again at zero; beyond `read_max` bytes reading fails.
    pub(super) fn reset(&self, read_max: u64) {
        self.read.store(0, Relaxed);
        self.read_max.store(read_max, Relaxed);
    }

    pub(super) fn lift(&self) {
        self.read_max.store(u64::MAX, Relaxed);
    }

    pub(super) fn has_read(&self) -> bool {
        self.read.load(Relaxed) > 0
    }

    pub(super) fn is_over(&self) -> bool {
        self.read.load(Relaxed) >= self.read_max.load(Relaxed)
    }

    /// When the first byte since the last reset came, by the clock of `Env::elapsed`.
    pub(super) fn first_byte(&self) -> Option<Duration> {
        self.has_read().then(|| Duration::from_nanos(self.first_nanos.load(Relaxed)))
    }

    fn count(&self, bytes: usize) {
        if bytes > 0 && self.read.fetch_add(bytes as u64, Relaxed) == 0 {
            let nanos = u64::try_from(self.env.elapsed().as_nanos()).unwrap_or(u64::MAX);
            self.first_nanos.store(nanos, Relaxed);
        }
    }
}

pub(super) struct Wire {
    pub(super) stream: Stream,
    pub(super) meter: Arc<Meter>,
}

impl AsyncRead for Wire {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        if self.meter.is_over() {
            return Poll::Ready(Err(io::ErrorKind::FileTooLarge.into()));
        }
        let before = buffer.filled().len();
        let polled = match &mut self.stream {
            Stream::Plain(stream) => Pin::new(stream).poll_read(cx, buffer),
            Stream::Secure(stream) => Pin::new(stream).poll_read(cx, buffer),
        };
        self.meter.count(buffer.filled().len() - before);
        polled
    }
}

impl AsyncWrite for Wire {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        match &mut self.stream {
            Stream::Plain(stream) => Pin::new(stream).poll_write(cx, bytes),
            Stream::Secure(stream) => Pin::new(stream).poll_write(cx, bytes),
        }
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        slices: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        match &mut self.stream {
            Stream::Plain(stream) => Pin::new(stream).poll_write_vectored(cx, slices),
            Stream::Secure(stream) => Pin::new(stream).poll_write_vectored(cx, slices),
        }
    }

    fn is_write_vectored(&self) -> bool {
        match &self.stream {
            Stream::Plain(stream) => stream.is_write_vectored(),
            Stream::Secure(stream) => stream.is_write_vectored(),
        }
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match &mut self.stream {
            Stream::Plain(stream) => Pin::new(stream).poll_flush(cx),
            Stream::Secure(stream) => Pin::new(stream).poll_flush(cx),
        }
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match &mut self.stream {
            Stream::Plain(stream) => Pin::new(stream).poll_shutdown(cx),
            Stream::Secure(stream) => Pin::new(stream).poll_shutdown(cx),
        }
    }
}
