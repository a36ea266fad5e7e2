//! `ferryhook bench --inbox`: how fast an inbox is emptied, beside how fast it was filled.
//!
//! One server on a temporary directory takes so many events in at its door, each with an item for
//! those who fetch. Then the first and a far page of the inbox are read in turns, and at last
//! workers lease and acknowledge until nothing is left. All of it happens in one run, because only
//! the ratios can be compared.

mod answers;
mod figures;
pub mod table;
mod workers;

use std::sync::Arc;
use std::time::Duration;

use anyhow::Context;
use ferryhook_core::connection::DestinationType;
use ferryhook_core::{Connection, Env};
use ferryhook_store::Store;
use ferryhook_store::engine::embedded::{Embedded, EmbeddedConfig};

use super::child::Server;
use super::figures::Percentiles;
use super::letter;
use super::line::Line;
use super::load::{Load, Numbers, Until};
use super::scratch::Scratch;
use super::setup::Owner;
use crate::cli::Bench;
use answers::Page;
use figures::{Fetched, Ingested, Pages, Report};

const EVENTS: u32 = 1_000_000;
const CONNECTIONS: usize = 64;
const WORKERS: usize = 16;
const AT_ONCE: usize = 100;
/// The far page, where there are so many; and how often each page is read.
const FAR_PAGE: u32 = 1000;
const READS: usize = 200;

pub async fn measure(asked: &Bench, cores: usize) -> anyhow::Result<Report> {
    let env = Env::system();
    let scratch = Scratch::make(&asked.directory, &env)?;
    let data = scratch.path().join("data");
    let events = asked.events.unwrap_or(EVENTS);
    let (door, key) = configure(&data, &env).await?;

    let serve = ["serve", LISTEN, UNLIMITED, "--log=warn", "--data"].map(AsRef::as_ref);
    let serve = [serve.as_slice(), &[data.as_os_str()]].concat();
    let server = Server::start(&serve, scratch.path())?;
    let doors: Arc<[String]> = [door].into();
    let numbers = Numbers::default();
    let mut load = Load::open(server.address, &doors, CONNECTIONS, &numbers, &env).await?;
    eprintln!("taking {events} events in");
    let sent = load.press(Until::Count(events)).await?;
    let mut failures: Vec<_> = sent
        .failures
        .iter()
        .map(|(what, times)| format!("taking in: {what}, {times} times"))
        .collect();
    let took = sent.ended.saturating_sub(sent.began);
    let answered = sent.answered.iter();
    let ingested = Ingested {
        events: sent.answered.len(),
        events_per_second: rate(sent.answered.len(), took),
        ack_ms: Percentiles::of(answered.map(|one| one.answered_at - one.sent_at)),
    };
    drop(load);
    server.settle().await;

    let mut line = Line::open(server.address, &key, &env).await?;
    eprintln!("reading pages");
    let pages = read_pages(&mut line).await?;
    server.settle().await;

    eprintln!("fetching with {WORKERS} workers");
    let emptied = workers::run(server.address, &key, (WORKERS, AT_ONCE), &env).await?;
    if emptied.acknowledged != ingested.events {
        let (all, done) = (ingested.events, emptied.acknowledged);
        failures.push(format!("fetching: {done} of {all} events were acknowledged"));
    }
    failures.extend(emptied.failures);
    let fetched = Fetched {
        workers: WORKERS,
        at_once: AT_ONCE,
        events: emptied.acknowledged,
        events_per_second: rate(emptied.acknowledged, emptied.took),
        lease_ms: Percentiles::of(emptied.leases.into_iter()),
        ack_ms: Percentiles::of(emptied.acks.into_iter()),
    };
    Ok(Report {
        version: env!("CARGO_PKG_VERSION"),
        optimized: !cfg!(debug_assertions),
        cores,
        body_bytes: letter::BODY_BYTES,
        fetched_to_ingested: fetched.events_per_second / ingested.events_per_second,
        ingested,
        fetched,
        pages,
        failures,
    })
}

fn rate(events: usize, took: Duration) -> f64 {
    events as f64 / took.as_secs_f64().max(f64::EPSILON)
}

/// The address of a source whose events are only to be fetched, and a key to fetch them with.
async fn configure(data: &std::path::Path, env: &Env) -> anyhow::Result<(String, String)> {
    let engine = Embedded::open(EmbeddedConfig::new(data), env.clone())?;
    let store = Store::new(Arc::new(engine), env.clone());
    let owner = Owner::sign_up(&store, env).await?;
    let (source, connection) = owner.way(0, std::net::SocketAddr::from(([127, 0, 0, 1], 9)), env);
    let connection = Connection {
        destination_type: DestinationType::Inbox,
        destination_url: None,
        ..connection
    };
    store.sources().create(&source).await?;
    store.connections().create(&connection).await?;
    let key = owner.key(&store, "Worker", env).await.context("cannot make a key")?;
    Ok((format!("/in/{}", source.id), key.expose().to_owned()))
}

/// Goes to the far page once, and then reads it and the first one in turns.
async fn read_pages(line: &mut Line) -> anyhow::Result<Pages> {
    let first = format!("/v1/inbox?order=asc&limit={AT_ONCE}");
    let (mut far, mut number) = (first.clone(), 1);
    while number < FAR_PAGE {
        let (page, _) = line.get::<Page>(&far).await?;
        // The last page is full, too, as long as another comes behind it.
        let Some(cursor) = page.cursor.filter(|_| page.has_more) else { break };
        far = format!("{first}&cursor={cursor}");
        number += 1;
    }
    let (mut of_first, mut of_far) = (Vec::new(), Vec::new());
    for _ in 0..READS {
        of_first.push(line.get::<Page>(&first).await?.1);
        of_far.push(line.get::<Page>(&far).await?.1);
    }
    let (first_ms, far_ms) =
        (Percentiles::of(of_first.into_iter()), Percentiles::of(of_far.into_iter()));
    Ok(Pages { far: number, far_to_first: far_ms.p50 / first_ms.p50, first_ms, far_ms })
}

const LISTEN: &str = "--listen=127.0.0.1:0";
/// What is measured is not how often a key may ask.
const UNLIMITED: &str = "--api-requests-per-minute=0";
