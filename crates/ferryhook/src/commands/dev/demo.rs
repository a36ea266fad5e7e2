//! What `dev` puts into a new data directory, and the first event it sends.

use std::net::SocketAddr;
use std::pin::pin;
use std::time::Duration;

use anyhow::{Context, ensure};
use bytes::Bytes;
use ferryhook_api::apply::{self, Asked, Changed, Kind};
use ferryhook_api::owner;
use ferryhook_core::source::Status;
use ferryhook_core::{Connection, Env, Id, Source, limits};
use ferryhook_net::client::Guard;
use ferryhook_store::{Slice, Store, StoreError};
use http_body_util::Full;
use hyper::client::conn::http1;
use hyper::header::{CONTENT_TYPE, HOST};
use hyper_util::rt::TokioIo;
use tokio::net::TcpStream;

use crate::echo;

/// Also what the person is invited to send.
pub const SAMPLE: &str = r#"{"type":"order.created","order":7}"#;
pub const SAMPLE_TYPE: &str = "application/json";

/// What is rung when something was written.
pub type Ring = dyn Fn(Changed) + Send + Sync;

const SEND_WITHIN: Duration = Duration::from_secs(10);

/// Makes the demo where there has never been a source, also none that was deleted.
pub async fn make(
    store: &Store,
    env: &Env,
    guard: &Guard,
    address: SocketAddr,
    bell: &Ring,
) -> anyhow::Result<Option<Id<Source>>> {
    if has_had_sources(store).await? {
        return Ok(None);
    }
    let url = echo::url(address);
    let asked = Asked {
        file: "the demo".to_owned(),
        text: format!(
            "sources:\n  - name: demo\n    connections:\n      - name: echo\n        url: {url}\n"
        ),
        secrets: Default::default(),
        dry_run: false,
        prune: false,
    };
    let outcome = apply::run(store, env, guard, &asked, bell).await?;
    let made = outcome.changes.iter().find(|change| change.thing.kind == Kind::Source);
    let id = made.and_then(|change| change.thing.id.as_deref()).map(str::parse);
    Ok(id.transpose()?)
}

async fn has_had_sources(store: &Store) -> Result<bool, StoreError> {
    let Some(owner) = owner::find(store).await? else { return Ok(false) };
    let deleted = store.sources().list_by_status(owner.account, Status::Deleted, one()).await?;
    Ok(!deleted.rows.is_empty() || !look(store).await?.is_empty())
}

fn one() -> Slice {
    Slice::default().limit(1)
}

/// The echo is on another port when the usual one was busy, and connections to it are ours to
/// keep right: what listens on the old port may be anyone.
pub async fn follow(store: &Store, address: SocketAddr, bell: &Ring) -> Result<(), StoreError> {
    let Some(owner) = owner::find(store).await? else { return Ok(()) };
    let slice = Slice::default().limit(limits::PAGE_MAX);
    let page = store.connections().list_by_account(owner.account, slice).await?;
    let url = echo::url(address);
    for was in page.rows {
        if echo::is_here(&was) && was.destination_url.as_ref() != Some(&url) {
            let destination_url = Some(url.clone());
            let now = Connection { destination_url, ..was.record.clone() };
            let now = store.connections().replace(&was, now).await?;
            let (source, connections) = (now.source_id, vec![now.id]);
            bell(Changed { source, resumed: false, connections });
        }
    }
    Ok(())
}

/// A source and where its events go.
#[derive(Debug)]
pub struct Seen {
    pub source: Source,
    pub connections: Vec<Connection>,
}

/// The first page of each is enough to show.
pub async fn look(store: &Store) -> Result<Vec<Seen>, StoreError> {
    let Some(owner) = owner::find(store).await? else { return Ok(Vec::new()) };
    let mut seen = Vec::new();
    for source in store.sources().list_by_user(owner.user, Slice::default()).await?.rows {
        let page = store.connections().list_by_source(source.id, Slice::default()).await?;
        let connections = page.rows.into_iter().map(|stored| stored.record).collect();
        seen.push(Seen { source: source.record, connections });
    }
    seen.sort_by(|one, other| one.source.name.cmp(&other.source.name));
    Ok(seen)
}

/// Comes in at the door, as any other event would.
pub async fn send(address: SocketAddr, source: Id<Source>) -> anyhow::Result<()> {
    let request = hyper::Request::post(format!("/in/{source}"))
        .header(HOST, address.to_string())
        .header(CONTENT_TYPE, SAMPLE_TYPE)
        .body(Full::new(Bytes::from_static(SAMPLE.as_bytes())))?;
    let exchange = async {
        let stream = TcpStream::connect(address).await?;
        let (mut sender, connection) = http1::handshake(TokioIo::new(stream)).await?;
        let connection = pin!(connection);
        tokio::select! {
            answer = sender.send_request(request) => Ok(answer?.status()),
            ended = connection => Err(ended.err().map_or_else(
                || anyhow::anyhow!("the connection ended"),
                anyhow::Error::from,
            )),
        }
    };
    let status = tokio::time::timeout(SEND_WITHIN, exchange).await.context("no answer")??;
    ensure!(status.is_success(), "the answer was {status}");
    Ok(())
}
