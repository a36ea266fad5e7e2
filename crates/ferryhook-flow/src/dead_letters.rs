//! Dead letters: events that could not be processed, and what was given up of those that could.
//!
//! Looked at and driven again by people. One that is driven again is processed at once, as if it
//! had just come; it may be given up again.

use ferryhook_core::event::Status;
use ferryhook_core::{Event, Id};
use ferryhook_store::{Slice, Store, Stored};

use crate::courier::Courier;
use crate::limits;
use crate::replay::ReplayError;

impl Courier {
    /// Processes an event once more that was given up. Durable when it returns.
    pub async fn redrive(&self, store: &Store, id: Id<Event>) -> Result<(), ReplayError> {
        let inner = self.inner();
        let redriven = self::redrive(store, id).await?;
        if !inner.take(id) {
            return Ok(()); // somebody found it pending already
        }
        match inner.routes.find(redriven.source_id).await {
            Ok(Some(route)) => {
                if let Some(rest) = self.process(redriven, &route) {
                    inner.tasks.spawn("plan", rest);
                }
            }
            Ok(None) => self.clone().discard(redriven).await,
            // The sweep finds it.
            Err(_) => inner.let_go(id),
        }
        Ok(())
    }
}

/// The same where no courier runs: it is pending, and whoever works on the store finds it.
pub async fn redrive(store: &Store, id: Id<Event>) -> Result<Stored<Event>, ReplayError> {
    let unknown = || ReplayError::Unknown(id);
    let mut event = store.events().find(id).await?.ok_or_else(unknown)?;
    for _ in 0..limits::CONFLICT_TRIES_MAX {
        let given_up = event.status == Status::Failed && event.processing_error.is_some();
        let one = Slice::default().limit(1);
        if !given_up || !store.deliveries().list_by_event(id, one).await?.rows.is_empty() {
            return Err(ReplayError::NotDead(id));
        }
        match store.events().redrive(&event).await {
            Ok(redriven) => return Ok(redriven),
            Err(error) if error.is_refused() => {}
            Err(error) => return Err(error.into()),
        }
        let (source, at) = (event.source_id, event.received_at);
        event = store.events().find_of(source, at, id).await?.ok_or_else(unknown)?;
    }
    Err(ReplayError::Busy(id))
}
