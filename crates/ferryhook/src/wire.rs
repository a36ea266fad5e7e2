//! The one place where the parts meet: what is opened here is handed to whoever needs it.

use std::future::Future;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use anyhow::Context;
use ferryhook_api::{App, Readiness, router};
use ferryhook_core::{Env, Event, plan};
use ferryhook_flow::{HandOver, Ingest, Route, Routes, ingest};
use ferryhook_net::{Tasks, Trusted};
use ferryhook_store::{Store, Stored};
use metrics_exporter_prometheus::PrometheusHandle;

use crate::config::Config;
use crate::control::Control;
use crate::front::Front;
use crate::storage::{self, Storage};
use crate::telemetry;

/// Histograms gather samples until somebody sorts them into buckets.
const METRICS_UPKEEP: Duration = Duration::from_secs(5);
const DAY: Duration = Duration::from_secs(24 * 60 * 60);

/// When all of this is gone, the store is closed and what it had buffered is on disk.
pub struct Wired {
    pub front: Front,
    pub readiness: Arc<Readiness>,
    /// Awaited after the last connection has gone.
    pub tasks: Tasks,
}

pub async fn wire(config: &Config, env: Env) -> anyhow::Result<Wired> {
    let tasks = Tasks::new();
    let storage = storage::open(config, env.clone()).await?;
    let plans = plan::seeded(env.now());
    storage.store.plans().seed(&plans).await.context("cannot set up the plans")?;
    control(config, &storage, &tasks);
    let metrics = telemetry::metrics()?;
    tasks.spawn("metrics", keep_up(metrics.clone(), tasks.stopping()));
    let ingest = ingest(config, storage.store.clone(), &env, &tasks);
    let readiness = Arc::new(Readiness::new(move || check(storage.clone())));
    let app = App { env: env.clone(), readiness: readiness.clone(), metrics };
    Ok(Wired { front: Front { ingest, router: router(app), env }, readiness, tasks })
}

fn ingest(config: &Config, store: Store, env: &Env, tasks: &Tasks) -> Ingest {
    let routes = Routes::new(store.clone(), env.clone(), tasks.clone());
    let settings = ingest::Settings {
        trusted: Trusted::new(config.ingest.trusted_proxies.0.clone()),
        remember: DAY * config.dynamo.ttl_days,
        body_within: config.ingest.body_within,
    };
    Ingest::new(store, env.clone(), tasks, routes, Arc::new(Stays), settings)
}

/// Nobody delivers yet: what is stored stays, marked as pending.
struct Stays;

impl HandOver for Stays {
    fn take(&self, _: Stored<Event>, _: Arc<Route>) {}
}

/// A server that cannot have the socket (its name is too long, the file system knows none) serves
/// all the same; only a backup has to wait until it stops.
fn control(config: &Config, storage: &Storage, tasks: &Tasks) {
    let Some(engine) = storage.embedded.clone() else { return };
    match Control::listen(&config.data, engine) {
        Ok(control) => tasks.spawn("control", control.answer_until(tasks.stopping())),
        Err(error) => {
            tracing::warn!(%error, "no control socket: backups need this server stopped");
        }
    }
}

async fn check(storage: Storage) -> Result<(), String> {
    storage.check().await.map_err(|error| {
        tracing::warn!(%error, "not ready");
        "The store does not answer.".to_owned()
    })
}

async fn keep_up(metrics: PrometheusHandle, stop: impl Future<Output = ()>) {
    let mut stop = pin!(stop);
    loop {
        tokio::select! {
            () = tokio::time::sleep(METRICS_UPKEEP) => metrics.run_upkeep(),
            () = stop.as_mut() => return,
        }
    }
}
