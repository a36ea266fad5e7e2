//! A server from its first accepted connection to its last: what `serve` and `dev` share.

use std::time::Duration;

use anyhow::{Context, bail};
use ferryhook_net::Bounds;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use tokio::net::TcpListener;
use tokio::signal::unix::{Signal, SignalKind, signal};

use crate::config::Config;
use crate::wire::Wired;

/// For background work after the last connection has gone and the last attempt has ended; both are
/// bounded by themselves. Orchestrators that grant 30 seconds rarely see more than that, and if
/// they do, a kill loses nothing.
const TASKS_GRACE: Duration = Duration::from_secs(5);

/// Serves until a signal comes, then finishes what has begun.
pub async fn run(
    config: &Config,
    listener: TcpListener,
    wired: Wired,
    mut signals: Signals,
) -> anyhow::Result<()> {
    let Wired { front, courier, readiness, tasks, carriers, store, bell, streams } = wired;
    let stop = async {
        signals.next().await;
        tracing::info!("stopping");
        readiness.drain();
        // Time for load balancers to see that we are no longer ready.
        tokio::select! {
            () = tokio::time::sleep(config.shutdown_delay) => {}
            () = signals.next() => {}
        }
        // Those who listen or read a stream would else keep their connections.
        courier.hang_up();
        streams.close();
    };
    let cut = ferryhook_net::serve(listener, front, Bounds::default(), stop).await;
    let unfinished = courier.finish().await + tasks.finish(TASKS_GRACE).await;
    let unfinished = unfinished + courier.finish().await; // what those have left to it
    carriers.end(TASKS_GRACE).await;
    drop((courier, readiness, store, bell)); // the last to know the store, which closes here
    if cut + unfinished > 0 {
        bail!("stopped with {cut} connections and {unfinished} tasks unfinished");
    }
    tracing::info!("stopped");
    Ok(())
}

pub fn runtime() -> anyhow::Result<tokio::runtime::Runtime> {
    tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .context("cannot start the runtime")
}

/// Each connection is a file, and systems begin with a limit that suits an editor. As many as we
/// may have without asking anyone.
pub fn raise_file_limit() {
    let Rlimit { current, maximum } = getrlimit(Resource::Nofile);
    if current == maximum {
        return;
    }
    let raised = Rlimit { current: maximum, maximum };
    if let Err(error) = setrlimit(Resource::Nofile, raised) {
        tracing::warn!(%error, ?current, "cannot raise the number of open files");
    }
}

/// What tells us to stop. Listening begins before anything is opened that wants to be closed.
#[derive(Debug)]
pub struct Signals {
    terminate: Signal,
    interrupt: Signal,
}

impl Signals {
    pub fn listen() -> anyhow::Result<Self> {
        let listen = |kind| signal(kind).context("cannot listen for signals");
        Ok(Self {
            terminate: listen(SignalKind::terminate())?,
            interrupt: listen(SignalKind::interrupt())?,
        })
    }

    async fn next(&mut self) {
        tokio::select! {
            _ = self.terminate.recv() => {}
            _ = self.interrupt.recv() => {}
        }
    }
}
