//! Reverify: an event that was marked, because nothing proved who sent it, is looked at once more.
//!
//! Asked for when it is replayed. The secrets and settings are those of now, the clock is that of
//! then. One whose signature holds and that is as its owner has declared is an event like any other
//! from then on; to bring it to its destinations is left to the replay.

use ferryhook_core::event::Status;
use ferryhook_core::{Event, Id};
use ferryhook_store::repositories::Accepted;
use ferryhook_store::{Store, StoreError};

use super::letter::Letter;
use super::proof::Claimed;
use super::{Ingest, declared, unpack};

/// Why it stays marked.
#[derive(Debug, thiserror::Error)]
pub enum NotVerified {
    #[error("there is no event {0}; if there was one, it has expired")]
    Gone(Id<Event>),
    #[error("event {0} came from a source that has been deleted since")]
    SourceGone(Id<Event>),
    #[error("the signature of event {id} still does not hold: {reason}")]
    Still { id: Id<Event>, reason: String },
    #[error(
        "event {0} holds several events, which are taken apart only at the door; have it sent again"
    )]
    Several(Id<Event>),
    #[error("the signature of event {id} holds, but it is refused: {reason}")]
    NotAsDeclared { id: Id<Event>, reason: String },
    #[error("event {id} has come another way since{}", .first.map(|first| format!(", as {first}")).unwrap_or_default())]
    Known { id: Id<Event>, first: Option<Id<Event>> },
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl Ingest {
    /// Written with `store`, which may have something to add. Durable when it returns.
    pub async fn reverify(&self, store: &Store, event: &Event) -> Result<(), NotVerified> {
        let (door, id) = (&self.0, event.id);
        let _alone = door.readmitting.lock().await;
        let found = store.events().find_of(event.source_id, event.received_at, id).await?;
        let marked = found.ok_or(NotVerified::Gone(id))?;
        if marked.status != Status::SignatureFailed {
            return Ok(()); // another was faster
        }
        let route = door.routes.find(marked.source_id).await?;
        let route = route.ok_or(NotVerified::SourceGone(id))?;
        let still = |reason: &str| NotVerified::Still { id, reason: reason.to_owned() };

        let (letter, body) = (Letter::of(&marked), marked.body.as_bytes());
        let mut doubt = None;
        for claimed in Claimed::of(door, &letter, body, &marked) {
            let told = door.doubt(&route, &claimed).await;
            doubt = told.map_err(|refusal| still(&refusal.reason()))?;
            if doubt.is_none() {
                break;
            }
        }
        if let Some(reason) = doubt {
            return Err(still(&reason));
        }
        match route.reading.split.parts(letter.content_type.as_deref(), &marked.body) {
            Ok(None) => {}
            Ok(Some(_)) => return Err(NotVerified::Several(id)),
            Err(error) => return Err(still(&error.to_string())),
        }
        let genuine = unpack::genuine(door, &route, marked.record.clone(), door.env.now());
        if let Some(refusal) = declared::doubt(door, &route, &genuine).await {
            return Err(NotVerified::NotAsDeclared { id, reason: refusal.reason().into() });
        }
        match store.events().verify(&marked, &genuine).await? {
            Accepted::New => {
                door.hand_over.proved(&genuine.event, &route);
                Ok(())
            }
            Accepted::Duplicate { first } => Err(NotVerified::Known { id, first }),
        }
    }
}
