//! An event that is about to go: what still waits for it is given up, and people are told.

use ferryhook_core::delivery::{Hold, Next, State};
use ferryhook_core::event::Status;
use ferryhook_core::{Delivery, Event, Timestamp};
use ferryhook_store::{Slice, StoreError, Stored};

use super::{Courier, lane_of};
use crate::limits;

impl Courier {
    /// Of an event that goes before `soon`.
    pub(crate) async fn give_up_before(
        &self,
        event: Stored<Event>,
        soon: Timestamp,
    ) -> Result<(), StoreError> {
        if event.expires_at.is_none_or(|end| end > soon) || self.0.is_erased(event.id) {
            return Ok(());
        }
        if event.processed_at.is_none() {
            return self.give_up_unplanned(&event).await;
        }
        let page = Slice::default().limit(ferryhook_core::limits::PAGE_MAX);
        let deliveries = self.0.store.deliveries().list_by_event(event.id, page).await?.rows;
        for delivery in &deliveries {
            if is_left_behind(delivery, self.0.now().wall) {
                Box::pin(self.give_up(&event, delivery)).await?;
            }
        }
        Ok(())
    }

    /// One whose event is about to go.
    pub(crate) async fn give_up_if_left(
        &self,
        delivery: &Stored<Delivery>,
    ) -> Result<(), StoreError> {
        if self.0.is_erased(delivery.event_id) || !is_left_behind(delivery, self.0.now().wall) {
            return Ok(());
        }
        match self.0.find_event(delivery).await? {
            Some(event) => Box::pin(self.give_up(&event, delivery)).await,
            None => Ok(()), // it was erased
        }
    }

    async fn give_up(
        &self,
        event: &Stored<Event>,
        delivery: &Stored<Delivery>,
    ) -> Result<(), StoreError> {
        let inner = &self.0;
        let Some(route) = inner.routes.find(event.source_id).await? else { return Ok(()) };
        let way = route.ways.iter().find(|way| way.connection.id == delivery.connection_id);
        // What is left of a deleted connection is cancelled as soon as its queue is read.
        let Some(way) = way else { return Ok(()) };
        let error = "the event is kept no longer, and this has waited until then".to_owned();
        let Next { delivery: next, consequence } = delivery.expire(inner.now().wall);
        let next = Delivery { last_error: Some(error.clone()), ..next };
        let Some(settled) = inner.write_stored(event, delivery, &next, None).await? else {
            return Ok(()); // somebody has done something about it
        };
        self.count(event, &settled, None);
        let of = lane_of(way, settled.lane);
        let signal = self.signal_without_attempt(way, &error);
        self.follow(&of, event, consequence, (None, signal.as_ref())).await;
        if let Some(signal) = signal {
            self.heed(signal);
        }
        self.note(of);
        Ok(())
    }

    /// Its source was paused all the time.
    async fn give_up_unplanned(&self, was: &Stored<Event>) -> Result<(), StoreError> {
        let failed = Event {
            status: Status::Failed,
            processed_at: Some(self.0.now().wall),
            processing_error: Some("its source was paused for as long as it is kept".to_owned()),
            ..was.record.clone()
        };
        match self.0.store.events().replace(was, failed).await {
            Ok(_) => {
                self.0.gauges.dead();
                tracing::warn!(event.id = %was.id, source.id = %was.source_id, "a held event was given up");
                Ok(())
            }
            Err(error) if error.is_refused() => Ok(()), // it was released, or goes on otherwise
            Err(error) => Err(error),
        }
    }
}

/// Whether it waits for something else than its time. One that is due is left alone for longer
/// than an attempt takes, because it may be under way.
fn is_left_behind(delivery: &Delivery, now: Timestamp) -> bool {
    let due = match delivery.state {
        _ if delivery.inbox.is_some() => return false,
        State::Held { reason: Hold::Parked, .. } => return true,
        State::Waiting { next_attempt_at } | State::Held { next_attempt_at, .. } => next_attempt_at,
        State::Sending { lease_until } => lease_until,
        State::Delivered { .. } | State::Failed { .. } | State::Cancelled { .. } => return false,
    };
    due + limits::EXPIRY_PATIENCE <= now
}
