//! One delivery through one attempt: what is it, may it go, send it, write down what came of it.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Duration;

use ferryhook_core::connection::OrderingPolicy;
use ferryhook_core::delivery::{Cancel, Failure, Hold, Next, Outcome, State};
use ferryhook_core::{Delivery, Event, Id, Timestamp};
use ferryhook_net::client::Timing;
use ferryhook_store::Stored;
use futures_util::FutureExt;

use super::crashed::Load;
use super::settle::{Left, Outcomes};
use super::{Courier, lane_of};
use crate::attempt::{self, Made, Means};
use crate::credentials;
use crate::lanes::{Felt, LaneOf, Piece, Work};
use crate::limits;
use crate::parcel::Parcel;
use crate::routes::{Route, Way};
use crate::shape::{self, Shape};

/// The delivery in hand, with its event.
pub(super) enum Hand {
    Fresh { parcel: Arc<Parcel>, place: usize, delivery: Box<Delivery> },
    Stored { event: Box<Stored<Event>>, delivery: Box<Stored<Delivery>> },
}

impl Hand {
    pub(super) fn event(&self) -> &Event {
        match self {
            Self::Fresh { parcel, .. } => &parcel.event,
            Self::Stored { event, .. } => event,
        }
    }

    pub(super) fn delivery(&self) -> &Delivery {
        match self {
            Self::Fresh { delivery, .. } => delivery,
            Self::Stored { delivery, .. } => delivery,
        }
    }
}

impl Courier {
    pub(super) async fn carry(&self, of: LaneOf, work: Work) {
        let (load, key) = (Load::of(&work), work.order_key.clone());
        let carried = AssertUnwindSafe(self.carry_once(&of, work)).catch_unwind().await;
        let left = match carried {
            Ok(left) => left,
            Err(_) => Box::pin(self.carry_crashed(&of, &load)).await,
        };
        let now = self.0.now();
        let mut watched = self.0.lanes();
        let (again, noted) = match left {
            Left::Again(work) => (Some(work), None),
            Left::Nothing => (None, None),
            Left::Unknown => (None, Some(now.wall)),
            Left::Crashed => (None, Some(now.wall + limits::CRASH_PAUSE)),
        };
        watched.lanes.settled(&of, load.event, key.as_deref(), again, now);
        if let Some(at) = noted {
            watched.lanes.noted(of, at, now);
        }
        drop(watched);
        self.pump();
    }

    async fn carry_once(&self, of: &LaneOf, work: Work) -> Left {
        let (event, since) = (work.event, work.since);
        if self.0.is_erased(event) {
            return self.drop_quietly(of, event);
        }
        let Some(hand) = self.pick_up(work.piece).await else {
            self.0.lanes().lanes.attempted(of.id, event, Felt::Nothing, self.0.now());
            return Left::Unknown;
        };
        // The lane of a hook has events of many sources.
        let of = &LaneOf { source: hand.delivery().source_id, ..*of };
        let Some(route) = self.route_in_time(of).await else {
            self.0.lanes().lanes.attempted(of.id, event, Felt::Nothing, self.0.now());
            return Left::Nothing; // the process is stopping
        };
        if self.0.is_erased(event) {
            return self.drop_quietly(of, event);
        }
        let ways = route.as_ref().map_or(&[][..], |route| &route.ways);
        let way = ways.iter().find(|way| way.connection.id == of.id.connection);
        if let Some(way) = way.filter(|way| lane_of(way, of.id.lane).terms != of.terms) {
            self.apply(way); // it has changed, and nobody said so
        }
        let mut outcomes = match way {
            None => {
                let reason = match route {
                    None => Cancel::SourceDeleted,
                    Some(_) => Cancel::ConnectionDeleted,
                };
                self.without_attempt(of, event, |now| hand.delivery().cancel(reason, now))
            }
            Some(way) => match way.hold() {
                Some(reason) => {
                    self.without_attempt(of, event, |now| hand.delivery().hold(reason, now))
                }
                None => self.with_attempt(of, &hand, way).await,
            },
        };
        let left = self.settle(of, &hand, &mut outcomes, since).await;
        match way {
            Some(way) if self.is_elsewhere(way) => Left::Nothing,
            _ => left,
        }
    }

