//! Scripts: the threads that transforms in JavaScript run on.
//!
//! Asked by `attempt` and by whoever tries a transform out. A script has its processor to itself
//! as long as it runs, so it never does on the threads of the runtime. Connections whose scripts
//! are quick have threads of their own and never wait for one that is not (`line`); a script that
//! overstays there is stopped and begins anew among the others, which it can because it has no
//! effect. One that does not come back is answered for by a watcher, and its thread is replaced;
//! its connection then has a rest, longer each time (`rests`). Never retries anything: a failed
//! transform is a failed attempt, and those have their schedule.

pub mod limits;
mod line;
mod rests;
mod threads;

use std::sync::Arc;

use ferryhook_core::transform::{Fault, Shaped, Transform, TransformError};
use ferryhook_core::{Connection, Env, Event, Id};
use tokio::sync::oneshot;

use threads::{Job, Threads, Work};

type Answer = Result<Shaped, TransformError>;

/// Clones share the threads, which end with the last clone. All but the one that starts the others
/// start when they are needed.
#[derive(Debug, Clone)]
pub struct Scripts(Arc<Handle>);

#[derive(Debug)]
struct Handle(Arc<Threads>);

impl Drop for Handle {
    fn drop(&mut self) {
        self.0.stop();
    }
}

impl Default for Scripts {
    /// As many threads as there are processors, within reason: at least one for those that are
    /// quick, one that a single connection can hold, and one for the others.
    fn default() -> Self {
        let processors = std::thread::available_parallelism().map_or(1, usize::from);
        Self::new(processors.clamp(3, limits::THREADS_MAX))
    }
}

impl Scripts {
    /// At least two, so that there is one to spare.
    pub fn new(threads: usize) -> Self {
        Self::with(threads, Env::system())
    }

    /// With a clock of the caller's, by which runs are overdue.
    pub fn with(threads: usize, env: Env) -> Self {
        Self(Arc::new(Handle(Arc::new(Threads::new(threads.max(2), env)))))
    }

    /// Applies a transform, here if that is quick and on a thread of its own if it may not be.
    pub async fn run(
        &self,
        connection: Id<Connection>,
        transform: Arc<Transform>,
        event: &Event,
    ) -> Answer {
        if !transform.needs_thread() {
            return transform.apply(event);
        }
        let event = event.clone();
        let work = {
            let transform = transform.clone();
            Arc::new(move |most| transform.apply_within(&event, most))
        };
        self.submit(connection, transform, work).await
    }

    async fn submit(
        &self,
        connection: Id<Connection>,
        transform: Arc<Transform>,
        work: Work,
    ) -> Answer {
        let (reply, answer) = oneshot::channel();
        self.0.0.take(connection, Job { transform, work, reply })?;
        answer.await.unwrap_or_else(|_| Err(Fault::Stopping.into()))
    }

    /// No script begins any more; those that wait are turned away. Those that run come to their
    /// end, which is not waited for.
    pub fn stop(&self) {
        self.0.0.stop();
    }

    /// Runs that have begun so far.
    #[cfg(test)]
    pub(crate) fn begun(&self) -> u64 {
        self.0.0.begun()
    }
}

#[cfg(test)]
mod tests;
