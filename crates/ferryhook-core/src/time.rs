//! A moment in UTC, to the millisecond, and the three forms it is stored in.
//!
//! The API always shows RFC 3339 with milliseconds. Stored attributes keep the form that their
//! table documents: text in the tables of the gateway (the default), milliseconds where an event is
//! timed ([`millis`]), seconds in the tables of accounts and syncs and wherever DynamoDB's own
//! expiry reads the attribute ([`seconds`]).

use std::fmt;
use std::ops::{Add, Sub};
use std::str::FromStr;
use std::time::Duration;

use chrono::{DateTime, Datelike, SecondsFormat, Timelike, Utc};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use utoipa::openapi::RefOr;
use utoipa::openapi::schema::{KnownFormat, ObjectBuilder, Schema, SchemaFormat, Type};
use utoipa::{PartialSchema, ToSchema};

/// Milliseconds since 1970-01-01T00:00:00Z.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Timestamp(i64);

#[derive(Debug, thiserror::Error)]
#[error("{0:?} is not an RFC 3339 time such as 2026-01-31T12:00:00.000Z")]
pub struct NotATimestamp(String);

impl Timestamp {
    /// The latest moment that still prints with a four-digit year.
    pub const MAX: Timestamp = Timestamp(253_402_300_799_999);

    pub const fn from_millis(millis: i64) -> Self {
        Self(millis)
    }

    pub const fn from_seconds(seconds: i64) -> Self {
        Self(seconds.saturating_mul(1000))
    }

    pub const fn as_millis(self) -> i64 {
        self.0
    }

    /// Whole seconds, rounded down.
    pub const fn as_seconds(self) -> i64 {
        self.0.div_euclid(1000)
    }

    /// The start of the minute this moment lies in; schedules run on whole minutes.
    pub const fn minute(self) -> Self {
        Self(self.0.div_euclid(60_000) * 60_000)
    }

    pub fn saturating_since(self, earlier: Self) -> Duration {
        Duration::from_millis(self.0.saturating_sub(earlier.0).max(0).unsigned_abs())
    }

    /// `2026-01-31`, the day that usage is counted under.
    pub fn day(self) -> String {
        let at = self.utc();
        format!("{:04}-{:02}-{:02}", at.year(), at.month(), at.day())
    }

    /// `2026-01`, the month that a plan counts events under.
    pub fn month(self) -> String {
        let at = self.utc();
        format!("{:04}-{:02}", at.year(), at.month())
    }

    /// The first moment of the month after this one.
    pub fn next_month(self) -> Self {
        let at = self.utc();
        let (year, month) = match at.month() {
            12 => (at.year() + 1, 1),
            month => (at.year(), month + 1),
        };
        let first = chrono::NaiveDate::from_ymd_opt(year, month, 1).unwrap_or_default();
        Self(first.and_time(chrono::NaiveTime::MIN).and_utc().timestamp_millis())
    }

    pub fn hour_of_day(self) -> u32 {
        self.utc().hour()
    }

    /// The text form with microseconds that the inbox tables use in their sort keys.
    pub fn to_micros_text(self) -> String {
        let at = self.utc();
        // Each event is written with several of these: digit by digit is ten times as fast.
        let mut text = *b"0000-00-00T00:00:00.000000Z";
        let fields = [
            (0..4, at.year().unsigned_abs()),
            (5..7, at.month()),
            (8..10, at.day()),
            (11..13, at.hour()),
            (14..16, at.minute()),
            (17..19, at.second()),
            (20..23, at.timestamp_subsec_millis()),
        ];
        for (place, mut rest) in fields {
            for digit in text[place].iter_mut().rev() {
                *digit += (rest % 10) as u8;
                rest /= 10;
            }
        }
        String::from_utf8_lossy(&text).into_owned()
    }

    fn utc(self) -> DateTime<Utc> {
        DateTime::from_timestamp_millis(self.0.clamp(0, Self::MAX.0)).unwrap_or_default()
    }
}

impl fmt::Display for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.utc().to_rfc3339_opts(SecondsFormat::Millis, true))
    }
}

/// How a moment is described to clients.
impl PartialSchema for Timestamp {
    fn schema() -> RefOr<Schema> {
        let format = SchemaFormat::KnownFormat(KnownFormat::DateTime);
        ObjectBuilder::new().schema_type(Type::String).format(Some(format)).into()
    }
}

impl ToSchema for Timestamp {}

impl FromStr for Timestamp {
    type Err = NotATimestamp;

    fn from_str(text: &str) -> Result<Self, NotATimestamp> {
        DateTime::parse_from_rfc3339(text)
            .map(|at| Self(at.timestamp_millis()))
            .map_err(|_| NotATimestamp(text.chars().take(64).collect()))
    }
}

impl Add<Duration> for Timestamp {
    type Output = Self;

    fn add(self, rhs: Duration) -> Self {
        Self(self.0.saturating_add(i64::try_from(rhs.as_millis()).unwrap_or(i64::MAX)))
    }
}

impl Sub<Duration> for Timestamp {
    type Output = Self;

    fn sub(self, rhs: Duration) -> Self {
        Self(self.0.saturating_sub(i64::try_from(rhs.as_millis()).unwrap_or(i64::MAX)))
    }
}

/// Text, RFC 3339 with milliseconds: also the default form.
impl Serialize for Timestamp {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Timestamp {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = std::borrow::Cow::<str>::deserialize(deserializer)?;
        text.parse().map_err(serde::de::Error::custom)
    }
}

macro_rules! number_form {
    ($name:ident, $doc:literal, $to:ident, $from:ident) => {
        #[doc = $doc]
        pub mod $name {
            use super::Timestamp;
            use serde::{Deserialize, Deserializer, Serialize, Serializer};

            pub fn serialize<S: Serializer>(at: &Timestamp, s: S) -> Result<S::Ok, S::Error> {
                at.$to().serialize(s)
            }

            pub fn deserialize<'de, D: Deserializer<'de>>(d: D) -> Result<Timestamp, D::Error> {
                i64::deserialize(d).map(Timestamp::$from)
            }

            /// The same for an attribute that may be absent; pair it with `default` and
            /// `skip_serializing_if = "Option::is_none"`.
            pub mod option {
                use super::*;

                pub fn serialize<S: Serializer>(
                    at: &Option<Timestamp>,
                    s: S,
                ) -> Result<S::Ok, S::Error> {
                    at.map(Timestamp::$to).serialize(s)
                }

                pub fn deserialize<'de, D: Deserializer<'de>>(
                    d: D,
                ) -> Result<Option<Timestamp>, D::Error> {
                    Ok(Option::<i64>::deserialize(d)?.map(Timestamp::$from))
                }
            }
        }
    };
}

number_form!(millis, "Stored as a number of milliseconds.", as_millis, from_millis);
number_form!(seconds, "Stored as a number of seconds.", as_seconds, from_seconds);

#[cfg(test)]
mod tests;
