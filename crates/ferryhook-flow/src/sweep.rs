//! Sweep: the periodic look for work that nobody has in hand.
//!
//! At the start it finds what an earlier run has left: queues with something in them, events that
//! were accepted and not planned, events that were held for a source which is active again. Later
//! it finds the rare event whose hand-over was lost. It only reads, unless it finds something.

use std::collections::{HashMap, VecDeque};
use std::future::Future;
use std::panic::AssertUnwindSafe;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use ferryhook_core::delivery::Lane;
use ferryhook_core::event::{Standing, Status};
use ferryhook_core::{Account, Event, Id, Source, Timestamp, source};
use ferryhook_store::{Cursor, Shard, Slice, StoreError, Stored, Window};
use futures_util::FutureExt;

use crate::courier::Courier;
use crate::courier::gate::Behind;
use crate::lanes::{LaneId, LaneOf, Terms};
use crate::limits;
use crate::routes::Route;
use crate::terms;

pub(crate) async fn run(courier: &Courier, stop: impl Future<Output = ()>) {
    let mut stop = pin!(stop);
    let mut from = None;
    let sweeping = async {
        from = Some(recover(courier).await);
        loop {
            tokio::time::sleep(limits::SWEEP_EVERY).await;
            courier.measure();
            let inner = courier.inner();
            let now = inner.now().wall;
            let to = if inner.shared { now - limits::ANOTHERS_FOR } else { now };
            let missed = inner.missed.swap(false, Ordering::AcqRel);
            let from_there = from.filter(|_| !missed);
            if from_there.is_some_and(|from| from >= to) {
                continue;
            }
            match look(courier, Window { from: from_there, to: Some(to) }).await {
                // What this look has seen is taken care of; the next need not pass it again.
                Ok(()) => from = Some(to),
                Err(error) => {
                    tracing::warn!(%error, "the sweep could not look at everything");
                    inner.missed.fetch_or(missed, Ordering::AcqRel);
                }
            }
        }
    };
    tokio::select! {
        biased;
        () = stop.as_mut() => {}
        () = sweeping => {}
    }
}

/// Tells up to when every pending event has been seen.
async fn recover(courier: &Courier) -> Timestamp {
    let inner = courier.inner();
    let _one_by_one = inner.releasing.lock().await;
    let now = inner.now().wall;
    let mut pause = limits::STORE_PAUSE_FIRST;
    while let Err(error) = find_queues(courier).await {
        tracing::warn!(%error, "the queues cannot be read; trying again");
        tokio::time::sleep(pause).await;
        pause = (pause * 2).min(limits::STORE_PAUSE_MAX);
    }
    // Another process may have what is new; here it can only be our own from before.
    let seen = if inner.shared { now - limits::ANOTHERS_FOR } else { now };
    while let Err(error) = take_left(courier, seen).await {
        tracing::warn!(%error, "the pending events cannot be read; trying again");
        tokio::time::sleep(pause).await;
        pause = (pause * 2).min(limits::STORE_PAUSE_MAX);
    }
    courier.begin();
    courier.let_in(Behind::TheStart).await;
    seen
}

/// What was pending when the process began, first what was stamped before that. Where the clock was
/// ahead once, there may be more.
async fn take_left(courier: &Courier, seen: Timestamp) -> Result<(), StoreError> {
    // Asked at once: what comes in from now on is handed over by itself.
    let last = match courier.inner().shared {
        true => None, // what is ahead may be somebody else's present
        false => newest_pending(courier).await?,
    };
    take_pending(courier, Window::until(seen)).await?;
    // The sweep finds what lies less far ahead, and new events are not mistaken for it.
    let ahead = seen + limits::CLOCK_AHEAD;
    match last.filter(|last| *last >= ahead) {
        Some(last) => take_pending(courier, Window::between(ahead, last)).await,
        None => Ok(()),
    }
}

async fn newest_pending(courier: &Courier) -> Result<Option<Timestamp>, StoreError> {
    let mut newest = None;
    for shard in Shard::all() {
        let (events, one) = (courier.inner().store.events(), Slice::newest_first().limit(1));
        let page = events.list_pending(shard, Window::ALWAYS, one).await?;
        newest = newest.max(page.rows.first().and_then(|event| event.pending_since));
    }
    Ok(newest)
}

async fn look(courier: &Courier, window: Window) -> Result<(), StoreError> {
    let _one_by_one = courier.inner().releasing.lock().await;
    if courier.inner().shared {
        find_queues(courier).await?;
    }
    take_pending(courier, window).await
}

