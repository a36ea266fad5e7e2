//! Alerts: fire and recover, each with what is said about it in the same commit.

use ferryhook_core::{Account, Alert, Id};

use super::{Announcement, Slice};
use crate::batch::Batch;
use crate::query::{Page, Query};
use crate::record::{Kind, Stored};
use crate::records::alert;
use crate::tables::Index;
use crate::{Store, StoreError};

#[derive(Debug, Clone, Copy)]
pub struct Alerts<'a>(pub(crate) &'a Store);

impl Alerts<'_> {
    pub async fn find(
        &self,
        account: Id<Account>,
        subject: &str,
    ) -> Result<Option<Stored<Alert>>, StoreError> {
        self.0.find(&alert::key(account, subject)).await
    }

    pub async fn list_by_account(
        &self,
        account: Id<Account>,
        slice: Slice,
    ) -> Result<Page<Stored<Alert>>, StoreError> {
        let query = Query::table(Kind::Alert, crate::records::erasure::partition(account));
        self.0.list(slice.of(query.prefix(alert::PREFIX))).await
    }

    /// Of all accounts, one account after the other.
    pub async fn list_all(&self, slice: Slice) -> Result<Page<Stored<Alert>>, StoreError> {
        let query = Query::index(Kind::Alert, Index::SourceOrConnectionById, alert::ALL);
        self.0.list(slice.of(query)).await
    }

    /// Says something that nothing else is written with.
    pub async fn say(&self, announcement: &Announcement) -> Result<(), StoreError> {
        let batch = Batch::new().announcing(announcement);
        match batch.is_empty() {
            true => Ok(()),
            false => self.0.commit(batch).await,
        }
    }

    /// Fires or recovers, and says so. `None` when another was faster, who has said it.
    pub async fn turn(
        &self,
        was: Option<&Stored<Alert>>,
        now: &Alert,
        announcement: &Announcement,
    ) -> Result<Option<Stored<Alert>>, StoreError> {
        let batch = match was {
            Some(was) => Batch::new().replace(was, now),
            None => Batch::new().insert(now),
        };
        match self.0.commit(batch.announcing(announcement)).await {
            Ok(()) => Ok(Some(match was {
                Some(was) => was.followed_by(now.clone()),
                None => Stored { record: now.clone(), revision: 1 },
            })),
            Err(error) if error.refused_at(0) => Ok(None),
            Err(error) => Err(error),
        }
    }
}
