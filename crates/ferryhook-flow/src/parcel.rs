//! A parcel: an event that has just arrived, with the plan of its deliveries.
//!
//! The store does not have that plan yet. It gets it together with the first outcome, so that an
//! event which is delivered at once costs one commit and not three. Until then the event is marked
//! as pending there, and a crash only means that someone else plans it again.
//!
//! What hardly ever happens is boxed, here and in the courier: a delivery's task has room for all
//! that it may wait for, and is moved when it begins and ends.

use ferryhook_core::event::Standing;
use ferryhook_core::{Attempt, Delivery, Event, Timestamp};
use ferryhook_store::{Slice, Store, StoreError, Stored};
use tokio::sync::Mutex;

use crate::limits;

#[derive(Debug)]
pub(crate) struct Parcel {
    pub(crate) event: Event,
    book: Mutex<Book>,
}

/// Where all of it stands. Whoever writes holds it until the commit is done, so that the outcomes
/// of one event follow each other.
#[derive(Debug)]
struct Book {
    standing: Stored<Standing>,
    deliveries: Vec<Delivery>,
    /// Of the deliveries, once the store has them.
    revisions: Option<Vec<u64>>,
    /// Someone else has planned this event.
    lost: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Written {
    /// And the event is no longer pending.
    Stored,
    /// Nothing was written: the event is someone else's, or someone has decided otherwise about
    /// the delivery.
    Lost,
}

impl Parcel {
    pub(crate) fn new(event: Stored<Event>, deliveries: Vec<Delivery>) -> Self {
        let standing = event.standing();
        let book = Book { standing, deliveries, revisions: None, lost: false };
        Self { event: event.record, book: Mutex::new(book) }
    }

    /// The delivery at this place as it stands; `None` when the event is someone else's.
    pub(crate) async fn delivery(&self, place: usize) -> Option<Delivery> {
        let book = self.book.lock().await;
        book.deliveries.get(place).filter(|_| !book.lost).cloned()
    }

    /// The same with the revision that a later write must find, once the store has it.
    pub(crate) async fn stored(&self, place: usize) -> Option<Stored<Delivery>> {
        let book = self.book.lock().await;
        let revision = *book.revisions.as_ref()?.get(place)?;
        Some(Stored { record: book.deliveries.get(place)?.clone(), revision })
    }

    /// Those of its deliveries that are fetched.
    pub(crate) async fn to_fetch(&self) -> Vec<Delivery> {
        let book = self.book.lock().await;
        book.deliveries.iter().filter(|one| one.inbox.is_some()).cloned().collect()
    }

    /// Whether nobody wants the event, and nobody else has planned it.
    pub(crate) async fn is_unwanted(&self) -> bool {
        let book = self.book.lock().await;
        book.deliveries.is_empty() && !book.lost
    }

    /// Stores the plan as it is, unless the store has it.
    pub(crate) async fn write(&self, store: &Store, now: Timestamp) -> Result<Written, StoreError> {
        let mut book = self.book.lock().await;
        let mut tries = 0;
        loop {
            match (book.lost, &book.revisions) {
                (true, _) => return Ok(Written::Lost),
                (_, Some(_)) => return Ok(Written::Stored),
                (_, None) => {}
            }
            let deliveries = book.deliveries.clone();
            match book.write_first(store, &self.event, deliveries, None, now).await {
                Err(error) if error.is_refused() && tries < limits::CONFLICT_TRIES_MAX => {
                    Box::pin(book.catch_up(store, &self.event)).await?;
                    tries += 1;
                }
                other => return other,
            }
        }
    }

