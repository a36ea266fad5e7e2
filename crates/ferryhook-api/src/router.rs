//! Every route on one screen.

use std::sync::Arc;

use axum::Router;
use axum::middleware;
use axum::routing::get;
use ferryhook_core::Env;
use metrics_exporter_prometheus::PrometheusHandle;

use crate::health::{self, Readiness};
use crate::problem::{self, Code, Problem};
use crate::request;

/// What the handlers are given.
#[derive(Clone, Debug)]
pub struct App {
    pub env: Env,
    pub readiness: Arc<Readiness>,
    pub metrics: PrometheusHandle,
}

pub fn router(app: App) -> Router {
    Router::new()
        .route("/healthz", get(health::alive))
        .route("/readyz", get(health::ready))
        .route("/metrics", get(health::metrics))
        .route("/problems/{code}", get(problem::explain))
        .fallback(async || Problem::new(Code::NotFound, "There is nothing at this address."))
        .method_not_allowed_fallback(async || {
            Problem::new(Code::MethodNotAllowed, "This address does not take that method.")
        })
        .layer(middleware::from_fn_with_state(app.clone(), request::frame))
        .with_state(app)
}

#[cfg(test)]
mod tests;
