//! Markers: index entries of what waits for someone (`Pending`, `Due`). Most live for
//! milliseconds, and in the tree each would cost a write, a tombstone and the merging of both.
//!
//! A young marker is kept in memory, beside the table that the tree keeps there; one that is
//! removed while young never reaches the tree. Those that are left when the table is sealed go
//! into it, so that the log behind the checkpoint is still all that opening has to read. The
//! log has every marker from its commit on: after a crash all of them are in the tree.
//!
//! The writer alone changes them, and shows each change together with the group it came in.

use std::collections::{BTreeMap, VecDeque};
use std::ops::Bound;

use lsm_tree::UserKey;

use super::codec;
use super::fresh::Span;
use crate::query::Order;

/// What happens to a marker, in the order of the log.
#[derive(Debug, Clone)]
pub(super) enum Mark {
    /// The tree has no such marker.
    Enter {
        key: UserKey,
        expires: Option<i64>,
    },
    /// It may be there already, here or in the tree, with another expiry.
    Renew {
        key: UserKey,
        expires: Option<i64>,
    },
    Leave {
        key: UserKey,
    },
}

/// As a value of the tree has it.
type Expiry = [u8; 4];

/// What becomes of markers in one group: present with this expiry, or gone.
pub(super) type Changes = BTreeMap<UserKey, Option<Expiry>>;

#[derive(Debug, Default)]
pub(super) struct Young {
    markers: BTreeMap<UserKey, Expiry>,
    bytes: usize,
}

/// What a marker takes beside its key, about.
const OVERHEAD: usize = 80;

impl Young {
    /// Tells what the marks change here, and which of them concern the tree instead.
    pub(super) fn sort_out(&self, marks: Vec<Mark>) -> (Changes, Vec<Mark>) {
        let mut changes = Changes::new();
        let mut older = Vec::new();
        for mark in marks {
            let here = |key: &UserKey| match changes.get(key) {
                Some(change) => change.is_some(),
                None => self.markers.contains_key(key),
            };
            let (key, change) = match mark {
                Mark::Enter { key, expires } => (key, Some(codec::expiry_bytes(expires))),
                Mark::Renew { key, expires } if here(&key) => {
                    (key, Some(codec::expiry_bytes(expires)))
                }
                Mark::Leave { key } if here(&key) => (key, None),
                mark => {
                    older.push(mark);
                    continue;
                }
            };
            changes.insert(key, change);
        }
        (changes, older)
    }

    pub(super) fn apply(&mut self, changes: Changes) {
        for (key, change) in changes {
            let bytes = key.len() + OVERHEAD;
            match change {
                Some(expiry) => {
                    if self.markers.insert(key, expiry).is_none() {
                        self.bytes += bytes;
                    }
                }
                None => {
                    if self.markers.remove(&key).is_some() {
                        self.bytes -= bytes;
                    }
                }
            }
        }
    }

    /// The memory they take.
    pub(super) fn bytes(&self) -> usize {
        self.bytes
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = (&UserKey, &Expiry)> {
        self.markers.iter()
    }

    /// The first few between these bounds, in the order of a query.
    pub(super) fn few(&self, (low, high): &Span, order: Order, most: usize) -> Few {
        let bounds = (bound(low), bound(high));
        let empty = matches!(bounds, (Bound::Included(low) | Bound::Excluded(low),
            Bound::Excluded(high)) if low >= high);
        if empty {
            return Few::default();
        }
        let range = self.markers.range::<[u8], _>(bounds);
        let owned = |(key, expiry): (&UserKey, &Expiry)| (key.clone(), *expiry);
        let mut markers: VecDeque<_> = match order {
            Order::Ascending => range.take(most + 1).map(owned).collect(),
            Order::Descending => range.rev().take(most + 1).map(owned).collect(),
        };
        let more = markers.len() > most;
        markers.truncate(most);
        Few { markers, more }
    }
}

fn bound(bound: &Bound<Vec<u8>>) -> Bound<&[u8]> {
    bound.as_ref().map(Vec::as_slice)
}

/// Markers for one page, first one first.
#[derive(Debug, Default)]
pub(super) struct Few {
    pub(super) markers: VecDeque<(UserKey, Expiry)>,
    /// Whether there are more behind them.
    pub(super) more: bool,
}

#[cfg(test)]
mod tests;
