//! Names of things: a prefix that says what it is, and sixteen characters that say which.
//!
//! The characters are of the nanoid alphabet. Things that pile up in order of time (events,
//! activities, ...) carry their millisecond in the first eight, in an alphabet whose ASCII order
//! is its numeric order, so that sorting by id is sorting by time.

mod names;

use std::borrow::Cow;
use std::cmp::Ordering;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::marker::PhantomData;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use utoipa::openapi::RefOr;
use utoipa::openapi::schema::{ObjectBuilder, Schema, Type};
use utoipa::{PartialSchema, ToSchema};

use crate::{Env, Timestamp};

pub use names::*;

/// The nanoid alphabet, sorted: `-` < digits < upper case < `_` < lower case.
const ALPHABET: &[u8; 64] = b"-0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ_abcdefghijklmnopqrstuvwxyz";
const TAIL: usize = 16;
const TIME_DIGITS: usize = 8;
const LENGTH_MAX: usize = 23;

/// What a thing must say about itself to have an [`Id`].
pub trait Identified {
    /// For example `evt_`; at most seven characters.
    const PREFIX: &'static str;
    /// Whether the first eight characters carry the millisecond of creation.
    const SORTABLE: bool = false;
}

/// The name of one `T`. Small and `Copy`.
pub struct Id<T> {
    text: [u8; LENGTH_MAX],
    length: u8,
    of: PhantomData<fn() -> T>,
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{text:?} is not an id of the form {prefix}<16 characters of A-Z a-z 0-9 _ ->")]
pub struct NotAnId {
    prefix: &'static str,
    text: String,
}

impl<T: Identified> Id<T> {
    /// A new, unguessable name.
    pub fn new(env: &Env) -> Self {
        Self::at(env.now(), env)
    }

    /// A new name for something that happened at `at` (which shows only in sortable ids).
    pub fn at(at: Timestamp, env: &Env) -> Self {
        let mut tail = [0u8; TAIL];
        env.fill(&mut tail);
        for byte in &mut tail {
            *byte = ALPHABET[usize::from(*byte & 63)];
        }
        if T::SORTABLE {
            tail[..TIME_DIGITS].copy_from_slice(&time_digits(at));
        }
        Self::assemble(&tail)
    }

    /// The next in order. For whoever names two things in one millisecond and wants them to be
    /// sorted as they came.
    pub fn following(self) -> Self {
        let mut next = self;
        let (start, end) = (T::PREFIX.len(), usize::from(self.length));
        for byte in next.text[start..end].iter_mut().rev() {
            let digit =
                ALPHABET.binary_search(byte).map_or(0, |digit| (digit + 1) % ALPHABET.len());
            *byte = ALPHABET[digit];
            if digit > 0 {
                break;
            }
        }
        next
    }

    /// The name of another thing that goes with this one: the same characters behind its prefix.
    pub fn of_another<U: Identified>(self) -> Id<U> {
        let start = T::PREFIX.len();
        let mut tail = [ALPHABET[0]; TAIL];
        tail.copy_from_slice(&self.text[start..start + TAIL]);
        Id::assemble(&tail)
    }

    /// The same for the same text, and another for any other.
    pub fn of_text(text: &str) -> Self {
        let digest = aws_lc_rs::digest::digest(&aws_lc_rs::digest::SHA256, text.as_bytes());
        let mut tail = [ALPHABET[0]; TAIL];
        for (byte, from) in tail.iter_mut().zip(digest.as_ref()) {
            *byte = ALPHABET[usize::from(from & 63)];
        }
        Self::assemble(&tail)
    }

    fn assemble(tail: &[u8; TAIL]) -> Self {
        const { assert!(T::PREFIX.len() + TAIL <= LENGTH_MAX) };
        let prefix = T::PREFIX.as_bytes();
        let mut text = [0u8; LENGTH_MAX];
        text[..prefix.len()].copy_from_slice(prefix);
        text[prefix.len()..prefix.len() + TAIL].copy_from_slice(tail);
        Self { text, length: (prefix.len() + TAIL) as u8, of: PhantomData }
    }

    /// The millisecond a sortable id was made in.
    pub fn made_at(&self) -> Option<Timestamp> {
        let digits =
            self.as_str().as_bytes().get(T::PREFIX.len()..T::PREFIX.len() + TIME_DIGITS)?;
        let mut millis = 0i64;
        for digit in digits {
            millis = millis << 6 | i64::try_from(ALPHABET.binary_search(digit).ok()?).ok()?;
        }
        T::SORTABLE.then(|| Timestamp::from_millis(millis))
    }
}

fn time_digits(at: Timestamp) -> [u8; TIME_DIGITS] {
    let mut rest = at.as_millis().clamp(0, (1 << 48) - 1).unsigned_abs();
    let mut digits = [0u8; TIME_DIGITS];
    for digit in digits.iter_mut().rev() {
        *digit = ALPHABET[(rest & 63) as usize];
        rest >>= 6;
    }
    digits
}

impl<T> Id<T> {
    pub fn as_str(&self) -> &str {
        // Only ASCII is ever put in, by `assemble` and after the check in `from_str`.
        std::str::from_utf8(&self.text[..usize::from(self.length)]).unwrap_or_default()
    }
}

impl<T: Identified> FromStr for Id<T> {
    type Err = NotAnId;

    fn from_str(text: &str) -> Result<Self, NotAnId> {
        text.strip_prefix(T::PREFIX)
            .and_then(|tail| <&[u8; TAIL]>::try_from(tail.as_bytes()).ok())
            .filter(|tail| tail.iter().all(|byte| ALPHABET.binary_search(byte).is_ok()))
            .map(Self::assemble)
            .ok_or_else(|| NotAnId { prefix: T::PREFIX, text: text.chars().take(64).collect() })
    }
}

impl<T> fmt::Display for Id<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl<T> fmt::Debug for Id<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl<T> Serialize for Id<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

impl<'de, T: Identified> Deserialize<'de> for Id<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = Cow::<str>::deserialize(deserializer)?;
        text.parse().map_err(serde::de::Error::custom)
    }
}

// Written out because deriving would ask the same of `T`.
impl<T> Clone for Id<T> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<T> Copy for Id<T> {}
impl<T> PartialEq for Id<T> {
    fn eq(&self, other: &Self) -> bool {
        self.text == other.text
    }
}
impl<T> Eq for Id<T> {}
impl<T> PartialOrd for Id<T> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}
impl<T> Ord for Id<T> {
    fn cmp(&self, other: &Self) -> Ordering {
        self.text.cmp(&other.text) // what follows the text is less than any character of one
    }
}
impl<T> Hash for Id<T> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        state.write(&self.text);
    }
}

/// How an id is described to clients.
impl<T: Identified> PartialSchema for Id<T> {
    fn schema() -> RefOr<Schema> {
        let pattern = format!("^{}[0-9A-Za-z_-]{{{TAIL}}}$", T::PREFIX);
        ObjectBuilder::new().schema_type(Type::String).pattern(Some(pattern)).into()
    }
}

impl<T: Identified> ToSchema for Id<T> {
    /// Such as `SourceId`.
    fn name() -> Cow<'static, str> {
        let noun = std::any::type_name::<T>();
        format!("{}Id", noun.rsplit("::").next().unwrap_or(noun)).into()
    }
}

#[cfg(test)]
mod tests;
