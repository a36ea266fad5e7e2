//! Routes: where the events of a source go, and what its owner's plan allows.
//!
//! A copy in memory of what the store has, so that an event costs no read. It is asked by ingest
//! for every request and by whoever delivers; it is loaded on demand, renewed in the background
//! once a minute while it is used, and may be forgotten at any time. It decides nothing.

mod cache;
mod declared;
mod load;
mod proof;
mod reading;
mod way;

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use ferryhook_core::plan::Limits;
use ferryhook_core::{Account, Env, Id, Plan, Source, Timestamp, account};
use ferryhook_net::Tasks;
use ferryhook_store::{Store, StoreError};
use tokio::sync::oneshot;

use cache::{Cache, Found};

pub(crate) use declared::no_json;
pub use declared::{Declaration, Declarations};
pub use proof::Proof;
pub use reading::Reading;
pub use way::Way;

/// The bounds of the cache.
pub mod limits {
    use std::time::Duration;

    /// Sources at once; beyond that those go that were not asked for lately.
    pub const ROUTES_MAX: usize = 32 * 1024;
    /// Ids that name no source, remembered so that a wrong address costs a read only now and then.
    pub const UNKNOWN_MAX: usize = 16 * 1024;
    pub const UNKNOWN_FOR: Duration = Duration::from_secs(5);
    /// From then on a route is renewed in the background of the request that asks for it.
    pub const FRESH_FOR: Duration = Duration::from_secs(60);
    /// Between two renewals; whoever asks sooner is served as before. So thousands that grew old
    /// together are renewed by and by, and up to 12,000 busy ones every minute.
    pub const RENEWAL_EVERY: Duration = Duration::from_millis(5);
    /// From then on a request waits for the renewal.
    pub const STALE_FOR: Duration = Duration::from_secs(300);
    /// Loads at once; who asks for one more is told that the store is busy.
    pub const LOADS_MAX: usize = 1024;
    /// Of one source: with their event they must fit into one commit.
    pub const CONNECTIONS_MAX: usize = ferryhook_core::limits::batch::ACTIONS_MAX - 2;
    /// Pages of connections that one load reads. Deleted ones are rows too.
    pub const PAGES_MAX: usize = 64;
}

/// A source and all that must be known to take its events in and bring them on.
#[derive(Debug)]
pub struct Route {
    pub source: Source,
    pub reading: Reading,
    pub proof: Proof,
    pub plan: Allowance,
    pub account_status: account::Status,
    /// Until then what arrives may be a copy of something that was erased.
    pub erased_until: Option<Timestamp>,
    /// What its owner says events must look like.
    pub declared: Arc<Declarations>,
    /// Its connections, without those that are deleted; the paused ones hold what they get.
    pub ways: Vec<Arc<Way>>,
}

impl Route {
    /// Whether all of its ways lead into the inbox, so that there is nobody to send to.
    pub(crate) fn is_fetched(&self) -> bool {
        !self.ways.is_empty() && self.ways.iter().all(|way| way.inbox().is_some())
    }
}

/// What the owner's plan says about events.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Allowance {
    pub events_per_minute: Option<u64>,
    pub events_per_month: Option<u64>,
    pub retention: Option<Duration>,
    /// Whether one who has used up the month is asked to pay (402) or to wait (429).
    pub over_quota: OverQuota,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum OverQuota {
    #[default]
    Wait,
    Pay,
}

impl Allowance {
    pub fn of(plan: &Plan) -> Self {
        let Limits { events_per_minute, events_per_month, .. } = plan.limits;
        let policy = plan.metadata.as_ref().and_then(|metadata| metadata.get("overQuota"));
        let over_quota = match policy.and_then(serde_json::Value::as_u64) {
            Some(402) => OverQuota::Pay,
            _ => OverQuota::Wait,
        };
        Self { events_per_minute, events_per_month, retention: plan.retention(), over_quota }
    }

    /// When something that arrives at `now` expires: a whole second, as it is stored.
    pub fn expiry(&self, now: Timestamp) -> Option<Timestamp> {
        let kept = self.retention?;
        Some(Timestamp::from_seconds((now + kept).as_seconds()))
    }
}

/// Cheap to clone: clones share the cache.
#[derive(Debug, Clone)]
pub struct Routes(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    store: Store,
    env: Env,
    tasks: Tasks,
    cache: Cache,
    declared: declared::Shared,
    /// When the next renewal may begin, in microseconds.
    renewal_at: AtomicU64,
    /// Who waits for which load. One runs for a source, whoever asks meanwhile waits for it.
    loads: Mutex<HashMap<Id<Source>, Load>>,
}

