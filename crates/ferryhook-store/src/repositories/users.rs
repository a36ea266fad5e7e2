//! Users. An e-mail address belongs to one of them, whatever its case.

use ferryhook_core::{Account, Id, Member, User};

use super::UniqueError;
use crate::batch::{Batch, Patch};
use crate::key::IndexKey;
use crate::record::{Kind, Record, Stored};
use crate::records::{Unique, unique, user};
use crate::tables::Index;
use crate::{Store, StoreError};

pub(super) const EMAIL: &str = "e-mail address";

#[derive(Debug, Clone, Copy)]
pub struct Users<'a>(pub(crate) &'a Store);

impl Users<'_> {
    pub async fn create(&self, user: &User) -> Result<(), UniqueError> {
        let marker = Unique::email(&user.email, &user.id);
        let batch = Batch::new().insert(&marker).insert(user);
        self.0.commit(batch).await.map_err(UniqueError::at(0, EMAIL))
    }

    /// A new user with the account that is theirs, and their place in it.
    pub async fn sign_up(
        &self,
        user: &User,
        account: &Account,
        member: &Member,
    ) -> Result<(), UniqueError> {
        let marker = Unique::email(&user.email, &user.id);
        let batch = Batch::new().insert(&marker).insert(user).insert(account).insert(member);
        self.0.commit(batch).await.map_err(UniqueError::at(0, EMAIL))
    }

    pub async fn find(&self, id: Id<User>) -> Result<Option<Stored<User>>, StoreError> {
        self.0.find(&user::key(id)).await
    }

    /// Through an index: an address that was changed a moment ago may still lead here.
    pub async fn find_by_email(&self, email: &str) -> Result<Option<Stored<User>>, StoreError> {
        let entry = IndexKey::new(Index::UserByEmail, user::email_value(email), "USER");
        self.0.find_by(entry).await
    }

    /// The one whom the address belongs to, by keys and so as it was last written.
    pub async fn find_holder(&self, email: &str) -> Result<Option<Stored<User>>, StoreError> {
        let marker = unique::key(&user::email_value(email));
        let Some(marker) = self.0.find::<Unique>(&marker).await? else { return Ok(None) };
        let owner = marker.owner_id.parse();
        self.find(owner.map_err(|error| StoreError::corrupt(Kind::Unique, error))?).await
    }

    /// A changed e-mail address is given up and the new one taken in the same commit.
    pub async fn replace(
        &self,
        was: &Stored<User>,
        now: User,
    ) -> Result<Stored<User>, UniqueError> {
        let mut batch = Batch::new();
        let (before, after) = (user::email_value(&was.email), user::email_value(&now.email));
        let moves = before != after;
        if moves {
            batch = batch.insert(&Unique::email(&now.email, &now.id));
        }
        batch = batch.replace(was, &now);
        if moves && let Some(marker) = self.0.find::<Unique>(&unique::key(&before)).await? {
            batch = batch.delete(&marker);
        }
        match self.0.commit(batch).await {
            Ok(()) => Ok(was.followed_by(now)),
            Err(error) if moves => Err(UniqueError::at(0, EMAIL)(error)),
            Err(error) => Err(error.into()),
        }
    }

    /// Counts events to the user's month. A crash may forget the last few.
    pub async fn add_usage(&self, id: Id<User>, events: u32) -> Result<(), StoreError> {
        let patch = Patch::of(Kind::User, user::key(id)).add("usageThisMonth", events.into());
        self.0.commit_buffered(Batch::new().patch(patch)).await
    }

    /// With the address, so that another may sign up with it.
    pub async fn delete(&self, was: &Stored<User>) -> Result<(), StoreError> {
        let marker = Unique::email(&was.email, &was.id);
        let mut batch = Batch::new().delete(was);
        if let Some(marker) = self.0.find::<Unique>(&marker.key()).await? {
            batch = batch.delete(&marker);
        }
        self.0.commit(batch).await
    }
}
