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
use crate::auth::Auth;
use crate::cursors::Cursors;
use crate::gate::{self, Gate};
use crate::health::{self, Readiness};
use crate::limiter::Limiter;
use crate::problem::{self, Code, Problem};
use crate::route::Route;
use crate::{auth, docs, openapi, request, tokens, whoami};

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
    /// How people sign in.
    pub auth: Arc<Auth>,
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
        get("/.well-known/jwks.json", "tokens.keys", Public, "Shows the public keys of access tokens.", tokens::show),
        post("/v1/auth/signup", "auth.signup", Public, "Makes a user with an account of their own.", auth::signup::sign_up),
        post("/v1/auth/setup", "auth.setup", Public, "Claims a new installation with its set-up link.", auth::setup::claim),
        post("/v1/auth/login", "auth.login", Public, "Signs in with a password.", auth::login::log_in),
        post("/v1/auth/login/totp", "auth.login_totp", Public, "Signs in with the second factor.", auth::login::log_in_with_code),
        post("/v1/auth/refresh", "auth.refresh", Public, "Gives a new access token for the refresh token in the cookie.", auth::refresh::refresh),
        post("/v1/auth/logout", "auth.logout", Public, "Ends the session of the refresh token in the cookie.", auth::logout::log_out),
        post("/v1/auth/verify-email", "auth.verify_email", Public, "Confirms an address with the link of a letter.", auth::verify_email::verify),
        post("/v1/auth/verify-email/resend", "auth.resend_verification", Public, "Sends that letter again.", auth::verify_email::resend),
        post("/v1/auth/forgot-password", "auth.forgot_password", Public, "Sends a letter to choose a new password.", auth::forgot_password::ask),
        post("/v1/auth/reset-password", "auth.reset_password", Public, "Sets a new password with the link of a letter.", auth::reset_password::reset),
        get("/v1/auth/github", "auth.github", Public, "Leaves for GitHub to sign in.", auth::oauth::to_github),
        get("/v1/auth/github/callback", "auth.github_callback", Public, "Comes back from GitHub.", auth::oauth::from_github),
        get("/v1/auth/google", "auth.google", Public, "Leaves for Google to sign in.", auth::oauth::to_google),
        get("/v1/auth/google/callback", "auth.google_callback", Public, "Comes back from Google.", auth::oauth::from_google),
        get("/v1/auth/me", "auth.me", Person, "Shows who is signed in.", auth::me::show),
        patch("/v1/auth/me", "auth.change_me", Person, "Changes name and preferences.", auth::me::change),
        post("/v1/auth/change-password", "auth.change_password", Person, "Changes the password; other sessions end.", auth::change_password::change),
        post("/v1/auth/totp", "totp.enrol", Person, "Offers a second factor; its secret is shown once.", auth::second_factor::enrol),
        post("/v1/auth/totp/confirm", "totp.confirm", Person, "Turns the second factor on; recovery codes are shown once.", auth::second_factor::confirm),
        post("/v1/auth/totp/disable", "totp.disable", Person, "Turns the second factor off.", auth::second_factor::remove),
        get("/v1/auth/sessions", "sessions.list", Person, "Lists where one is signed in.", auth::sessions::list),
        delete("/v1/auth/sessions", "sessions.end_others", Person, "Ends every session but this one.", auth::sessions::end_others),
        delete("/v1/auth/sessions/{sessionId}", "sessions.end", Person, "Ends a session.", auth::sessions::end),
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
        .route("/docs/style.css", plain(docs::style))
        .merge(auth::pages::router());
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
