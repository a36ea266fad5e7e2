//! `ferryhook serve`: runs until SIGTERM or SIGINT, then finishes what has begun.

use std::io::{self, Write};
use std::net::SocketAddr;
use std::time::Duration;

use anyhow::{Context, anyhow, bail};
use ferryhook_core::Env;
use ferryhook_net::Bounds;
use tokio::net::TcpListener;
use tokio::signal::unix::{Signal, SignalKind, signal};

use crate::config::{Config, Flags, StoreKind, Values};
use crate::{telemetry, wire};

/// For background work after the last connection has gone. With the drain of the connections
/// it stays below the 30 seconds that orchestrators usually grant.
const TASKS_GRACE: Duration = Duration::from_secs(5);

pub fn run(flags: &Flags) -> anyhow::Result<()> {
    let (config, values) = Config::load(flags)?;
    telemetry::log(&config.log);
    tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .context("cannot start the runtime")?
        .block_on(serve(&config, &values))
}

async fn serve(config: &Config, values: &Values) -> anyhow::Result<()> {
    let mut signals = Signals::listen()?;
    let listener = bind(config.listen, values).await?;
    let wired = wire::wire(config, Env::system()).await?;
    greet(config, listener.local_addr()?);

    let stop = async {
        signals.next().await;
        tracing::info!("stopping");
        wired.readiness.drain();
        // Time for load balancers to see that we are no longer ready.
        tokio::select! {
            () = tokio::time::sleep(config.shutdown_delay) => {}
            () = signals.next() => {}
        }
    };
    let cut = ferryhook_net::serve(listener, wired.front, Bounds::default(), stop).await;
    let unfinished = wired.courier.finish().await + wired.tasks.finish(TASKS_GRACE).await;
    drop(wired.courier);
    drop(wired.readiness); // the last to know the store, which closes here
    if cut + unfinished > 0 {
        bail!("stopped with {cut} connections and {unfinished} tasks unfinished");
    }
    tracing::info!("stopped");
    Ok(())
}

async fn bind(address: SocketAddr, values: &Values) -> anyhow::Result<TcpListener> {
    TcpListener::bind(address).await.map_err(|error| {
        let origin = values.origin("listen");
        match error.kind() {
            io::ErrorKind::AddrInUse => anyhow!(
                "port {} is busy: something else listens on {address} (setting listen, from \
                 {origin}); choose another with --listen or FERRYHOOK_LISTEN",
                address.port()
            ),
            _ => anyhow!("cannot listen on {address} (setting listen, from {origin}): {error}"),
        }
    })
}

/// Tells the person at the terminal where we are. Nobody there is fine too.
fn greet(config: &Config, address: SocketAddr) {
    let data = match config.store {
        StoreKind::Embedded => config.data.display().to_string(),
        StoreKind::Dynamodb => format!("tables {}*", config.dynamo.table_prefix),
        StoreKind::Memory => "NOT KEPT".to_owned(),
    };
    let _ = writeln!(
        io::stdout(),
        "ferryhook {}\n  url   http://{address}\n  data  {data} ({} store)",
        env!("CARGO_PKG_VERSION"),
        config.store,
    );
}

struct Signals {
    terminate: Signal,
    interrupt: Signal,
}

impl Signals {
    fn listen() -> anyhow::Result<Self> {
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
