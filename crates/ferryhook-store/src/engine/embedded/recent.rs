//! Which rows the tables in memory may have, as hashes of their keys.
//!
//! Most inserts are of rows that were never there, and each has to be looked for before it is
//! let in. The tables on disk have filters for that; those in memory would be searched. A hash
//! that is known here only says that a search is worth it.

use std::collections::{HashSet, VecDeque};

use super::hashed::ByHash;

/// `None` stands for a table whose rows are not known, such as one that was filled by recovery.
type Rows = Option<HashSet<u64, ByHash>>;

#[derive(Debug)]
pub(super) struct Recent {
    /// Of the table that is being filled.
    active: Rows,
    /// Of those that wait to be written out, oldest first.
    sealed: VecDeque<Rows>,
}

impl Recent {
    /// For a table in memory that is empty, or is not.
    pub(super) fn new(is_empty: bool) -> Self {
        Self { active: is_empty.then(HashSet::default), sealed: VecDeque::new() }
    }

    pub(super) fn add(&mut self, hash: u64) {
        if let Some(active) = &mut self.active {
            active.insert(hash);
        }
    }

    /// Whether a table in memory may have the row.
    pub(super) fn may_have(&self, hash: u64) -> bool {
        let knows = |rows: &Rows| rows.as_ref().is_none_or(|rows| rows.contains(&hash));
        knows(&self.active) || self.sealed.iter().any(knows)
    }

    /// The table is sealed and the next one begun.
    pub(super) fn seal(&mut self) {
        let capacity = self.active.as_ref().map_or(0, HashSet::len);
        let next = HashSet::with_capacity_and_hasher(capacity, ByHash::default());
        self.sealed.push_back(self.active.replace(next));
    }

    /// Forgets all but the newest sealed tables: the others are on disk.
    pub(super) fn keep(&mut self, sealed: usize) {
        while self.sealed.len() > sealed {
            self.sealed.pop_front();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_is_remembered_until_its_table_is_on_disk() {
        let mut recent = Recent::new(true);
        recent.add(1);
        recent.seal();
        recent.add(2);
        recent.seal();
        assert_eq!([1, 2, 3].map(|row| recent.may_have(row)), [true, true, false]);
        recent.keep(1);
        assert_eq!([1, 2].map(|row| recent.may_have(row)), [false, true]);
        recent.keep(0);
        assert!(!recent.may_have(2));
    }

    #[test]
    fn what_recovery_left_may_have_any_row() {
        let mut recent = Recent::new(false);
        assert!(recent.may_have(7));
        recent.seal();
        assert!(recent.may_have(7));
        recent.keep(0);
        assert!(!recent.may_have(7));
    }
}
