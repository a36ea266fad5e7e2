//! Which events were shown, and from when on the next look has to begin.

use std::collections::HashMap;
use std::time::Duration;

use ferryhook_api::events::EventLine;
use ferryhook_api::page::Page;
use ferryhook_core::event::Status;
use ferryhook_core::{Event, Id, Timestamp};

/// An event is visible so long after it was received, at the latest.
const VISIBLE_WITHIN: Duration = Duration::from_secs(5);
/// And stands where it will stand for good, unless something is wrong with it.
const SETTLED_WITHIN: Duration = Duration::from_secs(60);
/// One that is under way is shown when it has arrived, or when others have come this much later.
const HELD_BACK: usize = 2;

#[derive(Debug)]
pub struct Seen {
    start: Option<Timestamp>,
    /// The latest of all that were seen.
    latest: Option<Timestamp>,
    /// How long before that one may still turn up; `None` means any time since the start.
    within: Option<Duration>,
    shown: HashMap<Id<Event>, Timestamp>,
    /// How often those were seen that are not shown yet.
    waiting: HashMap<Id<Event>, usize>,
    waits: bool,
    /// The last look ended here, and there was more behind it.
    reached: Option<Timestamp>,
}

impl Seen {
    pub fn everything(status: Option<Status>) -> Self {
        // What fails does so whenever its last attempt has failed, maybe a day after it came.
        let within = match status {
            None => Some(VISIBLE_WITHIN),
            Some(Status::Failed | Status::Retrying | Status::Held | Status::SignatureFailed) => {
                None
            }
            Some(_) => Some(SETTLED_WITHIN),
        };
        Self {
            start: None,
            latest: None,
            within,
            shown: HashMap::new(),
            waiting: HashMap::new(),
            waits: status.is_none(),
            reached: None,
        }
    }

    pub fn from(start: Timestamp, status: Option<Status>) -> Self {
        Self { start: Some(start), ..Self::everything(status) }
    }

    /// The next look begins here.
    pub fn begins_at(&self) -> Option<Timestamp> {
        self.reached.or_else(|| self.earliest())
    }

    /// Before this nothing turns up any more.
    fn earliest(&self) -> Option<Timestamp> {
        let Some((latest, within)) = self.latest.zip(self.within) else { return self.start };
        Some(latest - within).max(self.start)
    }

    /// There is something that was not shown yet, whether or not more comes.
    pub fn wants_another_look(&self) -> bool {
        self.reached.is_some() || !self.waiting.is_empty()
    }

    /// These were there before.
    pub fn pass_over(&mut self, events: Vec<EventLine>) {
        for event in events {
            self.shown.insert(event.event_id, event.received_at);
            self.latest = self.latest.max(Some(event.received_at));
        }
    }

    /// Those of a look that are to be shown now, in the order in which they came. One that did not
    /// take in everything is followed by one from where it ended.
    pub fn fresh(&mut self, look: Page<EventLine>) -> Vec<EventLine> {
        let Page { data: mut events, has_more, .. } = look;
        events.sort_by_key(|event| (event.received_at, event.event_id));
        let last = events.last().map(|event| event.received_at);
        self.reached = last.filter(|_| has_more);
        let mut fresh = Vec::new();
        for event in events {
            if self.shown.contains_key(&event.event_id) {
                continue;
            }
            if self.waits && is_under_way(event.status) {
                let looks = self.waiting.entry(event.event_id).or_insert(0);
                *looks += 1;
                if *looks <= HELD_BACK {
                    // Those behind it wait as well, or they would be out of order.
                    self.reached = None;
                    break;
                }
            }
            self.waiting.remove(&event.event_id);
            self.shown.insert(event.event_id, event.received_at);
            self.latest = self.latest.max(Some(event.received_at));
            fresh.push(event);
        }
        if let Some(from) = self.earliest() {
            self.shown.retain(|_, received_at| *received_at >= from);
        }
        fresh
    }
}

fn is_under_way(status: Status) -> bool {
    matches!(status, Status::Received | Status::Processing)
}

#[cfg(test)]
mod tests;
