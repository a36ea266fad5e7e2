//! The courier: takes events that have arrived and brings them to their destinations.
//!
//! Handed an event by ingest while it is still in memory, or by [`sweep`](crate::sweep) when that
//! did not happen. [`plan`](crate::plan) says who wants it, [`Lanes`] says what goes next, and a
//! task carries each delivery through one attempt. Everything here can be thrown away: the store
//! has every event as pending, or every delivery in its queue, until the outcome is written.

mod carry;
mod changes;
mod consequences;
mod crashed;
mod erased;
mod expire;
pub(crate) mod gate;
mod listen;
mod queue;
mod rehearse;
mod settle;
mod turns;

use std::fmt;
use std::future::Future;
use std::panic::AssertUnwindSafe;
use std::pin::pin;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use ferryhook_core::event::Status;
use ferryhook_core::event_type::Mode;
use ferryhook_core::event_type::declared::Mismatch;
use ferryhook_core::operational::Quota;
use ferryhook_core::quick::QuickSet;
use ferryhook_core::{Account, Env, Event, Id, Source, Timestamp, delivery};
use ferryhook_net::Tasks;
use ferryhook_net::client::{Guard, Outbound};
use ferryhook_store::{Store, StoreError, Stored};
use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use tokio::sync::{Notify, broadcast};

use crate::credentials::Tokens;
use crate::feed::Happening;
use crate::gauges::Gauges;
use crate::inbox::{Leases, Queues};
use crate::ingest::HandOver;
use crate::lanes::{LaneId, LaneOf, Lanes, Piece, Step, Terms, Work};
use crate::limits;
use crate::listeners::Listeners;
use crate::moment::{Moment, Steady};
use crate::parcel::Parcel;
use crate::plan::{self, Planned};
use crate::routes::{Route, Routes, Way};
use crate::scripts::Scripts;
use crate::signals::Signals;
use crate::tally::Tally;
use crate::trace::Sink;
use crate::types::Types;
use gate::{Admission, Gate};
use turns::Turns;

pub use rehearse::Rehearsed;

/// Cheap to clone: clones are one courier.
#[derive(Clone)]
pub struct Courier(Arc<Inner>);

/// What a courier is made of.
#[expect(missing_debug_implementations, reason = "a client has nothing to show")]
pub struct Parts {
    pub store: Store,
    pub env: Env,
    pub routes: Routes,
    pub outbound: Arc<dyn Outbound>,
    pub guard: Guard,
    /// Where the scripts of transforms run.
    pub scripts: Scripts,
    /// Other processes work on the same store, so that work has to be leased.
    pub shared: bool,
    /// Who keeps a span of each attempt, if anybody does.
    pub traces: Option<Sink>,
    /// Where everything is counted.
    pub tally: Tally,
    /// What its own work is spawned with: nobody else's, because it ends that when it finishes.
    pub tasks: Tasks,
}

pub(crate) struct Inner {
    pub(crate) store: Store,
    pub(crate) env: Env,
    pub(crate) routes: Routes,
    outbound: Arc<dyn Outbound>,
    guard: Guard,
    scripts: Scripts,
    tokens: Tokens,
    /// Who runs `ferryhook listen` here.
    pub(crate) listeners: Listeners,
    pub(crate) shared: bool,
    traces: Option<Sink>,
    pub(crate) steady: Steady,
    pub(crate) tasks: Tasks,
    lanes: Mutex<Watched>,
    /// Something is due earlier than the watch knows.
    bell: Notify,
    /// Some lane has room again, if it had none.
    room: Arc<Notify>,
    /// Somebody has asked for a replay of many events.
    pub(crate) replays: Notify,
    /// Somebody has asked for an erasure.
    pub(crate) erasures: Notify,
    /// Events that are gone from the store while something of them may still wait in memory.
    erased: Mutex<QuickSet<Id<Event>>>,
    /// Events in memory that the store still calls pending.
    taken: Mutex<QuickSet<Id<Event>>>,
    /// Some event is in nobody's hands that the sweep has passed already.
    pub(crate) missed: AtomicBool,
    gate: Mutex<Gate>,
    turns: Turns,
    /// Held by whoever brings older events into the lanes: two at once would get them out of
    /// order.
    pub(crate) releasing: tokio::sync::Mutex<()>,
    feed: broadcast::Sender<Happening>,
    pub(crate) gauges: Gauges,
    tally: Tally,
    pub(crate) signals: Signals,
    /// Of those who fetch for themselves.
    pub(crate) queues: Queues,
    pub(crate) leases: Leases,
    pub(crate) types: Types,
}

