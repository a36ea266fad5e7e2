//! Subscriptions: who pays, and what comes of it.
//!
//! Every verb that follows an answer of Stripe is refused if anybody else has written since the
//! record was read: that answer may be the older one, and whoever asked has to ask again.

use ferryhook_core::billing::Told;
use ferryhook_core::{Id, Subscription, User};

use super::TRIES_MAX;
use crate::batch::{Batch, Condition, Patch};
use crate::record::{Kind, Stored};
use crate::records::{Unique, subscription, unique, user};
use crate::{Store, StoreError, UniqueError};

const CUSTOMER: &str = "customer";

#[derive(Debug, Clone, Copy)]
pub struct Subscriptions<'a>(pub(crate) &'a Store);

impl Subscriptions<'_> {
    pub async fn find(&self, owner: Id<User>) -> Result<Option<Stored<Subscription>>, StoreError> {
        self.0.find(&subscription::key(owner)).await
    }

    /// The one that this customer of Stripe pays for, by keys and so as it was last written.
    pub async fn find_by_customer(
        &self,
        customer: &str,
    ) -> Result<Option<Stored<Subscription>>, StoreError> {
        let marker = unique::key(&subscription::customer_value(customer));
        let Some(marker) = self.0.find::<Unique>(&marker).await? else { return Ok(None) };
        let owner = marker.owner_id.parse();
        self.find(owner.map_err(|error| StoreError::corrupt(Kind::Unique, error))?).await
    }

    /// The owner's, which is this one if they had none. Whoever comes second gets the first one's.
    pub async fn begin(&self, new: &Subscription) -> Result<Stored<Subscription>, StoreError> {
        match self.0.insert(new).await {
            Ok(()) => {}
            Err(error) if error.is_refused() => {}
            Err(error) => return Err(error),
        }
        let found = self.find(new.user_id).await?;
        found.ok_or_else(|| StoreError::corrupt(Kind::Subscription, "it is gone again"))
    }

    /// Writes down that something was done with it, and nothing else.
    pub async fn touch(&self, owner: Id<User>) -> Result<(), StoreError> {
        let mut tries = 1;
        loop {
            let Some(was) = self.find(owner).await? else { return Ok(()) };
            let now = Subscription { updated_at: self.0.now(), ..was.record.clone() };
            match self.0.replace(&was, now).await {
                Err(error) if error.is_refused() && tries < TRIES_MAX => tries += 1,
                done => return done.map(drop),
            }
        }
    }

    /// Writes down who they are at Stripe, for ever.
    pub async fn set_customer(
        &self,
        was: &Stored<Subscription>,
        customer: &str,
    ) -> Result<Stored<Subscription>, UniqueError> {
        let now = Subscription {
            stripe_customer_id: Some(customer.to_owned()),
            updated_at: self.0.now(),
            ..was.record.clone()
        };
        let known = Patch::of(Kind::User, user::key(was.user_id)).set("stripeCustomerId", customer);
        let batch = Batch::new()
            .insert(&Unique::customer(customer, &was.user_id))
            .replace(was, &now)
            .patch(known);
        match self.0.commit(batch).await {
            Ok(()) => Ok(was.followed_by(now)),
            Err(error) if error.refused_at(0) => Err(UniqueError::Taken(CUSTOMER)),
            Err(error) => Err(error.into()),
        }
    }

    /// Writes down what Stripe said, and gives the owner the plan that comes of it. They must have
    /// the plan `held` until then.
    pub async fn settle(
        &self,
        was: &Stored<Subscription>,
        told: &Told,
        held: &str,
    ) -> Result<Stored<Subscription>, StoreError> {
        let mut owner = Patch::of(Kind::User, user::key(was.user_id));
        owner = match &told.now.stripe_sub_id {
            Some(id) => owner.set("stripeSubId", &**id),
            None => owner.remove("stripeSubId"),
        };
        if let Some(plan) = &told.plan {
            let held = Condition::Is("plan".into(), held.into());
            owner = owner.set("plan", &**plan).when(held);
        }
        self.0.commit(Batch::new().replace(was, &told.now).patch(owner)).await?;
        Ok(was.followed_by(told.now.clone()))
    }
}