    /// It was erased while it waited: there is nothing to send and nothing to write.
    fn drop_quietly(&self, of: &LaneOf, event: Id<Event>) -> Left {
        self.0.lanes().lanes.attempted(of.id, event, Felt::Nothing, self.0.now());
        self.0.let_go(event);
        Left::Nothing
    }

    /// The route as it is when the destination's rate allows the next attempt. Whoever comes too
    /// late for the moment that was theirs gets another.
    async fn route_in_time(&self, of: &LaneOf) -> Option<Option<Arc<Route>>> {
        let find = || self.0.routes.find(of.source);
        let mut route = self.0.until_stored(find).await?;
        for _ in 0..limits::CONFLICT_TRIES_MAX {
            // One look at the clock: with a second one every moment would lie a little ahead, and
            // the shortest sleep there is takes a millisecond.
            let now = self.0.now();
            let at = self.0.lanes().lanes.reserve(of.id, now);
            if at <= now.passed {
                break;
            }
            tokio::time::sleep(at - now.passed).await;
            route = self.0.until_stored(find).await?;
            if self.0.now().passed <= at + limits::PACE_GRAIN {
                break;
            }
        }
        Some(route)
    }

    async fn pick_up(&self, piece: Piece) -> Option<Hand> {
        match piece {
            Piece::Fresh(parcel, place) => {
                let delivery = parcel.delivery(place).await?;
                Some(Hand::Fresh { parcel, place, delivery: Box::new(delivery) })
            }
            Piece::Stored(delivery) => Box::pin(self.pick_up_stored(delivery)).await,
        }
    }

    async fn pick_up_stored(&self, delivery: Box<Stored<Delivery>>) -> Option<Hand> {
        let delivery = match self.0.shared {
            true => Box::new(self.lease(&delivery).await?),
            false => delivery,
        };
        let found = self.0.until_stored(|| self.0.find_event(&delivery)).await?;
        let Some(event) = found else {
            self.withdraw(&delivery).await;
            return None;
        };
        Some(Hand::Stored { event: Box::new(event), delivery })
    }

    /// Takes it for as long as an attempt can last. `None` when another process has it.
    async fn lease(&self, delivery: &Stored<Delivery>) -> Option<Stored<Delivery>> {
        let longest = Duration::from_millis(ferryhook_core::limits::TIMEOUT_MS_MAX.into());
        let until = self.0.now().wall + longest + limits::LEASE_MARGIN;
        let deliveries = self.0.store.deliveries();
        let leased = self.0.until_stored(|| deliveries.lease(delivery, until)).await;
        leased.flatten()
    }

    /// Its event is gone: erased, or expired a moment before itself.
    pub(crate) async fn withdraw(&self, delivery: &Stored<Delivery>) {
        let cancelled = delivery.cancel(Cancel::Requested, self.0.now().wall);
        let deliveries = self.0.store.deliveries();
        let replace = self.0.until_stored(async || {
            match deliveries.replace(delivery, cancelled.clone()).await {
                Err(error) if error.is_refused() => Ok(()), // it is gone as well
                other => other.map(drop),
            }
        });
        replace.await;
    }

    pub(super) fn without_attempt(
        &self,
        of: &LaneOf,
        event: Id<Event>,
        next: impl FnOnce(Timestamp) -> Delivery,
    ) -> Outcomes {
        let now = self.0.now();
        self.0.lanes().lanes.attempted(of.id, event, Felt::Nothing, now);
        Outcomes::without_attempt(next(now.wall))
    }

    async fn with_attempt(&self, of: &LaneOf, hand: &Hand, way: &Way) -> Outcomes {
        let inner = &self.0;
        let delivery = hand.delivery();
        let shaped;
        let event = match shape::shape(hand.event(), way, &inner.scripts).await {
            Shape::AsItCame => hand.event(),
            Shape::Changed(changed) => {
                shaped = changed;
                &*shaped
            }
            Shape::Unwanted(reason, said) => {
                let next =
                    |now| Delivery { last_error: Some(said), ..delivery.cancel(reason, now) };
                return self.without_attempt(of, delivery.event_id, next);
            }
            Shape::NotNow(said) => {
                let next = |now| Delivery {
                    last_error: Some(said),
                    ..delivery.put_off(now + limits::SHAPE_PAUSE, now)
                };
                return self.without_attempt(of, delivery.event_id, next);
            }
            Shape::Failed(error) => {
                let made = unsent(hand.event(), delivery, way, inner.env.now(), error);
                return self.attempted(of, delivery, way, made);
            }
        };
        let sending = self.send(event, hand.event(), delivery, way);
        let made = match AssertUnwindSafe(sending).catch_unwind().await {
            Ok(Some(made)) => made,
            Ok(None) => return self.not_heard(of, delivery, way),
            Err(_) => crashed(event, delivery, way, inner.env.now()),
        };
        self.attempted(of, delivery, way, made)
    }

