//! The one place where the parts meet: what is opened here is handed to whoever needs it.

use std::future::Future;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use anyhow::Context;
use ferryhook_api::auth::{self, Auth, Surroundings};
use ferryhook_api::billing::{Billing, stripe};
use ferryhook_api::cursors::Cursors;
use ferryhook_api::digests::Digests;
use ferryhook_api::limiter::Limiter;
use ferryhook_api::mail::{Mailer, mailbox};
use ferryhook_api::stream::Seats;
use ferryhook_api::{App, Readiness, router};
use ferryhook_core::{Env, plan};
use ferryhook_flow::ingest::Outside;
use ferryhook_flow::scripts::Scripts;
use ferryhook_flow::{Courier, Ingest, Parts, Routes, Tally, ingest};
use ferryhook_net::client::{Client, Guard, Outbound};
use ferryhook_net::{Tasks, Trusted};
use ferryhook_store::Store;
use ipnet::{IpNet, Ipv4Net, Ipv6Net};
use metrics_exporter_prometheus::PrometheusHandle;
use tokio::runtime::Handle;

use crate::carriers::Carriers;
use crate::config::{Config, StoreKind};
use crate::control::{Bell, Control, Handlers, Turns};
use crate::desk::Desk;
use crate::front::Front;
use crate::storage::{self, Storage};
use crate::{echo, roots, telemetry};

/// Histograms gather samples until somebody sorts them into buckets.
const METRICS_UPKEEP: Duration = Duration::from_secs(5);
const DAY: Duration = Duration::from_secs(24 * 60 * 60);

/// When all of this is gone, the store is closed and what it had buffered is on disk.
pub struct Wired {
    pub front: Front,
    /// Finishes its attempts after the last event has come in.
    pub courier: Courier,
    pub readiness: Arc<Readiness>,
    /// Awaited after the last connection has gone.
    pub tasks: Tasks,
    /// The last to go of those who work.
    pub carriers: Carriers,
    pub store: Store,
    pub bell: Bell,
    /// Ended before the server waits for its connections to go.
    pub streams: Seats,
}

/// What a server is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Purpose {
    Serving,
    /// Has a receiver of its own.
    Development,
}

pub async fn wire(config: &Config, env: Env, purpose: Purpose) -> anyhow::Result<Wired> {
    // Also what a carrier asks for: others may wait for the same.
    let tasks = Tasks::on(Handle::current(), None);
    let carriers = Carriers::start(config.store)?;
    let roots = roots::of(config)?;
    let storage = storage::open(config, env.clone()).await?;
    let plans = plan::seeded(env.now());
    storage.store.plans().seed(&plans).await.context("cannot set up the plans")?;
    let metrics = telemetry::metrics()?;
    tasks.spawn("metrics", keep_up(metrics.clone(), tasks.stopping()));
    let traces = telemetry::traces(&env, &tasks)?;
    let guard = Guard::new(config.destinations_allow.0.clone());
    let routes = Routes::new(storage.store.clone(), env.clone(), tasks.clone());
    let client = Client::new(guard.clone(), env.clone(), tasks.clone(), roots);
    let outside = Outside { outbound: Arc::new(client), guard: guard.clone() };
    let tally = Tally::default();
    let courier = Courier::new(Parts {
        store: storage.store.clone(),
        env: env.clone(),
        routes: routes.clone(),
        outbound: outside.outbound.clone(),
        guard: guard.clone(),
        scripts: Scripts::default(),
        shared: config.store == StoreKind::Dynamodb,
        traces: traces.clone(),
        tally: tally.clone(),
        tasks: carriers.tasks(),
    });
    let bell = bell(&routes, &courier, &tasks);
    let settings = ingest::Settings {
        trusted: Trusted::new(config.ingest.trusted_proxies.0.clone()),
        public_url: config.public_url.as_ref().map(|url| url.0.clone()),
        outside: Some(outside),
        remember: DAY * config.dynamo.ttl_days,
        body_within: config.ingest.body_within,
        traces,
    };
    let hand_over = Arc::new(courier.clone());
    let store = storage.store.clone();
    let door = routes.clone();
    let ingest = Ingest::new(store.clone(), env.clone(), &tasks, door, hand_over, &tally, settings);
    let desk = Desk::of(courier.clone(), ingest.clone(), store.clone(), env.clone(), routes);
    let desk = Arc::new(desk);
    let api_guard = guard.clone();
    let vault = storage.keys.vault.clone();
    control(config, &env, &storage, guard, (bell.clone(), desk.clone()), &tasks);
    courier.start();
    let readiness = Arc::new(Readiness::new(move || check(storage.clone())));
    let auth = Arc::new(auth(config, &store, &env, &tasks, purpose)?);
    letters(config, &store, &env, &auth, &courier, &tasks);
    let streams = Seats::default();
    let app = App {
        env: env.clone(),
        store: store.clone(),
        guard: api_guard,
        readiness: readiness.clone(),
        metrics,
        bell: bell.clone(),
        cursors: Cursors::new(&vault.derive("cursors")),
        limiter: Limiter::new(config.api_rates, env.clone()),
        settings: Arc::new(api_settings(config)),
        tasks: tasks.clone(),
        auth: auth.clone(),
        works: desk.clone(),
        listening: desk.clone(),
        fetching: desk,
        waiters: Default::default(),
        turns: Arc::default(),
        streams: streams.clone(),
        billing: Arc::new(billing(config, &env, &tasks)?),
    };
    let router = match purpose {
        Purpose::Serving => router(app),
        Purpose::Development => router(app)
            .merge(echo::router(store.clone(), env.clone()))
            .merge(mailbox::router(auth.mail.clone())),
    };
    let front = Front { ingest, router, env };
    Ok(Wired { front, courier, readiness, tasks, carriers, store, bell, streams })
}

