//! Background work that somebody owns.
//!
//! A task spawned here is waited for at shutdown, and its panic is told at once and does not
//! disappear in a dropped handle. `clippy.toml` refuses `tokio::spawn` elsewhere.

use std::future::Future;
use std::panic::AssertUnwindSafe;
use std::pin::pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use futures_util::FutureExt;
use tokio::runtime::Handle;
use tokio::sync::Notify;
use tokio::task::JoinSet;

/// A set of running tasks; clones share it. Dropping the last clone aborts what still runs.
#[derive(Debug, Clone, Default)]
pub struct Tasks {
    running: Arc<Mutex<JoinSet<()>>>,
    stop: Arc<Asking>,
    /// Whose threads they run on; else on those of whoever spawns them.
    runtime: Option<Handle>,
    /// The same for those that let others go first.
    behind: Option<Handle>,
}

/// Those who can ask for an end. When nobody is left who could, that is an end as well.
#[derive(Debug, Default)]
struct Asking(Arc<Stop>);

/// Wakes whoever waits for it in the order in which they came, so that a simulation can repeat
/// the end of a run as well.
#[derive(Debug, Default)]
struct Stop {
    asked: AtomicBool,
    bell: Notify,
}

impl Stop {
    fn ask(&self) {
        self.asked.store(true, Ordering::Release);
        self.bell.notify_waiters();
    }
}

impl Drop for Asking {
    fn drop(&mut self) {
        self.0.ask();
    }
}

impl Tasks {
    pub fn new() -> Self {
        Self::default()
    }

    /// Tasks that run on the threads of these runtimes, whoever spawns them; the second, where there
    /// is one, is for those that let others go first.
    pub fn on(runtime: Handle, behind: Option<Handle>) -> Self {
        Self { runtime: Some(runtime), behind, ..Self::default() }
    }

    /// Runs `work` beside the caller. `name` is for the log, should it panic.
    pub fn spawn(&self, name: &'static str, work: impl Future<Output = ()> + Send + 'static) {
        self.spawn_at(self.runtime.as_ref(), name, work);
    }

    /// The same for work that can wait until there is nothing else to do.
    pub fn spawn_behind(
        &self,
        name: &'static str,
        work: impl Future<Output = ()> + Send + 'static,
    ) {
        self.spawn_at(self.behind.as_ref().or(self.runtime.as_ref()), name, work);
    }

    fn spawn_at(
        &self,
        runtime: Option<&Handle>,
        name: &'static str,
        work: impl Future<Output = ()> + Send + 'static,
    ) {
        // In a box: a task moves its work half a dozen times. And not a block with an `await`, which
        // would have room for it twice.
        let told = AssertUnwindSafe(work.boxed()).catch_unwind().map(move |ended| {
            if ended.is_err() {
                tracing::error!(task = name, "a task panicked");
            }
        });
        let mut running = self.running.lock().unwrap_or_else(PoisonError::into_inner);
        while running.try_join_next().is_some() {} // forget those that are done
        match runtime {
            Some(runtime) => running.spawn_on(told, runtime),
            None => running.spawn(told),
        };
    }

    /// Resolves when the tasks are asked to come to an end. A task that loops selects on it.
    pub fn stopping(&self) -> impl Future<Output = ()> + Send + use<> {
        let stop = self.stop.0.clone();
        async move {
            let mut rung = pin!(stop.bell.notified());
            rung.as_mut().enable(); // before the look, so that nothing falls in between
            if !stop.asked.load(Ordering::Acquire) {
                rung.await;
            }
        }
    }

    /// Asks every task to end and waits until it has, those included that are spawned
    /// meanwhile. After `grace` the rest is aborted; says how many those were.
    pub async fn finish(&self, grace: Duration) -> usize {
        self.stop.0.ask();
        let deadline = tokio::time::sleep(grace);
        tokio::pin!(deadline);
        loop {
            let mut batch = self.take();
            if batch.is_empty() {
                return 0;
            }
            tokio::select! {
                () = async { while batch.join_next().await.is_some() {} } => {}
                () = &mut deadline => {
                    let mut late = self.take();
                    let cut = batch.len() + late.len();
                    batch.shutdown().await;
                    late.shutdown().await;
                    return cut;
                }
            }
        }
    }

    fn take(&self) -> JoinSet<()> {
        std::mem::take(&mut self.running.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

#[cfg(test)]
mod tests;
