//! Rollups: what came in and went out of an account, a source or a connection in one hour or on
//! one day (UTC), as counts that add up.
//!
//! Written by the data plane every so often as differences, read by whoever shows analytics.
//! Two rollups become one by adding every count, in any order, so it does not matter which node
//! counted what. Nothing here knows an event.

mod code;
mod counts;
mod histogram;
mod sparse;

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use utoipa::ToSchema;

use crate::id::{Identified, NotAnId};
use crate::time::seconds;
use crate::{Account, Connection, Id, Source, Timestamp, limits};

pub use code::{Code, Codes};
pub use counts::Counts;
pub use histogram::Histogram;

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Rollup {
    #[serde(rename = "scopeId")]
    pub scope: Scope,
    pub interval: Interval,
    #[serde(with = "seconds")]
    pub begins_at: Timestamp,
    #[serde(rename = "ttl", with = "seconds")]
    pub expires_at: Timestamp,
    /// Each count is an attribute of its own, so that a store can add to it without reading.
    #[serde(flatten)]
    pub counts: Counts,
}

impl Rollup {
    /// Of the hour or day that `at` lies in.
    pub fn new(scope: Scope, interval: Interval, at: Timestamp, counts: Counts) -> Self {
        let begins_at = interval.begin(at);
        let expires_at = begins_at + interval.length() + interval.kept();
        Self { scope, interval, begins_at, expires_at, counts }
    }
}

/// Whose counts they are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Scope {
    Account(Id<Account>),
    Source(Id<Source>),
    Connection(Id<Connection>),
}

impl Scope {
    pub fn as_str(&self) -> &str {
        match self {
            Self::Account(id) => id.as_str(),
            Self::Source(id) => id.as_str(),
            Self::Connection(id) => id.as_str(),
        }
    }
}

impl fmt::Display for Scope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for Scope {
    type Err = NotAnId;

    fn from_str(text: &str) -> Result<Self, NotAnId> {
        match text {
            text if text.starts_with(Source::PREFIX) => text.parse().map(Self::Source),
            text if text.starts_with(Connection::PREFIX) => text.parse().map(Self::Connection),
            text => text.parse().map(Self::Account),
        }
    }
}

impl Serialize for Scope {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

impl<'de> Deserialize<'de> for Scope {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        text.parse().map_err(serde::de::Error::custom)
    }
}

#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, ToSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum Interval {
    Hour,
    Day,
}

impl Interval {
    pub const fn length(self) -> Duration {
        match self {
            Self::Hour => Duration::from_secs(60 * 60),
            Self::Day => Duration::from_secs(24 * 60 * 60),
        }
    }

    /// How long after its end a rollup is kept.
    pub const fn kept(self) -> Duration {
        match self {
            Self::Hour => limits::ROLLUP_HOURS_KEPT,
            Self::Day => limits::ROLLUP_DAYS_KEPT,
        }
    }

    /// The start of the hour or day that `at` lies in.
    pub fn begin(self, at: Timestamp) -> Timestamp {
        let length = self.millis();
        Timestamp::from_millis(at.as_millis().div_euclid(length) * length)
    }

    /// The first moments of this many hours or days, the last of them the one `now` lies in.
    pub fn last(self, count: u32, now: Timestamp) -> impl Iterator<Item = Timestamp> {
        let last = self.begin(now).as_millis();
        let step = self.millis();
        (0..i64::from(count)).rev().map(move |back| Timestamp::from_millis(last - back * step))
    }

    fn millis(self) -> i64 {
        i64::try_from(self.length().as_millis()).unwrap_or(i64::MAX)
    }
}

#[cfg(test)]
mod tests;
