//! The one place where the parts meet: what is opened here is handed to whoever needs it.

use std::future::Future;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use anyhow::Context;
use axum::Router;
use ferryhook_api::{App, Readiness, router};
use ferryhook_core::{Env, plan};
use ferryhook_net::Tasks;
use ferryhook_net::client::Guard;
use ferryhook_store::Store;
use metrics_exporter_prometheus::PrometheusHandle;

use crate::config::Config;
use crate::control::{Bell, Control, Handlers, Turns};
use crate::storage::{self, Storage};
use crate::{echo, telemetry};

/// Histograms gather samples until somebody sorts them into buckets.
const METRICS_UPKEEP: Duration = Duration::from_secs(5);

/// When all of this is gone, the store is closed and what it had buffered is on disk.
pub struct Wired {
    pub router: Router,
    pub readiness: Arc<Readiness>,
    /// Awaited after the last connection has gone.
    pub tasks: Tasks,
    pub store: Store,
}

/// What a server is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Purpose {
    Serving,
    /// Has a receiver of its own.
    Development,
}

pub async fn wire(config: &Config, env: Env, purpose: Purpose) -> anyhow::Result<Wired> {
    let tasks = Tasks::new();
    let storage = storage::open(config, env.clone()).await?;
    let plans = plan::seeded(env.now());
    storage.store.plans().seed(&plans).await.context("cannot set up the plans")?;
    let bell: Bell = Arc::new(|_| {});
    control(config, &env, &storage, bell, &tasks);
    let metrics = telemetry::metrics()?;
    tasks.spawn("metrics", keep_up(metrics.clone(), tasks.stopping()));
    let store = storage.store.clone();
    let readiness = Arc::new(Readiness::new(move || check(storage.clone())));
    let app = App { env: env.clone(), readiness: readiness.clone(), metrics };
    let router = match purpose {
        Purpose::Serving => router(app),
        Purpose::Development => router(app).merge(echo::router(store.clone(), env)),
    };
    Ok(Wired { router, readiness, tasks, store })
}

/// A server that cannot have the socket (its name is too long, the file system knows none) serves
/// all the same; only a backup or a change has to wait until it stops.
fn control(config: &Config, env: &Env, storage: &Storage, bell: Bell, tasks: &Tasks) {
    let Some(engine) = storage.embedded.clone() else { return };
    let handlers = Handlers {
        store: storage.store.clone(),
        env: env.clone(),
        engine,
        guard: Guard::new(config.destinations_allow.0.clone()),
        bell,
        turns: Turns::default(),
    };
    match Control::listen(&config.data, handlers) {
        Ok(control) => {
            tasks.spawn("control", control.answer_until(tasks.clone(), tasks.stopping()));
        }
        Err(error) => {
            tracing::warn!(%error, "no control socket: backup and apply need this server stopped");
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
