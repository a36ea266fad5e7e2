//! Erase: carries out erasures, one after the other, until nothing is left of what they mean.
//!
//! Woken by whoever asks for one, and every few seconds: the control plane only writes them down.
//! First what is meant is deleted, then the store is scrubbed, once for all that wait for it,
//! because that costs the same for one event as for many. Everything is in the store: when the
//! process stops or dies, the next one goes on where it was.

mod job;

use std::future::Future;
use std::pin::pin;

use ferryhook_core::erasure::{State, What};
use ferryhook_core::{Erasure, Timestamp, limits as bounds};
use ferryhook_store::{Slice, Store, StoreError, Stored};

use crate::courier::Courier;
use crate::limits;

/// Why an erasure was not taken on.
#[derive(Debug, thiserror::Error)]
pub enum OrderError {
    #[error(
        "{} erasures of this account are not over yet; wait or cancel one",
        bounds::ERASURES_WAITING_MAX
    )]
    TooMany,
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl Courier {
    /// Writes an erasure down and begins with it as soon as it is its turn.
    pub async fn erase(&self, store: &Store, erasure: &Erasure) -> Result<(), OrderError> {
        order(store, erasure).await?;
        self.inner().erasures.notify_one();
        Ok(())
    }
}

/// Writes an erasure down for whoever works on the store.
pub async fn order(store: &Store, erasure: &Erasure) -> Result<(), OrderError> {
    if matches!(erasure.what, What::Events { .. }) {
        return Ok(store.erasures().create(erasure).await?); // quickly done, so any number may wait
    }
    // Those that are not over are among the newest, or there are too many of them.
    let newest = Slice::newest_first().limit(bounds::ERASURES_WAITING_MAX);
    let newest = store.erasures().list_by_account(erasure.account_id, newest).await?;
    if newest.rows.iter().filter(|one| !one.is_over()).count() >= bounds::ERASURES_WAITING_MAX {
        return Err(OrderError::TooMany);
    }
    Ok(store.erasures().create(erasure).await?)
}

pub(crate) async fn run(courier: &Courier, stop: impl Future<Output = ()>) {
    let inner = courier.inner();
    let mut stop = pin!(stop);
    let mut pause = limits::ERASURE_LOOK_EVERY;
    loop {
        let working = async {
            match work(courier).await {
                Ok(()) => limits::ERASURE_LOOK_EVERY,
                Err(error) => {
                    tracing::warn!(%error, "an erasure cannot go on now; trying again");
                    (pause * 2).min(limits::ERASURE_PAUSE_MAX)
                }
            }
        };
        tokio::select! {
            biased;
            () = stop.as_mut() => return,
            next = working => pause = next,
        }
        tokio::select! {
            biased;
            () = stop.as_mut() => return,
            () = inner.erasures.notified() => {}
            () = tokio::time::sleep(pause) => {}
        }
    }
}

/// Until there is none that is open.
async fn work(courier: &Courier) -> Result<(), StoreError> {
    loop {
        let open = list(courier).await?;
        if open.is_empty() {
            return Ok(());
        }
        let mut to_scrub = Vec::new();
        for one in open {
            let Some(leased) = lease(courier, &one).await? else { continue };
            match leased.state {
                State::Running { .. } => to_scrub.extend(job::run(courier, leased).await?),
                _ => to_scrub.push(leased),
            }
        }
        if to_scrub.is_empty() {
            return Ok(()); // in other hands
        }
        let inner = courier.inner();
        inner.store.scrub().await?;
        for one in to_scrub {
            let over = one.scrubbed(inner.now().wall);
            let (id, state, erased) = (over.id, over.state.word(), over.counts.erased);
            match inner.store.erasures().save(&one, over).await {
                Err(error) if error.is_refused() => {} // in other hands, which end it as well
                saved => drop(saved?),
            }
            tracing::info!(erasure.id = %id, state, erased, "an erasure is over");
        }
    }
}

/// The first few that are not over, those that another has in hand left out.
async fn list(courier: &Courier) -> Result<Vec<Stored<Erasure>>, StoreError> {
    let inner = courier.inner();
    let slice = Slice::oldest_first().limit(limits::ERASURES_AT_ONCE);
    let mut open = inner.store.erasures().list_open(slice).await?.rows;
    inner.gauges.erasures_running(open.len());
    let now = inner.now().wall;
    open.retain(|one| !inner.shared || one.state.lease_until().is_some_and(|until| until <= now));
    Ok(open)
}

async fn lease(
    courier: &Courier,
    open: &Stored<Erasure>,
) -> Result<Option<Stored<Erasure>>, StoreError> {
    let erasures = courier.inner().store.erasures();
    // By the index it may look other than it is.
    let Some(was) = erasures.find(open.account_id, open.id).await? else { return Ok(None) };
    erasures.lease(&was, lease_until(courier)).await
}

fn lease_until(courier: &Courier) -> Timestamp {
    courier.inner().now().wall + limits::ERASURE_LEASE
}
