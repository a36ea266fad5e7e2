//! A deadline that moves with every request and is hardly ever reached.
//!
//! The runtime keeps its timers under a lock that all of its threads share. To set one for each
//! request and to take it back would be two turns of that lock, and two more for each call. So an
//! alarm that was set stays set as long as it does not come too late; if it comes too early it is
//! set anew.

use std::future::poll_fn;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, ready};
use std::time::Duration;

use hyper::rt;
use tokio::task::unconstrained;
use tokio::time::{Instant, Sleep, sleep};

/// Until it is set for the first time; any deadline is earlier.
const NEVER: Duration = Duration::from_secs(365 * 24 * 60 * 60);

#[derive(Debug)]
pub(crate) struct Alarm(Pin<Box<Sleep>>);

impl Alarm {
    pub(crate) fn new() -> Self {
        Self(Box::pin(sleep(NEVER)))
    }

    /// Ready from `deadline` on; who asks is woken then, and now and then before.
    pub(crate) fn poll(&mut self, deadline: Instant, context: &mut Context<'_>) -> Poll<()> {
        if self.0.is_elapsed() || self.0.deadline() > deadline {
            self.0.as_mut().reset(deadline);
        }
        loop {
            ready!(self.0.as_mut().poll(context));
            if self.0.deadline() >= deadline {
                return Poll::Ready(());
            }
            self.0.as_mut().reset(deadline); // it was set for something before
        }
    }

    /// What comes of `work`, unless it takes too long.
    pub(crate) async fn within<F: Future>(
        &mut self,
        time: Duration,
        mut work: Pin<&mut F>,
    ) -> Option<F::Output> {
        let deadline = now() + time;
        poll_fn(|context| {
            if let Poll::Ready(done) = work.as_mut().poll(context) {
                return Poll::Ready(Some(done));
            }
            // Work that has used up its turn must not keep time from passing.
            let alarm = poll_fn(|context| self.poll(deadline, context));
            std::pin::pin!(unconstrained(alarm)).poll(context).map(|()| None)
        })
        .await
    }
}

/// For hyper, which makes a timer anew for the head of each request: those of one connection share
/// an alarm, because only one of them ever runs.
#[derive(Clone)]
pub(crate) struct HeadTimer(Arc<Mutex<Alarm>>);

impl HeadTimer {
    pub(crate) fn new() -> Self {
        Self(Arc::new(Mutex::new(Alarm::new())))
    }
}

impl rt::Timer for HeadTimer {
    fn sleep(&self, time: Duration) -> Pin<Box<dyn rt::Sleep>> {
        self.sleep_until((now() + time).into())
    }

    fn sleep_until(&self, deadline: std::time::Instant) -> Pin<Box<dyn rt::Sleep>> {
        Box::pin(Head { alarm: self.0.clone(), deadline: deadline.into() })
    }

    fn now(&self) -> std::time::Instant {
        now().into()
    }
}

struct Head {
    alarm: Arc<Mutex<Alarm>>,
    deadline: Instant,
}

impl Future for Head {
    type Output = ();

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        let mut alarm = self.alarm.lock().unwrap_or_else(PoisonError::into_inner);
        alarm.poll(self.deadline, context)
    }
}

impl rt::Sleep for Head {}

#[expect(clippy::disallowed_methods, reason = "timers go by the runtime's clock, not by ours")]
fn now() -> Instant {
    Instant::now()
}

#[cfg(test)]
mod tests;
