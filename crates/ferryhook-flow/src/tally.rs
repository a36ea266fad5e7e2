//! Tally: everything that is counted on the way of an event, gathered in memory and added to the
//! store every few seconds.
//!
//! Told by the door, the courier and the API's gate; each time it costs a lookup and an addition,
//! and what has been told before allocates nothing. Flushed by the door, and once more at a clean
//! stop. Where hundreds of sources are busy they take turns, so that a flush stays small; each has
//! its turn in about a minute. A crash forgets what was not written yet; no event depends on it.
//! When nothing happened, nothing is written.

mod gathered;
mod kept;
mod outbox;

use std::sync::{Arc, Mutex};

use ferryhook_core::{Account, Connection, Event, Id, Source, Timestamp, User};
use ferryhook_store::Store;

use crate::courier::lock;
use crate::shards::Shards;
use gathered::Gathered;
use kept::KeptBefore;
use outbox::{Active, Outbox};

/// Clones share the counts.
#[derive(Debug, Clone, Default)]
pub struct Tally(Arc<Inner>);

#[derive(Debug, Default)]
struct Inner {
    gathered: Shards<Gathered>,
    /// What is still to be written.
    waiting: Mutex<Outbox>,
    /// Of the day, which outlives a flush.
    active: Mutex<Active>,
    kept_before: Mutex<KeptBefore>,
    /// One flush at a time, so that whoever stops waits for the one under way.
    flushing: tokio::sync::Mutex<()>,
}

/// The way that a delivery took.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Course {
    pub(crate) account: Id<Account>,
    pub(crate) source: Id<Source>,
    pub(crate) connection: Id<Connection>,
}

/// How a delivery ended, if it did.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum End {
    Delivered,
    Failed,
}

/// An attempt that was made: the status of its answer, 0 without one, and how long it took.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Tried {
    pub(crate) status: u16,
    pub(crate) latency_ms: u32,
}

impl Tally {
    /// An event was taken in; `is_filtered` if it is known already that nobody wants it.
    pub(crate) fn arrived(&self, of: &Source, bytes: usize, is_filtered: bool, now: Timestamp) {
        self.0.gathered.of(of.id).arrived(of, bytes, is_filtered, now);
        self.0.gathered.of(of.account_id).arrived_in_account(of, bytes, is_filtered, now);
    }

    /// An event came again; `first` if the one before is known.
    pub(crate) fn repeated(&self, of: &Source, first: Option<Id<Event>>, now: Timestamp) {
        let mut gathered = self.0.gathered.of(of.id);
        gathered.of_source(of, now, |counts| counts.duplicates += 1);
        if let Some(first) = first {
            gathered.repeated(of.id, first);
        }
        drop(gathered);
        self.in_account(of.account_id, now, |counts| counts.duplicates += 1);
    }

    /// A request was refused for a reason that the owner can see.
    pub(crate) fn refused(&self, of: &Source, now: Timestamp) {
        self.0.gathered.of(of.id).of_source(of, now, |counts| counts.rejected += 1);
        self.in_account(of.account_id, now, |counts| counts.rejected += 1);
    }

    /// Of an event that was taken in before it has turned out that nobody wants it.
    pub(crate) fn unwanted(&self, account: Id<Account>, source: Id<Source>, now: Timestamp) {
        let mut gathered = self.0.gathered.of(source);
        gathered.of_known_source(source, now, |counts| counts.filtered += 1);
        drop(gathered);
        self.in_account(account, now, |counts| counts.filtered += 1);
    }

    /// What came of a delivery.
    pub(crate) fn carried(
        &self,
        course: Course,
        tried: Option<Tried>,
        end: Option<End>,
        now: Timestamp,
    ) {
        if tried.is_none() && end.is_none() {
            return;
        }
        let count = |counts: &mut ferryhook_core::rollup::Counts| {
            if let Some(Tried { status, latency_ms }) = tried {
                counts.record_attempt(status, latency_ms);
            }
            match end {
                Some(End::Delivered) => counts.delivered += 1,
                Some(End::Failed) => counts.failed += 1,
                None => {}
            }
        };
        self.0.gathered.of(course.connection).of_connection(course, end, now, count);
        self.0.gathered.of(course.source).of_known_source(course.source, now, count);
        self.in_account(course.account, now, count);
    }

    /// A call of the API was let in.
    pub fn called(&self, account: Id<Account>, by: Id<User>, now: Timestamp) {
        self.0.gathered.of(account).called(account, by, now);
    }

    fn in_account(
        &self,
        account: Id<Account>,
        now: Timestamp,
        count: impl FnOnce(&mut ferryhook_core::rollup::Counts),
    ) {
        self.0.gathered.of(account).of_account(account, now, count);
    }

    /// Adds everything to the store. What could not be added is kept for the next time.
    pub(crate) async fn flush(&self, store: &Store) {
        self.flush_with(store, std::mem::take).await;
    }

    /// Adds to the store what has its turn.
    pub(crate) async fn flush_some(&self, store: &Store) {
        self.flush_with(store, Outbox::next).await;
    }

    async fn flush_with(&self, store: &Store, choose: impl FnOnce(&mut Outbox) -> Outbox) {
        let _alone = self.0.flushing.lock().await;
        let chosen = {
            let (mut waiting, mut active) = (lock(&self.0.waiting), lock(&self.0.active));
            for mut gathered in self.0.gathered.each() {
                waiting.take_in(std::mem::take(&mut *gathered), &mut active);
            }
            choose(&mut waiting)
        };
        let writes = chosen.writes(store, self);
        if let Some((failed, error)) = crate::writes::all(writes).await {
            tracing::warn!(%error, failed, "some counts were not stored; they are kept for later");
        }
    }

    fn keep(&self, what: impl FnOnce(&mut Outbox)) {
        what(&mut lock(&self.0.waiting));
    }
}

#[cfg(test)]
mod tests;
