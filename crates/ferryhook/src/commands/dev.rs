//! `ferryhook dev`: a server for one person at one machine, with something to look at.
//!
//! It listens to this machine only and may deliver to it. On a new data directory it makes a
//! source with a connection to its own receiver, and sends itself a first event.

mod demo;
mod lines;

use std::io;
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr};

use anyhow::{Context, ensure};
use ferryhook_api::auth::{Signup, setup};
use ferryhook_api::limiter::Rates;
use ferryhook_core::Env;
use ferryhook_net::client::Guard;
use ipnet::{IpNet, Ipv4Net, Ipv6Net};
use tokio::net::TcpListener;

use crate::cli::Dev;
use crate::client::local;
use crate::config::{Config, Origin, StoreKind, Values};
use crate::server::{self, Signals};
use crate::telemetry;
use crate::wire::{Purpose, wire};

use lines::{Lines, Startup};

/// How many ports to look at when the one that was asked for is busy.
const PORTS_MAX: u16 = 50;

/// This machine, by either protocol.
const LOOPBACK: [IpNet; 2] = [
    IpNet::V4(Ipv4Net::new_assert(Ipv4Addr::new(127, 0, 0, 0), 8)),
    IpNet::V6(Ipv6Net::new_assert(Ipv6Addr::LOCALHOST, 128)),
];

pub fn run(asked: &Dev) -> anyhow::Result<()> {
    let (mut config, values) = Config::load(&asked.flags)?;
    ensure!(
        config.listen.ip().is_loopback(),
        "dev listens to this machine only, and {} (setting listen, from {}) is open to others; \
         that is what ferryhook serve is for",
        config.listen,
        values.origin("listen"),
    );
    config.destinations_allow.0.extend(LOOPBACK);
    if *values.origin("signup") == Origin::Default {
        // One person at one machine: there is nobody to keep out.
        config.sign_in.signup = Signup::Open;
    }
    if *values.origin("api.requestsPerMinute") == Origin::Default {
        // Who watches and types and clicks at the same time uses one key for all of it.
        config.api_rates = Rates { of_key: None, of_person: None };
    }
    let lines = Lines::to_stdout();
    telemetry::log(log_filter(&config, &values, lines));
    server::raise_file_limit();
    server::runtime()?.block_on(dev(&config, lines, asked.no_demo))
}

/// A person sees the events; of the log only what is wrong, unless they asked for more.
fn log_filter<'a>(config: &'a Config, values: &Values, lines: Lines) -> &'a str {
    match (lines, values.origin("log")) {
        (Lines::ForPeople, Origin::Default) => "warn",
        _ => &config.log,
    }
}

async fn dev(config: &Config, lines: Lines, no_demo: bool) -> anyhow::Result<()> {
    let signals = Signals::listen()?;
    let listener = bind(config.listen).await?;
    let address = listener.local_addr()?;
    let asked = config.listen;
    let config = &Config { listen: address, ..config.clone() };
    let env = Env::system();
    let wired = wire(config, env.clone(), Purpose::Development).await?;

    let guard = Guard::new(config.destinations_allow.0.clone());
    let sample = match no_demo {
        true => None,
        false => demo::make(&wired.store, &env, &guard, address, &*wired.bell).await?,
    };
    demo::follow(&wired.store, address, &*wired.bell).await?;
    let busy = (asked.port() != 0 && asked != address).then(|| asked.port());
    let sources = demo::look(&wired.store).await?;
    let setup = setup::link(&wired.store, &env, &config.base_url()).await?;
    lines.start(&Startup::new(config, busy, setup, &sources));

    if config.store == StoreKind::Embedded {
        local::note(&config.data);
    }

    let (happenings, stop) = (wired.courier.listen(), wired.tasks.stopping());
    wired.tasks.spawn("lines", lines.tell(env.clone(), happenings, stop));
    if let Some(source) = sample {
        wired.tasks.spawn("sample", async move {
            match demo::send(address, source).await {
                Ok(()) => {}
                Err(error) => lines.note(&format!("the first event was not taken: {error:#}")),
            }
        });
    }
    server::run(config, &env, listener, wired, signals).await
}

/// The port that was asked for, or the next one that is free.
async fn bind(asked: SocketAddr) -> anyhow::Result<TcpListener> {
    let mut address = asked;
    for _ in 0..PORTS_MAX {
        match TcpListener::bind(address).await {
            Err(error) if error.kind() == io::ErrorKind::AddrInUse => {}
            bound => return bound.with_context(|| format!("cannot listen on {address}")),
        }
        let Some(next) = address.port().checked_add(1) else { break };
        address.set_port(next);
    }
    anyhow::bail!("{asked} and the ports behind it are busy; name another with --listen")
}
