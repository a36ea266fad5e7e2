//! Carriers: the threads that deliveries run on.
//!
//! Not those that answer requests: a backlog that is being delivered is work for every thread there
//! is, and whoever sends an event meanwhile would wait behind it. The system shares the processors
//! between the two.

use std::time::Duration;

use anyhow::Context;
use ferryhook_net::Tasks;
use tokio::runtime::{Builder, Runtime};

/// Where nobody ends them they go when it is dropped, and what they do is not waited for.
#[derive(Debug)]
pub struct Carriers(Option<Runtime>);

impl Carriers {
    pub fn start() -> anyhow::Result<Self> {
        let threads = Builder::new_multi_thread().thread_name("carrier").enable_all().build();
        Ok(Self(Some(threads.context("cannot start the threads of deliveries")?)))
    }

    pub fn tasks(&self) -> Tasks {
        self.0.as_ref().map_or_else(Tasks::new, |runtime| Tasks::on(runtime.handle().clone()))
    }

    /// Waits until each has put down what it holds, but no longer than `grace`.
    pub async fn end(mut self, grace: Duration) {
        if let Some(runtime) = self.0.take() {
            let ending = tokio::task::spawn_blocking(move || runtime.shutdown_timeout(grace));
            let _ = ending.await; // it fails only by a panic, which is told
        }
    }
}

impl Drop for Carriers {
    fn drop(&mut self) {
        // To wait is not allowed where this happens: on a thread of another runtime.
        if let Some(runtime) = self.0.take() {
            runtime.shutdown_background();
        }
    }
}
