//! What the measured server finds in its directory: an account with sources, connections, keys,
//! replays, and a month of events.
//!
//! Written through the store and not through the door, many events in each commit, so that a
//! million of them is a matter of minutes.

mod history;

use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;

use anyhow::Context;
use ferryhook_core::id::{ConnectionId, EventId, SourceId};
use ferryhook_core::key::PlainKey;
use ferryhook_core::replay::{Filter, Selection};
use ferryhook_core::{Env, Replay, replay};
use ferryhook_store::Store;
use ferryhook_store::engine::embedded::{Embedded, EmbeddedConfig};
use futures_util::future::try_join_all;

use crate::commands::bench::setup::Owner;
use history::History;

pub use history::RARE_TYPE;

/// Clients, each with a key of its own.
const KEYS: usize = 32;
const REPLAYS: usize = 60;
/// Commits that are under way at a time, and the events of each.
const TOGETHER: usize = 8;
const BATCH: u32 = 90;
/// Events that are asked for by their id are some of these.
const KNOWN_MAX: u32 = 20_000;
/// How often the filling says how far it is.
const TOLD: u32 = 10;

/// How much is to be there.
#[derive(Debug, Clone, Copy)]
pub struct Extent {
    pub events: u32,
    pub sources: usize,
}

/// What can be asked for.
#[derive(Debug, Default)]
pub struct Stock {
    pub keys: Vec<PlainKey>,
    pub sources: Vec<SourceId>,
    pub connections: Vec<ConnectionId>,
    pub events: Vec<EventId>,
}

pub async fn fill(data: &Path, extent: Extent, env: &Env) -> anyhow::Result<Stock> {
    let engine = Embedded::open(EmbeddedConfig::new(data), env.clone())?;
    let store = Store::new(Arc::new(engine), env.clone());
    let owner = Owner::sign_up(&store, env).await?;
    let nowhere = SocketAddr::from(([127, 0, 0, 1], 9));
    let ways = owner.ways(&store, extent.sources, nowhere, env).await?;
    let mut stock = Stock {
        keys: keys(&store, &owner, env).await?,
        sources: ways.iter().map(|(source, _)| source.id).collect(),
        connections: ways.iter().map(|(_, connection)| connection.id).collect(),
        events: Vec::new(),
    };
    replays(&store, &owner, env).await?;
    let mut history = History::new(ways, extent.events, env.clone());
    let known_every = extent.events.div_ceil(KNOWN_MAX);
    let (mut next, mut told) = (0, 0);
    while next < extent.events {
        let mut some = Vec::with_capacity(TOGETHER);
        while some.len() < TOGETHER && next < extent.events {
            let end = (next + BATCH).min(extent.events);
            some.push((next..end).map(|number| history.moment(number)).collect::<Vec<_>>());
            let known = (next..end).zip(&some[some.len() - 1]);
            let known = known.filter(|(number, _)| number % known_every == 0);
            stock.events.extend(known.map(|(_, moment)| moment.event.id));
            next = end;
        }
        try_join_all(some.iter().map(|moments| history::write(&store, moments)))
            .await
            .context("cannot store the events")?;
        if u64::from(next) * u64::from(TOLD) / u64::from(extent.events) > told {
            told = u64::from(next) * u64::from(TOLD) / u64::from(extent.events);
            eprintln!("stored {next} of {} events", extent.events);
        }
    }
    Ok(stock)
}

async fn keys(store: &Store, owner: &Owner, env: &Env) -> anyhow::Result<Vec<PlainKey>> {
    let mut keys = Vec::with_capacity(KEYS);
    for number in 0..KEYS {
        keys.push(owner.key(store, &format!("Bench {number}"), env).await?);
    }
    Ok(keys)
}

/// All of them over, or the server would begin with them.
async fn replays(store: &Store, owner: &Owner, env: &Env) -> anyhow::Result<()> {
    for _ in 0..REPLAYS {
        let selection = Selection::Filter { filter: Filter::default() };
        let replay = Replay::new(owner.account, selection, Vec::new(), 100, env)?;
        let state = replay::State::Done { ended_at: owner.now };
        store.replays().create(&Replay { state, ..replay }).await?;
    }
    Ok(())
}
