//! Members: who is in which account.

use ferryhook_core::member::Role;
use ferryhook_core::{Account, Id, Member, User};

use super::Slice;
use crate::query::{Page, Query};
use crate::record::{Kind, Stored};
use crate::records::{member, word};
use crate::tables::Index;
use crate::{Store, StoreError};

#[derive(Debug, Clone, Copy)]
pub struct Members<'a>(pub(crate) &'a Store);

impl Members<'_> {
    pub async fn add(&self, member: &Member) -> Result<(), StoreError> {
        self.0.insert(member).await
    }

    /// By its key: what a request may do is decided on what was last written.
    pub async fn find(
        &self,
        user: Id<User>,
        account: Id<Account>,
    ) -> Result<Option<Stored<Member>>, StoreError> {
        self.0.find(&member::key(user, account)).await
    }

    pub async fn list_by_user(
        &self,
        user: Id<User>,
        slice: Slice,
    ) -> Result<Page<Stored<Member>>, StoreError> {
        let query = Query::table(Kind::Member, user.as_str());
        self.0.list(slice.of(query)).await
    }

    /// Sorted by role; with a role, only those who have it.
    pub async fn list_by_account(
        &self,
        account: Id<Account>,
        role: Option<Role>,
        slice: Slice,
    ) -> Result<Page<Stored<Member>>, StoreError> {
        let mut query = Query::index(Kind::Member, Index::MemberRole, account.as_str());
        if let Some(role) = role {
            query = query.exactly(word(role));
        }
        self.0.list(slice.of(query)).await
    }

    pub async fn replace(
        &self,
        was: &Stored<Member>,
        now: Member,
    ) -> Result<Stored<Member>, StoreError> {
        self.0.replace(was, now).await
    }

    pub async fn remove(&self, was: &Stored<Member>) -> Result<(), StoreError> {
        self.0.delete(was).await
    }
}
