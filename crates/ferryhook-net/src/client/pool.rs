//! Connections at rest, newest first.
//!
//! Taking and putting back are one short lock each. Nobody watches a line at rest; a sweep now
//! and then closes those that are dead or too old, so that they do not hold sockets.

use std::collections::HashMap;
use std::mem;
use std::sync::{Arc, Mutex, MutexGuard, Once, PoisonError, Weak};
use std::task::{Context, Waker};
use std::time::Duration;

use ferryhook_core::Env;
use tokio::runtime::{self, Handle};
use tokio::time::sleep;

use super::line::Line;
use super::target::Origin;
use super::{Identity, Outgoing, limits};
use crate::Tasks;

pub(super) struct Pool {
    room: Room,
    resting: Mutex<Resting>,
    sweeping: Once,
}

/// How many lines may rest.
pub(super) struct Room {
    pub(super) per_origin: usize,
    pub(super) lines: usize,
    pub(super) origins: usize,
}

impl Default for Room {
    fn default() -> Self {
        Self {
            per_origin: limits::IDLE_PER_ORIGIN,
            lines: limits::IDLE_MAX,
            origins: limits::ORIGINS_MAX,
        }
    }
}

/// Whom a line leads to, as whom it was opened, and whose threads hear of what comes. Calls that
/// agree in all three can share it: those of threads that go first must not wait until one of
/// those that stand back has heard of their answer.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct Ends {
    pub(super) origin: Arc<Origin>,
    pub(super) identity: Option<Identity>,
    pub(super) runtime: Option<runtime::Id>,
}

impl Ends {
    pub(super) fn of(outgoing: &Outgoing) -> Self {
        Self {
            origin: outgoing.target.origin().clone(),
            identity: outgoing.identity.clone(),
            runtime: Handle::try_current().ok().map(|runtime| runtime.id()),
        }
    }
}

#[derive(Default)]
struct Resting {
    by_ends: HashMap<Ends, Vec<Rested>>,
    count: usize,
}

struct Rested {
    line: Box<Line>,
    since: Duration,
}

impl Pool {
    pub(super) fn new(room: Room) -> Self {
        Self { room, resting: Mutex::default(), sweeping: Once::new() }
    }

    /// The line between `ends` that was used last, if it has not rested too long.
    pub(super) fn take(&self, ends: &Ends, now: Duration) -> Option<Box<Line>> {
        let mut resting = self.lock();
        let lines = resting.by_ends.get_mut(ends)?;
        let newest = lines.pop()?;
        if newest.since + limits::IDLE > now {
            resting.count -= 1;
            return Some(newest.line);
        }
        let older = mem::take(lines); // and so are too old as well
        resting.count -= older.len() + 1;
        drop(resting); // closing sockets takes longer than others should wait
        drop((newest, older));
        None
    }

    pub(super) fn put(&self, ends: &Ends, line: Box<Line>, now: Duration) {
        let mut surplus = Vec::new();
        let mut resting = self.lock();
        if resting.count >= self.room.lines {
            surplus = resting.without_oldest();
        }
        if resting.by_ends.len() >= self.room.origins {
            resting.by_ends.retain(|_, lines| !lines.is_empty());
        }
        let lines = match resting.by_ends.get_mut(ends) {
            Some(lines) => lines,
            None => resting.by_ends.entry(ends.clone()).or_default(),
        };
        let rested = Rested { line, since: now };
        if lines.len() < self.room.per_origin {
            lines.push(rested);
            resting.count += 1;
        } else {
            surplus.push(rested);
        }
        drop(resting);
        drop(surplus);
    }

    /// Closes what is dead or has rested too long.
    pub(super) fn sweep(&self, now: Duration) {
        let mut unwoken = Context::from_waker(Waker::noop());
        let ended = self.lock().without(|rested| {
            rested.since + limits::IDLE <= now || !rested.line.looks_good(&mut unwoken)
        });
        drop(ended);
    }

    /// Sweeps now and then for as long as the pool lives. Only the first call starts it.
    pub(super) fn keep_swept(self: &Arc<Self>, env: &Env, tasks: &Tasks) {
        self.sweeping.call_once(|| {
            let (pool, env, stop) = (Arc::downgrade(self), env.clone(), tasks.stopping());
            tasks.spawn("idle connections", async move {
                tokio::select! {
                    () = sweep_for_ever(pool, env) => {}
                    () = stop => {}
                }
            });
        });
    }

    fn lock(&self) -> MutexGuard<'_, Resting> {
        self.resting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    #[cfg(test)]
    pub(super) fn count(&self) -> usize {
        self.lock().count
    }
}

async fn sweep_for_ever(pool: Weak<Pool>, env: Env) {
    loop {
        sleep(limits::SWEEP_EVERY).await;
        let Some(pool) = pool.upgrade() else { return };
        pool.sweep(env.elapsed());
    }
}

impl Resting {
    /// Takes out a quarter, those that have rested longest: sorting for each newcomer would be
    /// too much, and refusing newcomers would keep the ones nobody calls.
    fn without_oldest(&mut self) -> Vec<Rested> {
        let mut since: Vec<_> =
            self.by_ends.values().flatten().map(|rested| rested.since).collect();
        let mut left = (since.len() / 4).max(1);
        let (_, &mut last_to_go, _) = since.select_nth_unstable(left - 1);
        self.without(|rested| {
            let out = left > 0 && rested.since <= last_to_go;
            left -= usize::from(out);
            out
        })
    }

    fn without(&mut self, mut out: impl FnMut(&mut Rested) -> bool) -> Vec<Rested> {
        let mut taken = Vec::new();
        for lines in self.by_ends.values_mut() {
            taken.extend(lines.extract_if(.., &mut out));
        }
        self.by_ends.retain(|_, lines| !lines.is_empty());
        self.count -= taken.len();
        taken
    }
}

#[cfg(test)]
mod tests;
