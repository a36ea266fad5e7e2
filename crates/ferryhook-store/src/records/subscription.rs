//! Subscriptions: one for each owner, in the partition of the user. The customer's marker leads
//! back to them from what Stripe says.

use ferryhook_core::{Id, Subscription, User};

use super::user;
use crate::key::Key;
use crate::record::{Kind, Record};
use crate::tables::Table;

pub(crate) fn key(owner: Id<User>) -> Key {
    Key::new(Table::Main, user::partition(owner), "SUBSCRIPTION")
}

/// A customer of Stripe pays for one owner.
pub(crate) fn customer_value(customer: &str) -> String {
    format!("STRIPECUSTOMER#{customer}")
}

impl Record for Subscription {
    const KIND: Kind = Kind::Subscription;

    fn key(&self) -> Key {
        key(self.user_id)
    }
}