#[derive(Debug, Default)]
struct Load {
    waiting: Vec<oneshot::Sender<Result<Option<Arc<Route>>, String>>>,
    /// The source changed after this load began to read.
    outdated: bool,
}

impl Routes {
    pub fn new(store: Store, env: Env, tasks: Tasks) -> Self {
        let (cache, declared) = (Cache::default(), declared::Shared::default());
        let (renewal_at, loads) = (AtomicU64::new(0), Mutex::default());
        Self(Arc::new(Inner { store, env, tasks, cache, declared, renewal_at, loads }))
    }

    /// The route of a source, or `None` for an id that names none or a deleted one.
    pub async fn find(&self, id: Id<Source>) -> Result<Option<Arc<Route>>, StoreError> {
        let now = self.0.env.elapsed();
        match self.0.cache.find(id, now) {
            Found::Fresh(route) => Ok(route),
            Found::Stale(route) => {
                if self.0.may_renew(now) {
                    self.load(id, None);
                }
                Ok(Some(route))
            }
            Found::Nothing => {
                let (tell, told) = oneshot::channel();
                self.load(id, Some(tell));
                // Nobody tells when the load was cut off by the end of the process.
                let loaded = told.await.unwrap_or_else(|_| Err("it is closing".into()));
                loaded.map_err(|reason| StoreError::Unavailable(reason, None))
            }
        }
    }

    /// Whoever asks next sees the source as it is in the store now.
    pub fn forget(&self, id: Id<Source>) {
        if let Some(load) = self.0.loads().get_mut(&id) {
            load.outdated = true;
        }
        self.0.cache.forget(id);
    }

    /// The same for all sources of an account.
    pub fn forget_of(&self, account: Id<Account>) {
        // Whose source is being loaded is not known yet.
        self.0.loads().values_mut().for_each(|load| load.outdated = true);
        self.0.cache.forget_of(account);
    }

    pub fn forget_all(&self) {
        self.0.loads().values_mut().for_each(|load| load.outdated = true);
        self.0.cache.forget_all();
    }

    fn load(
        &self,
        id: Id<Source>,
        tell: Option<oneshot::Sender<Result<Option<Arc<Route>>, String>>>,
    ) {
        let mut loads = self.0.loads();
        let running = loads.contains_key(&id);
        if !running && loads.len() >= limits::LOADS_MAX {
            if let Some(tell) = tell {
                let _ = tell.send(Err("too many sources are being looked up".into()));
            }
            return;
        }
        if !running && tell.is_none() {
            self.0.renews(self.0.env.elapsed());
        }
        loads.entry(id).or_default().waiting.extend(tell);
        drop(loads);
        if !running {
            let inner = self.0.clone();
            self.0.tasks.spawn("load a route", async move { inner.run(id).await });
        }
    }
}

impl Inner {
    async fn run(&self, id: Id<Source>) {
        let mut end = Cleared { inner: self, id, is_open: true };
        loop {
            let before = self.cache.peek(id);
            let (before, now) = (before.as_deref(), self.env.now());
            let loaded = load::route(&self.store, id, before, &self.declared, now).await;
            let mut loads = self.loads();
            if let Some(load) = loads.get_mut(&id).filter(|load| load.outdated) {
                load.outdated = false; // what was read may be what it was before
                continue;
            }
            let load = loads.remove(&id).unwrap_or_default();
            end.is_open = false; // the next load of this source is another's
            let told = match loaded {
                Ok(route) => {
                    // Still under the lock, so that nothing can be forgotten in between.
                    self.cache.keep(id, route.clone(), self.env.elapsed());
                    Ok(route)
                }
                Err(error) => {
                    tracing::warn!(%error, source.id = %id, "a source cannot be looked up");
                    Err(error.to_string())
                }
            };
            drop(loads);
            for waiting in load.waiting {
                let _ = waiting.send(told.clone());
            }
            return;
        }
    }

    fn may_renew(&self, now: Duration) -> bool {
        now.as_micros() as u64 >= self.renewal_at.load(Ordering::Relaxed)
    }

    fn renews(&self, now: Duration) {
        let next = now + limits::RENEWAL_EVERY;
        self.renewal_at.store(next.as_micros() as u64, Ordering::Relaxed);
    }

    fn loads(&self) -> MutexGuard<'_, HashMap<Id<Source>, Load>> {
        self.loads.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Whatever ends a load, a panic included, leaves nobody waiting for it.
struct Cleared<'a> {
    inner: &'a Inner,
    id: Id<Source>,
    is_open: bool,
}

impl Drop for Cleared<'_> {
    fn drop(&mut self) {
        if self.is_open {
            self.inner.loads().remove(&self.id);
        }
    }
}

#[cfg(test)]
mod tests;
