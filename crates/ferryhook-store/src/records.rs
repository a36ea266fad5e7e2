//! Where each noun of the domain lives: its key, its index entries, its expiry.
//!
//! The attributes are the noun's own serde form; nothing here repeats them. Key functions stand
//! beside the record they name, so that whoever looks a record up spells its key the same way as
//! whoever wrote it. Those that every event needs join their parts instead of formatting them:
//! one allocation each, and a third of the work.
//!
//! DynamoDB puts an item into an index as soon as the item has the index's key attributes, asked
//! or not. A record therefore lists every index that its stored attributes make it stand in, and
//! a test holds it to that.

use ferryhook_core::Timestamp;
use serde::Serialize;

pub mod shard;
pub mod unique;

pub(crate) mod account;
pub(crate) mod activity;
pub(crate) mod alert;
pub(crate) mod answer;
pub(crate) mod attempt;
pub(crate) mod audit_head;
pub(crate) mod claim;
pub(crate) mod connection;
pub(crate) mod data_key;
pub(crate) mod delivery;
pub(crate) mod erasure;
pub(crate) mod event;
pub(crate) mod event_type;
pub(crate) mod hook;
pub(crate) mod invitation;
pub(crate) mod key;
pub(crate) mod member;
pub(crate) mod notification;
pub(crate) mod oauth_state;
pub(crate) mod plan;
pub(crate) mod plan_count;
pub(crate) mod rejection;
pub(crate) mod replay;
pub(crate) mod rollup;
pub(crate) mod run;
pub(crate) mod schedule;
pub(crate) mod session;
pub(crate) mod source;
pub(crate) mod subscription;
pub(crate) mod ticket;
pub(crate) mod token_key;
pub(crate) mod usage;
pub(crate) mod user;

pub use shard::Shard;
pub use unique::Unique;

/// Sorts behind everything an id or a time can begin with: the closed end of a range of keys.
pub(crate) const LAST: char = '~';

/// The stored word of a plain enum. Anything else gives an empty text, which no key accepts.
pub(crate) fn word(value: impl Serialize) -> String {
    match serde_json::to_value(value) {
        Ok(serde_json::Value::String(word)) => word,
        _ => String::new(),
    }
}

/// A millisecond as part of a text key: as many digits as the next two centuries need, so that
/// the order of the text is the order of time.
pub(crate) fn digits(at: Timestamp) -> String {
    match u64::try_from(at.as_millis()) {
        Ok(millis) => padded::<13>(millis),
        Err(_) => format!("{:013}", at.as_millis()),
    }
}

/// As `format!` would, and much faster.
pub(crate) fn padded<const WIDTH: usize>(number: u64) -> String {
    let mut digits = [b'0'; WIDTH];
    let mut rest = number;
    for digit in digits.iter_mut().rev() {
        *digit += (rest % 10) as u8;
        rest /= 10;
    }
    match rest {
        0 => String::from_utf8_lossy(&digits).into_owned(),
        _ => number.to_string(),
    }
}

#[cfg(test)]
mod tests;
