//! The one place where the parts meet: what is opened here is handed to whoever needs it.

use std::future::Future;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use ferryhook_api::{App, Readiness, router};
use ferryhook_core::Env;
use ferryhook_net::Tasks;
use metrics_exporter_prometheus::PrometheusHandle;

use crate::config::Config;
use crate::telemetry;

/// Histograms gather samples until somebody sorts them into buckets.
const METRICS_UPKEEP: Duration = Duration::from_secs(5);

pub struct Wired {
    pub router: Router,
    pub readiness: Arc<Readiness>,
    /// Awaited after the last connection has gone.
    pub tasks: Tasks,
}

pub fn wire(_config: &Config, env: Env) -> anyhow::Result<Wired> {
    let tasks = Tasks::new();
    let metrics = telemetry::metrics()?;
    tasks.spawn("metrics", keep_up(metrics.clone(), tasks.stopping()));
    let readiness = Arc::new(Readiness::new(|| std::future::ready(Ok(()))));
    let app = App { env, readiness: readiness.clone(), metrics };
    Ok(Wired { router: router(app), readiness, tasks })
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
