//! The memory engine with a hand on it: counts what is asked, can be held up, can be away; and a
//! clock to go with it.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use ferryhook_core::env::Clock;
use ferryhook_core::{Env, Event, Id, Timestamp, samples};
use ferryhook_net::Tasks;
use ferryhook_net::client::{Guard, Outbound};
use ferryhook_store::engine::memory::Memory;
use ferryhook_store::engine::{Answer, Engine, Row};
use ferryhook_store::{Batch, Durability, Key, Kind, Page, Query, Store, StoreError};
use tokio::sync::watch;
use tokio::time::Instant;

use crate::courier::{Parts, lock};
use crate::scripts::Scripts;
use crate::{Routes, Tally};

/// Runs with tokio's time.
pub(crate) struct Paused(pub(crate) Instant);

impl Clock for Paused {
    fn now(&self) -> Timestamp {
        Timestamp::from_seconds(1_767_225_600) + self.elapsed()
    }

    fn elapsed(&self) -> Duration {
        self.0.elapsed()
    }
}

/// What a courier is made of, alone on its store.
pub(crate) fn parts(store: &Store, env: &Env, outbound: Arc<dyn Outbound>) -> Parts {
    Parts {
        store: store.clone(),
        env: env.clone(),
        routes: Routes::new(store.clone(), env.clone(), Tasks::new()),
        outbound,
        guard: Guard::new(Vec::new()),
        scripts: Scripts::default(),
        shared: false,
        traces: None,
        tally: Tally::default(),
        tasks: Tasks::new(),
    }
}

#[derive(Debug)]
pub(crate) struct Probe {
    memory: Memory,
    pub(crate) reads: AtomicUsize,
    pub(crate) commits: AtomicUsize,
    away: AtomicBool,
    answer_is_lost: AtomicBool,
    held: watch::Sender<bool>,
    spoilt: Mutex<Option<String>>,
    takes: Mutex<Duration>,
    crashes: AtomicUsize,
}

impl Probe {
    pub(crate) fn new(env: &Env) -> (Arc<Self>, Store) {
        let probe = Arc::new(Self {
            memory: Memory::new(env.clone()),
            reads: AtomicUsize::new(0),
            commits: AtomicUsize::new(0),
            away: AtomicBool::new(false),
            answer_is_lost: AtomicBool::new(false),
            held: watch::Sender::new(false),
            spoilt: Mutex::new(None),
            takes: Mutex::new(Duration::ZERO),
            crashes: AtomicUsize::new(0),
        });
        (probe.clone(), Store::new(probe, env.clone()))
    }

    /// From now on everything fails, or works again.
    pub(crate) fn is_away(&self, away: bool) {
        self.away.store(away, Ordering::SeqCst);
    }

    /// From now on whatever is asked takes so long.
    pub(crate) fn takes(&self, each: Duration) {
        *lock(&self.takes) = each;
    }

    /// From now on the event with this id cannot be read.
    pub(crate) fn spoil(&self, id: Id<Event>) {
        *lock(&self.spoilt) = Some(id.to_string());
    }

    /// The next commit is carried out, and nobody hears of it.
    pub(crate) fn lose_an_answer(&self) {
        self.answer_is_lost.store(true, Ordering::SeqCst);
    }

    /// The next so many commits panic.
    pub(crate) fn crashes(&self, times: usize) {
        self.crashes.store(times, Ordering::SeqCst);
    }

    /// Nothing is answered until [`Probe::let_go`].
    pub(crate) fn hold(&self) {
        self.held.send_replace(true);
    }

    pub(crate) fn let_go(&self) {
        self.held.send_replace(false);
    }

    pub(crate) fn reads(&self) -> usize {
        self.reads.load(Ordering::SeqCst)
    }

    pub(crate) fn commits(&self) -> usize {
        self.commits.load(Ordering::SeqCst)
    }

    async fn pass(&self) -> Result<(), StoreError> {
        let _ = self.held.subscribe().wait_for(|held| !held).await;
        let takes = *lock(&self.takes);
        if !takes.is_zero() {
            tokio::time::sleep(takes).await;
        }
        match self.away.load(Ordering::SeqCst) {
            true => Err(StoreError::Unavailable("gone fishing".into(), None)),
            false => Ok(()),
        }
    }
}

impl Engine for Probe {
    fn get<'a>(&'a self, key: &'a Key) -> Answer<'a, Option<Row>> {
        self.reads.fetch_add(1, Ordering::SeqCst);
        Box::pin(async move {
            self.pass().await?;
            let row = self.memory.get(key).await?;
            let is_event = row.as_ref().is_some_and(|row| row.kind == Kind::Event);
            let spoilt = lock(&self.spoilt).clone();
            match spoilt.filter(|id| is_event && key.to_string().contains(id)) {
                Some(_) => Err(StoreError::corrupt(Kind::Event, "spoilt on purpose")),
                None => Ok(row),
            }
        })
    }

    fn query(&self, query: Query) -> Answer<'_, Page<Row>> {
        self.reads.fetch_add(1, Ordering::SeqCst);
        Box::pin(async move {
            self.pass().await?;
            self.memory.query(query).await
        })
    }

    fn commit(&self, batch: Batch, durability: Durability) -> Answer<'_, ()> {
        self.commits.fetch_add(1, Ordering::SeqCst);
        let left = self.crashes.load(Ordering::SeqCst);
        self.crashes.store(left.saturating_sub(1), Ordering::SeqCst);
        assert_eq!(left, 0, "a commit crashes on purpose");
        Box::pin(async move {
            self.pass().await?;
            self.memory.commit(batch, durability).await?;
            match self.answer_is_lost.swap(false, Ordering::SeqCst) {
                true => Err(StoreError::Unavailable("the line is dead".into(), None)),
                false => Ok(()),
            }
        })
    }
}

/// The user, the account and the plan of the samples; sources are up to the test.
pub(crate) async fn settle_in(store: &Store) {
    store.users().create(&samples::user()).await.unwrap();
    store.accounts().create(&samples::account()).await.unwrap();
    store.plans().create(&samples::plan()).await.unwrap();
}
