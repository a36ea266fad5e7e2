//! Every route on one screen.

use std::sync::{Arc, LazyLock};

use axum::Router;
use axum::middleware::{from_fn_with_state, map_response};
use axum::routing::get as plain;
use ferryhook_core::Env;
use ferryhook_net::client::Guard;
use ferryhook_net::{Tasks, Trusted};
use ferryhook_store::Store;
use metrics_exporter_prometheus::PrometheusHandle;

use crate::apply::Changed;
use crate::cursors::Cursors;
use crate::gate::{self, Gate};
use crate::health::{self, Readiness};
use crate::limiter::Limiter;
use crate::problem::{self, Code, Problem};
use crate::route::Route;
use crate::{docs, openapi, request, whoami};

/// Rung after each change of a source or its connections.
pub type Bell = Arc<dyn Fn(Changed) + Send + Sync>;

/// What the handlers are given.
#[derive(Clone)]
pub struct App {
    pub env: Env,
    pub store: Store,
    pub guard: Guard,
    pub readiness: Arc<Readiness>,
    pub metrics: PrometheusHandle,
    pub bell: Bell,
    pub cursors: Cursors,
    pub limiter: Limiter,
    pub settings: Arc<Settings>,
    /// For what must not end with the request that began it.
    pub tasks: Tasks,
}

/// What the operator has decided.
#[derive(Debug, Clone, Default)]
pub struct Settings {
    /// Where this server is reached, without a slash at the end.
    pub public_url: Option<String>,
    /// That address is one of TLS.
    pub is_secure: bool,
    /// Proxies whose word about the sender counts.
    pub trusted: Trusted,
}

/// The table: address, name, who may, what it does, and the function that does it.
#[rustfmt::skip]
pub fn routes() -> Vec<Route> {
    use crate::route::Access::*;
    use crate::route::*;
    use ferryhook_core::member::Role::*;
    vec![
        get("/v1/whoami", "whoami", Role(Viewer), "Says who is calling, and in which account.", whoami::show),
    ]
}

pub fn router(app: App) -> Router {
    let mut router = Router::new()
        .route("/healthz", plain(health::alive))
        .route("/readyz", plain(health::ready))
        .route("/metrics", plain(health::metrics))
        .route("/problems/{code}", plain(problem::explain))
        .route("/openapi.json", plain(openapi::show))
        .route("/docs", plain(docs::show))
        .route("/docs/style.css", plain(docs::style));
    for route in routes() {
        let gate = from_fn_with_state(Gate::of(&app, &route), gate::pass);
        router = router.route(route.path, route.handler.route_layer(gate));
    }
    router
        .fallback(async || Problem::new(Code::NotFound, "There is nothing at this address."))
        .method_not_allowed_fallback(async || {
            Problem::new(Code::MethodNotAllowed, "This address does not take that method.")
        })
        .layer(map_response(request::careful))
        .layer(from_fn_with_state(app.clone(), request::frame))
        .with_state(app)
}

/// The description of all this, as `/openapi.json` gives it out.
pub fn description() -> &'static str {
    static TEXT: LazyLock<String> = LazyLock::new(|| {
        let mut text = serde_json::to_string_pretty(&openapi::json(&routes())).unwrap_or_default();
        text.push('\n');
        text
    });
    &TEXT
}

impl std::fmt::Debug for App {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("App").field("settings", &self.settings).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests;
