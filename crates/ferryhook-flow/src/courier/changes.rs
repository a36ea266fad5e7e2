//! What becomes of lanes when sources and connections change.

use std::sync::Arc;

use ferryhook_core::connection::Status;
use ferryhook_core::delivery::{Hold, Lane};
use ferryhook_core::{Id, Source, source};

use super::{Courier, lane_of};
use crate::lanes::{LaneOf, Piece, Terms, Work};
use crate::limits;
use crate::routes::Route;

impl Courier {
    /// The source or one of its connections changed, or anything may have.
    pub async fn changed(&self, source: Option<Id<Source>>) {
        match source {
            Some(source) => self.0.routes.forget(source),
            None => self.0.routes.forget_all(),
        }
        let mut lanes = self.0.lanes().lanes.of_source(source);
        lanes.sort_unstable();
        let mut sources: Vec<_> = lanes.iter().map(|(_, source)| *source).chain(source).collect();
        sources.sort_unstable();
        sources.dedup();
        for id in sources {
            let route = match self.0.routes.find(id).await {
                Ok(route) => route,
                Err(error) => {
                    tracing::warn!(%error, source.id = %id, "a change is seen a minute late");
                    continue;
                }
            };
            self.apply(route.as_ref());
            let of_source = lanes.iter().filter(|(_, source)| *source == id);
            for (lane, source) in of_source {
                let is_there = route.iter().flat_map(|route| &route.ways);
                if !is_there.clone().any(|way| way.connection.id == lane.connection) {
                    self.drain(*lane, *source);
                }
            }
            if let Some(route) = route.filter(|route| route.source.status == source::Status::Active)
            {
                crate::sweep::release_source(self, &route).await;
            }
        }
        self.pump();
    }

    /// Each connection's lane learns its new terms. One that is open now may have a queue.
    fn apply(&self, route: Option<&Arc<Route>>) {
        for way in route.iter().flat_map(|route| &route.ways) {
            for lane in [Lane::Live, Lane::Replay] {
                let of = lane_of(way, lane);
                let now = self.0.now();
                let mut watched = self.0.lanes();
                let put_down = watched.lanes.changed(of, now);
                if way.connection.status == Status::Active {
                    watched.lanes.noted(of, now.wall, now);
                }
                drop(watched);
                self.put_down(of, put_down);
            }
        }
    }

    /// The connection is gone: its lane goes on, and finds that out for each delivery.
    fn drain(&self, id: crate::lanes::LaneId, source: Id<Source>) {
        let now = self.0.now();
        let mut watched = self.0.lanes();
        let Some(account) = watched.lanes.account_of(id) else { return };
        let terms =
            Terms { open: true, concurrency: limits::CONCURRENCY_DEFAULT, ..Terms::default() };
        let of = LaneOf { id, account, source, terms };
        watched.lanes.changed(of, now);
        watched.lanes.noted(of, now.wall, now);
    }

    /// What was only in memory is stored as held.
    fn put_down(&self, of: LaneOf, works: Vec<Work>) {
        for work in works {
            let Piece::Fresh(parcel, place) = work.piece else { continue };
            let courier = self.clone();
            self.0.tasks.spawn("hold", async move {
                let inner = &courier.0;
                let Some(delivery) = parcel.delivery(place).await else { return };
                let now = inner.now().wall;
                let held = delivery.hold(Hold::ConnectionPaused, now);
                let write = || parcel.settle(&inner.store, place, &held, None, now);
                if inner.until_stored(write).await.is_some() {
                    inner.let_go(parcel.event.id);
                    inner.lanes().lanes.held(of.id, now);
                }
            });
        }
    }
}
