//! The proof of a lease: which item, and which of its leases.
//!
//! It holds for the caller's own account alone, so there is nothing in it to be kept secret; what
//! it must not do is hold for another lease of the same item.

use std::fmt;
use std::str::FromStr;

use crate::{Connection, Event, Id};

/// Written as `evt_….conn_….7`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Token {
    pub event: Id<Event>,
    pub connection: Id<Connection>,
    /// Which of the item's leases: the first, the second, …
    pub lease: u16,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("is not a token that a lease was answered with")]
pub struct BadToken;

impl fmt::Display for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}.{}", self.event, self.connection, self.lease)
    }
}

impl FromStr for Token {
    type Err = BadToken;

    fn from_str(text: &str) -> Result<Self, BadToken> {
        let mut parts = text.split('.');
        let mut next = || parts.next().ok_or(BadToken);
        let (event, connection, lease) = (next()?, next()?, next()?);
        let token = Self {
            event: event.parse().map_err(|_| BadToken)?,
            connection: connection.parse().map_err(|_| BadToken)?,
            lease: lease.parse().map_err(|_| BadToken)?,
        };
        // One lease has one token: no leading zeros, no signs, nothing behind it.
        if parts.next().is_some() || token.to_string() != text { Err(BadToken) } else { Ok(token) }
    }
}
