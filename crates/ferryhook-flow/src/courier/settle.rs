//! Writes down what came of a delivery, in one commit with its attempt and with where its event
//! stands because of it.

use ferryhook_core::delivery::{Consequence, Hold, State};
use ferryhook_core::{Delivery, Event, Timestamp};
use ferryhook_store::{Slice, StoreError, Stored};

use super::carry::Hand;
use super::{Courier, Inner, order_key};
use crate::attempt::Made;
use crate::lanes::{LaneOf, Piece, Work};
use crate::limits;
use crate::parcel::Written;

/// What is to be written.
pub(super) struct Outcomes {
    pub(super) delivery: Delivery,
    /// The attempt, unless the decision was to make none.
    pub(super) made: Option<Made>,
    pub(super) consequence: Consequence,
}

impl Courier {
    /// The delivery, if its lane has to see it again.
    pub(super) async fn settle(
        &self,
        of: &LaneOf,
        hand: Hand,
        outcomes: Outcomes,
        since: Timestamp,
    ) -> Option<Work> {
        let inner = &self.0;
        self.tell(&hand, &outcomes);
        let Outcomes { delivery: next, made, consequence } = outcomes;
        let attempt = made.as_ref().map(|made| &made.attempt);
        let settled = match &hand {
            Hand::Fresh { parcel, place, .. } => {
                let now = inner.now().wall;
                let write = || parcel.settle(&inner.store, *place, &next, attempt, now);
                let written = inner.until_stored(async || match write().await {
                    // Someone changed the delivery in the store meanwhile.
                    Err(error) if error.is_refused() => Ok(None),
                    other => other.map(Some),
                });
                match written.await? {
                    Some(Written::First) => {
                        inner.let_go(parcel.event.id);
                        parcel.stored(*place).await
                    }
                    Some(Written::Again) => parcel.stored(*place).await,
                    Some(Written::Lost) => {
                        inner.let_go(parcel.event.id);
                        // Another's plan, or our own whose answer was lost: the queue knows.
                        self.note(*of);
                        None
                    }
                    None => {
                        let write = || inner.write_over(&parcel.event, &next, attempt);
                        inner.until_stored(write).await?
                    }
                }
            }
            Hand::Stored { event, delivery } => {
                let write = || inner.write_stored(event, delivery, &next, attempt);
                match inner.until_stored(write).await? {
                    Some(settled) => Some(settled),
                    None => {
                        let write = || inner.write_over(event, &next, attempt);
                        inner.until_stored(write).await?
                    }
                }
            }
        };
        self.follow(of, hand.event(), consequence, made.as_ref()).await;
        again(settled?, since)
    }
}

impl Inner {
    /// `None` when the delivery is no longer what it was.
    async fn write_stored(
        &self,
        event: &Stored<Event>,
        was: &Stored<Delivery>,
        next: &Delivery,
        attempt: Option<&ferryhook_core::Attempt>,
    ) -> Result<Option<Stored<Delivery>>, StoreError> {
        let mut standing = event.standing();
        for _ in 0..limits::CONFLICT_TRIES_MAX {
            let page = Slice::default().limit(ferryhook_core::limits::PAGE_MAX);
            let siblings = self.store.deliveries().list_by_event(event.id, page).await?.rows;
            let current = siblings.iter().find(|one| one.connection_id == was.connection_id);
            if current.is_none_or(|current| current.revision != was.revision) {
                return Ok(None);
            }
            let others = siblings.iter().map(|one| &one.record);
            let others = others.filter(|one| one.connection_id != was.connection_id);
            let stands = standing.with(others.chain([next]), self.steady.now().wall);
            let with_event = (&**event, &standing, stands);
            let deliveries = self.store.deliveries();
            match deliveries.settle(was, next.clone(), attempt, with_event).await {
                Ok((settled, _)) => return Ok(Some(settled)),
                Err(error) if error.is_refused() => {
                    // A sibling moved the event on between the look and the write.
                    let Some(found) = self.find_event(was).await? else { return Ok(None) };
                    standing = found.standing();
                }
                Err(error) => return Err(error),
            }
        }
        Ok(None)
    }

    /// The delivery was cancelled, replayed or leased by another while this attempt was made. The
    /// attempt is kept under the next free number; what the other decided stays.
    async fn write_over(
        &self,
        event: &Event,
        next: &Delivery,
        attempt: Option<&ferryhook_core::Attempt>,
    ) -> Result<Option<Stored<Delivery>>, StoreError> {
        let deliveries = self.store.deliveries();
        for tries in 0..limits::CONFLICT_TRIES_MAX as u16 {
            let found = deliveries.find(event.id, next.connection_id).await?;
            let (Some(found), Some(attempt)) = (&found, attempt) else { return Ok(found) };
            let free = found.attempts.saturating_add(1).saturating_add(tries);
            let attempt =
                ferryhook_core::Attempt { number: attempt.number.max(free), ..attempt.clone() };
            match deliveries.count_attempt(found, &attempt).await {
                Ok(counted) => return Ok(Some(counted)),
                Err(error) if error.is_refused() => {}
                Err(error) => return Err(error),
            }
        }
        deliveries.find(event.id, next.connection_id).await
    }

    /// By its key, which the id and the source make up.
    pub(super) async fn find_event(
        &self,
        delivery: &Delivery,
    ) -> Result<Option<Stored<Event>>, StoreError> {
        let events = self.store.events();
        match delivery.event_id.made_at() {
            Some(at) => events.find_of(delivery.source_id, at, delivery.event_id).await,
            None => events.find(delivery.event_id).await,
        }
    }
}

/// As its lane sees it next.
pub(super) fn again(delivery: Stored<Delivery>, since: Timestamp) -> Option<Work> {
    let due = match delivery.state {
        State::Waiting { next_attempt_at } => next_attempt_at,
        State::Sending { lease_until } => lease_until,
        State::Held { reason: Hold::Parked, .. } => Timestamp::from_millis(i64::MAX),
        State::Held { next_attempt_at, .. } => next_attempt_at,
        State::Delivered { .. } | State::Failed { .. } | State::Cancelled { .. } => return None,
    };
    Some(Work {
        event: delivery.event_id,
        order_key: order_key(&delivery),
        due,
        since,
        bytes: 0,
        failures: delivery.attempts.saturating_sub(delivery.attempts_before),
        piece: Piece::Stored(Box::new(delivery)),
    })
}
