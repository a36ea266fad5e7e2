//! The gate: where order counts, what has just arrived waits here while what came before it is
//! still on its way into the lanes. That is so when the process starts, and while events that were
//! held for their source are released.

use std::collections::{HashMap, HashSet, VecDeque};

use ferryhook_core::event::{Standing, Status};
use ferryhook_core::{Event, Id, Source, source};
use ferryhook_store::{Slice, StoreError, Stored, Window};

use super::{Courier, lock};
use crate::limits;
use crate::routes::Route;

/// Closed for everyone at first.
#[derive(Debug, Default)]
pub(crate) struct Gate {
    has_started: bool,
    /// How many are releasing events of which source.
    releasing: HashMap<Id<Source>, usize>,
    waiting: VecDeque<Stored<Event>>,
    /// Sources of which something was held that had been accepted to be delivered.
    held_back: HashSet<Id<Source>>,
}

/// Whom to let in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Behind {
    /// What an earlier run has left.
    TheStart,
    /// What was held for this source and came before this event, which was held too.
    Earlier(Id<Source>, Id<Event>),
    /// All that was held for this source.
    Release(Id<Source>),
}

/// What becomes of an event at the gate.
#[derive(Debug)]
#[expect(clippy::large_enum_variant, reason = "it is taken apart at once, for every event")]
pub(super) enum Admission {
    /// It may go on.
    Open(Stored<Event>),
    Waits,
    /// Too many wait. It is in the store, and the sweep finds it there.
    Crowded,
}

impl Gate {
    fn is_open(&self, source: Id<Source>) -> bool {
        self.has_started && !self.releasing.contains_key(&source)
    }

    /// The next that waits only for this. When there is none, whoever asked is done.
    fn next(&mut self, behind: Behind) -> Option<Stored<Event>> {
        let releasing = &self.releasing;
        let place = self.waiting.iter().position(|event| match behind {
            Behind::TheStart => !releasing.contains_key(&event.source_id),
            Behind::Earlier(source, id) => event.source_id == source && event.id < id,
            Behind::Release(source) => event.source_id == source,
        });
        match (behind, place) {
            (Behind::TheStart, None) => self.has_started = true,
            (Behind::Release(source), None) => {
                let left = self.releasing.get(&source).map_or(0, |count| count - 1);
                match left {
                    0 => self.releasing.remove(&source),
                    left => self.releasing.insert(source, left),
                };
            }
            _ => {}
        }
        self.waiting.remove(place?)
    }
}

impl Courier {
    pub(super) fn admit(&self, event: Stored<Event>, route: &Route) -> Admission {
        let ordered = route.ways.iter().any(|way| way.connection.ordering_key.is_some());
        let mut gate = lock(&self.0.gate);
        if !ordered || gate.is_open(event.source_id) {
            return Admission::Open(event);
        }
        if gate.waiting.len() >= limits::AT_THE_GATE_MAX {
            return Admission::Crowded;
        }
        gate.waiting.push_back(event);
        Admission::Waits
    }

    /// Until it is let in again, nothing of this source passes what is being released.
    /// [`Courier::let_in`] is owed.
    pub(super) fn close(&self, source: Id<Source>) {
        *lock(&self.0.gate).releasing.entry(source).or_default() += 1;
    }

    /// What came before is in its lane: those behind it may follow, in the order they came.
    pub(crate) async fn let_in(&self, behind: Behind) {
        loop {
            let next = lock(&self.0.gate).next(behind);
            let Some(event) = next else { return };
            let id = event.id;
            let enter = async || self.enter(event.clone()).await;
            if self.0.until_stored(enter).await.is_none() {
                return self.0.let_go(id); // the process is stopping
            }
        }
    }

    /// Plans an event that was in nobody's hands, behind all those that came before it. One at a
    /// time.
    pub(crate) async fn enter(&self, event: Stored<Event>) -> Result<(), StoreError> {
        let Some(route) = self.0.routes.find(event.source_id).await? else {
            self.clone().discard(event).await;
            return Ok(());
        };
        let is_paused = route.source.status == source::Status::Paused;
        if is_paused && self.is_behind_held(&event).await? {
            return self.hold_back(&event).await;
        }
        if !is_paused && lock(&self.0.gate).held_back.remove(&event.source_id) {
            let released = Box::pin(crate::sweep::release(self, &route)).await;
            if released.is_err() {
                lock(&self.0.gate).held_back.insert(event.source_id);
                return released;
            }
        }
        if let Some(rest) = self.process(event, &route) {
            rest.await;
        }
        Ok(())
    }

    /// Whether an older event of its source is held, which it must not pass.
    async fn is_behind_held(&self, event: &Event) -> Result<bool, StoreError> {
        let until = Window::until(event.received_at);
        let mut slice = Slice::oldest_first().limit(limits::SWEEP_PAGE);
        loop {
            let events = self.0.store.events();
            let page = events.list_held(event.source_id, until, slice).await?;
            if page.rows.iter().any(|held| held.id < event.id) {
                return Ok(true);
            }
            let Some(next) = page.next else { return Ok(false) };
            slice = Slice::oldest_first().limit(limits::SWEEP_PAGE).after(Some(next));
        }
    }

    /// It is held like those before it, and released behind them.
    async fn hold_back(&self, event: &Event) -> Result<(), StoreError> {
        let events = self.0.store.events();
        let find = events.find_of(event.source_id, event.received_at, event.id);
        if let Some(found) = find.await?.filter(|found| found.pending_since.is_some()) {
            let was = found.standing();
            let held = Standing { status: Status::Held, pending_since: None, ..was.record };
            events.progress(&found, &was, held).await?;
        }
        lock(&self.0.gate).held_back.insert(event.source_id);
        self.0.let_go(event.id);
        Ok(())
    }
}

#[cfg(test)]
mod tests;
