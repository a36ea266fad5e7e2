//! Hands spans to a collector: OTLP over HTTP, written as JSON.
//!
//! Woken by the first span; sends when it has many or when that one has waited long enough. It
//! stands beside the data plane and never holds it up: a collector that is slow or away costs spans,
//! which are counted, and a line in the log now and then.

mod json;
mod settings;

use std::future::Future;
use std::net::{Ipv4Addr, Ipv6Addr};
use std::pin::pin;
use std::time::Duration;

use anyhow::Context;
use bytes::Bytes;
use ferryhook_core::Env;
use ferryhook_flow::trace::{self, Sink, Span};
use ferryhook_net::Tasks;
use ferryhook_net::client::{Client, Guard, Outbound, Outgoing, Roots, Target};
use hyper::{HeaderMap, Method};
use ipnet::{Ipv4Net, Ipv6Net};
use metrics::Counter;
use tokio::sync::mpsc;
use tokio::time::{sleep, timeout};

pub use settings::Settings;

/// Spans that are sent together, and how long the first of them waits for others.
const BATCH_MAX: usize = 512;
const GATHER: Duration = Duration::from_secs(5);
/// For one request, and before the one that repeats it.
const TIMEOUT: Duration = Duration::from_secs(10);
const PAUSE: Duration = Duration::from_secs(1);
/// For what is left when the server stops.
const LAST: Duration = Duration::from_secs(2);
const COMPLAIN_EVERY: Duration = Duration::from_secs(60);

struct Exporter {
    spans: mpsc::Receiver<Span>,
    client: Client,
    target: Target,
    headers: HeaderMap,
    resource: serde_json::Value,
    env: Env,
    dropped: Counter,
    complained_at: Option<Duration>,
}

/// Exports whatever the sink is given, until `tasks` are to end.
pub fn start(settings: Settings, env: &Env, tasks: &Tasks) -> anyhow::Result<Sink> {
    let resource = json::resource(&settings.resource);
    let Settings { endpoint, headers, .. } = settings;
    // The operator named it, so it may be anywhere.
    let everywhere = Guard::new(vec![
        Ipv4Net::new_assert(Ipv4Addr::UNSPECIFIED, 0).into(),
        Ipv6Net::new_assert(Ipv6Addr::UNSPECIFIED, 0).into(),
    ]);
    let target = everywhere.target(&endpoint);
    let target = target.context("the OTLP endpoint in the environment cannot be used")?;
    tracing::info!(endpoint = %target, "traces are exported");
    let (sink, spans) = trace::channel();
    let exporter = Exporter {
        spans,
        client: Client::new(everywhere, env.clone(), tasks.clone(), Roots::default()),
        target,
        headers,
        resource,
        env: env.clone(),
        dropped: trace::dropped(),
        complained_at: None,
    };
    tasks.spawn("traces", exporter.run(tasks.stopping(), tasks.stopping()));
    Ok(sink)
}

/// Why a collector did not take a batch.
struct Untaken {
    reason: String,
    /// It may take it the next time.
    passing: bool,
}

impl Exporter {
    async fn run(mut self, stop: impl Future<Output = ()>, stopped: impl Future<Output = ()>) {
        let late = async {
            stopped.await;
            sleep(LAST).await;
        };
        tokio::select! {
            biased;
            () = self.export_until(stop) => {}
            () = late => tracing::warn!("the last traces were not taken in time"),
        }
    }

    async fn export_until(&mut self, stop: impl Future<Output = ()>) {
        let mut stop = pin!(stop);
        let mut batch = Vec::new();
        loop {
            tokio::select! {
                biased;
                () = stop.as_mut() => break,
                () = gather(&mut self.spans, &mut batch) => {}
            }
            self.export(&batch).await;
            batch.clear();
        }
        self.spans.close();
        loop {
            while batch.len() < BATCH_MAX
                && let Ok(span) = self.spans.try_recv()
            {
                batch.push(span);
            }
            if batch.is_empty() {
                return;
            }
            self.export(&batch).await;
            batch.clear();
        }
    }

    async fn export(&mut self, batch: &[Span]) {
        let body = Bytes::from(json::request(&self.resource, batch).to_string());
        let mut sent = self.send(body.clone()).await;
        if sent.as_ref().is_err_and(|untaken| untaken.passing) {
            sleep(PAUSE).await;
            sent = self.send(body).await;
        }
        let Err(Untaken { reason, .. }) = sent else { return };
        self.dropped.increment(batch.len() as u64);
        let now = self.env.elapsed();
        if self.complained_at.is_none_or(|at| now.saturating_sub(at) >= COMPLAIN_EVERY) {
            self.complained_at = Some(now);
            let spans = batch.len();
            tracing::warn!(endpoint = %self.target, reason, spans, "traces are lost");
        }
    }

    async fn send(&self, body: Bytes) -> Result<(), Untaken> {
        let sending = self.client.send(Outgoing {
            target: self.target.clone(),
            method: Method::POST,
            headers: self.headers.clone(),
            body,
            identity: None,
            timeout: TIMEOUT,
        });
        match sending.await {
            Ok(reply) if (200..300).contains(&reply.status) => Ok(()),
            Ok(reply) => Err(Untaken {
                reason: format!("it answers {}", reply.status),
                passing: matches!(reply.status, 429 | 502 | 503 | 504),
            }),
            Err(unsent) => Err(Untaken { reason: unsent.message, passing: true }),
        }
    }
}

/// Until there are many, or the first has waited long enough. May be interrupted: what it has
/// gathered is in `batch`.
async fn gather(spans: &mut mpsc::Receiver<Span>, batch: &mut Vec<Span>) {
    if spans.recv_many(batch, BATCH_MAX).await == 0 {
        return std::future::pending().await; // nobody is left who could have one
    }
    let others = async {
        while batch.len() < BATCH_MAX {
            let room = BATCH_MAX - batch.len();
            if spans.recv_many(batch, room).await == 0 {
                return;
            }
        }
    };
    let _ = timeout(GATHER, others).await;
}

#[cfg(test)]
mod tests;
