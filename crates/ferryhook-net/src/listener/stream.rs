//! A stranger's connection as the HTTP library gets it.
//!
//! Three things are added to a socket. What is read passes by [`Heads`]. What is written has to be
//! taken within [`limits::TAKEN`]. And a close is not abrupt:
//! a socket that is closed while bytes lie in it unread is reset, and the reset can overtake the
//! answer ("too large") that explains it. So the rest is read and thrown away for a moment.

use std::io;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, ready};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio::time::{Sleep, sleep};

use super::framing::Misframed;
use super::heads::Heads;
use crate::limits;

pub(super) struct Stream {
    socket: TcpStream,
    heads: Heads,
    state: Arc<State>,
    has_ended: bool,
    /// Since something could not be written: until when it must be.
    stalled: Option<Pin<Box<Sleep>>>,
    /// Once our side has been closed: until when the other may still talk, and how much.
    farewell: Option<(Pin<Box<Sleep>>, usize)>,
}

/// What the connection and those who answer on it tell each other.
#[derive(Debug, Default)]
pub(super) struct State {
    /// A request has been heard.
    pub(super) heard: AtomicBool,
    /// The server stops: nobody waits for farewells.
    pub(super) stopping: AtomicBool,
    is_doubtful: AtomicBool,
    doubt: Mutex<Option<Misframed>>,
}

impl State {
    pub(super) fn doubt(&self) -> Option<Misframed> {
        if !self.is_doubtful.load(Ordering::Acquire) {
            return None;
        }
        *self.doubt.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn set_doubt(&self, doubt: Misframed) {
        *self.doubt.lock().unwrap_or_else(PoisonError::into_inner) = Some(doubt);
        self.is_doubtful.store(true, Ordering::Release);
    }
}

impl Stream {
    pub(super) fn new(socket: TcpStream, state: Arc<State>) -> Self {
        Self {
            socket,
            heads: Heads::default(),
            state,
            has_ended: false,
            stalled: None,
            farewell: None,
        }
    }

    /// Passes on what came of writing, unless nothing has come of it for too long.
    fn taken<T>(
        &mut self,
        context: &mut Context<'_>,
        written: Poll<io::Result<T>>,
    ) -> Poll<io::Result<T>> {
        if written.is_ready() {
            self.stalled = None;
            return written;
        }
        let stalled = self.stalled.get_or_insert_with(|| Box::pin(sleep(limits::TAKEN)));
        ready!(stalled.as_mut().poll(context));
        Poll::Ready(Err(io::ErrorKind::TimedOut.into()))
    }
}

impl AsyncRead for Stream {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        ready!(Pin::new(&mut self.socket).poll_read(context, buffer))?;
        let read = &buffer.filled()[before..];
        self.has_ended |= read.is_empty() && buffer.remaining() > 0;
        self.heads.read(read);
        if let Some(doubt) = self.heads.doubt() {
            self.state.set_doubt(doubt);
        }
        Poll::Ready(Ok(()))
    }
}

impl AsyncWrite for Stream {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.socket).poll_write(context, bytes);
        self.taken(context, written)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.socket).poll_write_vectored(context, bytes);
        self.taken(context, written)
    }

    fn is_write_vectored(&self) -> bool {
        self.socket.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.socket).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let this = &mut *self;
        let (until, read) = match &mut this.farewell {
            Some(farewell) => farewell,
            None => {
                ready!(Pin::new(&mut this.socket).poll_shutdown(context))?;
                this.farewell.insert((Box::pin(sleep(limits::FAREWELL)), 0))
            }
        };
        let mut unwanted = [0; 4096];
        while !this.has_ended && *read < limits::FAREWELL_BYTES_MAX {
            if this.state.stopping.load(Ordering::Relaxed)
                || until.as_mut().poll(context).is_ready()
            {
                break;
            }
            let mut buffer = ReadBuf::new(&mut unwanted);
            ready!(Pin::new(&mut this.socket).poll_read(context, &mut buffer))?;
            this.has_ended = buffer.filled().is_empty();
            *read += buffer.filled().len();
        }
        Poll::Ready(Ok(()))
    }
}
