//! Tickets: issued, and used once.

use ferryhook_core::{Secret, Ticket, User};

use super::TRIES_MAX;
use crate::batch::Batch;
use crate::record::Stored;
use crate::records::ticket;
use crate::{Store, StoreError};

#[derive(Debug, Clone, Copy)]
pub struct Tickets<'a>(pub(crate) &'a Store);

impl Tickets<'_> {
    pub async fn issue(&self, ticket: &Ticket) -> Result<(), StoreError> {
        self.0.insert(ticket).await
    }

    /// One that still counts.
    pub async fn find(&self, hash: &Secret) -> Result<Option<Stored<Ticket>>, StoreError> {
        let found = self.0.find::<Ticket>(&ticket::key(hash)).await?;
        Ok(found.filter(|ticket| ticket.is_live(self.0.now())))
    }

    /// Counts a try before anybody looks at its answer: of many at once each counts, and no more
    /// are looked at than the ticket has. `None` when its tries or its time are over.
    pub async fn try_once(&self, hash: &Secret) -> Result<Option<Stored<Ticket>>, StoreError> {
        for _ in 0..TRIES_MAX {
            let Some(was) = self.find(hash).await? else { return Ok(None) };
            match self.0.replace(&was, was.failed()).await {
                Err(error) if error.is_refused() => {} // another try came in between
                done => return done.map(Some),
            }
        }
        Err(busy())
    }

    /// Uses it up, however many tries come meanwhile. False for all but the first.
    pub async fn use_up(&self, hash: &Secret) -> Result<bool, StoreError> {
        for _ in 0..TRIES_MAX {
            let Some(was) = self.0.find::<Ticket>(&ticket::key(hash)).await? else {
                return Ok(false);
            };
            match self.0.delete(&was).await {
                Err(error) if error.is_refused() => {}
                done => return done.map(|()| true),
            }
        }
        Err(busy())
    }

    /// Uses it up. Whoever comes second is refused.
    pub async fn take(&self, was: &Stored<Ticket>) -> Result<(), StoreError> {
        self.0.delete(was).await
    }

    /// Uses it up for what it allows to change: both happen, or neither does.
    pub async fn redeem(
        &self,
        ticket: &Stored<Ticket>,
        was: &Stored<User>,
        now: User,
    ) -> Result<Stored<User>, StoreError> {
        self.0.commit(Batch::new().delete(ticket).replace(was, &now)).await?;
        Ok(was.followed_by(now))
    }
}

fn busy() -> StoreError {
    StoreError::Unavailable("the ticket is being tried by others".into(), None)
}