    /// Stores what came of the delivery at this place. Others that come before us again and again
    /// are an error, to be asked again; what came of it is not given up for them.
    pub(crate) async fn settle(
        &self,
        store: &Store,
        place: usize,
        next: &Delivery,
        attempt: Option<&Attempt>,
        now: Timestamp,
    ) -> Result<Written, StoreError> {
        let mut book = self.book.lock().await;
        let Some(was) = book.deliveries.get(place).cloned() else { return Ok(Written::Lost) };
        let mut tries = 0;
        while !book.lost && book.deliveries[place] == was {
            let mut all = book.deliveries.clone();
            all[place] = next.clone();
            let written = match &book.revisions {
                None => book.write_first(store, &self.event, all, attempt, now).await,
                Some(_) => {
                    let (event, of) = (&self.event, (place, all));
                    Box::pin(book.write_again(store, event, of, attempt, now)).await
                }
            };
            match written {
                Err(error) if error.is_refused() && tries < limits::CONFLICT_TRIES_MAX => {
                    Box::pin(book.catch_up(store, &self.event)).await?;
                    tries += 1;
                }
                other => return other,
            }
            if book.deliveries[place] == *next {
                return Ok(Written::Stored); // an earlier try got through and its answer was lost
            }
        }
        Ok(Written::Lost)
    }
}

impl Book {
    async fn write_first(
        &mut self,
        store: &Store,
        event: &Event,
        all: Vec<Delivery>,
        attempt: Option<&Attempt>,
        now: Timestamp,
    ) -> Result<Written, StoreError> {
        let stands = self.standing.with(&all, now);
        let deliveries = store.deliveries();
        self.standing = deliveries.plan(event, &self.standing, stands, &all, attempt).await?;
        self.revisions = Some(vec![1; all.len()]);
        self.deliveries = all;
        Ok(Written::Stored)
    }

    async fn write_again(
        &mut self,
        store: &Store,
        event: &Event,
        (place, all): (usize, Vec<Delivery>),
        attempt: Option<&Attempt>,
        now: Timestamp,
    ) -> Result<Written, StoreError> {
        let Some(revisions) = &mut self.revisions else { return Ok(Written::Lost) };
        let was = Stored { record: self.deliveries[place].clone(), revision: revisions[place] };
        let stands = self.standing.with(&all, now);
        let event = (event, &self.standing, stands);
        let beside = all.iter().zip(revisions.iter().copied()).enumerate();
        let beside = beside.filter(|(other, _)| *other != place).map(|(_, beside)| beside);
        let next = all[place].clone();
        let settled = store.deliveries().settle(&was, next, attempt, event, beside).await;
        let (delivery, standing) = settled?;
        self.standing = standing;
        revisions[place] = delivery.revision;
        self.deliveries = all;
        Ok(Written::Stored)
    }

    /// Something has moved on without us: a copy was counted, a sibling that is retried went its
    /// own way, or the plan is in the store already and only the answer was lost.
    async fn catch_up(&mut self, store: &Store, event: &Event) -> Result<(), StoreError> {
        let found = store.events();
        let found = found.find_of(event.source_id, event.received_at, event.id).await?;
        let Some(found) = found else {
            self.lost = true;
            return Ok(());
        };
        if found.pending_since.is_some() {
            self.standing = found.standing();
            return Ok(());
        }
        let page = Slice::default().limit(ferryhook_core::limits::PAGE_MAX);
        let mut rows = store.deliveries().list_by_event(event.id, page).await?.rows;
        let mut row_of = |ours: &Delivery| {
            let same = |row: &Stored<Delivery>| {
                row.connection_id == ours.connection_id && row.created_at == ours.created_at
            };
            rows.iter().position(same).map(|place| rows.swap_remove(place))
        };
        // Someone else's plan was made at another moment, or for other connections.
        let stored: Option<Vec<_>> = self.deliveries.iter().map(&mut row_of).collect();
        let Some(mut stored) = stored else {
            self.lost = true;
            return Ok(());
        };
        // What it was replayed to meanwhile comes behind, so that ours keep their places.
        stored.extend(rows);
        self.standing = found.standing();
        self.revisions = Some(stored.iter().map(|row| row.revision).collect());
        self.deliveries = stored.into_iter().map(|row| row.record).collect();
        Ok(())
    }
}

#[cfg(test)]
mod tests;
