//! What becomes of an event or a delivery when something of ours panics on the way.
//!
//! Whoever has it in hand comes here, so that its slot and its place in the lane are free again. A
//! delivery counts it as an attempt and an event as one of its tries, so both come to an end. Where
//! even that crashes nothing is written, and it is looked at again after a while.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use ferryhook_core::{Event, Id, Source, Timestamp};
use futures_util::FutureExt;

use super::Courier;
use super::carry::{Hand, crashed};
use super::settle::{Left, again};
use crate::lanes::{LaneOf, Piece, Work};
use crate::parcel::Parcel;

/// What one has to know of a delivery that was carried when that crashed.
pub(super) struct Load {
    pub(super) event: Id<Event>,
    since: Timestamp,
    /// When it was picked up; there are more if the outcome is written.
    attempts: u16,
    parcel: Option<Arc<Parcel>>,
}

impl Load {
    pub(super) fn of(work: &Work) -> Self {
        let (attempts, parcel) = match &work.piece {
            Piece::Fresh(parcel, _) => (0, Some(parcel.clone())),
            Piece::Stored(delivery) => (delivery.attempts, None),
        };
        Self { event: work.event, since: work.since, attempts, parcel }
    }
}

impl Courier {
    pub(super) async fn carry_crashed(&self, of: &LaneOf, load: &Load) -> Left {
        tracing::error!(event.id = %load.event, connection.id = %of.id.connection, "a delivery panicked");
        let counted = AssertUnwindSafe(self.count_crash(of, load)).catch_unwind().await;
        if let Ok(left) = counted {
            return left;
        }
        tracing::error!(event.id = %load.event, connection.id = %of.id.connection, "and so did writing that down");
        if let Some(parcel) = &load.parcel {
            let Event { id, source_id, received_at, .. } = parcel.event;
            self.plan_again(id, source_id, received_at).await;
        }
        Left::Crashed
    }

    async fn count_crash(&self, of: &LaneOf, load: &Load) -> Left {
        let inner = &self.0;
        if let Some(parcel) = &load.parcel {
            // From here on it is like any that the store has.
            let written = inner.until_stored(|| parcel.write(&inner.store, inner.now().wall));
            if written.await.is_none() {
                return Left::Nothing; // the process is stopping
            }
            inner.let_go(load.event);
        }
        let find = || inner.store.deliveries();
        let found = inner.until_stored(async || find().find(load.event, of.id.connection).await);
        let Some(Some(delivery)) = found.await else { return Left::Nothing };
        if delivery.is_settled() || delivery.attempts > load.attempts {
            return again(delivery, load.since).map_or(Left::Nothing, Left::Again);
        }
        let Some(found) = inner.until_stored(|| inner.find_event(&delivery)).await else {
            return Left::Nothing;
        };
        let Some(event) = found else {
            self.withdraw(&delivery).await;
            return Left::Nothing;
        };
        let of = &LaneOf { source: delivery.source_id, ..*of };
        let route = inner.until_stored(|| inner.routes.find(of.source)).await.flatten();
        let ways = route.as_ref().map_or(&[][..], |route| &route.ways);
        let Some(way) = ways.iter().find(|way| way.connection.id == of.id.connection) else {
            return Left::Crashed;
        };
        let made = crashed(&event, &delivery, way, inner.env.now());
        let mut outcomes = self.attempted(of, &delivery, way, made);
        let hand = Hand::Stored { event: Box::new(event), delivery: Box::new(delivery) };
        self.settle(of, &hand, &mut outcomes, load.since).await
    }

    /// Taking it up has crashed: another time, unless the store has its plan.
    pub(crate) async fn plan_again(&self, id: Id<Event>, source: Id<Source>, at: Timestamp) {
        let inner = &self.0;
        let again = AssertUnwindSafe(async {
            let events = inner.store.events();
            let found = inner.until_stored(|| events.find_of(source, at, id)).await;
            match found.flatten().filter(|found| found.pending_since.is_some()) {
                Some(event) => {
                    self.clone().unplanned(event, "taking it up crashed".to_owned()).await;
                }
                None => inner.let_go(id),
            }
        });
        if again.catch_unwind().await.is_err() {
            tracing::error!(event.id = %id, "an event that crashed cannot be put off");
            inner.let_go(id);
            inner.missed.store(true, Ordering::Release);
        }
    }
}
