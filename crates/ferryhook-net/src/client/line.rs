//! One open HTTP/1.1 connection, driven by the call that uses it.
//!
//! hyper splits a connection into a sender and a driver that is usually spawned. Here both live
//! together and whoever waits for an answer drives: no task per connection, no waking from one
//! to the other, and a call that is dropped takes its connection along. While nobody calls,
//! nobody drives; whether a line is still good is looked at when it is taken again.

use std::future::{Future, poll_fn};
use std::net::IpAddr;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use bytes::Bytes;
use ferryhook_core::Env;
use http_body_util::{BodyExt, Full};
use hyper::body::{Frame, Incoming};
use hyper::client::conn::http1;
use hyper::{Request, Response};
use hyper_util::rt::TokioIo;
use tokio::task::unconstrained;

use super::limits;
use super::wire::{Meter, Stream, Wire};
use crate::alarm::Alarm;

pub(super) struct Line {
    sender: http1::SendRequest<Full<Bytes>>,
    driver: http1::Connection<TokioIo<Wire>, Full<Bytes>>,
    driver_ended: bool,
    pub(super) meter: Arc<Meter>,
    /// Vetted before it was dialled, and compared after.
    pub(super) peer: IpAddr,
    /// Of the call before; the next one sets it for itself.
    pub(super) alarm: Option<Alarm>,
}

/// What ended a connection before its answer.
pub(super) enum Lost {
    Http(hyper::Error),
    /// It had ended before, without a word.
    Gone,
}

impl Line {
    pub(super) async fn open(stream: Stream, peer: IpAddr, env: Env) -> hyper::Result<Self> {
        let meter = Meter::new(env);
        let io = TokioIo::new(Wire { stream, meter: meter.clone() });
        let (sender, driver) = http1::Builder::new()
            .max_buf_size(limits::HEAD_BYTES_MAX)
            .max_headers(limits::HEADERS_MAX)
            // Old receivers compare header names letter by letter, and send odd headers.
            .title_case_headers(true)
            .ignore_invalid_headers_in_responses(true)
            .handshake(io)
            .await?;
        Ok(Self { sender, driver, driver_ended: false, meter, peer, alarm: None })
    }

    /// Whether another request can be sent, as far as this side can know.
    pub(super) async fn is_good(&mut self) -> bool {
        poll_fn(|cx| Poll::Ready(self.looks_good(cx))).await
    }

    pub(super) fn looks_good(&mut self, cx: &mut Context<'_>) -> bool {
        // At the end of a task's turn the driver would not get to where it can say "ready".
        let drive = poll_fn(|cx| {
            self.drive(cx);
            Poll::Ready(())
        });
        let _ = pin!(unconstrained(drive)).poll(cx);
        !self.driver_ended && self.sender.is_ready()
    }

    /// Sends the request and waits for the head of the answer.
    pub(super) async fn ask(
        &mut self,
        request: Request<Full<Bytes>>,
    ) -> Result<Response<Incoming>, Lost> {
        let mut answer = pin!(self.sender.send_request(request));
        poll_fn(|cx| {
            drive(&mut self.driver, &mut self.driver_ended, cx);
            match glance(answer.as_mut()) {
                Poll::Ready(answer) => Poll::Ready(answer.map_err(Lost::Http)),
                Poll::Pending if self.driver_ended => Poll::Ready(Err(Lost::Gone)),
                Poll::Pending => Poll::Pending,
            }
        })
        .await
    }

    /// The next piece of the answer's body; None at its end.
    pub(super) async fn more(&mut self, body: &mut Incoming) -> Option<Result<Frame<Bytes>, Lost>> {
        poll_fn(|cx| {
            let mut next = glance(body.frame());
            if next.is_pending() {
                self.drive(cx);
                next = glance(body.frame());
            }
            match next {
                Poll::Ready(frame) => Poll::Ready(frame.map(|frame| frame.map_err(Lost::Http))),
                Poll::Pending if self.driver_ended => Poll::Ready(Some(Err(Lost::Gone))),
                Poll::Pending => Poll::Pending,
            }
        })
        .await
    }

    fn drive(&mut self, cx: &mut Context<'_>) {
        drive(&mut self.driver, &mut self.driver_ended, cx);
    }
}

/// Apart from `self`, so that it can run beside an answer that is being waited for. An error is
/// told to whoever waits; with nobody waiting, that it ended is all there is to know.
fn drive(
    driver: &mut http1::Connection<TokioIo<Wire>, Full<Bytes>>,
    ended: &mut bool,
    cx: &mut Context<'_>,
) {
    if !*ended {
        *ended = Pin::new(driver).poll(cx).is_ready();
    }
}

/// Looks whether something is there that only driving brings about. Who has just driven, or is
/// about to, need not be woken from there; nor may the end of a task's turn, which counts on
/// such a waking, hide what is there.
fn glance<F: Future + Unpin>(future: F) -> Poll<F::Output> {
    pin!(unconstrained(future)).poll(&mut Context::from_waker(Waker::noop()))
}
