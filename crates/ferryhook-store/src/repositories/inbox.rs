//! Items of the inbox: listed by those who look, leased by those who work, settled by what they say.
//!
//! A lease is buffered: if a crash undoes it the item is there to be leased again, which may give
//! it to two, and never to nobody. What somebody said about an item is durable, because they will
//! not say it again.

use ferryhook_core::event::{Standing, Status};
use ferryhook_core::inbox::Group;
use ferryhook_core::{Account, Delivery, Event, Id, Timestamp};

use super::{Slice, Window, only};
use crate::batch::{Batch, Condition};
use crate::query::{Page, Query};
use crate::record::{Kind, Stored};
use crate::records::{delivery, event};
use crate::tables::Index;
use crate::{Store, StoreError};

#[derive(Debug, Clone, Copy)]
pub struct Inbox<'a>(pub(crate) &'a Store);

/// Which items of a group are wanted; absent means all.
#[derive(Debug, Clone, Default)]
pub struct Listing {
    pub status: Option<Status>,
    /// Exactly this type.
    pub event_type: Option<String>,
    /// Of when their events came.
    pub window: Window,
}

/// An item that moves on, with what has to be said in the same commit.
#[derive(Debug, Clone)]
pub struct Moved<'a> {
    pub was: &'a Stored<Delivery>,
    pub now: Delivery,
    /// Where its event stood and where it stands because of it.
    pub event: Option<(&'a Event, Stored<Standing>, Standing)>,
    /// The other deliveries that were looked at to tell where that is: one of them that is open
    /// must not have moved since, as in [`Deliveries::settle`](super::Deliveries::settle).
    pub beside: Vec<&'a Stored<Delivery>>,
}

impl Moved<'_> {
    /// At most how many actions of a batch it takes.
    pub fn actions(&self) -> usize {
        1 + usize::from(self.event.is_some()) + self.open_beside().count()
    }

    fn open_beside(&self) -> impl Iterator<Item = &Stored<Delivery>> {
        let asked = self.event.is_some();
        self.beside.iter().copied().filter(move |other| asked && !other.is_settled())
    }

    fn join(&self, mut batch: Batch) -> Batch {
        batch = batch.replace(self.was, &self.now);
        for other in self.open_beside() {
            let key = delivery::key(other.event_id, other.connection_id);
            batch = batch.require(key, Condition::Revision(other.revision));
        }
        let patch = self.event.as_ref();
        match patch.and_then(|(event, stood, stands)| event::progress(event, stood, stands)) {
            Some(patch) => batch.patch(patch),
            None => batch,
        }
    }
}

/// Why several items could not move on together.
#[derive(Debug)]
pub struct Stuck {
    /// The place of the one that has moved meanwhile, or that something beside it has.
    pub place: Option<usize>,
    pub error: StoreError,
}

impl Inbox<'_> {
    /// By when their events came. Where a type and a status are asked for, a page may be short or
    /// empty and still have a next one.
    pub async fn list(
        &self,
        account: Id<Account>,
        group: &Group,
        listing: &Listing,
        slice: Slice,
    ) -> Result<Page<Stored<Delivery>>, StoreError> {
        let Listing { status, event_type, window } = listing;
        let of = |index| Query::index(Kind::Delivery, index, delivery::inbox(account, group));
        // Most of what there is will have been delivered, so that of the two indexes the one by
        // status is the shorter, but for that.
        let query = match (status, event_type) {
            (None, None) => window.texts(of(Index::Inbox), "", Timestamp::to_micros_text),
            (Some(status), None) => by_status(of(Index::EventStatus), *status, *window),
            (Some(status), Some(_)) if *status != Status::Delivered => {
                by_status(of(Index::EventStatus), *status, *window)
            }
            (_, Some(event_type)) => {
                let prefix = format!("{event_type}#");
                window.texts(of(Index::EventType), &prefix, Timestamp::to_micros_text)
            }
        };
        let page = self.0.list(slice.of(query)).await?;
        // A type may have the separator in its name, and then lies within the range of another.
        Ok(only(page, |item: &Delivery| {
            let place = item.inbox.as_ref();
            let its_type = place.and_then(|place| place.event_type.as_deref());
            event_type.as_deref().is_none_or(|wanted| its_type == Some(wanted))
                && status.is_none_or(|wanted| item.inbox_status() == wanted)
        }))
    }

    /// The queue of a group: all that is not settled, by when it can be leased.
    pub async fn list_open(
        &self,
        account: Id<Account>,
        group: &Group,
        window: Window,
        slice: Slice,
    ) -> Result<Page<Stored<Delivery>>, StoreError> {
        let query = Query::index(Kind::Delivery, Index::Due, delivery::inbox(account, group));
        self.0.list(slice.of(window.numbers(query, Timestamp::as_millis))).await
    }

    /// The first of them within a window, if there is any.
    pub async fn find_open(
        &self,
        account: Id<Account>,
        group: &Group,
        window: Window,
    ) -> Result<Option<Stored<Delivery>>, StoreError> {
        let query = Query::index(Kind::Delivery, Index::Due, delivery::inbox(account, group));
        self.0.first(window.numbers(query, Timestamp::as_millis)).await
    }

    /// All of them or none, as they are in the store then. They have to fit into one batch, with
    /// no event among them twice. A crash may undo it.
    pub async fn lease(&self, moved: &[Moved<'_>]) -> Result<Vec<Stored<Delivery>>, Stuck> {
        let (batch, ends) = together(moved);
        let done = self.0.commit_buffered(batch).await;
        done.map(|()| now(moved)).map_err(|error| stuck(error, &ends))
    }

    /// The same, and durable when it returns.
    pub async fn settle(&self, moved: &[Moved<'_>]) -> Result<Vec<Stored<Delivery>>, Stuck> {
        let (batch, ends) = together(moved);
        let done = self.0.commit(batch).await;
        done.map(|()| now(moved)).map_err(|error| stuck(error, &ends))
    }
}

fn by_status(query: Query, status: Status, window: Window) -> Query {
    window.texts(query, &format!("{status}#"), Timestamp::to_micros_text)
}

/// With the number of actions up to the end of each.
fn together(moved: &[Moved<'_>]) -> (Batch, Vec<usize>) {
    let mut ends = Vec::with_capacity(moved.len());
    let batch = moved.iter().fold(Batch::new(), |batch, one| {
        let batch = one.join(batch);
        ends.push(batch.actions().len());
        batch
    });
    (batch, ends)
}

fn now(moved: &[Moved<'_>]) -> Vec<Stored<Delivery>> {
    moved.iter().map(|one| one.was.followed_by(one.now.clone())).collect()
}

fn stuck(error: StoreError, ends: &[usize]) -> Stuck {
    let place = match &error {
        StoreError::Refused { action, .. } => ends.iter().position(|end| action < end),
        _ => None,
    };
    Stuck { place, error }
}