    /// Nothing where it would go to somebody who listens, and nobody does. `came` is the event
    /// before its transform.
    pub(super) async fn send(
        &self,
        event: &Event,
        came: &Event,
        delivery: &Delivery,
        way: &Way,
    ) -> Option<Made> {
        let inner = &self.0;
        let means = Means {
            outbound: &*inner.outbound,
            guard: &inner.guard,
            env: &inner.env,
            traces: inner.traces.as_ref(),
        };
        if way.connection.is_listened_to() {
            let session = inner.listeners.of(way.connection.id)?;
            let listened = attempt::listened(&means, event, came, delivery, way, &session);
            return Box::pin(listened).await;
        }
        let shown = match credentials::show(way, &inner.tokens).await {
            Ok(shown) => shown,
            Err(error) => return Some(unsent(event, delivery, way, inner.env.now(), error)),
        };
        let made = attempt::attempt(&means, event, came, delivery, way, &shown).await;
        if let (401, Some(token)) = (made.attempt.status_code, &shown.token) {
            inner.tokens.refused(way.connection.id, token);
        }
        Some(made)
    }

    /// What an attempt means for its lane and its delivery.
    pub(super) fn attempted(
        &self,
        of: &LaneOf,
        delivery: &Delivery,
        way: &Way,
        made: Made,
    ) -> Outcomes {
        let inner = &self.0;
        let now = inner.now();
        let rests = {
            let lanes = &mut inner.lanes().lanes;
            if made.felt != Felt::Nothing {
                lanes.took(of.id, made.timing.total, now);
            }
            lanes.attempted(of.id, delivery.event_id, made.felt, now)
        };
        if rests {
            tracing::warn!(connection.id = %of.id.connection, "the destination keeps failing and is given a rest");
        }
        self.pump(); // its place is free, though what came of it is not written yet
        inner.gauges.attempted(&made, way.connection.is_listened_to());
        // One that was held may go on, and so may fail and be put off again.
        let going = delivery.release(now.wall);
        let fraction = inner.env.fraction();
        let next = going.after(&made.outcome, &way.policy, now.wall, fraction);
        let next = parked(next, way);
        let signal = self.signal(way, &next, &made);
        let Next { delivery, consequence } = next;
        Outcomes { delivery, made: Some(made), consequence, signal }
    }
}

/// Where the connection says so, one that is given up keeps those behind it waiting.
fn parked(next: Next, way: &Way) -> Next {
    let parks = way.connection.ordering_policy == Some(OrderingPolicy::Park)
        && way.connection.ordering_key.is_some();
    match next.delivery.state {
        State::Failed { reason: Failure::Exhausted, settled_at }
            if parks && next.delivery.order_key.is_some() =>
        {
            let state = State::Held { reason: Hold::Parked, next_attempt_at: settled_at };
            Next { delivery: Delivery { state, ..next.delivery }, ..next }
        }
        _ => next,
    }
}

/// A fault of ours counts as an attempt, so that it ends like one.
pub(super) fn crashed(event: &Event, delivery: &Delivery, way: &Way, at: Timestamp) -> Made {
    tracing::error!(event.id = %event.id, connection.id = %delivery.connection_id, "an attempt panicked");
    unsent(event, delivery, way, at, "the attempt crashed on our side".to_owned())
}

/// Something on our side of the line kept it from being sent. The destination has no part in it.
pub(super) fn unsent(
    event: &Event,
    delivery: &Delivery,
    way: &Way,
    at: Timestamp,
    error: String,
) -> Made {
    let attempt = attempt::blank(event, delivery, way, at);
    Made {
        attempt: ferryhook_core::Attempt { error: Some(error.clone()), ..attempt },
        outcome: Outcome::Unanswered { error },
        felt: Felt::Nothing,
        timing: Timing::default(),
    }
}
