//! Users. An e-mail address belongs to one of them, whatever its case, and so does whoever they
//! are at a platform that they sign in through.

use ferryhook_core::user::Identity;
use ferryhook_core::{Account, Id, Member, User};

use super::UniqueError;
use super::plan_counts::first_member;
use crate::batch::{Batch, Condition, Patch};
use crate::key::IndexKey;
use crate::record::{Kind, Stored};
use crate::records::{Unique, unique, user};
use crate::tables::Index;
use crate::{Store, StoreError};

pub(super) const EMAIL: &str = "e-mail address";
const IDENTITY: &str = "identity";

#[derive(Debug, Clone, Copy)]
pub struct Users<'a>(pub(crate) &'a Store);

impl Users<'_> {
    pub async fn create(&self, user: &User) -> Result<(), UniqueError> {
        let markers = markers(user);
        let batch = insert_all(Batch::new(), &markers).insert(user);
        self.0.commit(batch).await.map_err(taken(&markers))
    }

    /// A new user with the account that is theirs, and their place in it.
    pub async fn sign_up(
        &self,
        user: &User,
        account: &Account,
        member: &Member,
    ) -> Result<(), UniqueError> {
        let markers = markers(user);
        let batch = insert_all(Batch::new(), &markers).insert(user).insert(account).insert(member);
        let batch = batch.insert(&first_member(account.id));
        self.0.commit(batch).await.map_err(taken(&markers))
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
        self.find_marked(&user::email_value(email)).await
    }

    /// The one who is this at a platform, by keys too.
    pub async fn find_identity(
        &self,
        identity: Identity,
        id: &str,
    ) -> Result<Option<Stored<User>>, StoreError> {
        self.find_marked(&user::identity_value(identity, id)).await
    }

    async fn find_marked(&self, value: &str) -> Result<Option<Stored<User>>, StoreError> {
        let Some(marker) = self.0.find::<Unique>(&unique::key(value)).await? else {
            return Ok(None);
        };
        let owner = marker.owner_id.parse();
        self.find(owner.map_err(|error| StoreError::corrupt(Kind::Unique, error))?).await
    }

    /// What was unique and has changed is given up, and the new one taken, in the same commit.
    pub async fn replace(
        &self,
        was: &Stored<User>,
        now: User,
    ) -> Result<Stored<User>, UniqueError> {
        let (before, mut after) = (markers(was), markers(&now));
        after.retain(|marker| !before.contains(marker));
        let mut batch = insert_all(Batch::new(), &after).replace(was, &now);
        let kept = markers(&now);
        for marker in before.iter().filter(|marker| !kept.contains(marker)) {
            if let Some(marker) = self.0.find::<Unique>(&unique::key(&marker.value)).await? {
                batch = batch.delete(&marker);
            }
        }
        self.0.commit(batch).await.map_err(taken(&after))?;
        Ok(was.followed_by(now))
    }

    /// Gives them another plan, if they still have the one that they were seen with.
    pub async fn change_plan(&self, was: &User, plan: &str) -> Result<(), StoreError> {
        let held = Condition::Is("plan".into(), was.plan.as_str().into());
        let patch = Patch::of(Kind::User, user::key(was.id)).set("plan", plan).when(held);
        self.0.commit(Batch::new().patch(patch)).await
    }

    /// Counts events to the user's month. A crash may forget the last few.
    pub async fn add_usage(&self, id: Id<User>, events: u32) -> Result<(), StoreError> {
        let patch = Patch::of(Kind::User, user::key(id)).add("usageThisMonth", events.into());
        self.0.commit_buffered(Batch::new().patch(patch)).await
    }

    /// With the address, so that another may sign up with it.
    pub async fn delete(&self, was: &Stored<User>) -> Result<(), StoreError> {
        let mut batch = Batch::new().delete(was);
        for marker in markers(was) {
            if let Some(marker) = self.0.find::<Unique>(&unique::key(&marker.value)).await? {
                batch = batch.delete(&marker);
            }
        }
        self.0.commit(batch).await
    }
}

/// All that only this user may have. The address is the first.
fn markers(user: &User) -> Vec<Unique> {
    let email = Unique::email(&user.email, &user.id);
    let identities = Identity::ALL.into_iter().filter_map(|identity| {
        let id = user.identity(identity)?;
        Some(Unique::identity(identity, id, &user.id))
    });
    std::iter::once(email).chain(identities).collect()
}

fn insert_all(batch: Batch, markers: &[Unique]) -> Batch {
    markers.iter().fold(batch, Batch::insert)
}

/// Tells the refusal of a unique value, all of which come first in the batch, from all others.
fn taken(markers: &[Unique]) -> impl FnOnce(StoreError) -> UniqueError {
    move |error| match &error {
        StoreError::Refused { action, .. } => match markers.get(*action) {
            Some(marker) if user::is_email_value(&marker.value) => UniqueError::Taken(EMAIL),
            Some(_) => UniqueError::Taken(IDENTITY),
            None => UniqueError::Store(error),
        },
        _ => UniqueError::Store(error),
    }
}
