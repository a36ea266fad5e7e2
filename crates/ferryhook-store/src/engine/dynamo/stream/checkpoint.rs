//! Places in a stream of several shards, as text and back.
//!
//! A place says of each shard that is being read how far: `1414562045508-2bac9cd2~s` for its
//! beginning, `…~100000000003498069978` for behind this number, `…~t1700000000000` for the
//! moment at which someone began to listen, `…~e` for its end; and a dot between two. Where there
//! is but one shard and a number, the number is all. Nothing in it has to be escaped in a URL.

use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::fmt;

/// What the server wants at least, and pads to.
const DIGITS_MIN: usize = 21;
const DIGITS_MAX: usize = 40;
const NOWHERE: &str = "~";

/// The number of a change, which grows within a shard and from a shard to its children.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct Sequence(String);

impl Sequence {
    pub(super) fn parse(text: &str) -> Option<Self> {
        let is_number = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
        (is_number && text.len() <= DIGITS_MAX).then(|| Self(text.trim_start_matches('0').into()))
    }
}

impl Ord for Sequence {
    fn cmp(&self, other: &Self) -> Ordering {
        (self.0.len(), &self.0).cmp(&(other.0.len(), &other.0))
    }
}

impl PartialOrd for Sequence {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl fmt::Display for Sequence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:0>DIGITS_MIN$}", self.0)
    }
}

/// How far a shard was read.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) enum Spot {
    Start,
    After(Sequence),
    /// Behind what was there at this moment, in milliseconds of the machine's clock.
    Since(i64),
    /// All of it, and it is closed.
    Over,
}

/// By the short names of the shards.
pub(super) type Spots = BTreeMap<String, Spot>;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Checkpoint {
    /// Of whichever shard has it.
    Number(Sequence),
    Spots(Spots),
}

/// The part of a shard's id that tells it from others.
pub(super) fn short(id: &str) -> String {
    id.strip_prefix("shardId-").unwrap_or(id).trim_start_matches('0').to_owned()
}

pub(super) fn parse(text: &str) -> Option<Checkpoint> {
    if let Some(number) = Sequence::parse(text) {
        return Some(Checkpoint::Number(number));
    }
    if text == NOWHERE {
        return Some(Checkpoint::Spots(Spots::new()));
    }
    let mut spots = Spots::new();
    for part in text.split('.') {
        let (shard, spot) = part.split_once('~')?;
        let is_name = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-';
        if shard.is_empty() || !shard.bytes().all(is_name) {
            return None;
        }
        let spot = match spot {
            "s" => Spot::Start,
            "e" => Spot::Over,
            spot => match spot.strip_prefix('t') {
                Some(moment) => Spot::Since(moment.parse().ok().filter(|moment| *moment >= 0)?),
                None => Spot::After(Sequence::parse(spot)?),
            },
        };
        if spots.insert(shard.to_owned(), spot).is_some() {
            return None;
        }
    }
    Some(Checkpoint::Spots(spots))
}

/// Only while there is no shard but one is a number enough: siblings of one that was split may
/// show up late, and have numbers from before.
pub(super) fn text(spots: &Spots, is_only_shard: bool) -> String {
    if let Some(Spot::After(number)) = spots.values().next().filter(|_| is_only_shard) {
        return number.to_string();
    }
    let parts: Vec<_> = spots
        .iter()
        .map(|(shard, spot)| match spot {
            Spot::Start => format!("{shard}~s"),
            Spot::After(number) => format!("{shard}~{number}"),
            Spot::Since(moment) => format!("{shard}~t{moment}"),
            Spot::Over => format!("{shard}~e"),
        })
        .collect();
    match parts.is_empty() {
        true => NOWHERE.to_owned(),
        false => parts.join("."),
    }
}

#[cfg(test)]
mod tests;
