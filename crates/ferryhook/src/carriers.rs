//! Carriers: the threads that deliver what has waited in the store.
//!
//! What has just come in goes out from the threads that took it. A backlog is work for every thread
//! there is, and whoever sends an event meanwhile would wait behind it: so it has threads of its
//! own, which let the others go first. Only for half of the processors: the more of them there are,
//! the more often one is interrupted while it has a lock that one of the others needs. On DynamoDB
//! there are none: its client has connections that all share, each driven by who opened it.

use std::time::Duration;

use anyhow::Context;
use ferryhook_flow::priority::Thread;
use ferryhook_net::Tasks;
use tokio::runtime::{Builder, Handle, Runtime};

use crate::config::StoreKind;

/// Where nobody ends them they go when it is dropped, and what they do is not waited for.
#[derive(Debug)]
pub struct Carriers(Option<Runtime>);

impl Carriers {
    pub fn start(store: StoreKind) -> anyhow::Result<Self> {
        if store == StoreKind::Dynamodb {
            return Ok(Self(None));
        }
        let processors = std::thread::available_parallelism().map_or(1, usize::from);
        let threads = Builder::new_multi_thread()
            .worker_threads((processors / 2).max(1))
            .thread_name("carrier")
            .on_thread_start(|| Thread::own().stand_back())
            .enable_all()
            .build();
        Ok(Self(Some(threads.context("cannot start the threads of deliveries")?)))
    }

    /// What is urgent runs on the threads of whoever asks for this.
    pub fn tasks(&self) -> Tasks {
        let behind = self.0.as_ref().map(|runtime| runtime.handle().clone());
        Tasks::on(Handle::current(), behind)
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