struct Watched {
    lanes: Lanes,
    /// When the watch will look again by itself.
    until: Option<Duration>,
}

impl Courier {
    pub fn new(parts: Parts) -> Self {
        let Parts { store, env, routes, outbound, guard, scripts, shared, traces, tally, tasks } =
            parts;
        Self(Arc::new(Inner {
            steady: Steady::new(env.clone()),
            tally,
            tokens: Tokens::new(outbound.clone(), guard.clone(), env.clone()),
            store,
            env,
            routes,
            outbound,
            guard,
            scripts,
            listeners: Listeners::default(),
            shared,
            traces,
            tasks,
            lanes: Mutex::new(Watched { lanes: Lanes::new(), until: None }),
            bell: Notify::new(),
            room: Arc::default(),
            replays: Notify::new(),
            erasures: Notify::new(),
            erased: Mutex::default(),
            taken: Mutex::default(),
            missed: AtomicBool::new(false),
            gate: Mutex::default(),
            turns: Turns::default(),
            releasing: tokio::sync::Mutex::default(),
            feed: broadcast::channel(crate::feed::KEPT).0,
            gauges: Gauges::new(),
            signals: Signals::default(),
            queues: Queues::default(),
            leases: Leases::default(),
            types: Types::default(),
        }))
    }

    /// Starts the watch, finds what an earlier run has left, and goes on looking now and then.
    pub fn start(&self) {
        let watch = self.clone();
        let stop = self.0.tasks.stopping();
        self.0.tasks.spawn("watch", async move { watch.watch(stop).await });
        let sweep = self.clone();
        let stop = self.0.tasks.stopping();
        self.0.tasks.spawn("sweep", async move { crate::sweep::run(&sweep, stop).await });
        let expiry = self.clone();
        let stop = self.0.tasks.stopping();
        self.0.tasks.spawn_behind("expiry", async move { crate::expiry::run(&expiry, stop).await });
        let replays = self.clone();
        let stop = self.0.tasks.stopping();
        self.0
            .tasks
            .spawn_behind("replays", async move { crate::replay::jobs::run(&replays, stop).await });
        let erasures = self.clone();
        let stop = self.0.tasks.stopping();
        self.0
            .tasks
            .spawn_behind("erasures", async move { crate::erase::run(&erasures, stop).await });
        let signals = self.clone();
        let stop = self.0.tasks.stopping();
        self.0.tasks.spawn("signals", async move { signals.heed_until(stop).await });
        let types = self.clone();
        let stop = self.0.tasks.stopping();
        self.0.tasks.spawn_behind("types", async move { types.learn_until(stop).await });
    }

    /// Where the scripts of transforms run.
    pub fn scripts(&self) -> &Scripts {
        &self.0.scripts
    }

    /// Where everything is counted.
    pub fn tally(&self) -> &Tally {
        &self.0.tally
    }

    /// What happens from now on, as far as the listener keeps up.
    pub fn listen(&self) -> broadcast::Receiver<Happening> {
        self.0.feed.subscribe()
    }

    /// Attempts that have begun and whose outcome is not stored yet.
    pub fn under_way(&self) -> usize {
        self.0.lanes().lanes.under_way()
    }

    /// Starts no attempt any more, lets those under way finish for a while, and writes down what
    /// was counted. Tells how many were cut off.
    pub async fn finish(&self) -> usize {
        self.finish_within(limits::DRAIN).await
    }

