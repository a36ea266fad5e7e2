//! One value of every noun with every optional attribute set, always the same.
//!
//! For tests, here and in the crates above: what can be stored and read back, and what an item
//! looks like. They belong together: the event came to the source, the attempt is the event's.

mod gateway;
mod people;
mod syncs;

use serde_json::Value;

use crate::id::Identified;
use crate::{Id, Map, Secret, Timestamp};

pub use gateway::{
    attempt, claim, connection, delivery, erasure, event, event_type, inbox_item, rejection,
    replay, source,
};
pub use people::{
    account, activity, alert, answer, audit_head, data_key, hook, invitation, key, member,
    notification, oauth_state, plan, plan_count, rollup, session, subscription, ticket, token_key,
    usage, user,
};
pub use syncs::{run, schedule};

/// The moment everything in the samples was made: a whole minute, so that every stored form keeps
/// it exactly.
pub const CREATED: Timestamp = Timestamp::from_seconds(1_767_225_600);
/// A while later.
pub const UPDATED: Timestamp = Timestamp::from_seconds(1_767_229_200);
/// When what expires does.
pub const EXPIRES: Timestamp = Timestamp::from_seconds(1_769_817_600);

fn id<T: Identified>(text: &str) -> Id<T> {
    text.parse().unwrap_or_else(|error| panic!("{error}"))
}

fn text(text: &str) -> Option<String> {
    Some(text.to_owned())
}

/// Every secret of the samples contains `hush`, so that a test can look for it where it must not
/// be.
fn secret(name: &str) -> Secret {
    Secret::new(format!("hush-{name}"))
}

fn map<const N: usize>(fields: [(&str, Value); N]) -> Map {
    let fields = fields.into_iter();
    fields.map(|(name, value)| (name.to_owned(), value)).collect()
}

#[cfg(test)]
mod tests;
