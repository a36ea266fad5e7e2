//! Tickets: issued, and used once.

use ferryhook_core::{Secret, Ticket, User};

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

    /// Notes a wrong answer. Of several at once each counts: one that is refused looks again.
    pub async fn fail(&self, was: &Stored<Ticket>) -> Result<(), StoreError> {
        self.0.replace(was, was.failed()).await?;
        Ok(())
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
