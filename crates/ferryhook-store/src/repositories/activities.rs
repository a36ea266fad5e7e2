//! Activities: the audit log. Written once, never changed.

use ferryhook_core::{Account, Activity, Id, Timestamp, User};

use super::{Slice, Window};
use crate::batch::{Batch, Condition};
use crate::query::{Page, Query};
use crate::record::{Kind, Stored};
use crate::records::account;
use crate::tables::Index;
use crate::{Store, StoreError};

#[derive(Debug, Clone, Copy)]
pub struct Activities<'a>(pub(crate) &'a Store);

impl Activities<'_> {
    pub async fn record(&self, activity: &Activity) -> Result<(), StoreError> {
        self.0.insert(activity).await
    }

    /// Writes the line that this store was given ([`Store::noting`]) by itself, for what changes
    /// nothing here and is to be known all the same.
    pub async fn note(&self, account: Id<Account>) -> Result<(), StoreError> {
        self.0.commit(Batch::new().require(account::key(account), Condition::Exists)).await
    }

    pub async fn list_by_account(
        &self,
        account: Id<Account>,
        slice: Slice,
    ) -> Result<Page<Stored<Activity>>, StoreError> {
        let query = Query::table(Kind::Activity, account.as_str());
        self.0.list(slice.of(query)).await
    }

    /// In all of the user's accounts; to the second.
    pub async fn list_by_user(
        &self,
        user: Id<User>,
        window: Window,
        slice: Slice,
    ) -> Result<Page<Stored<Activity>>, StoreError> {
        let query = Query::index(Kind::Activity, Index::ActivityUser, user.as_str());
        let query = window.numbers(query, Timestamp::as_seconds);
        self.0.list(slice.of(query)).await
    }

    /// In all accounts: for the operator. To the second.
    pub async fn list_by_type(
        &self,
        event_type: &str,
        window: Window,
        slice: Slice,
    ) -> Result<Page<Stored<Activity>>, StoreError> {
        let query = Query::index(Kind::Activity, Index::ActivityType, event_type);
        let query = window.numbers(query, Timestamp::as_seconds);
        self.0.list(slice.of(query)).await
    }
}
