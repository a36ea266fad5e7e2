//! What is only to be fetched is planned at the door: event, claim and items are one commit, and
//! there is nobody to hand them over to.

use std::panic::AssertUnwindSafe;

use ferryhook_core::event::Status;
use ferryhook_core::{Event, Timestamp};
use ferryhook_store::repositories::Arrival;

use super::Door;
use crate::plan::{self, Planned};
use crate::routes::Route;

impl Door {
    /// Leaves alone what has other ways to go, and what cannot be planned: that is found to be
    /// pending, and looked after by those who look after all of these.
    pub(super) fn plan_to_fetch(&self, route: &Route, arrivals: &mut [Arrival], now: Timestamp) {
        if !route.is_fetched() {
            return;
        }
        for arrival in arrivals.iter_mut().filter(|one| one.event.pending_since.is_some()) {
            let event = &arrival.event;
            let planning = AssertUnwindSafe(|| plan::plan(event, route, now, &self.env));
            let Ok(Ok(planned)) = std::panic::catch_unwind(planning) else { continue };
            arrival.items = planned.into_iter().map(|Planned { delivery, .. }| delivery).collect();
            if let [item] = &mut arrival.items[..]
                && let Some(place) = &mut item.inbox
            {
                place.alone = true;
            }
            settle(&mut arrival.event, arrival.items.is_empty(), now);
        }
    }
}

fn settle(event: &mut Event, is_unwanted: bool, now: Timestamp) {
    event.pending_since = None;
    event.processed_at = Some(now);
    if is_unwanted {
        event.status = Status::Filtered;
    }
}
