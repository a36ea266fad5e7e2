//! The counts of a rollup, how they add up, and under which names they are stored.

use std::fmt;

use serde::de::{IgnoredAny, MapAccess, Visitor};
use serde::ser::SerializeMap;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::{Code, Codes, Histogram};

/// Everything that is counted. Adding is associative and commutative, and nothing overflows.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Counts {
    /// Taken in and stored, copies not included.
    pub events: u64,
    /// What came again.
    pub duplicates: u64,
    /// Refused at the door, for a reason that the owner of the source can see.
    pub rejected: u64,
    /// Taken in, and nobody wanted it.
    pub filtered: u64,
    /// Of the bodies of events.
    pub bytes: u64,
    /// Deliveries that ended well, and that were given up.
    pub delivered: u64,
    pub failed: u64,
    pub attempts: u64,
    /// Of all answers together, for the mean.
    pub latency_ms: u64,
    pub latency: Histogram,
    pub codes: Codes,
}

const CODE: &str = "code";
const MILLIS: &str = "ms";

impl Counts {
    pub fn event(bytes: usize) -> Self {
        Self { events: 1, bytes: bytes as u64, ..Self::default() }
    }

    /// One attempt, with how it was answered; 0 when it was not. Only an answer has a latency.
    pub fn record_attempt(&mut self, status: u16, millis: u32) {
        self.attempts = self.attempts.saturating_add(1);
        self.codes.add(Code::of(status), 1);
        if status != 0 {
            self.latency_ms = self.latency_ms.saturating_add(millis.into());
            self.latency.record(millis);
        }
    }

    pub fn add(&mut self, more: &Self) {
        for (sum, more) in self.plain_mut().into_iter().zip(more.plain()) {
            *sum = sum.saturating_add(more);
        }
        self.latency.merge(&more.latency);
        self.codes.merge(&more.codes);
    }

    pub fn is_empty(&self) -> bool {
        self.plain().iter().all(|count| *count == 0)
            && self.latency.is_empty()
            && self.codes.is_empty()
    }

    /// Of the deliveries that have ended, the share that ended well; none when none has ended.
    pub fn success_rate(&self) -> Option<f64> {
        let ended = self.delivered.saturating_add(self.failed);
        (ended > 0).then(|| self.delivered as f64 / ended as f64)
    }

    pub fn latency_mean(&self) -> Option<f64> {
        let answers = self.latency.count();
        (answers > 0).then(|| self.latency_ms as f64 / answers as f64)
    }

    /// By the names they are stored under, without what is zero.
    pub fn named(&self) -> impl Iterator<Item = (String, u64)> + '_ {
        let plain = NAMES.into_iter().map(str::to_owned).zip(self.plain());
        let codes = self.codes.iter();
        let codes = codes.map(|(code, count)| (format!("{CODE}{}", code.number()), count));
        let millis = self.latency.buckets();
        let millis = millis.map(|(bucket, count)| (format!("{MILLIS}{bucket}"), count));
        plain.chain(codes).chain(millis).filter(|(_, count)| *count > 0)
    }

    /// Parts that add up to the whole, none of which has more than `most` counts.
    pub fn parts(self, most: usize) -> Vec<Self> {
        let named: Vec<_> = self.named().collect();
        if named.len() <= most {
            return vec![self];
        }
        let part = |named: &[(String, u64)]| {
            let mut part = Self::default();
            named.iter().for_each(|(name, count)| part.add_named(name, *count));
            part
        };
        named.chunks(most.max(1)).map(part).collect()
    }

    /// What a later version counts besides is left alone.
    fn add_named(&mut self, name: &str, more: u64) {
        match place(name) {
            Some(Place::Plain(place)) => {
                let count = &mut self.plain_mut()[place];
                **count = count.saturating_add(more);
            }
            Some(Place::Code(number)) => self.codes.add(Code::from_number(number), more),
            Some(Place::Bucket(bucket)) => self.latency.add_bucket(bucket, more),
            None => {}
        }
    }

    fn plain(&self) -> [u64; NAMES.len()] {
        [
            self.events,
            self.duplicates,
            self.rejected,
            self.filtered,
            self.bytes,
            self.delivered,
            self.failed,
            self.attempts,
            self.latency_ms,
        ]
    }

    fn plain_mut(&mut self) -> [&mut u64; NAMES.len()] {
        [
            &mut self.events,
            &mut self.duplicates,
            &mut self.rejected,
            &mut self.filtered,
            &mut self.bytes,
            &mut self.delivered,
            &mut self.failed,
            &mut self.attempts,
            &mut self.latency_ms,
        ]
    }
}

/// In the order of [`Counts::plain`].
const NAMES: [&str; 9] = [
    "events",
    "duplicates",
    "rejected",
    "filtered",
    "bytes",
    "delivered",
    "failed",
    "attempts",
    "latencyMs",
];

/// Which count a stored name means.
enum Place {
    Plain(usize),
    Code(u16),
    Bucket(u16),
}

fn place(name: &str) -> Option<Place> {
    if let Some(place) = NAMES.iter().position(|known| *known == name) {
        return Some(Place::Plain(place));
    }
    let number = |prefix| name.strip_prefix(prefix).and_then(|digits| digits.parse().ok());
    number(CODE).map(Place::Code).or_else(|| number(MILLIS).map(Place::Bucket))
}

impl Serialize for Counts {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        for (name, count) in self.named() {
            map.serialize_entry(&name, &count)?;
        }
        map.end()
    }
}

impl<'de> Deserialize<'de> for Counts {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(Reading)
    }
}

struct Reading;

impl<'de> Visitor<'de> for Reading {
    type Value = Counts;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("counts by name")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Counts, A::Error> {
        let mut counts = Counts::default();
        while let Some(name) = map.next_key::<String>()? {
            match place(&name) {
                Some(_) => counts.add_named(&name, map.next_value()?),
                None => {
                    map.next_value::<IgnoredAny>()?;
                }
            }
        }
        Ok(counts)
    }
}