    /// The same with less time.
    pub async fn finish_within(&self, grace: Duration) -> usize {
        self.0.lanes().lanes.stop();
        let cut = self.0.tasks.finish(grace).await;
        self.0.tally.flush(&self.0.store).await;
        self.heed_all().await;
        self.flush_calls().await;
        self.flush_types().await;
        cut
    }

    /// Plans an event and puts its deliveries into their lanes. What has to be stored first is
    /// left to the future, which the caller waits for or spawns.
    pub(crate) fn process(
        &self,
        event: Stored<Event>,
        route: &Route,
    ) -> Option<impl Future<Output = ()> + Send + use<>> {
        let now = self.0.steady.now();
        let planning = AssertUnwindSafe(|| plan::plan(&event, route, now.wall, &self.0.env));
        let planned = match std::panic::catch_unwind(planning) {
            Ok(Ok(planned)) => planned,
            Ok(Err(error)) => {
                return Some(self.clone().unplanned(event, error.to_string()).boxed());
            }
            Err(_) => {
                let reason = "the rules of a connection crashed".to_owned();
                return Some(self.clone().unplanned(event, reason).boxed());
            }
        };
        if planned.is_empty() {
            return Some(self.clone().discard(event).boxed());
        }
        let (deliveries, ways): (Vec<_>, Vec<_>) =
            planned.into_iter().map(|Planned { delivery, way }| (delivery, way)).unzip();
        let bytes = event.record.body.len() + 1024;
        let since = event.record.received_at;
        let id = event.record.id;
        let works: Vec<_> =
            deliveries.iter().map(|one| (settle::due(one), order_key(one))).collect();
        let parcel = Arc::new(Parcel::new(event, deliveries));
        let mut turned_away = Vec::new();
        {
            let mut watched = self.0.lanes();
            for (place, (way, (due, order_key))) in ways.iter().zip(works).enumerate() {
                if way.inbox().is_some() {
                    continue;
                }
                let of = lane_of(way, delivery::Lane::Live);
                let piece = Piece::Fresh(parcel.clone(), place);
                let due = due.unwrap_or(now.wall);
                let work = Work { piece, event: id, order_key, due, since, bytes, failures: 0 };
                if due > now.wall {
                    watched.lanes.defer(of, &work);
                    turned_away.push((of.id, due));
                } else if watched.lanes.offer(of, work, now).is_err() {
                    turned_away.push((of.id, due));
                }
            }
        }
        self.pump();
        // Those who fetch do not wait for what is sent.
        let to_fetch = ways.iter().any(|way| way.inbox().is_some());
        if to_fetch || !turned_away.is_empty() {
            return Some(self.clone().store_plan(parcel, turned_away).boxed());
        }
        None
    }

    /// An event that nobody wants, or whose source is gone, goes nowhere.
    pub(crate) async fn discard(self, event: Stored<Event>) {
        let parcel = Arc::new(Parcel::new(event, Vec::new()));
        self.store_plan(parcel, Vec::new()).await;
    }

    /// Planning went wrong: another time, until it has been tried often enough.
    async fn unplanned(self, was: Stored<Event>, reason: String) {
        let inner = &self.0;
        let tries = was.record.processing_tries.saturating_add(1);
        let given_up = tries >= limits::PROCESSING_TRIES_MAX;
        let id = was.record.id;
        tracing::warn!(event.id = %id, tries, given_up, reason, "an event cannot be processed");
        let now = inner.now().wall;
        let noted = inner.until_stored(|| inner.note_unplanned(&was, &reason, given_up, now)).await;
        if noted == Some(true) && given_up {
            inner.gauges.dead();
        }
        inner.let_go(id);
    }

