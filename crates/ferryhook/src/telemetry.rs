//! What the process says about itself: log lines on stderr, metrics, and traces.

mod otlp;

use std::io::{IsTerminal, stderr};

use anyhow::Context;
use ferryhook_core::Env;
use ferryhook_flow::trace::Sink;
use ferryhook_net::Tasks;
use metrics_exporter_prometheus::{Matcher, PrometheusBuilder, PrometheusHandle};
use tracing_subscriber::EnvFilter;

/// For people when stderr is a terminal, JSON lines otherwise.
pub fn log(filter: &str) {
    let log = tracing_subscriber::fmt().with_env_filter(EnvFilter::new(filter)).with_writer(stderr);
    if stderr().is_terminal() {
        log.init();
    } else {
        log.json().flatten_event(true).init();
    }
}

/// Of everything that is timed, in seconds.
const BUCKETS: [f64; 12] =
    [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 5.0, 30.0];

pub fn metrics() -> anyhow::Result<PrometheusHandle> {
    let timed = Matcher::Suffix("_duration_seconds".to_owned());
    let builder = PrometheusBuilder::new().set_buckets_for_metric(timed, &BUCKETS)?;
    let handle = builder.install_recorder().context("cannot record metrics")?;
    ferryhook_api::health::record_build(env!("CARGO_PKG_VERSION"));
    Ok(handle)
}

/// Where spans go, if the environment names a collector.
pub fn traces(env: &Env, tasks: &Tasks) -> anyhow::Result<Option<Sink>> {
    let settings = otlp::Settings::read(|name| std::env::var(name).ok())?;
    settings.map(|settings| otlp::start(settings, env, tasks)).transpose()
}
