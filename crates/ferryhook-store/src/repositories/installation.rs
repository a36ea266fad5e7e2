//! The installation's own account, and who owns it.
//!
//! A marker says which account that is, so that its owner may change address, name and default
//! account like anybody else.

use ferryhook_core::{Account, Id, Member, User};

use super::UniqueError;
use super::plan_counts::first_member;
use super::users::EMAIL;
use crate::batch::Batch;
use crate::record::{Kind, Stored};
use crate::records::{Unique, unique, user};
use crate::{Store, StoreError};

#[derive(Debug, Clone, Copy)]
pub struct Installation<'a>(pub(crate) &'a Store);

/// The installation's account and its owner.
#[derive(Debug, Clone)]
pub struct Owned {
    pub account: Stored<Account>,
    pub user: Stored<User>,
}

impl Installation<'_> {
    /// What the marker leads to, by keys and so as it was last written.
    pub async fn find(&self) -> Result<Option<Owned>, StoreError> {
        let marker = self.0.find::<Unique>(&unique::key(unique::INSTALLATION)).await?;
        let Some(marker) = marker else { return Ok(None) };
        let id = marker.owner_id.parse();
        let id: Id<Account> = id.map_err(|error| StoreError::corrupt(Kind::Unique, error))?;
        let gone = || StoreError::corrupt(Kind::Unique, "the installation's owner is gone");
        let account = self.0.accounts().find(id).await?.ok_or_else(gone)?;
        let user = self.0.users().find(account.user_id).await?.ok_or_else(gone)?;
        Ok(Some(Owned { account, user }))
    }

    /// The first user, with the first account. Once: the marker can be taken once.
    pub async fn found(
        &self,
        user: &User,
        account: &Account,
        member: &Member,
    ) -> Result<(), UniqueError> {
        let batch = Batch::new()
            .insert(&Unique::email(&user.email, &user.id))
            .insert(&Unique::installation(account.id))
            .insert(user)
            .insert(account)
            .insert(member)
            .insert(&first_member(account.id));
        match self.0.commit(batch).await {
            Err(error) if error.refused_at(1) => Err(UniqueError::Taken("installation")),
            done => done.map_err(UniqueError::at(0, EMAIL)),
        }
    }

    /// Marks an account that was there before there were markers. Not a change that anybody
    /// notices, so whoever comes second is content.
    pub async fn adopt(&self, account: Id<Account>) -> Result<(), StoreError> {
        match self.0.insert(&Unique::installation(account)).await {
            Err(error) if error.is_refused() => Ok(()),
            done => done,
        }
    }

    /// The owner becomes a person: with the new address, and without the one it had. Refused if
    /// anybody changed the owner meanwhile. `unmarked` is the account, if it has no marker yet.
    pub async fn hand_over(
        &self,
        was: &Stored<User>,
        now: &User,
        unmarked: Option<Id<Account>>,
    ) -> Result<(), UniqueError> {
        let mut batch = Batch::new().insert(&Unique::email(&now.email, &now.id)).replace(was, now);
        if let Some(account) = unmarked {
            batch = batch.insert(&Unique::installation(account));
        }
        let old = unique::key(&user::email_value(&was.email));
        if let Some(marker) = self.0.find::<Unique>(&old).await? {
            batch = batch.delete(&marker);
        }
        self.0.commit(batch).await.map_err(UniqueError::at(0, EMAIL))
    }
}
