//! Writes down what came of a delivery, in one commit with its attempt and with where its event
//! stands because of it.

use ferryhook_core::delivery::{Consequence, Hold, State};
use ferryhook_core::{Attempt, Delivery, Event, Timestamp};
use ferryhook_store::{Slice, StoreError, Stored};

use super::carry::Hand;
use super::{Courier, Inner, order_key};
use crate::attempt::Made;
use crate::lanes::{LaneOf, PARKED, Piece, Work};
use crate::limits;
use crate::parcel::Written;
use crate::signals::Signal;

/// What is to be written.
pub(super) struct Outcomes {
    pub(super) delivery: Delivery,
    /// The attempt, unless the decision was to make none.
    pub(super) made: Option<Made>,
    pub(super) consequence: Consequence,
    /// What it means beyond this delivery.
    pub(super) signal: Option<Signal>,
}

impl Outcomes {
    /// The decision was to make none.
    pub(super) fn without_attempt(delivery: Delivery) -> Self {
        Self { delivery, made: None, consequence: Consequence::Nothing, signal: None }
    }
}

/// What is left to do for a delivery when one attempt is over.
pub(super) enum Left {
    Nothing,
    /// Its lane has to see it again.
    Again(Work),
    /// The queue knows: it is in other hands, or nobody can tell whether it is in ours.
    Unknown,
    /// So does it, but looking at it has crashed: not at once.
    Crashed,
}

impl Courier {
    pub(super) async fn settle(
        &self,
        of: &LaneOf,
        hand: &Hand,
        outcomes: &mut Outcomes,
        since: Timestamp,
    ) -> Left {
        let inner = &self.0;
        self.tell(hand, outcomes);
        let Outcomes { delivery: next, made, consequence, signal } = outcomes;
        let attempt = made.as_ref().map(|made| &made.attempt);
        let written = inner.until_stored(|| inner.write(hand, next, attempt)).await;
        if let (Hand::Fresh { parcel, .. }, Some(_)) = (hand, &written) {
            inner.let_go(parcel.event.id);
        }
        if written.is_some() {
            self.count(hand.event(), next, attempt);
        }
        let Some(Some(settled)) = written else { return Left::Unknown };
        if *consequence != Consequence::Nothing {
            // Boxed: it is large and seldom needed, and every delivery would have room for it.
            let event = hand.event();
            Box::pin(self.follow(of, event, *consequence, (made.as_ref(), signal.as_ref()))).await;
        }
        if let Some(signal) = signal.take() {
            self.heed(signal);
        }
        again(settled, since).map_or(Left::Nothing, Left::Again)
    }
}

impl Inner {
    /// The delivery as the store has it then, if it does.
    async fn write(
        &self,
        hand: &Hand,
        next: &Delivery,
        attempt: Option<&Attempt>,
    ) -> Result<Option<Stored<Delivery>>, StoreError> {
        let settled = match hand {
            Hand::Fresh { parcel, place, .. } => {
                match parcel.settle(&self.store, *place, next, attempt, self.now().wall).await? {
                    Written::Stored => parcel.stored(*place).await,
                    Written::Lost => None,
                }
            }
            Hand::Stored { event, delivery } => {
                Box::pin(self.write_stored(event, delivery, next, attempt)).await?
            }
        };
        match settled {
            Some(settled) => Ok(Some(settled)),
            None => Box::pin(self.write_over(hand.event(), next, attempt)).await,
        }
    }

    /// `None` when the delivery is no longer what it was. Others that come before us again and again
    /// are no reason to give up what has been answered: that is an error, and asked again.
    pub(super) async fn write_stored(
        &self,
        event: &Stored<Event>,
        was: &Stored<Delivery>,
        next: &Delivery,
        attempt: Option<&Attempt>,
    ) -> Result<Option<Stored<Delivery>>, StoreError> {
        let _turn = self.turns.of(event.id).await;
        let mut standing = event.standing();
        let mut tries = 0;
        loop {
            let page = Slice::default().limit(ferryhook_core::limits::PAGE_MAX);
            let mut siblings = self.store.deliveries().list_by_event(event.id, page).await?.rows;
            let current = siblings.iter().position(|one| one.connection_id == was.connection_id);
            let current = current.map(|place| siblings.swap_remove(place));
            if current.is_none_or(|current| current.revision != was.revision) {
                return Ok(None);
            }
            let others = siblings.iter().map(|one| &one.record);
            let stands = standing.with(others.chain([next]), self.steady.now().wall);
            let with_event = (&**event, &standing, stands);
            let beside = siblings.iter().map(|one| (&one.record, one.revision));
            let deliveries = self.store.deliveries();
            match deliveries.settle(was, next.clone(), attempt, with_event, beside).await {
                Ok((settled, _)) => return Ok(Some(settled)),
                Err(error) if error.is_refused() && tries < limits::CONFLICT_TRIES_MAX => {
                    // A sibling moved the event on between the look and the write.
                    let Some(found) = self.find_event(was).await? else { return Ok(None) };
                    standing = found.standing();
                    tries += 1;
                }
                Err(error) => return Err(error),
            }
        }
    }

    /// The delivery was cancelled, replayed or leased by another while this attempt was made. The
    /// attempt counts as one more; what the other decided stays.
    async fn write_over(
        &self,
        event: &Event,
        next: &Delivery,
        attempt: Option<&Attempt>,
    ) -> Result<Option<Stored<Delivery>>, StoreError> {
        let deliveries = self.store.deliveries();
        let mut found = deliveries.find(event.id, next.connection_id).await?;
        for _ in 0..limits::CONFLICT_TRIES_MAX {
            let (Some(was), Some(attempt)) = (&found, attempt) else { break };
            if was.record == *next {
                break; // an earlier try got through and its answer was lost
            }
            let attempt = Attempt { number: was.attempts.saturating_add(1), ..attempt.clone() };
            match deliveries.count_attempt(was, &attempt).await {
                Ok(counted) => return Ok(Some(counted)),
                Err(error) if error.is_refused() => {
                    found = deliveries.find(event.id, next.connection_id).await?;
                }
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

/// When its lane has to see it; `None` when it is settled.
pub(super) fn due(delivery: &Delivery) -> Option<Timestamp> {
    match delivery.state {
        State::Waiting { next_attempt_at } => Some(next_attempt_at),
        State::Sending { lease_until } => Some(lease_until),
        State::Held { reason: Hold::Parked, .. } => Some(PARKED),
        State::Held { next_attempt_at, .. } => Some(next_attempt_at),
        State::Delivered { .. } | State::Failed { .. } | State::Cancelled { .. } => None,
    }
}

/// As its lane sees it next.
pub(super) fn again(delivery: Stored<Delivery>, since: Timestamp) -> Option<Work> {
    Some(Work {
        event: delivery.event_id,
        order_key: order_key(&delivery),
        due: due(&delivery)?,
        since,
        bytes: 0,
        failures: delivery.attempts.saturating_sub(delivery.attempts_before),
        piece: Piece::Stored(Box::new(delivery)),
    })
}
