//! A store that takes its time, fails, and forgets what was not synced when the power goes.
//!
//! The memory engine behind a row of accidents: a call waits before and after it is carried out,
//! so that others come in between; it is refused, or carried out and the answer lost; and a crash
//! takes back as many of the commits since the last sync as chance decides.

use std::future::pending;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use ferryhook_core::Env;
use ferryhook_store::engine::memory::{Before, Memory};
use ferryhook_store::engine::{Answer, Row};
use ferryhook_store::{Batch, Durability, Engine, Key, Page, Query, StoreError};
use tokio::sync::Notify;

use crate::chance::Chance;
use crate::story::Story;

#[derive(Debug)]
pub(crate) struct Disk {
    memory: Memory,
    env: Env,
    chance: Chance,
    story: Story,
    state: Mutex<State>,
    /// Rung when the moment of the crash has come.
    crash: Notify,
}

#[derive(Debug, Default)]
struct State {
    manner: Manner,
    /// Nothing works until then.
    away_until: Duration,
    /// What the commits since the last sync have changed.
    unsynced: Vec<Before>,
    /// Calls until the crash.
    calls_left: Option<u64>,
    crashed: bool,
}

/// How it behaves.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Manner {
    /// The longest a call waits, before and after.
    pub(crate) wait_ms: u64,
    /// In a thousand calls: how many are refused, and of how many commits the answer is lost.
    pub(crate) refused: u64,
    pub(crate) unanswered: u64,
}

impl Disk {
    pub(crate) fn new(env: Env, chance: Chance, story: Story) -> Self {
        let (memory, state) = (Memory::new(env.clone()), Mutex::default());
        Self { memory, env, chance, story, state, crash: Notify::new() }
    }

    pub(crate) fn behave(&self, manner: Manner) {
        let mut state = self.state();
        (state.manner, state.away_until) = (manner, Duration::ZERO);
    }

    pub(crate) fn go_away(&self, time: Duration) {
        self.state().away_until = self.env.elapsed() + time;
    }

    /// How long it will still be away.
    pub(crate) fn away(&self) -> Duration {
        self.state().away_until.saturating_sub(self.env.elapsed())
    }

    /// Crashes when that many calls have been made.
    pub(crate) fn crash_after(&self, calls: u64) {
        self.state().calls_left = Some(calls);
    }

    pub(crate) async fn crashed(&self) {
        while !self.has_crashed() {
            self.crash.notified().await;
        }
    }

    pub(crate) fn never_crash(&self) {
        self.state().calls_left = None;
    }

    pub(crate) fn has_crashed(&self) -> bool {
        self.state().crashed
    }

    /// The power is back: the end of what was not synced is gone.
    pub(crate) fn recover(&self) {
        let mut state = self.state();
        let lost = self.chance.of(0..state.unsynced.len() as u64 + 1) as usize;
        for _ in 0..lost {
            state.unsynced.pop().into_iter().for_each(|before| self.memory.take_back(before));
        }
        state.unsynced.clear();
        (state.crashed, state.calls_left, state.away_until) = (false, None, Duration::ZERO);
        drop(state);
        self.story.crash(lost);
    }

    /// Closed in good order: everything is on disk.
    pub(crate) fn close(&self) {
        let mut state = self.state();
        state.unsynced.clear();
        (state.crashed, state.calls_left, state.away_until) = (false, None, Duration::ZERO);
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What happens before a call is carried out.
    async fn before(&self) -> Result<(), StoreError> {
        self.wait().await;
        let (crashes, refused) = {
            let mut state = self.state();
            if let Some(left) = &mut state.calls_left {
                *left = left.saturating_sub(1);
            }
            if state.calls_left == Some(0) || self.story.is_endless() {
                state.crashed = true;
            }
            let away = self.env.elapsed() < state.away_until;
            (state.crashed, away || self.chance.of(0..1000) < state.manner.refused)
        };
        if crashes {
            self.crash.notify_one();
            return pending().await;
        }
        match refused {
            true => Err(StoreError::Unavailable("an accident".to_owned(), None)),
            false => Ok(()),
        }
    }

    async fn wait(&self) {
        let wait_ms = self.state().manner.wait_ms;
        match self.chance.of(0..8) {
            0 if wait_ms > 0 => tokio::time::sleep(self.chance.millis(1..wait_ms + 1)).await,
            1 | 2 => tokio::task::yield_now().await,
            _ => {}
        }
    }

    fn carry_out(
        &self,
        batch: Batch,
        durability: Durability,
    ) -> impl Future<Output = Result<(), StoreError>> {
        let before = self.memory.before(&batch);
        let commit = self.memory.commit(batch, durability);
        async move {
            commit.await?;
            let mut state = self.state();
            match durability {
                Durability::Synced => state.unsynced.clear(),
                Durability::Buffered => state.unsynced.push(before),
            }
            Ok(())
        }
    }
}

impl Engine for Disk {
    fn get<'a>(&'a self, key: &'a Key) -> Answer<'a, Option<Row>> {
        Box::pin(async move {
            self.before().await?;
            let found = self.memory.get(key).await;
            self.wait().await;
            found
        })
    }

    fn query(&self, query: Query) -> Answer<'_, Page<Row>> {
        Box::pin(async move {
            self.before().await?;
            let found = self.memory.query(query).await;
            self.wait().await;
            found
        })
    }

    fn commit(&self, batch: Batch, durability: Durability) -> Answer<'_, ()> {
        Box::pin(async move {
            let keys: Vec<_> =
                batch.actions().iter().map(|action| action.key().to_string()).collect();
            if let Err(error) = self.before().await {
                self.story.tell(format_args!("no commit of {}", keys.join(" + ")));
                return Err(error);
            }
            let done = self.carry_out(batch, durability).await;
            let told = if done.is_ok() { "commit" } else { "refused" };
            let when = self.story.tell(format_args!("{told} {durability:?} {}", keys.join(" + ")));
            self.wait().await;
            let unanswered = self.state().manner.unanswered;
            if done.is_ok() && self.chance.of(0..1000) < unanswered {
                self.story.tell(format_args!("nobody heard of commit {}", when.line));
                let mut told = self.story.told();
                told.unconfirmed.extend(keys.into_iter().map(|key| (when, key)));
                return Err(StoreError::Unavailable("a lost answer".to_owned(), None));
            }
            done
        })
    }
}

/// The same rows for the operator and for the checks, without any accident.
#[derive(Debug)]
pub(crate) struct Calm(pub(crate) std::sync::Arc<Disk>);

impl Engine for Calm {
    fn get<'a>(&'a self, key: &'a Key) -> Answer<'a, Option<Row>> {
        self.0.memory.get(key)
    }

    fn query(&self, query: Query) -> Answer<'_, Page<Row>> {
        self.0.memory.query(query)
    }

    fn commit(&self, batch: Batch, durability: Durability) -> Answer<'_, ()> {
        Box::pin(async move { self.0.carry_out(batch, durability).await })
    }
}
