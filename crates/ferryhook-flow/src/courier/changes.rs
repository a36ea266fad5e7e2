//! What becomes of lanes when sources and connections change.

use std::panic::AssertUnwindSafe;

use ferryhook_core::delivery::{Hold, Lane};
use ferryhook_core::{Account, Event, Id, Source, source};
use futures_util::FutureExt;

use super::carry::Hand;
use super::gate::Behind;
use super::settle::Outcomes;
use super::{Courier, lane_of};
use crate::lanes::{LaneId, LaneOf, Piece, Terms, Work};
use crate::limits;
use crate::routes::Way;

impl Courier {
    /// The source or one of its connections changed, or anything may have.
    pub async fn changed(&self, source: Option<Id<Source>>) {
        let mut lanes = self.0.lanes().lanes.of_source(source);
        lanes.sort_unstable();
        let mut sources: Vec<_> = lanes.iter().map(|(_, source)| *source).chain(source).collect();
        sources.sort_unstable();
        sources.dedup();
        // Before anyone can see that a source is active again.
        sources.iter().for_each(|id| self.close(*id));
        match source {
            Some(source) => self.0.routes.forget(source),
            None => self.0.routes.forget_all(),
        }
        for id in sources {
            // Nobody would tell the lanes later, so this must not be left undone.
            let Some(route) = self.0.until_stored(|| self.0.routes.find(id)).await else { return };
            let ways = route.as_ref().map_or(&[][..], |route| &route.ways);
            ways.iter().for_each(|way| self.apply(way));
            for (lane, _) in lanes.iter().filter(|(_, source)| *source == id) {
                if !ways.iter().any(|way| way.connection.id == lane.connection) {
                    self.drain(*lane, id);
                }
            }
            self.release(id).await;
        }
        self.pump();
    }

    /// The event types of an account were deleted, or declared otherwise.
    pub fn types_changed(&self, account: Id<Account>) {
        self.0.types.forget(account);
        self.0.routes.forget_of(account);
    }

    /// The hooks of an account changed.
    pub async fn hooks_changed(&self, account: Id<Account>) {
        self.0.routes.forget_of(account);
        let mut lanes = self.0.lanes().lanes.of_hooks(account);
        lanes.sort_unstable();
        for (lane, source) in lanes {
            let Some(route) = self.0.until_stored(|| self.0.routes.find(source)).await else {
                return;
            };
            let ways = route.as_ref().map_or(&[][..], |route| &route.ways);
            match ways.iter().find(|way| way.connection.id == lane.connection) {
                Some(way) => self.apply(way),
                // Whatever waits there finds out by itself whether its own source has it.
                None => self.drain(lane, source),
            }
        }
        self.pump();
    }

    /// An event came by a route on which these were paused. That may have been a moment ago, and a
    /// lane that is closed does not find out by itself.
    pub(super) async fn look_after(&self, source: Id<Source>, closed: &[LaneId]) {
        let Some(route) = self.0.until_stored(|| self.0.routes.find(source)).await else { return };
        let ways = route.as_ref().map_or(&[][..], |route| &route.ways);
        for lane in closed {
            match ways.iter().find(|way| way.connection.id == lane.connection) {
                Some(way) if way.hold().is_none() => self.apply(way),
                Some(_) => {}
                None => self.drain(*lane, source),
            }
        }
        self.pump();
    }

    /// Lets go on what was held for a source, if it is active, and then whoever waits for that at
    /// the gate.
    pub(super) async fn release(&self, source: Id<Source>) {
        let _one_by_one = self.0.releasing.lock().await;
        let release = async || match self.0.routes.find(source).await? {
            Some(route) if route.source.status == source::Status::Active => {
                crate::sweep::release(self, &route).await
            }
            _ => Ok(()),
        };
        if self.0.until_stored(release).await.is_some() {
            self.let_in(Behind::Release(source)).await;
        }
    }

    /// Each connection's lane learns its new terms. One that is open now may have a queue.
    pub(super) fn apply(&self, way: &Way) {
        if way.inbox().is_some() {
            return; // it has none
        }
        for lane in [Lane::Live, Lane::Replay] {
            let of = lane_of(way, lane);
            let now = self.0.now();
            let mut watched = self.0.lanes();
            let put_down = watched.lanes.changed(of, now);
            if way.hold().is_none() {
                watched.lanes.noted(of, now.wall, now);
            }
            drop(watched);
            self.put_down(of, put_down, way.hold());
        }
    }

    /// The connection is gone: its lane goes on, and finds that out for each delivery.
    fn drain(&self, id: LaneId, source: Id<Source>) {
        let now = self.0.now();
        let mut watched = self.0.lanes();
        let Some(account) = watched.lanes.account_of(id) else { return };
        let (concurrency, together) = (limits::CONCURRENCY_DEFAULT, limits::CONCURRENCY_DEFAULT);
        let is_gone = true;
        let terms = Terms { open: true, concurrency, together, is_gone, ..Terms::default() };
        let of = LaneOf { id, account, source, terms };
        watched.lanes.changed(of, now);
        watched.lanes.noted(of, now.wall, now);
    }

    /// What was only in memory is stored as held.
    fn put_down(&self, of: LaneOf, works: Vec<Work>, reason: Option<Hold>) {
        let reason = reason.unwrap_or(Hold::ConnectionPaused);
        for work in works {
            let Work { piece: Piece::Fresh(parcel, place), event, due, since, .. } = work else {
                continue;
            };
            let courier = self.clone();
            self.0.tasks.spawn("hold", async move {
                let Event { source_id, received_at, .. } = parcel.event;
                let holding = AssertUnwindSafe(async {
                    let Some(delivery) = parcel.delivery(place).await else { return };
                    let held = delivery.hold(reason, courier.0.now().wall);
                    let hand = Hand::Fresh { parcel, place, delivery: Box::new(delivery) };
                    let mut outcomes = Outcomes::without_attempt(held);
                    courier.settle(&of, &hand, &mut outcomes, since).await;
                });
                if holding.catch_unwind().await.is_err() {
                    tracing::error!(event.id = %event, "holding a delivery panicked");
                    courier.plan_again(event, source_id, received_at).await;
                }
                let now = courier.0.now();
                courier.0.lanes().lanes.spilled(of.id, event, due, since, now);
                courier.pump();
            });
        }
    }
}
