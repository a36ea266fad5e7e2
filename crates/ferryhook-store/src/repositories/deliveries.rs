//! Deliveries: planned with their event, leased by a worker, settled with an attempt.
//!
//! All of that is buffered. If a crash undoes a plan, its event is still pending; if it undoes a
//! lease or an attempt, the delivery is still due. Something may be sent twice, nothing is lost.

use ferryhook_core::delivery::Lane;
use ferryhook_core::event::Standing;
use ferryhook_core::{Attempt, Connection, Delivery, Event, Id, Timestamp};

use super::{Slice, Window};
use crate::batch::{Batch, Condition};
use crate::query::{Page, Query};
use crate::record::{Kind, Record, Stored};
use crate::records::{delivery, event};
use crate::tables::Index;
use crate::{Store, StoreError};

#[derive(Debug, Clone, Copy)]
pub struct Deliveries<'a>(pub(crate) &'a Store);

/// A delivery that begins, and what it was before if it was there.
#[derive(Debug, Clone)]
pub struct Begun {
    pub was: Option<Stored<Delivery>>,
    pub now: Delivery,
}

impl Deliveries<'_> {
    /// All deliveries of an event, and the event as it stands with them: no longer pending. They
    /// go together, so an event has at most ninety-eight. One whose first attempt is over already
    /// brings it along.
    pub async fn plan(
        &self,
        event: &Event,
        was: &Stored<Standing>,
        now: Standing,
        deliveries: &[Delivery],
        attempt: Option<&Attempt>,
    ) -> Result<Stored<Standing>, StoreError> {
        let mut batch = Batch::new();
        if let Some(patch) = event::progress(event, was, &now) {
            batch = batch.patch(patch);
        }
        for delivery in deliveries {
            batch = batch.insert(delivery);
        }
        if let Some(attempt) = attempt {
            batch = batch.insert(attempt);
        }
        self.0.commit_buffered(batch).await?;
        Ok(moved(was, now))
    }

    /// Takes a due delivery until `until`. `None` if it is not due, or another worker was faster.
    pub async fn lease(
        &self,
        was: &Stored<Delivery>,
        until: Timestamp,
    ) -> Result<Option<Stored<Delivery>>, StoreError> {
        let Some(now) = was.lease(until, self.0.now()) else {
            return Ok(None);
        };
        match self.0.commit_buffered(Batch::new().replace(was, &now)).await {
            Ok(()) => Ok(Some(was.followed_by(now))),
            Err(error) if error.is_refused() => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Keeps what came of an attempt, or of the decision to make none: one commit has its row,
    /// the delivery's new state, and where the event stands because of it. `beside` are the other
    /// deliveries that were looked at to tell where that is. One of them that is open must not
    /// have moved since: else two that are settled at once would both take the event for open.
    pub async fn settle<'a>(
        &self,
        was: &Stored<Delivery>,
        now: Delivery,
        attempt: Option<&Attempt>,
        event: (&Event, &Stored<Standing>, Standing),
        beside: impl IntoIterator<Item = (&'a Delivery, u64)>,
    ) -> Result<(Stored<Delivery>, Stored<Standing>), StoreError> {
        let (event, stood, stands) = event;
        let mut batch = Batch::new().replace(was, &now);
        let mut is_alone = true;
        for (other, revision) in beside {
            is_alone = false;
            if !other.is_settled() {
                let key = delivery::key(other.event_id, other.connection_id);
                batch = batch.require(key, Condition::Revision(revision));
            }
        }
        if let Some(attempt) = attempt {
            batch = batch.insert(attempt);
        }
        batch = match event::progress(event, stood, &stands) {
            Some(patch) => batch.patch(patch),
            None if is_alone => batch,
            None => batch.require(event.key(), Condition::Revision(stood.revision)),
        };
        self.0.commit_buffered(batch).await?;
        Ok((was.followed_by(now), moved(stood, stands)))
    }

    /// Keeps an attempt that decides nothing any more. The delivery counts it, so that the next
    /// one has another number, and stays as it is.
    pub async fn count_attempt(
        &self,
        was: &Stored<Delivery>,
        attempt: &Attempt,
    ) -> Result<Stored<Delivery>, StoreError> {
        let now = Delivery { attempts: attempt.number, ..was.record.clone() };
        self.0.commit_buffered(Batch::new().replace(was, &now).insert(attempt)).await?;
        Ok(was.followed_by(now))
    }

    /// Deliveries of an event begin again, or for the first time, and the event stands accordingly:
    /// one commit, and durable, because somebody asked for it. `beside` are those that stay as they
    /// are and that the event's new standing rests on; it is refused if one of them has moved.
    ///
    /// The event counts as written even if it stands where it stood. Whoever settles a delivery of
    /// it at the same time is refused and looks again, and so sees what has begun.
    pub async fn replay(
        &self,
        event: &Stored<Event>,
        stands: Standing,
        begun: &[Begun],
        beside: &[&Stored<Delivery>],
    ) -> Result<Stored<Standing>, StoreError> {
        let mut batch = Batch::new().patch(event::begin_again(event, &stands));
        for Begun { was, now } in begun {
            batch = match was {
                Some(was) => batch.replace(was, now),
                None => batch.insert(now),
            };
        }
        for other in beside {
            let key = delivery::key(other.event_id, other.connection_id);
            batch = batch.require(key, Condition::Revision(other.revision));
        }
        self.0.commit(batch).await?;
        Ok(event.standing().followed_by(stands))
    }

    /// One delivery by itself. What begins because of it stands in its event as well, so whoever
    /// plans or replays has a verb for both.
    pub async fn create(&self, delivery: &Delivery) -> Result<(), StoreError> {
        self.0.insert(delivery).await
    }

    /// A hold, a release, a cancellation or a replay: someone asked for it, so it is durable.
    pub async fn replace(
        &self,
        was: &Stored<Delivery>,
        now: Delivery,
    ) -> Result<Stored<Delivery>, StoreError> {
        self.0.replace(was, now).await
    }

    pub async fn find(
        &self,
        event: Id<Event>,
        connection: Id<Connection>,
    ) -> Result<Option<Stored<Delivery>>, StoreError> {
        self.0.find(&delivery::key(event, connection)).await
    }

    pub async fn list_by_event(
        &self,
        event: Id<Event>,
        slice: Slice,
    ) -> Result<Page<Stored<Delivery>>, StoreError> {
        let query = Query::table(Kind::Delivery, event::partition(event));
        self.0.list(slice.of(query.prefix(delivery::PREFIX))).await
    }

    /// The queue of a connection: all that is not settled, by when it is due, or by when its event
    /// came where order counts.
    pub async fn list_open(
        &self,
        connection: Id<Connection>,
        lane: Lane,
        window: Window,
        slice: Slice,
    ) -> Result<Page<Stored<Delivery>>, StoreError> {
        let queue = delivery::queue(connection, lane);
        let query = Query::index(Kind::Delivery, Index::Due, queue);
        let query = window.numbers(query, Timestamp::as_millis);
        self.0.list(slice.of(query)).await
    }

    /// The first of them, if there is any.
    pub async fn find_open(
        &self,
        connection: Id<Connection>,
        lane: Lane,
    ) -> Result<Option<Stored<Delivery>>, StoreError> {
        let queue = delivery::queue(connection, lane);
        self.0.first(Query::index(Kind::Delivery, Index::Due, queue)).await
    }
}

/// An event that stands where it stood was not written.
fn moved(was: &Stored<Standing>, now: Standing) -> Stored<Standing> {
    match was.record == now {
        true => was.clone(),
        false => was.followed_by(now),
    }
}
