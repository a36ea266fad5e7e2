//! What is known of a lane's queue in the store beyond what is in memory, and where to read on.

use std::time::Duration;

use ferryhook_core::quick::QuickSet;
use ferryhook_core::{Event, Id, Timestamp};

use super::Work;
use crate::limits;

#[derive(Debug)]
pub(super) struct Backlog {
    /// When its first entry is due; nothing while it is known to be empty.
    pub(super) due: Option<Timestamp>,
    /// Everything before is in hand or settled; everything at all, at the end of time. Reading
    /// starts here and so steps over nothing that was deleted.
    pub(super) from: Timestamp,
    /// The same for the last moment of which everything is: in order nothing behind it is sent as
    /// long as there may be something to read.
    pub(super) known: Timestamp,
    pub(super) reading: bool,
    /// When the oldest event of what was put back came.
    pub(super) since: Option<Timestamp>,
    /// Became known while a page was being read: when it is due and where in the queue it lies.
    pub(super) meanwhile: Option<(Timestamp, Timestamp)>,
    /// Left our hands while a page was being read, which may show them as they were before.
    gone_meanwhile: QuickSet<Id<Event>>,
    /// Was passed over because it was not due, although it lies before others that are.
    early: Option<Early>,
}

/// Those that stand in the queue where their event came, as if order still counted.
#[derive(Debug, Clone, Copy)]
struct Early {
    /// The first of them is, and lies in the queue.
    due: Timestamp,
    place: Timestamp,
    count: u32,
}

impl Backlog {
    pub(super) fn new() -> Self {
        Self {
            due: None,
            from: Timestamp::MAX,
            known: Timestamp::MAX,
            reading: false,
            since: None,
            meanwhile: None,
            gone_meanwhile: QuickSet::default(),
            early: None,
        }
    }

    /// Has something that is due then and lies there, or behind that.
    pub(super) fn noted(&mut self, due: Timestamp, place: Timestamp) {
        if self.reading {
            let (known, from) = self.meanwhile.unwrap_or((due, place));
            self.meanwhile = Some((known.min(due), from.min(place)));
            return;
        }
        self.due = Some(self.due.map_or(due, |known| known.min(due)));
        self.from = self.from.min(place);
        self.known = self.known.min(place - Duration::from_millis(1));
    }

    /// The store has it, and memory no longer does.
    pub(super) fn put_back(&mut self, work: &Work, in_order: bool) {
        let by_event = in_order || work.order_key.is_some();
        self.noted(work.due, if by_event { work.due.min(work.since) } else { work.due });
        self.waits_since(work.since);
    }

    /// Not due yet and not to be waited for: those behind it are read, and it once more later.
    pub(super) fn pass_over(&mut self, work: &Work) {
        if work.is_parked() {
            return; // whoever lets it go on says so
        }
        let known = self.early.unwrap_or(Early { due: work.due, place: work.since, count: 0 });
        self.early = Some(Early {
            due: known.due.min(work.due),
            place: known.place.min(work.since),
            count: known.count.saturating_add(1),
        });
        self.waits_since(work.since);
    }

    /// What was passed over is next, unless there is something to read before it is due.
    pub(super) fn turn_back(&mut self, now: Timestamp) {
        if self.reading || self.due.is_some_and(|due| due <= now) {
            return;
        }
        if let Some(Early { due, place, count }) = self.early.take() {
            // Each is read again for it: where there are many, not for the first alone.
            self.noted(due.max(now + limits::EARLY_PAUSE * count), place);
        }
    }

    /// It is in the store alone, or settled.
    pub(super) fn let_go(&mut self, event: Id<Event>) {
        if self.reading {
            self.gone_meanwhile.insert(event);
        }
    }

    /// A page comes: tells what left our hands while it was read.
    pub(super) fn page_comes(&mut self) -> QuickSet<Id<Event>> {
        self.reading = false;
        std::mem::take(&mut self.gone_meanwhile)
    }

    /// It was read up to there: where the next begins with when its first is due.
    pub(super) fn read_to(&mut self, rest: Option<(Timestamp, Timestamp)>) {
        self.due = rest.map(|(_, due)| due);
        self.from = rest.map_or(Timestamp::MAX, |(from, _)| from);
        self.known = self.from;
        if rest.is_none() {
            self.since = None;
        }
        if let Some((due, place)) = self.meanwhile.take() {
            self.noted(due, place);
        }
    }

    /// The page was not for what lies ahead: from where to read on is as it was.
    pub(super) fn looked_back(&mut self) {
        if let Some((due, place)) = self.meanwhile.take() {
            self.noted(due, place);
        }
    }

    /// The page could not be read.
    pub(super) fn unread(&mut self, again: Timestamp) {
        self.page_comes();
        self.due = Some(again);
        if let Some((_, place)) = self.meanwhile.take() {
            self.noted(again, place);
        }
    }

    /// It is empty.
    pub(super) fn is_bare(&self) -> bool {
        self.due.is_none() && !self.reading && self.early.is_none()
    }

    /// Since when the oldest that is in it has waited, as far as is known.
    pub(super) fn oldest(&self) -> Option<Timestamp> {
        self.due.map(|due| self.since.unwrap_or(due))
    }

    fn waits_since(&mut self, since: Timestamp) {
        self.since = Some(self.since.map_or(since, |known| known.min(since)));
    }
}