    /// Writes a plan that nobody has begun to carry out, so that memory need not hold it.
    async fn store_plan(self, parcel: Arc<Parcel>, turned_away: Vec<(LaneId, Timestamp)>) {
        let storing = AssertUnwindSafe(self.try_store_plan(&parcel, &turned_away));
        if storing.catch_unwind().await.is_ok() {
            return;
        }
        let Event { id, source_id, received_at, .. } = parcel.event;
        tracing::error!(event.id = %id, "storing a plan panicked");
        self.plan_again(id, source_id, received_at).await;
        let now = self.0.now();
        let lanes = &mut self.0.lanes().lanes;
        for (lane, due) in turned_away {
            lanes.spilled(lane, id, due, received_at, now);
        }
    }

    async fn try_store_plan(&self, parcel: &Parcel, turned_away: &[(LaneId, Timestamp)]) {
        let inner = &self.0;
        let written = inner.until_stored(|| parcel.write(&inner.store, inner.steady.now().wall));
        // Without an answer the process is stopping; the event is still pending in the store.
        if written.await.is_none() {
            return;
        }
        inner.let_go(parcel.event.id);
        let (now, event) = (inner.steady.now(), &parcel.event);
        self.arrived(&parcel.to_fetch().await);
        if parcel.is_unwanted().await {
            inner.tally.unwanted(event.account_id, event.source_id, now.wall);
        }
        if turned_away.is_empty() {
            return;
        }
        let closed: Vec<_> = {
            let lanes = &mut inner.lanes().lanes;
            for (lane, due) in turned_away {
                lanes.spilled(*lane, event.id, *due, event.received_at, now);
            }
            let lanes_of = turned_away.iter().map(|(lane, _)| *lane);
            lanes_of.filter(|lane| lanes.is_closed(*lane)).collect()
        };
        self.pump();
        if !closed.is_empty() {
            self.look_after(event.source_id, &closed).await;
        }
    }

    /// What an earlier run has left is in its lanes.
    pub(crate) fn begin(&self) {
        let now = self.0.now();
        self.0.lanes().lanes.start(now);
        self.pump();
    }

    pub(crate) fn inner(&self) -> &Inner {
        &self.0
    }

    /// The store may have something for this lane.
    pub(crate) fn note(&self, of: LaneOf) {
        let now = self.0.now();
        self.0.lanes().lanes.noted(of, now.wall, now);
        self.pump();
    }

    /// The store has this delivery anew, due then and there in its queue.
    pub(crate) fn renewed(&self, of: LaneOf, event: Id<Event>, due: (Timestamp, Timestamp)) {
        let now = self.0.now();
        self.0.lanes().lanes.renewed(of, event, due, now);
        self.pump();
    }

    /// What waits, and since when, for whoever watches the metrics.
    pub(crate) fn measure(&self) {
        let now = self.0.now().wall;
        let (waiting, oldest) = self.0.lanes().lanes.waiting();
        self.0.gauges.measured(waiting, oldest, now);
    }

    /// Starts whatever may start now.
    pub(crate) fn pump(&self) {
        loop {
            let now = self.0.steady.now();
            let mut watched = self.0.lanes();
            let Some(step) = watched.lanes.next(now) else {
                if earlier(watched.lanes.wakes_at(), watched.until) {
                    watched.until = watched.lanes.wakes_at();
                    self.0.bell.notify_one();
                }
                return;
            };
            let makes_room =
                matches!(&step, Step::Send(of, _) if watched.lanes.has_just_room(of.id));
            drop(watched);
            if makes_room {
                self.0.room.notify_waiters();
            }
            let courier = self.clone();
            match step {
                Step::Send(of, work) => {
                    let is_fresh = work.is_fresh();
                    let carried = async move { courier.carry(of, work).await };
                    // What has waited can wait for those who come now.
                    match is_fresh {
                        true => self.0.tasks.spawn("deliver", carried),
                        false => self.0.tasks.spawn_behind("deliver again", carried),
                    }
                }
                Step::Read(id, from, limit) => {
                    let read = async move { courier.read_queue(id, from, limit).await };
                    self.0.tasks.spawn("read a queue", read);
                }
            }
        }
    }

