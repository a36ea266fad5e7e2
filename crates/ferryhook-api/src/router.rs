//! Every route on one screen.

use std::sync::{Arc, LazyLock};

use axum::Router;
use axum::middleware::{from_fn_with_state, map_response};
use axum::routing::get as plain;
use ferryhook_core::{Env, Secret};
use ferryhook_net::client::Guard;
use ferryhook_net::{Tasks, Trusted};
use ferryhook_store::Store;
use metrics_exporter_prometheus::PrometheusHandle;
use tokio::sync::Mutex;

use crate::apply::Changed;
use crate::auth::Auth;
use crate::billing::Billing;
use crate::cli_sessions::Listening;
use crate::cursors::Cursors;
use crate::gate::{self, Gate};
use crate::health::{self, Readiness};
use crate::inbox::{Fetching, Waiters};
use crate::limiter::Limiter;
use crate::problem::{self, Code, Problem};
use crate::route::Route;
use crate::works::Works;
use crate::{
    accounts, activities, analytics, apply, auth, billing, claims, cli_sessions, connections,
    dead_letters, docs, erasures, event_types, events, export, hooks, inbox, invitations, keys,
    members, notifications, openapi, providers, rejections, replays, request, sources, stream,
    tokens, usage, whoami,
};

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
    /// How plans are paid for.
    pub billing: Arc<Billing>,
    /// The data plane, as far as it works for us.
    pub works: Arc<dyn Works>,
    /// Where sessions of `ferryhook listen` live.
    pub listening: Arc<dyn Listening>,
    /// Where the inbox is fetched from, and who waits for it.
    pub fetching: Arc<dyn Fetching>,
    pub waiters: Waiters,
    /// Held while something is made of which there may be only so many.
    pub turns: Arc<Mutex<()>>,
    /// Who reads the stream of changes.
    pub streams: stream::Seats,
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
    /// Whoever has it may see the metrics; without one nobody does.
    pub metrics_token: Option<Secret>,
    /// Where the tables are, if they are in the cloud.
    pub region: Option<String>,
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
        post("/v1/auth/login/totp", "auth.loginTotp", Public, "Signs in with the second factor.", auth::login::log_in_with_code),
        post("/v1/auth/refresh", "auth.refresh", Public, "Gives a new access token for the refresh token in the cookie.", auth::refresh::refresh),
        post("/v1/auth/logout", "auth.logout", Public, "Ends the session of the refresh token in the cookie.", auth::logout::log_out),
        post("/v1/auth/verify-email", "auth.verifyEmail", Public, "Confirms an address with the link of a letter.", auth::verify_email::verify),
        post("/v1/auth/verify-email/resend", "auth.resendVerification", Public, "Sends that letter again.", auth::verify_email::resend),
        post("/v1/auth/forgot-password", "auth.forgotPassword", Public, "Sends a letter to choose a new password.", auth::forgot_password::ask),
        post("/v1/auth/reset-password", "auth.resetPassword", Public, "Sets a new password with the link of a letter.", auth::reset_password::reset),
        get("/v1/auth/github", "auth.github", Public, "Leaves for GitHub to sign in.", auth::oauth::to_github),
        get("/v1/auth/github/callback", "auth.githubCallback", Public, "Comes back from GitHub.", auth::oauth::from_github),
        get("/v1/auth/google", "auth.google", Public, "Leaves for Google to sign in.", auth::oauth::to_google),
        get("/v1/auth/google/callback", "auth.googleCallback", Public, "Comes back from Google.", auth::oauth::from_google),
        get("/v1/auth/me", "auth.me", Person, "Shows who is signed in.", auth::me::show),
        patch("/v1/auth/me", "auth.changeMe", Person, "Changes name and preferences.", auth::me::change),
        post("/v1/auth/change-password", "auth.changePassword", Person, "Changes the password; other sessions end.", auth::change_password::change),
        post("/v1/auth/totp", "totp.enrol", Person, "Offers a second factor; its secret is shown once.", auth::second_factor::enrol),
        post("/v1/auth/totp/confirm", "totp.confirm", Person, "Turns the second factor on; recovery codes are shown once.", auth::second_factor::confirm),
        post("/v1/auth/totp/disable", "totp.disable", Person, "Turns the second factor off.", auth::second_factor::remove),
        get("/v1/auth/sessions", "sessions.list", Person, "Lists where one is signed in.", auth::sessions::list),
        delete("/v1/auth/sessions", "sessions.endOthers", Person, "Ends every session but this one.", auth::sessions::end_others),
        delete("/v1/auth/sessions/{sessionId}", "sessions.end", Person, "Ends a session.", auth::sessions::end),
        get("/v1/whoami", "whoami", Role(Viewer), "Says who is calling, and in which account.", whoami::show),

        get("/v1/sources", "sources.list", Role(Viewer), "Lists sources.", sources::list),
        post("/v1/sources", "sources.create", Role(Member), "Makes a source.", sources::create),
        get("/v1/sources/{sourceId}", "sources.get", Role(Viewer), "Shows a source.", sources::show),
        patch("/v1/sources/{sourceId}", "sources.update", Role(Member), "Changes some settings of a source.", sources::update),
        delete("/v1/sources/{sourceId}", "sources.delete", Role(Member), "Deletes a source with its connections.", sources::delete),
        post("/v1/sources/{sourceId}/pause", "sources.pause", Role(Member), "Holds what a source takes in.", sources::pause),
        post("/v1/sources/{sourceId}/resume", "sources.resume", Role(Member), "Lets go what a source has held.", sources::resume),
        post("/v1/sources/{sourceId}/rotate-secret", "sources.rotateSecret", Role(Member), "Changes the secret a provider signs with; the old one counts for a day.", sources::rotate_secret),
        post("/v1/sources/{sourceId}/sign", "sources.sign", Role(Member), "Signs a sample as the source's provider would.", sources::sign),
        get("/v1/sources/{sourceId}/connections", "connections.list", Role(Viewer), "Lists the connections of a source.", connections::list),
        post("/v1/sources/{sourceId}/connections", "connections.create", Role(Member), "Makes a connection from a source to a destination.", connections::create),
        get("/v1/sources/{sourceId}/events", "events.listOfSource", Role(Viewer), "Lists the events of a source.", events::list_of_source),
        get("/v1/sources/{sourceId}/rejections", "rejections.list", Role(Viewer), "Lists requests that a source refused.", rejections::list),
        get("/v1/sources/{sourceId}/rejections/{rejectionId}", "rejections.get", Role(Viewer), "Shows a refused request, and what to mend.", rejections::show),
        post("/v1/sources/{sourceId}/rejections/readmit", "rejections.readmit", Role(Member), "Lets refused requests in after all.", rejections::readmit),
        get("/v1/sources/{sourceId}/analytics", "sources.analytics", Role(Viewer), "Shows how a source is doing, by hour or by day.", analytics::of_source),

        get("/v1/connections/{connectionId}/analytics", "connections.analytics", Role(Viewer), "Shows how a connection is doing, by hour or by day.", analytics::of_connection),
        get("/v1/connections/{connectionId}", "connections.get", Role(Viewer), "Shows a connection.", connections::show),
        patch("/v1/connections/{connectionId}", "connections.update", Role(Member), "Changes some settings of a connection.", connections::update),
        delete("/v1/connections/{connectionId}", "connections.delete", Role(Member), "Deletes a connection.", connections::delete),
        post("/v1/connections/{connectionId}/pause", "connections.pause", Role(Member), "Holds what is meant for a connection.", connections::pause),
        post("/v1/connections/{connectionId}/resume", "connections.resume", Role(Member), "Lets go what a connection has held.", connections::resume),
        post("/v1/connections/{connectionId}/rotate-secret", "connections.rotateSecret", Role(Member), "Changes the secret requests are signed with; both sign for a day.", connections::rotate_secret),
        post("/v1/connections/{connectionId}/test", "connections.test", Role(Member), "Tries a connection out with a sample or an event.", connections::test),
        post("/v1/connections/{connectionId}/what-if", "connections.whatIf", Role(Member), "Tries other rules on the last events.", connections::try_rules),

        post("/v1/events", "events.post", Role(Member), "Takes in one event of an app, or up to 500.", events::post::post).at_the_door(),
        get("/v1/events", "events.list", Role(Viewer), "Lists the events of the account.", events::list_all),
        post("/v1/events/replay", "replays.create", Role(Member), "Sends many events again, or counts them first.", replays::replay_many),
        get("/v1/stream", stream::STREAM, Role(Viewer), "Tells every change of the account's events as it happens.", stream::read),
        get("/v1/events/{eventId}", "events.get", Role(Viewer), "Shows an event with its deliveries and attempts.", events::show),
        get("/v1/events/{eventId}/body", "events.body", Role(Viewer), "Gives out the bytes an event brought.", events::download),
        get("/v1/events/{eventId}/explain", "events.explain", Role(Viewer), "Explains why an event went where it went.", events::show_explanation),
        post("/v1/events/{eventId}/replay", "events.replay", Role(Member), "Sends an event again.", replays::replay_one),
        post("/v1/events/{eventId}/ack", "events.ack", Role(Member), "Says that an event in the inbox is done with, whoever has leased it.", inbox::reply::ack_event).handing_out(),
        post("/v1/events/{eventId}/nack", "events.nack", Role(Member), "Gives an event back to the inbox, whoever has leased it.", inbox::reply::nack_event).handing_out(),
        get("/v1/inbox", "inbox.list", Role(Viewer), "Lists what is in an inbox, or waits for something to come.", inbox::list::list),
        post("/v1/inbox/lease", "inbox.lease", Role(Member), "Leases events of an inbox to work on.", inbox::lease::lease).handing_out(),
        post("/v1/inbox/ack", "inbox.ack", Role(Member), "Says that leased events are done with.", inbox::reply::ack).handing_out(),
        post("/v1/inbox/nack", "inbox.nack", Role(Member), "Gives leased events back, for somebody else or for later.", inbox::reply::nack).handing_out(),
        post("/v1/inbox/extend", "inbox.extend", Role(Member), "Makes leases longer.", inbox::reply::extend).handing_out(),
        get("/v1/replays", "replays.list", Role(Viewer), "Lists replays of many events.", replays::list),
        get("/v1/replays/{replayId}", "replays.get", Role(Viewer), "Shows how far a replay has come.", replays::show),
        post("/v1/replays/{replayId}/cancel", "replays.cancel", Role(Member), "Stops a replay.", replays::cancel),
        delete("/v1/events/{eventId}", "events.erase", Role(Manager), "Erases an event, with all that was ever tried with it.", erasures::erase_event),
        get("/v1/erasures", "erasures.list", Role(Manager), "Lists erasures.", erasures::list),
        post("/v1/erasures", "erasures.create", Role(Manager), "Erases events that are named or that a filter means, or counts them first.", erasures::create),
        get("/v1/erasures/{erasureId}", "erasures.get", Role(Manager), "Shows how far an erasure has come.", erasures::show),
        post("/v1/erasures/{erasureId}/cancel", "erasures.cancel", Role(Manager), "Has an erasure erase nothing more.", erasures::cancel),
        get("/v1/dead-letters", "deadLetters.list", Role(Viewer), "Lists events that could not be processed.", dead_letters::list),
        post("/v1/dead-letters/redrive", "deadLetters.redrive", Role(Member), "Processes dead letters once more.", dead_letters::redrive),
        get("/v1/failures", "failures.list", Role(Viewer), "Lists deliveries that were given up.", dead_letters::list_failures),

        post("/v1/apply", "configuration.apply", Role(Member), "Makes sources and connections what a manifest says.", apply::apply),
        get("/v1/export", "configuration.export", Role(Viewer), "Writes sources and connections down as a manifest.", export::show),
        post("/v1/cli/sessions", "cliSessions.create", Role(Member), "Begins to listen: makes a session, with a connection for each of its sources.", cli_sessions::create),
        get("/v1/cli/sessions/{cliSessionId}/stream", cli_sessions::STREAM, Role(Member), "Gives out the requests that whoever listens is to make, as they come.", cli_sessions::stream),
        post("/v1/cli/sessions/{cliSessionId}/results", "cliSessions.report", Role(Member), "Says what came of requests.", cli_sessions::report),
        delete("/v1/cli/sessions/{cliSessionId}", "cliSessions.end", Role(Member), "Ends a session; what waits for it is not sent any more.", cli_sessions::end),
        get("/v1/analytics/overview", "analytics.overview", Role(Viewer), "Shows how the account is doing.", analytics::overview),
        get("/v1/analytics/series", "analytics.series", Role(Viewer), "Shows how the account is doing, by hour or by day.", analytics::of_account),
        get("/v1/usage", "usage.list", Role(Viewer), "Lists what the account used, by day.", usage::list),
        get("/v1/billing/usage", "billing.usage", Role(Viewer), "Shows this month's usage against the plan.", usage::show),

        post("/v1/ledger/claim", "ledger.claim", Role(Member), "Claims a key, so that something is done once.", claims::claim),
        post("/v1/ledger/complete", "ledger.complete", Role(Member), "Says that what was claimed is done.", claims::complete),
        post("/v1/ledger/release", "ledger.release", Role(Member), "Gives a claim back undone.", claims::release),
        get("/v1/activities", "activities.list", Role(Manager), "Lists what was done in the account.", activities::list),
        get("/v1/activities/verify", "activities.verify", Role(Admin), "Checks that the log of the account is what was written.", activities::verify),
        get("/v1/notifications", "notifications.list", Person, "Lists what one should know, the unread first.", notifications::list),
        get("/v1/notifications/unread-count", "notifications.unreadCount", Person, "Counts the unread ones.", notifications::unread_count),
        post("/v1/notifications/read-all", "notifications.readAll", Person, "Marks all of them as read.", notifications::read_all),
        post("/v1/notifications/{notificationId}/read", "notifications.read", Person, "Marks one as read.", notifications::read),
        get("/v1/hooks", "hooks.list", Role(Viewer), "Lists hooks.", hooks::list),
        post("/v1/hooks", "hooks.create", Role(Member), "Makes a hook; its secret is shown once.", hooks::create),
        get("/v1/hooks/samples", "hooks.samples", Role(Viewer), "Shows what a hook would get.", hooks::samples::list),
        get("/v1/hooks/{hookId}", "hooks.get", Role(Viewer), "Shows a hook.", hooks::show),
        patch("/v1/hooks/{hookId}", "hooks.update", Role(Member), "Changes some settings of a hook.", hooks::update),
        delete("/v1/hooks/{hookId}", "hooks.delete", Role(Member), "Deletes a hook.", hooks::delete),
        post("/v1/hooks/{hookId}/rotate-secret", "hooks.rotateSecret", Role(Member), "Changes the secret calls are signed with; both sign for a day.", hooks::rotate_secret),
        get("/v1/event-types", "eventTypes.list", Role(Viewer), "Lists the types of events that came in or are declared.", event_types::list),
        get("/v1/event-types/{typeName}", "eventTypes.get", Role(Viewer), "Shows what is known of a type, with the schema its events have in common.", event_types::show),
        delete("/v1/event-types/{typeName}", "eventTypes.delete", Role(Member), "Forgets a type, and what is declared of it.", event_types::delete),
        put("/v1/event-types/{typeName}/schema", "eventTypes.declare", Role(Member), "Declares what events of a type must look like.", event_types::declare),
        delete("/v1/event-types/{typeName}/schema", "eventTypes.withdraw", Role(Member), "Withdraws a declaration.", event_types::withdraw),
        get("/v1/providers", "providers.list", Role(Viewer), "Lists the providers that are known.", providers::list),

        get("/v1/accounts", "accounts.list", Person, "Lists the accounts that one is in.", accounts::list),
        post("/v1/accounts", "accounts.create", Role(Admin), "Makes an account beneath this one.", accounts::create),
        get("/v1/accounts/{accountId}", "accounts.get", Role(Viewer), "Shows an account.", accounts::show),
        patch("/v1/accounts/{accountId}", "accounts.update", Role(Admin), "Changes name, type, settings.", accounts::change),
        delete("/v1/accounts/{accountId}", "accounts.terminate", Role(Admin), "Ends an account for good.", accounts::end),
        get("/v1/accounts/{accountId}/children", "accounts.children", Role(Admin), "Lists the accounts directly beneath one.", accounts::children),
        put("/v1/accounts/{accountId}/default", "accounts.makeDefault", Person, "Makes it the account of requests that name none.", accounts::make_default),
        post("/v1/accounts/{childId}/suspend", "accounts.suspend", Role(Admin), "Closes an account beneath this one.", accounts::closing::suspend),
        post("/v1/accounts/{childId}/resume", "accounts.resume", Role(Admin), "Opens it again.", accounts::closing::resume),
        get("/v1/accounts/{accountId}/members", "members.list", Role(Viewer), "Lists who is in an account.", members::list),
        delete("/v1/accounts/{accountId}/members/me", "members.leave", Person, "Leaves an account.", members::leave),
        get("/v1/accounts/{accountId}/members/{userId}", "members.get", Role(Viewer), "Shows a member.", members::show),
        patch("/v1/accounts/{accountId}/members/{userId}", "members.update", Role(Manager), "Changes role, exceptions, status.", members::change),
        delete("/v1/accounts/{accountId}/members/{userId}", "members.remove", Role(Manager), "Removes a member.", members::remove),
        get("/v1/accounts/{accountId}/invitations", "invitations.list", Role(Manager), "Lists invitations.", invitations::list),
        post("/v1/accounts/{accountId}/invitations", "invitations.create", Role(Manager), "Invites somebody; the token is shown once.", invitations::create),
        delete("/v1/accounts/{accountId}/invitations/{invitationId}", "invitations.revoke", Role(Manager), "Takes an invitation back.", invitations::revoke),
        post("/v1/invitations/accept", "invitations.accept", Person, "Takes the place that an invitation gives.", invitations::accept),

        post("/v1/api-keys", "apiKeys.create", Role(Manager), "Makes a key; it is shown once.", keys::create),
        get("/v1/api-keys", "apiKeys.list", Role(Viewer), "Lists keys.", keys::list),
        get("/v1/api-keys/{keyId}", "apiKeys.get", Role(Viewer), "Shows a key, without itself.", keys::show),
        patch("/v1/api-keys/{keyId}", "apiKeys.update", Role(Manager), "Renames a key, or changes which operations it is for.", keys::change),
        delete("/v1/api-keys/{keyId}", "apiKeys.revoke", Role(Manager), "Revokes a key at once.", keys::revoke),

        get("/v1/billing/plans", "billing.plans", Role(Viewer), "Lists the plans on offer.", billing::plans::list),
        get("/v1/billing/subscription", "billing.subscription", Role(Viewer), "Shows the plan of the account, and what is paid for it.", billing::subscription::show),
        post("/v1/billing/checkout", "billing.checkout", Role(Admin), "Gives the address of a page where a plan is bought.", billing::checkout::check_out),
        post("/v1/billing/portal", "billing.portal", Role(Admin), "Gives the address of a page with cards and invoices.", billing::portal::open),
        post("/webhooks/stripe", "billing.hear", Public, "Hears from Stripe that something has changed.", billing::hook::take),
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
