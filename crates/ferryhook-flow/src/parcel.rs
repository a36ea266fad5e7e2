//! A parcel: an event that has just arrived, with the plan of its deliveries.
//!
//! The store does not have that plan yet. It gets it together with the first outcome, so that an
//! event which is delivered at once costs one commit and not three. Until then the event is marked
//! as pending there, and a crash only means that someone else plans it again.

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
    /// And this was the first write: the event is no longer pending.
    First,
    Again,
    /// Nothing was written: the event is someone else's.
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

    /// Stores the plan as it is, unless the store has it.
    pub(crate) async fn write(&self, store: &Store, now: Timestamp) -> Result<Written, StoreError> {
        let mut book = self.book.lock().await;
        match (book.lost, &book.revisions) {
            (true, _) => Ok(Written::Lost),
            (_, Some(_)) => Ok(Written::Again),
            (_, None) => book.write_first(store, &self.event, None, now).await,
        }
    }

    /// Stores what came of the delivery at this place. Refused when the event or one of its
    /// deliveries has moved on without this parcel.
    pub(crate) async fn settle(
        &self,
        store: &Store,
        place: usize,
        next: &Delivery,
        attempt: Option<&Attempt>,
        now: Timestamp,
    ) -> Result<Written, StoreError> {
        let mut book = self.book.lock().await;
        if book.lost {
            return Ok(Written::Lost);
        }
        let Some(slot) = book.deliveries.get_mut(place) else { return Ok(Written::Lost) };
        let was = std::mem::replace(slot, next.clone());
        let written = match &book.revisions {
            None => book.write_first(store, &self.event, attempt, now).await,
            Some(_) => book.write_again(store, &self.event, (place, &was), attempt, now).await,
        };
        if written.is_err() {
            book.deliveries[place] = was;
        }
        written
    }
}

impl Book {
    async fn write_first(
        &mut self,
        store: &Store,
        event: &Event,
        attempt: Option<&Attempt>,
        now: Timestamp,
    ) -> Result<Written, StoreError> {
        for _ in 0..limits::CONFLICT_TRIES_MAX {
            let stands = self.standing.with(&self.deliveries, now);
            let deliveries = store.deliveries();
            let planned =
                deliveries.plan(event, &self.standing, stands, &self.deliveries, attempt).await;
            match planned {
                Ok(standing) => {
                    self.standing = standing;
                    self.revisions = Some(vec![1; self.deliveries.len()]);
                    return Ok(Written::First);
                }
                Err(error) if !error.is_refused() => return Err(error),
                Err(_) => {}
            }
            // The event has moved on since it was read.
            let events = store.events();
            match events.find_of(event.source_id, event.received_at, event.id).await? {
                // Nobody has planned it: a copy was counted.
                Some(found) if found.pending_since.is_some() => self.standing = found.standing(),
                Some(found) if self.is_stored(store, event).await? => {
                    self.standing = found.standing();
                    return Ok(Written::First);
                }
                _ => break,
            }
        }
        self.lost = true;
        Ok(Written::Lost)
    }

    /// Whether the store has this very plan: an earlier try got through and its answer was lost.
    async fn is_stored(&mut self, store: &Store, event: &Event) -> Result<bool, StoreError> {
        let page = Slice::default().limit(ferryhook_core::limits::PAGE_MAX);
        let rows = store.deliveries().list_by_event(event.id, page).await?.rows;
        let revision = |wanted: &Delivery| {
            rows.iter().find(|row| row.record == *wanted).map(|found| found.revision)
        };
        let revisions: Option<Vec<_>> = self.deliveries.iter().map(revision).collect();
        self.revisions = revisions.filter(|revisions| revisions.len() == rows.len());
        Ok(self.revisions.is_some())
    }

    async fn write_again(
        &mut self,
        store: &Store,
        event: &Event,
        (place, was): (usize, &Delivery),
        attempt: Option<&Attempt>,
        now: Timestamp,
    ) -> Result<Written, StoreError> {
        let Some(revisions) = &mut self.revisions else { return Ok(Written::Lost) };
        let was = Stored { record: was.clone(), revision: revisions[place] };
        let stands = self.standing.with(&self.deliveries, now);
        let next = self.deliveries[place].clone();
        let event = (event, &self.standing, stands);
        let all = self.deliveries.iter().zip(revisions.iter().copied()).enumerate();
        let beside = all.filter(|(other, _)| *other != place).map(|(_, beside)| beside);
        let settled = store.deliveries().settle(&was, next, attempt, event, beside).await;
        let (delivery, standing) = settled?;
        self.standing = standing;
        revisions[place] = delivery.revision;
        Ok(Written::Again)
    }
}
