//! Spans of time as people write them: `30s`, `5m`, `12h`, `7d`, or a number of seconds.

use std::fmt;
use std::ops::RangeInclusive;
use std::str::FromStr;
use std::time::Duration;

use ferryhook_core::Timestamp;
use serde::de::{Error, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use utoipa::openapi::RefOr;
use utoipa::openapi::schema::{ObjectBuilder, OneOfBuilder, Schema, Type};
use utoipa::{PartialSchema, ToSchema};

use crate::problem::Problem;

const UNITS: [(&str, u64); 4] = [("s", 1), ("m", 60), ("h", 60 * 60), ("d", 24 * 60 * 60)];
const PATTERN: &str = "^[0-9]{1,9}[smhd]?$";

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Span(Duration);

/// A moment: by the calendar, or so long before now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum When {
    At(Timestamp),
    Ago(Span),
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("expected seconds or a span such as 30s, 5m, 12h or 7d")]
pub struct NotASpan;

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("expected a time such as 2026-01-31T12:00:00Z, or how long ago, such as 30m or 7d")]
pub struct NotAMoment;

impl Span {
    /// If it lies within these bounds.
    pub(super) fn within(
        asked: Option<Self>,
        pointer: &str,
        otherwise: Duration,
        bounds: RangeInclusive<Duration>,
    ) -> Result<Duration, Problem> {
        let span = asked.map_or(otherwise, |Self(span)| span);
        if bounds.contains(&span) {
            return Ok(span);
        }
        let (least, most) = (Self(*bounds.start()), Self(*bounds.end()));
        Err(Problem::invalid(pointer, format!("must be between {least} and {most}")))
    }
}

impl When {
    pub fn seen_from(self, now: Timestamp) -> Timestamp {
        match self {
            Self::At(at) => at,
            Self::Ago(Span(span)) => now - span,
        }
    }
}

impl FromStr for Span {
    type Err = NotASpan;

    fn from_str(text: &str) -> Result<Self, NotASpan> {
        let unit =
            UNITS.iter().find_map(|(unit, seconds)| Some((text.strip_suffix(unit)?, *seconds)));
        let (number, seconds) = unit.unwrap_or((text, 1));
        let is_plain =
            (1..=9).contains(&number.len()) && number.bytes().all(|b| b.is_ascii_digit());
        let number: u64 = number.parse().ok().filter(|_| is_plain).ok_or(NotASpan)?;
        Ok(Self(Duration::from_secs(number * seconds)))
    }
}

impl FromStr for When {
    type Err = NotAMoment;

    fn from_str(text: &str) -> Result<Self, NotAMoment> {
        let at = text.parse().map(Self::At);
        at.or_else(|_| text.parse().map(Self::Ago)).map_err(|_: NotASpan| NotAMoment)
    }
}

/// In the largest unit that it is a whole number of.
impl fmt::Display for Span {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let seconds = self.0.as_secs();
        let fits = |(_, unit): &&(&str, u64)| seconds > 0 && seconds.is_multiple_of(*unit);
        let (name, unit) = UNITS.iter().rev().find(fits).unwrap_or(&UNITS[0]);
        write!(f, "{}{name}", seconds / unit)
    }
}

impl fmt::Display for When {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::At(at) => at.fmt(f),
            Self::Ago(span) => span.fmt(f),
        }
    }
}

impl Serialize for Span {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl Serialize for When {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Span {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Written)
    }
}

struct Written;

impl Visitor<'_> for Written {
    type Value = Span;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("seconds or a span such as 30s, 5m, 12h or 7d")
    }

    fn visit_u64<E: Error>(self, seconds: u64) -> Result<Span, E> {
        Ok(Span(Duration::from_secs(seconds)))
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Span, E> {
        text.parse().map_err(E::custom)
    }
}

impl<'de> Deserialize<'de> for When {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        text.parse().map_err(D::Error::custom)
    }
}

impl PartialSchema for Span {
    fn schema() -> RefOr<Schema> {
        let text = ObjectBuilder::new().schema_type(Type::String).pattern(Some(PATTERN));
        let number = ObjectBuilder::new().schema_type(Type::Integer).minimum(Some(0));
        OneOfBuilder::new()
            .item(text)
            .item(number)
            .description(Some("A span of time: seconds, or a text such as 30s, 5m, 12h, 7d."))
            .into()
    }
}

impl ToSchema for Span {
    fn name() -> std::borrow::Cow<'static, str> {
        "Span".into()
    }
}

impl PartialSchema for When {
    fn schema() -> RefOr<Schema> {
        let said = "A time such as 2026-01-31T12:00:00Z, or how long ago: 90s, 30m, 1h, 7d.";
        ObjectBuilder::new().schema_type(Type::String).description(Some(said)).into()
    }
}

impl ToSchema for When {}
