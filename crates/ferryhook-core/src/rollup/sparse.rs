//! Counts by number, few of which are there: a sorted list that adds without searching far.

/// Nothing in it is zero, so that two that count the same are the same.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Sparse(Vec<(u16, u64)>);

impl Sparse {
    pub(super) fn add(&mut self, of: u16, more: u64) {
        if more == 0 {
            return;
        }
        match self.0.binary_search_by_key(&of, |(known, _)| *known) {
            Ok(place) => self.0[place].1 = self.0[place].1.saturating_add(more),
            Err(place) => self.0.insert(place, (of, more)),
        }
    }

    pub(super) fn merge(&mut self, other: &Self) {
        for (of, more) in &other.0 {
            self.add(*of, *more);
        }
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = (u16, u64)> + '_ {
        self.0.iter().copied()
    }

    pub(super) fn total(&self) -> u64 {
        self.0.iter().fold(0, |sum, (_, count)| sum.saturating_add(*count))
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}
