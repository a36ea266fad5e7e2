//! A server from its first accepted connection to its last: what `serve` and `dev` share.

use std::sync::OnceLock;
use std::time::Duration;

use anyhow::{Context, bail};
use ferryhook_core::Env;
use ferryhook_net::Bounds;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use tokio::net::TcpListener;
use tokio::signal::unix::{Signal, SignalKind, signal};

use crate::config::Config;
use crate::wire::Wired;

/// From the moment when no connection is taken any more: for requests and attempts together, since
/// orchestrators grant 30 seconds for everything. If that is not enough, a kill loses nothing.
const DRAIN: Duration = Duration::from_secs(20);
/// What attempts have in any case, to be written down.
const ATTEMPTS_LEAST: Duration = Duration::from_secs(2);
/// For background work after that, for what it leaves to the courier, and for the threads behind.
const TASKS_GRACE: Duration = Duration::from_secs(3);
const REST_GRACE: Duration = Duration::from_secs(1);

/// Serves until a signal comes, then finishes what has begun.
pub async fn run(
    config: &Config,
    env: &Env,
    listener: TcpListener,
    wired: Wired,
    mut signals: Signals,
) -> anyhow::Result<()> {
    let stopped_at = OnceLock::new();
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
        stopped_at.get_or_init(|| env.elapsed());
    };
    let bounds = Bounds { drain: DRAIN, ..Bounds::default() };
    let cut = ferryhook_net::serve(listener, front, bounds, stop).await;
    let drained = stopped_at.get().map(|at| env.elapsed().saturating_sub(*at));
    let left = left_for_attempts(drained.unwrap_or_default());
    let unfinished = courier.finish_within(left).await + tasks.finish(TASKS_GRACE).await;
    // What those have left to it.
    let unfinished = unfinished + courier.finish_within(REST_GRACE).await;
    carriers.end(REST_GRACE).await;
    drop((courier, readiness, store, bell)); // the last to know the store, which closes here
    if cut + unfinished > 0 {
        bail!("stopped with {cut} connections and {unfinished} tasks unfinished");
    }
    tracing::info!("stopped");
    Ok(())
}

/// Of the time that the connections have not needed.
fn left_for_attempts(drained: Duration) -> Duration {
    DRAIN.saturating_sub(drained).max(ATTEMPTS_LEAST)
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

#[cfg(test)]
mod tests {
    use super::*;

    /// What orchestrators grant before they kill, with something left for the store to close.
    const GRANTED: Duration = Duration::from_secs(30);

    #[test]
    fn a_stop_takes_less_than_is_granted_whoever_takes_their_time() {
        for seconds in 0..=DRAIN.as_secs() {
            let drained = Duration::from_secs(seconds);
            let attempts = left_for_attempts(drained);
            let behind = TASKS_GRACE + REST_GRACE + REST_GRACE;
            assert!(drained + attempts + behind + Duration::from_secs(2) < GRANTED, "{seconds}");
        }
        assert_eq!(left_for_attempts(Duration::ZERO), DRAIN);
        assert_eq!(left_for_attempts(DRAIN), ATTEMPTS_LEAST);
    }
}
