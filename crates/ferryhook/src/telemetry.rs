//! What the process says about itself: log lines on stderr, and metrics.

use std::io::{IsTerminal, stderr};

use anyhow::Context;
use metrics_exporter_prometheus::{PrometheusBuilder, PrometheusHandle};
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

pub fn metrics() -> anyhow::Result<PrometheusHandle> {
    let handle = PrometheusBuilder::new().install_recorder().context("cannot record metrics")?;
    ferryhook_api::health::record_build(env!("CARGO_PKG_VERSION"));
    Ok(handle)
}
