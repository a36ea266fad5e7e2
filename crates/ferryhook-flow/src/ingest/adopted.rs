//! Work that outlives its caller.
//!
//! The server drops a request's future when its client goes away. Between the commit of an event
//! and its hand-over that must not happen. Giving each such step a task of its own would do, and
//! costs two switches for every event; so the step runs inside the request, and only when the
//! request is dropped does the unfinished rest become a task.

use std::pin::Pin;
use std::task::{Context, Poll};

use ferryhook_net::Tasks;
use futures_util::future::BoxFuture;
use tokio::runtime::Handle;

pub(super) struct Adopted<T: 'static> {
    /// Gone when it is done.
    work: Option<BoxFuture<'static, T>>,
    tasks: Tasks,
}

/// Runs `work` to its end, whatever becomes of whoever waits for it.
pub(super) fn to_its_end<T>(
    tasks: &Tasks,
    work: impl Future<Output = T> + Send + 'static,
) -> Adopted<T> {
    Adopted { work: Some(Box::pin(work)), tasks: tasks.clone() }
}

impl<T> Future for Adopted<T> {
    type Output = T;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<T> {
        // Taken out meanwhile: work that panics is not to be taken up again.
        let Some(mut work) = self.work.take() else {
            return Poll::Pending; // asked again after it was done
        };
        let done = work.as_mut().poll(context);
        if done.is_pending() {
            self.work = Some(work);
        }
        done
    }
}

impl<T> Drop for Adopted<T> {
    fn drop(&mut self) {
        let Some(work) = self.work.take() else { return };
        // Without a runtime the process is at its end, and the store is what remembers.
        if Handle::try_current().is_ok() {
            self.tasks.spawn("finish a request", async move { drop(work.await) });
        }
    }
}