/// Puts every connection whose queue has something in it into its lane.
async fn find_queues(courier: &Courier) -> Result<(), StoreError> {
    let inner = courier.inner();
    for shard in Shard::all() {
        let mut slice = Slice::default().limit(limits::SWEEP_PAGE);
        loop {
            let page = inner.store.connections().list_lanes(shard, slice.clone()).await?;
            for connection in &page.rows {
                if courier.is_anothers(connection) {
                    continue;
                }
                for lane in [Lane::Live, Lane::Replay] {
                    let deliveries = inner.store.deliveries();
                    if deliveries.find_open(connection.id, lane).await?.is_none() {
                        continue;
                    }
                    let of = LaneOf {
                        id: LaneId { connection: connection.id, lane },
                        account: connection.account_id,
                        source: connection.source_id,
                        terms: terms::of(connection, lane),
                    };
                    courier.note(of);
                }
            }
            let Some(next) = page.next else { break };
            slice = slice.after(Some(next));
        }
    }
    find_hook_queues(courier).await?;
    release_held(courier).await
}

/// The same for hooks, also those that are turned off: what waits for them has to be cancelled.
async fn find_hook_queues(courier: &Courier) -> Result<(), StoreError> {
    let store = &courier.inner().store;
    for shard in Shard::all() {
        let mut slice = Slice::default().limit(limits::SWEEP_PAGE);
        loop {
            let page = store.hooks().list_lanes(shard, slice.clone()).await?;
            for hook in &page.rows {
                for lane in [Lane::Live, Lane::Replay] {
                    let connection = hook.way_id();
                    let first = store.deliveries().find_open(connection, lane).await?;
                    let Some(first) = first else { continue };
                    let terms = Terms {
                        open: true,
                        concurrency: limits::CONCURRENCY_DEFAULT,
                        together: limits::CONCURRENCY_DEFAULT,
                        is_shared: true,
                        ..Terms::default()
                    };
                    let (account, source) = (hook.account_id, first.source_id);
                    courier.note(LaneOf {
                        id: LaneId { connection, lane },
                        account,
                        source,
                        terms,
                    });
                }
            }
            let Some(next) = page.next else { break };
            slice = slice.after(Some(next));
        }
    }
    Ok(())
}

/// Events that were held while their source was paused, of sources that no longer are: whether or
/// not they have connections, since what is posted needs none.
async fn release_held(courier: &Courier) -> Result<(), StoreError> {
    let inner = courier.inner();
    let mut has_any = HashMap::new();
    for shard in Shard::all() {
        let mut slice = Slice::default().limit(limits::SWEEP_PAGE);
        loop {
            let page = inner.store.sources().list_everywhere(shard, slice.clone()).await?;
            for source in page.rows.iter().filter(|found| found.status == source::Status::Active) {
                // Most accounts hold nothing at all, and one question tells that of all sources.
                let any = match has_any.get(&source.account_id) {
                    Some(any) => *any,
                    None => {
                        let any = holds_any(courier, source.account_id).await?;
                        has_any.insert(source.account_id, any);
                        any
                    }
                };
                if any {
                    release_if_active(courier, source.id).await?;
                }
            }
            let Some(next) = page.next else { break };
            slice = slice.after(Some(next));
        }
    }
    Ok(())
}

async fn holds_any(courier: &Courier, account: Id<Account>) -> Result<bool, StoreError> {
    let (events, one) = (courier.inner().store.events(), Slice::oldest_first().limit(1));
    let held = events.list_by_status(account, Status::Held, Window::ALWAYS, one).await?;
    Ok(!held.rows.is_empty() || held.next.is_some())
}

async fn release_if_active(courier: &Courier, id: Id<Source>) -> Result<(), StoreError> {
    let inner = courier.inner();
    let (events, one) = (inner.store.events(), Slice::oldest_first().limit(1));
    let held = events.list_held(id, Window::ALWAYS, one).await?;
    if held.rows.is_empty() && held.next.is_none() {
        return Ok(());
    }
    let is_active = |route: &Arc<Route>| route.source.status == source::Status::Active;
    match inner.routes.find(id).await?.filter(is_active) {
        Some(route) => release(courier, &route).await,
        None => Ok(()),
    }
}

