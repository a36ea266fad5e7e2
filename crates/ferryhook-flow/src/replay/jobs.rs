//! Jobs: replays of many events, carried out one event after the other.
//!
//! Woken by whoever asks for one, and at the start for those that an earlier run has left. An
//! account has one at a time, the others wait for their turn. A job only writes down which
//! deliveries begin, at the rate that was asked for and never far ahead of what the destinations
//! take; the lanes do the rest. When the process stops, a job saves where it stands and goes on
//! there with the next start.

mod feed;
mod room;
mod run;

use std::collections::HashSet;
use std::future::Future;
use std::panic::AssertUnwindSafe;
use std::pin::pin;

use ferryhook_core::replay::State;
use ferryhook_core::{Account, Id, Replay, limits as bounds};
use ferryhook_store::{Slice, Store, StoreError, Stored, Window};
use futures_util::stream::FuturesUnordered;
use futures_util::{FutureExt, StreamExt};

use crate::courier::Courier;
use crate::limits;

/// Why a replay was not taken on.
#[derive(Debug, thiserror::Error)]
pub enum OrderError {
    #[error(
        "{} replays of this account are not over yet; wait or cancel one",
        bounds::REPLAYS_WAITING_MAX
    )]
    TooMany,
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl Courier {
    /// Writes a replay down and begins with it as soon as it is its turn.
    pub async fn replay_many(&self, store: &Store, replay: &Replay) -> Result<(), OrderError> {
        order(store, replay).await?;
        self.inner().replays.notify_one();
        Ok(())
    }
}

/// Writes a replay down for whoever works on the store.
pub async fn order(store: &Store, replay: &Replay) -> Result<(), OrderError> {
    // Those that are not over are among the newest, or there are too many of them.
    let newest = Slice::newest_first().limit(bounds::REPLAYS_WAITING_MAX);
    let newest = store.replays().list_by_account(replay.account_id, newest).await?;
    let running = newest.rows.iter().filter(|one| one.is_running()).count();
    if running >= bounds::REPLAYS_WAITING_MAX {
        return Err(OrderError::TooMany);
    }
    Ok(store.replays().create(replay).await?)
}

pub(crate) async fn run(courier: &Courier, stop: impl Future<Output = ()>) {
    let inner = courier.inner();
    let mut stop = pin!(stop);
    let mut jobs = FuturesUnordered::new();
    let mut busy = HashSet::new();
    loop {
        let looked = take_up(courier, &busy, limits::REPLAYS_MAX - jobs.len()).await;
        let complete = looked.is_ok();
        match looked {
            Ok(taken) => {
                for job in taken {
                    busy.insert(job.account_id);
                    jobs.push(run_one(courier, job));
                }
            }
            Err(error) => tracing::warn!(%error, "the replays cannot be read; trying again"),
        }
        // Where nobody else works on the store, nothing comes without the bell.
        let look = async {
            match inner.shared || !complete {
                true => tokio::time::sleep(limits::REPLAY_LOOK_EVERY).await,
                false => std::future::pending().await,
            }
        };
        tokio::select! {
            biased;
            () = stop.as_mut() => break,
            Some(account) = jobs.next() => { busy.remove(&account); }
            () = inner.replays.notified() => {}
            () = look => {}
        }
    }
    // Each has heard it too, and saves where it stands.
    while jobs.next().await.is_some() {}
}

async fn run_one(courier: &Courier, job: Stored<Replay>) -> Id<Account> {
    let (id, account) = (job.id, job.account_id);
    tracing::info!(replay.id = %id, account.id = %account, "a replay runs");
    if AssertUnwindSafe(run::run(courier, job)).catch_unwind().await.is_err() {
        // Taken up again by whoever looks next, from where it was saved.
        tracing::error!(replay.id = %id, "a replay panicked");
    }
    account
}

/// Takes those whose turn it is, in the order in which they were asked for.
async fn take_up(
    courier: &Courier,
    busy: &HashSet<Id<Account>>,
    most: usize,
) -> Result<Vec<Stored<Replay>>, StoreError> {
    let mut taken = Vec::new();
    if most == 0 {
        return Ok(taken);
    }
    let inner = courier.inner();
    let mut running = list(&inner.store).await?;
    running.sort_unstable_by_key(|one| one.id);
    let now = inner.now().wall;
    let mut busy = busy.clone();
    if inner.shared {
        // What another has in hand keeps its account busy.
        busy.extend(running.iter().filter(|one| is_leased(one, now)).map(|one| one.account_id));
    }
    for one in running {
        if taken.len() == most {
            break;
        }
        if busy.contains(&one.account_id) {
            continue;
        }
        // By the index it may look other than it is.
        let Some(was) = inner.store.replays().find_of(one.account_id, one.id).await? else {
            continue;
        };
        let until = now + limits::REPLAY_LEASE;
        if let Some(leased) = inner.store.replays().lease(&was, until).await? {
            busy.insert(leased.account_id);
            taken.push(leased);
        }
    }
    Ok(taken)
}

async fn list(store: &Store) -> Result<Vec<Stored<Replay>>, StoreError> {
    let mut running = Vec::new();
    let mut slice = Slice::oldest_first().limit(limits::REPLAY_PAGE);
    loop {
        let page = store.replays().list_running(Window::ALWAYS, slice.clone()).await?;
        running.extend(page.rows);
        match page.next {
            Some(next) if running.len() < limits::REPLAYS_LOOKED_AT_MAX => {
                slice = slice.after(Some(next));
            }
            _ => return Ok(running),
        }
    }
}

fn is_leased(replay: &Replay, now: ferryhook_core::Timestamp) -> bool {
    matches!(replay.state, State::Running { lease_until } if lease_until > now)
}
