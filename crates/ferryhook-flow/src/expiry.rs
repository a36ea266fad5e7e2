//! Expiry: gives up what nobody will have brought before its event goes.
//!
//! An event goes when its time is over, and takes its deliveries along. One that is paused, parked
//! or waits behind a destination that has a rest would be gone without a word; so it fails a few
//! minutes earlier, while people can still see it. What is retried need not be found: it is given
//! up as soon as the next attempt would come too late.
//!
//! What was tried or is held is found by status and time, in the few minutes of events whose end is
//! near. What nobody has tried stands in its queue by when its event came, so those that go next are
//! its first. What a look costs depends neither on what is stored nor on what waits.

use std::collections::BTreeSet;
use std::future::Future;
use std::pin::pin;
use std::time::Duration;

use ferryhook_core::delivery::Lane;
use ferryhook_core::event::Status;
use ferryhook_core::{Account, Connection, Id};
use ferryhook_store::{Shard, Slice, StoreError, Window};

use crate::courier::Courier;
use crate::limits;

pub(crate) async fn run(courier: &Courier, stop: impl Future<Output = ()>) {
    let mut stop = pin!(stop);
    let looking = async {
        loop {
            if let Err(error) = look(courier).await {
                tracing::warn!(%error, "what expires soon could not be looked at");
            }
            tokio::time::sleep(limits::EXPIRY_LOOK_EVERY).await;
        }
    };
    tokio::select! {
        biased;
        () = stop.as_mut() => {}
        () = looking => {}
    }
}

async fn look(courier: &Courier) -> Result<(), StoreError> {
    let plans = courier.inner().store.plans().all().await?;
    // Of all plans, since an account may have had another when the event came.
    let kept: BTreeSet<_> = plans.iter().filter_map(|plan| plan.retention()).collect();
    if kept.is_empty() {
        return Ok(());
    }
    for account in accounts(courier).await? {
        for kept in &kept {
            for status in [Status::Held, Status::Retrying] {
                look_at(courier, account, status, *kept).await?;
            }
        }
    }
    look_at_queues(courier).await
}

/// Those that have ever had a source.
async fn accounts(courier: &Courier) -> Result<BTreeSet<Id<Account>>, StoreError> {
    let mut accounts = BTreeSet::new();
    for shard in Shard::all() {
        let mut slice = Slice::default().limit(limits::SWEEP_PAGE);
        loop {
            let sources = courier.inner().store.sources();
            let page = sources.list_everywhere(shard, slice.clone()).await?;
            accounts.extend(page.rows.iter().map(|source| source.account_id));
            let Some(next) = page.next else { break };
            slice = slice.after(Some(next));
        }
    }
    Ok(accounts)
}

/// Events of this status that came so long ago that they are about to go.
async fn look_at(
    courier: &Courier,
    account: Id<Account>,
    status: Status,
    kept: Duration,
) -> Result<(), StoreError> {
    let inner = courier.inner();
    let came_before = inner.now().wall + limits::EXPIRY_AHEAD - kept;
    let window = Window::between(came_before - limits::EXPIRY_AHEAD, came_before);
    let mut slice = Slice::oldest_first().limit(limits::SWEEP_PAGE);
    loop {
        let events = inner.store.events();
        let page = events.list_by_status(account, status, window, slice.clone()).await?;
        for event in page.rows {
            courier.give_up_before(event, inner.now().wall + limits::EXPIRY_AHEAD).await?;
        }
        let Some(next) = page.next else { return Ok(()) };
        slice = slice.after(Some(next));
    }
}

async fn look_at_queues(courier: &Courier) -> Result<(), StoreError> {
    let store = &courier.inner().store;
    for shard in Shard::all() {
        let mut slice = Slice::default().limit(limits::SWEEP_PAGE);
        loop {
            let page = store.connections().list_lanes(shard, slice.clone()).await?;
            for connection in &page.rows {
                look_at_queue(courier, connection.id).await?;
            }
            let Some(next) = page.next else { break };
            slice = slice.after(Some(next));
        }
        let mut slice = Slice::default().limit(limits::SWEEP_PAGE);
        loop {
            let page = store.hooks().list_lanes(shard, slice.clone()).await?;
            for hook in &page.rows {
                look_at_queue(courier, hook.way_id()).await?;
            }
            let Some(next) = page.next else { break };
            slice = slice.after(Some(next));
        }
    }
    Ok(())
}

/// Its first row mostly says that there is nothing to do.
async fn look_at_queue(courier: &Courier, of: Id<Connection>) -> Result<(), StoreError> {
    let inner = courier.inner();
    let soon = inner.now().wall + limits::EXPIRY_AHEAD;
    for lane in [Lane::Live, Lane::Replay] {
        let mut slice = Slice::oldest_first().limit(1);
        'queue: loop {
            let open = inner.store.deliveries();
            let page = open.list_open(of, lane, Window::ALWAYS, slice).await?;
            for delivery in &page.rows {
                if delivery.expires_at.is_none_or(|end| end > soon) {
                    break 'queue;
                }
                courier.give_up_if_left(delivery).await?;
            }
            let Some(next) = page.next else { break };
            slice = Slice::oldest_first().limit(limits::SWEEP_PAGE).after(Some(next));
        }
    }
    Ok(())
}