/// Lets go on what was held for a source that is active again. One at a time.
pub(crate) async fn release(courier: &Courier, route: &Route) -> Result<(), StoreError> {
    let inner = courier.inner();
    let mut slice = Slice::oldest_first().limit(limits::SWEEP_PAGE);
    loop {
        let events = inner.store.events();
        let page = events.list_held(route.source.id, Window::ALWAYS, slice.clone()).await?;
        for held in page.rows {
            if !inner.take(held.id) {
                continue;
            }
            let (source, id) = (held.source_id, held.id);
            courier.let_in(Behind::Earlier(source, id)).await;
            let freed = inner.until_stored({
                let now = inner.now().wall;
                let held = &held;
                move || set_free(courier, held, now)
            });
            let Some(Some(event)) = freed.await else {
                inner.let_go(id);
                continue;
            };
            if let Some(rest) = courier.process(event, route) {
                rest.await;
            }
        }
        let Some(next) = page.next else { return Ok(()) };
        slice = slice.after(Some(next));
    }
}

/// Makes a held event one that waits to be planned; `None` when somebody else has done something
/// about it. To be repeated with the same `now` when nobody answers.
async fn set_free(
    courier: &Courier,
    held: &Stored<Event>,
    now: Timestamp,
) -> Result<Option<Stored<Event>>, StoreError> {
    let events = courier.inner().store.events();
    let mut held = held.clone();
    for _ in 0..limits::CONFLICT_TRIES_MAX {
        let was = held.standing();
        let stands = Standing { status: Status::Received, pending_since: Some(now), ..was.record };
        match events.progress(&held, &was, stands).await {
            Ok(_) => {}
            Err(error) if error.is_refused() => {} // a copy was counted, or an answer was lost
            Err(error) => return Err(error),
        }
        let found = events.find_of(held.source_id, held.received_at, held.id).await?;
        match found {
            Some(found) if found.pending_since == Some(now) => return Ok(Some(found)),
            Some(found) if found.status == Status::Held && found.processed_at.is_none() => {
                held = found;
            }
            _ => break,
        }
    }
    Ok(None)
}

/// Plans what is pending, over all shards in the order in which it came.
async fn take_pending(courier: &Courier, window: Window) -> Result<(), StoreError> {
    let mut shards: Vec<_> = Shard::all().map(Pages::new).collect();
    loop {
        for shard in &mut shards {
            shard.fill(courier, window).await?;
        }
        let waiting = shards.iter_mut().filter(|shard| !shard.rows.is_empty());
        let first = waiting.min_by_key(|shard| shard.key());
        let Some(event) = first.and_then(|first| first.rows.pop_front()) else {
            return Ok(());
        };
        take_one(courier, &event).await?;
    }
}

async fn take_one(courier: &Courier, seen: &Event) -> Result<(), StoreError> {
    let inner = courier.inner();
    if !inner.take(seen.id) {
        return Ok(());
    }
    match AssertUnwindSafe(try_take(courier, seen)).catch_unwind().await {
        Ok(Ok(true)) => Ok(()),
        Ok(Ok(false)) => {
            inner.let_go(seen.id);
            Ok(())
        }
        Ok(Err(error)) => {
            inner.let_go(seen.id);
            Err(error)
        }
        Err(_) => {
            tracing::error!(event.id = %seen.id, "taking an event up panicked");
            courier.plan_again(seen.id, seen.source_id, seen.received_at).await;
            Ok(())
        }
    }
}

/// Whether it is in good hands.
async fn try_take(courier: &Courier, seen: &Event) -> Result<bool, StoreError> {
    let inner = courier.inner();
    // Whoever had it may have finished between the page and now.
    let events = inner.store.events();
    let found = events.find_of(seen.source_id, seen.received_at, seen.id).await?;
    let Some(event) = found.filter(|found| found.pending_since.is_some()) else {
        return Ok(false);
    };
    courier.enter(event).await?;
    Ok(true)
}

/// The pending events of one shard, a page at a time.
struct Pages {
    shard: Shard,
    rows: VecDeque<Stored<Event>>,
    next: Next,
}

enum Next {
    Page(Option<Cursor>),
    End,
}

impl Pages {
    fn new(shard: Shard) -> Self {
        Self { shard, rows: VecDeque::new(), next: Next::Page(None) }
    }

    fn key(&self) -> Option<(Option<Timestamp>, Id<Event>)> {
        self.rows.front().map(|event| (event.pending_since, event.id))
    }

    async fn fill(&mut self, courier: &Courier, window: Window) -> Result<(), StoreError> {
        while self.rows.is_empty()
            && let Next::Page(after) = &self.next
        {
            let slice = Slice::oldest_first().limit(limits::SWEEP_PAGE).after(after.clone());
            let events = courier.inner().store.events();
            let page = events.list_pending(self.shard, window, slice).await?;
            self.rows = page.rows.into();
            self.next = page.next.map_or(Next::End, |next| Next::Page(Some(next)));
        }
        Ok(())
    }
}
