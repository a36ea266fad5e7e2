//! What machines ask about this process: does it live, should it get traffic, how does it do.

use std::fmt;
use std::future::Future;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use axum::Json;
use axum::extract::State;
use axum::http::{HeaderMap, header};
use axum::response::IntoResponse;
use ferryhook_core::Secret;
use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use serde::Serialize;

use crate::problem::{Code, Problem};
use crate::router::App;

/// A check that takes longer has failed: who asks would not wait longer either.
pub const CHECK: Duration = Duration::from_secs(2);

const PROMETHEUS_TEXT: &str = "text/plain; version=0.0.4; charset=utf-8";

/// Whether this process should get traffic: its check passes and nobody has told it to stop.
pub struct Readiness {
    check: Box<dyn Fn() -> BoxFuture<'static, Result<(), String>> + Send + Sync>,
    draining: AtomicBool,
}

impl Readiness {
    /// `check` says in a short sentence what is missing. It is asked anew each time.
    pub fn new<F>(check: impl Fn() -> F + Send + Sync + 'static) -> Self
    where
        F: Future<Output = Result<(), String>> + Send + 'static,
    {
        Self { check: Box::new(move || check().boxed()), draining: AtomicBool::new(false) }
    }

    /// From now on not ready, for good: the process is about to stop.
    pub fn drain(&self) {
        self.draining.store(true, Ordering::Release);
    }

    /// Whoever waits for something ends that, so that the process can.
    pub(crate) fn is_draining(&self) -> bool {
        self.draining.load(Ordering::Acquire)
    }

    async fn ask(&self) -> Result<(), String> {
        if self.is_draining() {
            return Err("The server is stopping.".into());
        }
        tokio::time::timeout(CHECK, (self.check)())
            .await
            .unwrap_or_else(|_| Err("The check took too long.".into()))
    }
}

impl fmt::Debug for Readiness {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Readiness").field("draining", &self.draining).finish_non_exhaustive()
    }
}

#[derive(Debug, Serialize)]
pub struct Health {
    status: &'static str,
}

/// The process answers.
pub async fn alive() -> Json<Health> {
    Json(Health { status: "alive" })
}

/// The process should get traffic.
pub async fn ready(State(app): State<App>) -> Result<Json<Health>, Problem> {
    match app.readiness.ask().await {
        Ok(()) => Ok(Json(Health { status: "ready" })),
        Err(reason) => Err(Problem::new(Code::Unavailable, reason)),
    }
}

/// Everything counted so far, for Prometheus. Some of it is counted by account, and the listener is
/// open to the world: so only for whoever has the operator's token, and for nobody without one.
pub async fn metrics(
    State(app): State<App>,
    headers: HeaderMap,
) -> Result<impl IntoResponse, Problem> {
    let Some(token) = &app.settings.metrics_token else {
        return Err(Problem::new(
            Code::NotFound,
            "Metrics are shown where the setting metrics.token is set, to whoever sends it.",
        ));
    };
    let shown = headers.get(header::AUTHORIZATION).and_then(|value| value.to_str().ok());
    let shown = shown.and_then(|value| value.split_once(' '));
    let shown = shown.filter(|(scheme, _)| scheme.eq_ignore_ascii_case("bearer"));
    match shown.is_some_and(|(_, shown)| token.is(&Secret::new(shown.trim()))) {
        true => Ok(([(header::CONTENT_TYPE, PROMETHEUS_TEXT)], app.metrics.render())),
        false => Err(Problem::new(
            Code::Unauthorized,
            "Send the token of the setting metrics.token in the header Authorization: Bearer.",
        )),
    }
}

/// Records which build this is, once per process.
pub fn record_build(version: &'static str) {
    metrics::describe_gauge!("ferryhook_build_info", "Always 1; the labels say which build.");
    metrics::gauge!("ferryhook_build_info", "version" => version).set(1.0);
}
