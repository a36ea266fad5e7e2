//! The last changes, in the order they were made. As many as fit; older ones are forgotten.

use std::collections::VecDeque;

use crate::StoreError;
use crate::changes::{Change, Changes, ChangesError, PAGE_BYTES_MAX, Place, Start, Wanted, What};
use crate::key::Key;

/// Changes that are remembered.
const CHANGES_MAX: usize = 10_000;

#[derive(Debug, Default)]
pub(super) struct History {
    /// How many there ever were: the number of the last.
    last: u64,
    /// The number of the last that was forgotten.
    forgotten: u64,
    changes: VecDeque<Noted>,
}

#[derive(Debug)]
struct Noted {
    number: u64,
    key: Key,
    what: What,
    /// When the row would be gone, in seconds.
    expires: Option<i64>,
}

pub(super) fn number_of(place: &Place) -> Result<u64, StoreError> {
    place.as_str().parse().map_err(|_| ChangesError::Unknown(place.clone()).into())
}

impl History {
    pub(super) fn last(&self) -> u64 {
        self.last
    }

    pub(super) fn push(&mut self, key: Key, what: What, expires: Option<i64>) {
        self.last += 1;
        self.changes.push_back(Noted { number: self.last, key, what, expires });
        if self.changes.len() > CHANGES_MAX
            && let Some(oldest) = self.changes.pop_front()
        {
            self.forgotten = oldest.number;
        }
    }

    /// As if they had never been; their numbers are not given again.
    pub(super) fn forget_after(&mut self, last: u64) {
        self.changes.retain(|noted| noted.number <= last);
    }

    /// What the row was before it was erased.
    pub(super) fn forget_row(&mut self, key: &Key) {
        self.changes.retain(|noted| noted.key != *key);
    }

    pub(super) fn read(&self, wanted: &Wanted, now: i64) -> Result<Changes, StoreError> {
        let after = match &wanted.start {
            Start::Oldest => self.forgotten,
            Start::Now => self.last,
            Start::After(place) => match number_of(place)? {
                after if after > self.last => {
                    return Err(ChangesError::Unknown(place.clone()).into());
                }
                after if after < self.forgotten => {
                    return Err(ChangesError::TooOld(place.clone()).into());
                }
                after => after,
            },
        };
        let found = self
            .changes
            .iter()
            .skip(self.changes.partition_point(|noted| noted.number <= after))
            .filter(|noted| noted.expires.is_none_or(|at| at > now))
            .filter(|noted| is_wanted(wanted, noted));
        let mut found = found.peekable();
        let (mut changes, mut bytes) = (Vec::new(), 0);
        while changes.len() < wanted.limit
            && bytes < PAGE_BYTES_MAX
            && let Some(noted) = found.next()
        {
            bytes += noted.what.bytes();
            changes.push(change_of(noted));
        }
        let is_end = found.peek().is_none();
        let next = match changes.last().filter(|_| !is_end) {
            Some(last) => last.place.clone(),
            None => Place::new(self.last.to_string()),
        };
        Ok(Changes { changes, next, is_end })
    }
}

fn is_wanted(wanted: &Wanted, noted: &Noted) -> bool {
    match &noted.what {
        What::Inserted(row) | What::Changed(row) => wanted.wants(row),
        What::Removed => noted.key.table == wanted.kind.table(),
    }
}

fn change_of(noted: &Noted) -> Change {
    let sequence = noted.number.to_string();
    let place = Place::new(sequence.clone());
    Change { key: noted.key.clone(), what: noted.what.clone(), sequence, place }
}

#[cfg(test)]
mod tests;
