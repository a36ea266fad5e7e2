//! `ferryhook serve`: runs until SIGTERM or SIGINT, then finishes what has begun.

use std::io::{self, Write};
use std::net::SocketAddr;

use anyhow::anyhow;
use ferryhook_api::auth::setup;
use ferryhook_core::Env;
use tokio::net::TcpListener;

use crate::config::{Config, Flags, Values};
use crate::server::{self, Signals};
use crate::telemetry;
use crate::wire::{Purpose, wire};

pub fn run(flags: &Flags) -> anyhow::Result<()> {
    let (config, values) = Config::load(flags)?;
    telemetry::log(&config.log);
    server::raise_file_limit();
    server::runtime()?.block_on(serve(&config, &values))
}

async fn serve(config: &Config, values: &Values) -> anyhow::Result<()> {
    let signals = Signals::listen()?;
    let listener = bind(config.listen, values).await?;
    let config = &Config { listen: listener.local_addr()?, ..config.clone() };
    let env = Env::system();
    let wired = wire(config, env.clone(), Purpose::Serving).await?;
    let allowed = &config.destinations_allow;
    if !allowed.0.is_empty() {
        // Whoever reads the log should know that the fence has a gate.
        tracing::info!(networks = %allowed, "deliveries may go to networks that are not public");
    }
    let setup = setup::link(&wired.store, &env, &config.base_url()).await?;
    greet(config, setup.as_deref());
    server::run(config, &env, listener, wired, signals).await
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
fn greet(config: &Config, setup: Option<&str>) {
    let setup = setup.map(|link| format!("\n  set up {link} (once, within 30 minutes)"));
    let _ = writeln!(
        io::stdout(),
        "ferryhook {}\n  url   http://{}{}\n  data  {} ({} store)",
        env!("CARGO_PKG_VERSION"),
        config.listen,
        setup.unwrap_or_default(),
        config.place(),
        config.store,
    );
}