    /// Wakes when something falls due.
    async fn watch(&self, stop: impl Future<Output = ()>) {
        let mut stop = pin!(stop);
        loop {
            let until = {
                let mut watched = self.0.lanes();
                watched.until = watched.lanes.wakes_at();
                watched.until
            };
            let wait = until.map(|until| until.saturating_sub(self.0.steady.now().passed));
            let due = async {
                match wait {
                    Some(wait) => tokio::time::sleep(wait).await,
                    None => std::future::pending().await,
                }
            };
            tokio::select! {
                biased;
                () = stop.as_mut() => return,
                () = self.0.bell.notified() => {}
                () = due => {}
            }
            self.pump();
        }
    }
}

impl HandOver for Courier {
    fn take(&self, event: Stored<Event>, route: Arc<Route>) {
        let Event { id, source_id, received_at, .. } = event.record;
        if !self.0.take(id) {
            return;
        }
        let taking = AssertUnwindSafe(|| match self.admit(event, &route) {
            Admission::Open(event) => {
                if let Some(rest) = self.process(event, &route) {
                    self.0.tasks.spawn("plan", rest);
                }
            }
            Admission::Waits => {}
            Admission::Crowded => self.0.let_go(id),
        });
        if std::panic::catch_unwind(taking).is_err() {
            tracing::error!(event.id = %id, "taking an event up panicked");
            let courier = self.clone();
            let again = async move { courier.plan_again(id, source_id, received_at).await };
            self.0.tasks.spawn("plan again", again);
        }
    }

    fn crowd(&self, route: &Route) -> Option<BoxFuture<'static, ()>> {
        let now = self.0.now();
        let watched = self.0.lanes();
        let live = |connection| LaneId { connection, lane: delivery::Lane::Live };
        let mut lanes = route.ways.iter().map(|way| live(way.connection.id));
        // As long as the lanes are locked nobody makes room, and tells it to those before us.
        let is_crowded = lanes.any(|lane| watched.lanes.is_crowded(lane, now));
        is_crowded.then(|| self.0.room.clone().notified_owned().boxed())
    }

    fn heard(&self, event: &Event, route: &Route, is_duplicate: bool) {
        if !is_duplicate {
            self.learn_of(event, route);
        }
        if self.0.feed.receiver_count() == 0 {
            return;
        }
        let _ = self.0.feed.send(Happening::Accepted {
            event: event.id,
            source: route.source.id,
            source_name: route.source.name.clone(),
            method: event.method.clone(),
            bytes: event.body.len(),
            status: event.status,
            is_duplicate,
        });
    }

    fn proved(&self, event: &Event, route: &Route) {
        self.learn_of(event, route);
    }

    fn mismatched(&self, account: Id<Account>, name: &str, mode: Mode, wrong: Mismatch) {
        self.0.types.mismatched(account, name, mode, wrong);
    }

    fn counted(&self, account: Id<Account>, used: u64, limit: u64) {
        if used.saturating_mul(100) < limit.saturating_mul(80) {
            return;
        }
        let courier = self.clone();
        self.0.tasks.spawn("quota", async move {
            let period = courier.0.now().wall.month();
            let quota = Quota { name: "eventsPerMonth", period: &period, used, limit };
            if let Err(error) = courier.quota_crossed(account, quota).await {
                tracing::warn!(%error, account.id = %account, "nobody is told of the quota");
            }
        });
    }

    fn lies(&self, items: &[delivery::Delivery]) {
        self.arrived(items);
    }

    fn hold(&self, source: Id<Source>) {
        self.close(source);
        let courier = self.clone();
        self.0.tasks.spawn("release", async move { courier.release(source).await });
    }
}