/// How plans are paid for. Stripe is the operator's choice too, and what it says is read whole.
fn billing(config: &Config, env: &Env, tasks: &Tasks) -> anyhow::Result<Billing> {
    let guard = everywhere();
    let client = Client::new(guard.clone(), env.clone(), tasks.clone(), roots::of(config)?);
    let outbound: Arc<dyn Outbound> = Arc::new(client.keeping(stripe::ANSWER_BYTES_MAX));
    Billing::new(config.billing.clone(), &outbound, &guard, env.clone())
        .context("billing.stripe.webhookSecret cannot be used")
}

/// For those whom the operator has named.
fn everywhere() -> Guard {
    Guard::new(vec![IpNet::V4(Ipv4Net::default()), IpNet::V6(Ipv6Net::default())])
}

/// How people sign in. The platforms they may come through are the operator's choice, so that
/// these alone may be anywhere, also inside.
fn auth(
    config: &Config,
    store: &Store,
    env: &Env,
    tasks: &Tasks,
    purpose: Purpose,
) -> anyhow::Result<Auth> {
    let mail = match (&config.sign_in.mail, purpose) {
        (Some(server), _) => Mailer::to_server(server, env, tasks)?,
        (None, Purpose::Development) => Mailer::to_mailbox(env.clone()),
        (None, Purpose::Serving) => {
            tracing::info!(
                "no mail server is set: addresses are not verified, and a lost password \
                            cannot be replaced by mail"
            );
            Mailer::nowhere()
        }
    };
    let guard = everywhere();
    let client = Client::new(guard.clone(), env.clone(), tasks.clone(), roots::of(config)?);
    let public_url = config.public_url.as_ref().map(|url| url.0.as_str());
    let settings = auth::Settings {
        signup: config.sign_in.signup,
        base_url: config.base_url(),
        verifies_addresses: config.sign_in.mail.is_some(),
        // Not where this server listens: another one of the installation listens elsewhere.
        issuer: public_url.unwrap_or("ferryhook").to_owned(),
        github: config.sign_in.github.clone(),
        google: config.sign_in.google.clone(),
    };
    let (store, env, tasks) = (store.clone(), env.clone(), tasks.clone());
    let outbound = Arc::new(client);
    Ok(Auth::new(settings, Surroundings { store, env, tasks, mail, outbound, guard }))
}

/// Letters about what fails. The data plane knows when, the API knows how.
fn letters(
    config: &Config,
    store: &Store,
    env: &Env,
    auth: &Auth,
    courier: &Courier,
    tasks: &Tasks,
) {
    let digests = Digests {
        store: store.clone(),
        env: env.clone(),
        mail: auth.mail.clone(),
        base_url: config.base_url(),
    };
    tasks.spawn("digests", digests.clone().run(tasks.stopping()));
    let tasks = tasks.clone();
    courier.on_alarm(move |alarm| {
        let digests = digests.clone();
        tasks.spawn("alarm", async move {
            if let Err(error) = digests.alarm(&alarm.users, &alarm.said).await {
                tracing::warn!(%error, account.id = %alarm.account, "nobody was written to");
            }
        });
    });
}

fn api_settings(config: &Config) -> ferryhook_api::Settings {
    let public_url = config.public_url.as_ref().map(|url| url.0.trim_end_matches('/').to_owned());
    ferryhook_api::Settings {
        is_secure: public_url.as_deref().is_some_and(|url| url.starts_with("https://")),
        public_url,
        trusted: Trusted::new(config.ingest.trusted_proxies.0.clone()),
        metrics_token: config.metrics_token.clone(),
        region: config.dynamo.region.clone(),
    }
}

/// Rung by whoever changes a source or a connection in this process.
fn bell(routes: &Routes, courier: &Courier, tasks: &Tasks) -> Bell {
    let (routes, courier, tasks) = (routes.clone(), courier.clone(), tasks.clone());
    Arc::new(move |changed| {
        // Before whoever asked for the change hears that it is made.
        routes.forget(changed.source);
        let courier = courier.clone();
        tasks.spawn("change", async move { courier.changed(Some(changed.source)).await });
    })
}

/// A server that cannot have the socket (its name is too long, the file system knows none) serves
/// all the same; only a backup or a change has to wait until it stops.
fn control(
    config: &Config,
    env: &Env,
    storage: &Storage,
    guard: Guard,
    (bell, desk): (Bell, Arc<Desk>),
    tasks: &Tasks,
) {
    let Some(engine) = storage.embedded.clone() else { return };
    let handlers = Handlers {
        store: storage.store.clone(),
        env: env.clone(),
        engine,
        keys: storage.keys.clone(),
        guard,
        bell,
        turns: Turns::default(),
        desk,
        url: config.local_url(),
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
