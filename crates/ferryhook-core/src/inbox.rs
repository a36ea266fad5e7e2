//! The inbox: where events wait until somebody fetches them.
//!
//! To the rest of the domain an item of the inbox is a delivery whose destination comes by itself:
//! it is leased instead of sent, and acknowledged instead of answered. Those who share an inbox are
//! a [`Group`]; every group has each event once, and whoever leases in it leases it from the others.

mod group;
mod item;
mod token;
mod way;

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::event::Status;
use crate::{Account, Connection, Event, Id, Map, Timestamp, limits};

pub use group::{BadGroup, Group};
pub use item::Step;
pub use token::{BadToken, Token};
pub use way::way_of;

/// What a delivery that waits to be fetched has more than others.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Place {
    pub group: Group,
    /// How often it may be leased before it is given up.
    pub leases_max: u16,
    /// Of its event, to be found by it.
    #[serde(rename = "event_type", default, skip_serializing_if = "Option::is_none")]
    pub event_type: Option<String>,
    /// When its event came.
    #[serde(with = "crate::time::millis")]
    pub received_at: Timestamp,
    /// Written together with its event, and there was no other.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub alone: bool,
}

/// What a connection to the inbox says in its `destinationConfig`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Settings {
    pub group: Group,
    pub leases_max: u16,
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BadSettings {
    #[error("group {0}")]
    Group(#[from] BadGroup),
    #[error("maxLeases must be a whole number from 1 to {}", limits::INBOX_LEASES_MAX)]
    Leases,
    #[error("an inbox has no setting {0:?}, only group and maxLeases")]
    Unknown(String),
}

/// What whoever leased an item has to say about it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reply {
    /// Done with.
    Ack,
    /// Not done: for somebody else, after a while.
    Nack { delay: Duration, reason: Option<String> },
    /// Still at it, for so long from now.
    Extend { visibility: Duration },
}

/// What became of a reply.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Replied {
    /// It counts. For how long the item is leased from now on, if it still is.
    Heard { lease_until: Option<Timestamp>, status: Status },
    /// The lease is over: it ran out and somebody else has or had the item, or it is settled.
    Stale,
    /// There is no such item in the account's inbox.
    Unknown,
}

/// Which items somebody wants to work on, and for how long.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Wanted {
    pub group: Group,
    pub count: usize,
    pub visibility: Duration,
    /// Only these types, with wildcards; empty means all.
    pub types: Vec<String>,
    /// How long to wait for the first if there is none.
    pub wait: Duration,
}

/// An item that now belongs to whoever asked, until then.
#[derive(Debug, Clone, PartialEq)]
pub struct Leased {
    pub event: Event,
    pub token: Token,
    pub lease_until: Timestamp,
    /// Where the item stands, as a list shows it.
    pub status: Status,
    /// How often it was leased before.
    pub retry_count: u32,
}

impl Default for Settings {
    fn default() -> Self {
        Self { group: Group::default(), leases_max: limits::INBOX_LEASES_DEFAULT }
    }
}

impl Settings {
    pub fn parse(config: Option<&Map>) -> Result<Self, BadSettings> {
        let mut settings = Self::default();
        for (name, value) in config.into_iter().flatten() {
            match name.as_str() {
                "group" => settings.group = value.as_str().unwrap_or_default().parse()?,
                "maxLeases" => {
                    let number = value.as_u64().and_then(|number| u16::try_from(number).ok());
                    settings.leases_max = number
                        .filter(|number| (1..=limits::INBOX_LEASES_MAX).contains(number))
                        .ok_or(BadSettings::Leases)?;
                }
                other => return Err(BadSettings::Unknown(other.to_owned())),
            }
        }
        Ok(settings)
    }
}

/// The way into the inbox that everything has which an app posts: there without anybody having
/// made it, in the default group.
pub fn own_way(account: Id<Account>) -> Id<Connection> {
    Id::of_text(&format!("inbox of {account}"))
}

#[cfg(test)]
mod tests;