impl Inner {
    fn lanes(&self) -> MutexGuard<'_, Watched> {
        lock(&self.lanes)
    }

    /// Whether nobody had it.
    pub(crate) fn take(&self, event: Id<Event>) -> bool {
        lock(&self.taken).insert(event)
    }

    /// The store no longer calls it pending, or somebody else has to look after it.
    pub(crate) fn let_go(&self, event: Id<Event>) {
        lock(&self.taken).remove(&event);
    }

    /// Asks the store again until it answers: what was sent must be written down, and sending on
    /// without that would only repeat it. When the process stops meanwhile it is asked a few times
    /// more, because the next one would repeat it too; then `None`.
    pub(crate) async fn until_stored<T, F>(&self, mut step: impl FnMut() -> F) -> Option<T>
    where
        F: Future<Output = Result<T, StoreError>>,
    {
        match step().await {
            Ok(done) => Some(done),
            Err(error) => {
                tracing::warn!(%error, "the store does not take an outcome; asking again");
                Box::pin(self.ask_again(step)).await
            }
        }
    }

    async fn ask_again<T, F>(&self, mut step: impl FnMut() -> F) -> Option<T>
    where
        F: Future<Output = Result<T, StoreError>>,
    {
        let mut pause = limits::STORE_PAUSE_FIRST;
        let mut stopping = pin!(self.tasks.stopping().fuse());
        let mut tries_left = None;
        loop {
            if tries_left == Some(0) {
                return None;
            }
            tokio::select! {
                biased;
                () = stopping.as_mut() => {
                    (tries_left, pause) = (Some(limits::STORE_TRIES_LAST), limits::STORE_PAUSE_FIRST);
                }
                () = tokio::time::sleep(pause) => {
                    tries_left = tries_left.map(|left: usize| left - 1);
                    pause = (pause * 2).min(limits::STORE_PAUSE_MAX);
                    if let Ok(done) = step().await {
                        return Some(done);
                    }
                }
            }
        }
    }

    /// Whether it was noted; not if someone else has the event. That a copy of it was counted is no
    /// reason to leave it: no sweep would look for it where it stands now.
    async fn note_unplanned(
        &self,
        was: &Stored<Event>,
        reason: &str,
        given_up: bool,
        now: Timestamp,
    ) -> Result<bool, StoreError> {
        let events = self.store.events();
        let tries = was.processing_tries;
        let mut found = was.clone();
        let mut refused = 0;
        loop {
            let mut event = found.record.clone();
            event.processing_tries = tries.saturating_add(1);
            event.processing_error = Some(reason.to_owned());
            if given_up {
                event.status = Status::Failed;
                event.pending_since = None;
                event.processed_at = Some(now);
            } else {
                event.pending_since = Some(now + limits::PROCESSING_PAUSE);
            }
            match events.replace(&found, event).await {
                Ok(_) => return Ok(true),
                Err(error) if error.is_refused() && refused < limits::CONFLICT_TRIES_MAX => {
                    let at = found.received_at;
                    let again = events.find_of(found.source_id, at, found.id).await?;
                    let is_ours = |event: &Stored<Event>| {
                        event.pending_since.is_some() && event.processing_tries == tries
                    };
                    let Some(again) = again.filter(is_ours) else { return Ok(false) };
                    found = again;
                    refused += 1;
                }
                Err(error) => return Err(error),
            }
        }
    }

    pub(crate) fn now(&self) -> Moment {
        self.steady.now()
    }
}

pub(crate) fn lane_of(way: &Way, lane: delivery::Lane) -> LaneOf {
    let connection = &way.connection;
    LaneOf {
        id: LaneId { connection: connection.id, lane },
        account: connection.account_id,
        source: connection.source_id,
        terms: Terms {
            open: way.hold().is_none(),
            is_shared: way.hook.is_some(),
            ..crate::terms::of(connection, lane)
        },
    }
}

pub(crate) fn order_key(delivery: &delivery::Delivery) -> Option<Arc<str>> {
    delivery.order_key.as_deref().map(Arc::from)
}

fn earlier(a: Option<Duration>, b: Option<Duration>) -> bool {
    match (a, b) {
        (Some(a), Some(b)) => a < b,
        (Some(_), None) => true,
        (None, _) => false,
    }
}

pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl fmt::Debug for Courier {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Courier").finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests;
