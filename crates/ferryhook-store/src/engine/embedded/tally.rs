//! How much expires when, by the hour: enough to know what a sweep would win.

use std::collections::BTreeMap;

use super::codec;

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Tally(BTreeMap<u32, u64>);

/// Stands for what never expires.
const NEVER: u32 = u32::MAX;

impl Tally {
    pub(super) fn add(&mut self, expires: Option<i64>, amount: u64) {
        // Rounded up: an hour counts as over when all of it is.
        let hour = expires.map_or(NEVER, |at| u32::try_from(at / 3600 + 1).unwrap_or(NEVER));
        *self.0.entry(hour).or_default() += amount;
    }

    pub(super) fn total(&self) -> u64 {
        self.0.values().sum()
    }

    pub(super) fn expired(&self, now: i64) -> u64 {
        self.0.range(..=hour_of(now)).map(|(_, amount)| amount).sum()
    }

    pub(super) fn forget_expired(&mut self, now: i64) {
        self.0 = self.0.split_off(&(hour_of(now) + 1));
    }

    /// As a value of the tree: it starts with "never expires" like every other.
    pub(super) fn to_value(&self) -> Vec<u8> {
        let mut bytes = codec::expiry_bytes(None).to_vec();
        for (hour, amount) in &self.0 {
            codec::push_varint(&mut bytes, u64::from(*hour));
            codec::push_varint(&mut bytes, *amount);
        }
        bytes
    }

    pub(super) fn from_value(value: &[u8]) -> Option<Self> {
        let mut rest = value.get(4..)?;
        let mut hours = BTreeMap::new();
        while !rest.is_empty() {
            let hour = u32::try_from(codec::take_varint(&mut rest)?).ok()?;
            hours.insert(hour, codec::take_varint(&mut rest)?);
        }
        Some(Self(hours))
    }
}

fn hour_of(now: i64) -> u32 {
    u32::try_from(now / 3600).unwrap_or(NEVER - 1).min(NEVER - 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_expires_is_counted_when_its_hour_is_over() {
        let mut tally = Tally::default();
        tally.add(Some(3600), 5);
        tally.add(Some(7300), 7);
        tally.add(None, 11);
        assert_eq!(tally.total(), 23);
        assert_eq!([0, 3600, 7199, 7200, 10_800].map(|now| tally.expired(now)), [0, 0, 0, 5, 12]);
        assert_eq!(Tally::from_value(&tally.to_value()), Some(tally.clone()));
        tally.forget_expired(7200);
        assert_eq!(tally.total(), 18);
    }
}
