//! Look: finds what can be leased in the queue of a group, the longest due first.
//!
//! Remembers from where the queue is worth reading, so that what is done with or of another type is
//! not passed again each time. That is never more than a guess: something may be written later than
//! it is due, so that what lies before the place is looked at again now and then.

use std::collections::HashSet;
use std::time::Duration;

use ferryhook_core::event_types::EventTypes;
use ferryhook_core::inbox::Wanted;
use ferryhook_core::limits::PAGE_MAX;
use ferryhook_core::{Account, Delivery, Id, Timestamp};
use ferryhook_store::key::Part;
use ferryhook_store::{Cursor, Page, Slice, StoreError, Stored, Window};

use super::{Item, name};
use crate::courier::Inner;
use crate::limits;

/// From where a queue is worth reading: what lies before has been leased or settled.
#[derive(Debug, Default)]
pub(super) struct Spot {
    from: Option<Timestamp>,
    /// When it was last looked at from the very beginning.
    began_at: Duration,
    /// How far those have passed who want only some types.
    passed: Vec<Passed>,
}

/// How far somebody has passed who wants only these types.
#[derive(Debug, Default)]
struct Passed {
    types: Vec<String>,
    /// Moves on to the end of the queue and stays there.
    front: Place,
    /// Goes through what lies before that again, a step at a time.
    again: Place,
    stepped_at: Duration,
}

#[derive(Debug, Default)]
struct Place {
    from: Option<Timestamp>,
    after: Option<Cursor>,
}

/// What was seen at one look.
#[derive(Debug, Default)]
pub(super) struct Seen {
    pub(super) found: Vec<Stored<Delivery>>,
    /// How many were looked at.
    pub(super) rows: usize,
    /// The queue was looked at to its end.
    pub(super) is_all: bool,
}

/// A look by somebody who wants to lease.
pub(super) struct Look<'a> {
    pub(super) inner: &'a Inner,
    pub(super) account: Id<Account>,
    pub(super) wanted: &'a Wanted,
    pub(super) types: &'a EventTypes,
    /// In the hands of others.
    pub(super) taken: HashSet<Item>,
    pub(super) now: Timestamp,
}

impl Spot {
    /// Something that was due at `left` is there again.
    pub(super) fn go_back(&mut self, left: Timestamp) {
        self.from = self.from.map(|from| from.min(left));
        for passed in &mut self.passed {
            passed.front.go_back(left);
        }
    }

    /// The place of those who want these types, which they put back when they have looked.
    fn take(&mut self, types: &[String]) -> Passed {
        match self.passed.iter().position(|passed| passed.types == types) {
            Some(known) => self.passed.remove(known),
            None => Passed { types: types.to_vec(), ..Passed::default() },
        }
    }

    fn put(&mut self, passed: Passed) {
        self.passed.truncate(limits::INBOX_TYPES_REMEMBERED - 1);
        self.passed.insert(0, passed);
    }
}

impl Place {
    fn go_back(&mut self, left: Timestamp) {
        let is_behind = match (self.due(), self.from) {
            (Some(due), _) => due >= left,
            (None, from) => from.is_some_and(|from| from > left),
        };
        if is_behind {
            *self = Self { from: Some(left), after: None };
        }
    }

    /// When that was due which it lies behind.
    fn due(&self) -> Option<Timestamp> {
        match self.after.as_ref()?.entry.as_ref()?.sort {
            Some(Part::Number(due)) => Some(Timestamp::from_millis(due)),
            _ => None,
        }
    }
}

impl Look<'_> {
    pub(super) async fn at(&self, spot: &mut Spot) -> Result<Seen, StoreError> {
        if self.wanted.types.is_empty() {
            return self.for_all(spot).await;
        }
        let mut passed = spot.take(&self.wanted.types);
        let seen = self.for_types(&mut passed).await;
        spot.put(passed);
        seen
    }

    async fn for_all(&self, spot: &mut Spot) -> Result<Seen, StoreError> {
        let passed = self.inner.now().passed;
        if passed.saturating_sub(spot.began_at) >= limits::INBOX_LOOK_EVERY {
            spot.from = None;
        }
        loop {
            let was = spot.from;
            if was.is_none() {
                spot.began_at = passed;
            }
            let mut place = Place { from: was, after: None };
            let mut seen = Seen::default();
            // As long as there are only such as others have in hand.
            while !seen.is_all && seen.found.len() < self.wanted.count {
                let limit = (self.wanted.count + self.taken.len()).min(PAGE_MAX);
                self.turn_over(&mut place, limit, &mut seen).await?;
            }
            spot.from = seen.found.last().and_then(|last| last.due_at());
            if was.is_none() || !seen.found.is_empty() {
                return Ok(seen);
            }
        }
    }

    /// Passes over the rest, up to a point; whoever asks again gets on from there.
    async fn for_types(&self, passed: &mut Passed) -> Result<Seen, StoreError> {
        let mut seen = self.step(&mut passed.front).await?;
        let elapsed = self.inner.now().passed;
        let is_time = elapsed.saturating_sub(passed.stepped_at) >= limits::INBOX_LOOK_EVERY;
        if seen.is_all && seen.found.is_empty() && is_time {
            passed.stepped_at = elapsed;
            let again = self.step(&mut passed.again).await?;
            if again.is_all {
                passed.again = Place::default();
            }
            seen.rows += again.rows;
            seen.found = again.found;
        }
        Ok(seen)
    }

    async fn step(&self, place: &mut Place) -> Result<Seen, StoreError> {
        let mut seen = Seen::default();
        for _ in 0..limits::INBOX_PAGES_PASSED_MAX {
            self.turn_over(place, limits::INBOX_PAGE, &mut seen).await?;
            if seen.is_all || seen.found.len() == self.wanted.count {
                break;
            }
        }
        Ok(seen)
    }

    /// One page. The place stays before it if it is the last or may have more to find.
    async fn turn_over(
        &self,
        place: &mut Place,
        limit: usize,
        seen: &mut Seen,
    ) -> Result<(), StoreError> {
        if place.due().is_some_and(|due| due > self.now) {
            *place = Place::default(); // the clock was set back
        }
        let window = Window { from: place.from.map(|from| from.min(self.now)), to: Some(self.now) };
        let slice = Slice::oldest_first().limit(limit).after(place.after.clone());
        let (inbox, group) = (self.inner.store.inbox(), &self.wanted.group);
        let Page { rows, next } = inbox.list_open(self.account, group, window, slice).await?;
        seen.rows += rows.len();
        let fitting = rows.into_iter().filter(|row| self.is_wanted(row));
        seen.found.extend(fitting.take(self.wanted.count - seen.found.len()));
        let is_full = seen.found.len() == self.wanted.count;
        match next {
            Some(next) if !is_full => place.after = Some(next),
            Some(_) => {}
            None => seen.is_all = true,
        }
        Ok(())
    }

    fn is_wanted(&self, item: &Delivery) -> bool {
        let is_due = item.due_at().is_some_and(|due| due <= self.now);
        let place = item.inbox.as_ref();
        is_due
            && !self.taken.contains(&name(item))
            && self.types.wants(place.and_then(|place| place.event_type.as_deref()))
    }
}
