//! Accounts, and the tree they form.

use ferryhook_core::account::AccountType;
use ferryhook_core::{Account, Id};

use super::Slice;
use crate::query::{Page, Query};
use crate::record::{Kind, Stored};
use crate::records::{account, word};
use crate::tables::Index;
use crate::{Store, StoreError};

#[derive(Debug, Clone, Copy)]
pub struct Accounts<'a>(pub(crate) &'a Store);

impl Accounts<'_> {
    pub async fn create(&self, account: &Account) -> Result<(), StoreError> {
        self.0.insert(account).await
    }

    pub async fn find(&self, id: Id<Account>) -> Result<Option<Stored<Account>>, StoreError> {
        self.0.find(&account::key(id)).await
    }

    /// Direct children only, sorted by type; with a type, only those of it.
    pub async fn list_children(
        &self,
        parent: Id<Account>,
        kind: Option<AccountType>,
        slice: Slice,
    ) -> Result<Page<Stored<Account>>, StoreError> {
        let mut query = Query::index(Kind::Account, Index::AccountParent, parent.as_str());
        if let Some(kind) = kind {
            query = query.exactly(word(kind));
        }
        self.0.list(slice.of(query)).await
    }

    pub async fn replace(
        &self,
        was: &Stored<Account>,
        now: Account,
    ) -> Result<Stored<Account>, StoreError> {
        self.0.replace(was, now).await
    }
}
