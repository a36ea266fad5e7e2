//! The tables in memory: all that the tree's files do not have yet.
//!
//! There is one that is being filled and, for a while, those that are full and being written
//! out. Writing is what happens most, so it is cheap: a version is put at the end of its shelf
//! (one for each table and index). A row is found by its hash. Sorting is left to the first
//! query that comes by, and to the writer (beside the disk's work) before it becomes much; a
//! query looks through sorted runs and the little that came since. Only the writer adds; nothing
//! is ever changed.

use std::collections::HashMap;
use std::mem;
use std::ops::{Bound, Range};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError, RwLock};

use lsm_tree::{InternalValue, SeqNo, UserKey, UserValue, ValueType};

use super::hashed::ByHash;
use super::layout;
use crate::query::Order;

mod cursor;

pub(super) use cursor::Cursor;

/// One state of one key, from this sequence number on.
#[derive(Debug, Clone)]
pub(super) struct Version {
    pub(super) key: UserKey,
    /// Absent when the key is deleted.
    pub(super) value: Option<UserValue>,
    pub(super) sequence: SeqNo,
}

/// Sorted by key, newest version first.
type Run = Arc<Vec<Version>>;
/// The part of all keys that a query wants.
pub(super) type Span = (Bound<Vec<u8>>, Bound<Vec<u8>>);

/// A reader sorts what is more than this; less is looked through.
const TAIL_SHORT: usize = 256;
/// The writer sorts what is more than this, so that no reader has too much to sort.
const TAIL_LONG: usize = 1024;
/// So many short runs become a longer one where queries come by; the writer sees to it as well.
const SHORT_RUNS_MAX: usize = 8;
/// A run of so many is left as it is.
const RUN_LONG: usize = 8192;
/// What a version takes beside its key and its value, about.
const OVERHEAD: usize = 80;

#[derive(Debug)]
pub(super) struct Table {
    /// By the first byte of their keys.
    shelves: RwLock<Vec<Shelf>>,
    bytes: AtomicU64,
    versions: AtomicU64,
    /// Whether there is something that no reader should have to sort.
    untidy: AtomicBool,
    /// Held by the one who sorts.
    sorting: Mutex<()>,
}

#[derive(Debug, Default)]
struct Shelf {
    /// Oldest first.
    runs: Vec<Run>,
    /// In order of arrival.
    tail: Vec<Version>,
    /// The newest version of each row, by the hash of its key.
    newest: HashMap<u64, Version, ByHash>,
    /// Whether a query came by since its runs were merged.
    looked_at: AtomicBool,
}

impl Shelf {
    /// Those behind the last long one.
    fn short_runs(&self) -> &[Run] {
        let long = self.runs.iter().rposition(|run| run.len() >= RUN_LONG);
        &self.runs[long.map_or(0, |long| long + 1)..]
    }
}

impl Default for Table {
    fn default() -> Self {
        let shelves = (0..=u8::MAX).map(|_| Shelf::default()).collect();
        Self {
            shelves: RwLock::new(shelves),
            bytes: 0.into(),
            versions: 0.into(),
            untidy: false.into(),
            sorting: Mutex::default(),
        }
    }
}

impl Table {
    /// About how much memory it takes.
    pub(super) fn bytes(&self) -> u64 {
        self.bytes.load(Ordering::Relaxed)
    }

    pub(super) fn len(&self) -> u64 {
        self.versions.load(Ordering::Relaxed)
    }

    /// Adds versions that are newer than all that are here. Those of one call may have the same
    /// key and number: then the last one counts.
    pub(super) fn add(&self, versions: Vec<Version>) {
        let mut shelves = self.shelves.write().unwrap_or_else(PoisonError::into_inner);
        let (mut bytes, mut count, mut untidy) = (0, 0, false);
        for version in versions {
            let Some(shelf) = shelf_of(&version.key).and_then(|place| shelves.get_mut(place))
            else {
                continue; // no key is empty
            };
            bytes += version.key.len() + version.value.as_ref().map_or(0, |value| value.len());
            count += 1;
            if !layout::is_entry(&version.key) {
                shelf.newest.insert(hash(&version.key), version.clone());
            }
            shelf.tail.push(version);
            untidy |= shelf.tail.len() >= TAIL_LONG;
        }
        if untidy {
            self.untidy.store(true, Ordering::Relaxed);
        }
        self.bytes.fetch_add((bytes + count * OVERHEAD) as u64, Ordering::Relaxed);
        self.versions.fetch_add(count as u64, Ordering::Relaxed);
    }

    /// Sorts what has piled up, unless someone else is at it. For the writer, while it waits for
    /// the disk.
    pub(super) fn tidy(&self) {
        if !self.untidy.load(Ordering::Relaxed) {
            return;
        }
        let Ok(_sorting) = self.sorting.try_lock() else { return };
        for place in 0..=usize::from(u8::MAX) {
            self.sort(place, TAIL_LONG);
            self.merge(place);
        }
        self.untidy.store(false, Ordering::Relaxed);
    }

    /// Makes a run of a shelf's unsorted versions if they are that many. The caller is the one
    /// who sorts; the others need not wait for it.
    fn sort(&self, place: usize, at_least: usize) {
        let tail = {
            let shelves = self.shelves.read().unwrap_or_else(PoisonError::into_inner);
            match shelves.get(place) {
                Some(shelf) if shelf.tail.len() >= at_least => shelf.tail.clone(),
                _ => return,
            }
        };
        let count = tail.len();
        let run = Arc::new(sorted(tail));
        let mut shelves = self.shelves.write().unwrap_or_else(PoisonError::into_inner);
        let shelf = &mut shelves[place];
        shelf.tail.drain(..count);
        shelf.runs.push(run);
        if shelf.short_runs().len() >= SHORT_RUNS_MAX {
            self.untidy.store(true, Ordering::Relaxed);
        }
    }

    /// Makes one run of a shelf's short ones if they are many. The caller is the one who sorts.
    fn merge(&self, place: usize) {
        let short = {
            let shelves = self.shelves.read().unwrap_or_else(PoisonError::into_inner);
            let Some(shelf) = shelves.get(place) else { return };
            let short = shelf.short_runs();
            // Where nobody looks it can be left to the file.
            if short.len() < SHORT_RUNS_MAX || !shelf.looked_at.swap(false, Ordering::Relaxed) {
                return;
            }
            short.to_vec()
        };
        let versions = short.iter().flat_map(|run| run.iter().cloned()).collect();
        let merged = Arc::new(sorted(versions));
        let mut shelves = self.shelves.write().unwrap_or_else(PoisonError::into_inner);
        let runs = &mut shelves[place].runs;
        runs.truncate(runs.len() - short.len());
        runs.push(merged);
    }

    /// What the table has of a row (or note) below `at`: nothing, a deletion, or a value.
    pub(super) fn get(&self, key: &[u8], hash: u64, at: SeqNo) -> Option<Option<UserValue>> {
        let shelves = self.shelves.read().unwrap_or_else(PoisonError::into_inner);
        let shelf = shelves.get(shelf_of(key)?)?;
        let newest = shelf.newest.get(&hash)?;
        if newest.sequence < at && *newest.key == *key {
            return Some(newest.value.clone());
        }
        // An older version is wanted, or another key has the same hash.
        let is_it = |version: &&Version| *version.key == *key && version.sequence < at;
        let unsorted = shelf.tail.iter().rev().find(is_it);
        let found = unsorted.or_else(|| {
            shelf.runs.iter().rev().find_map(|run| {
                let from = run.partition_point(|version| *version.key < *key);
                run[from..].iter().take_while(|version| *version.key == *key).find(is_it)
            })
        });
        found.map(|version| version.value.clone())
    }

    /// Puts a cursor for each sorted part that has something of the span.
    pub(super) fn look(&self, span: &Span, order: Order, at: SeqNo, cursors: &mut Vec<Cursor>) {
        let (Bound::Included(low) | Bound::Excluded(low), _) = span else { return };
        let Some(place) = shelf_of(low) else { return };
        if let Ok(_sorting) = self.sorting.try_lock() {
            self.sort(place, TAIL_SHORT);
        }
        let (runs, tail) = {
            let shelves = self.shelves.read().unwrap_or_else(PoisonError::into_inner);
            let Some(shelf) = shelves.get(place) else { return };
            shelf.looked_at.store(true, Ordering::Relaxed);
            let tail = shelf.tail.iter().filter(|version| is_within(&version.key, span));
            (shelf.runs.clone(), tail.cloned().collect::<Vec<_>>())
        };
        for run in runs.into_iter().chain([Arc::new(sorted(tail))]) {
            let part = part_of(&run, span);
            cursors.extend(Cursor::new(run, part, order, at));
        }
    }

    /// The newest version of every key, in order, one shelf after the other. The table has to be
    /// full: nobody adds.
    pub(super) fn newest(&self) -> impl Iterator<Item = InternalValue> {
        (0..=usize::from(u8::MAX)).flat_map(|place| self.newest_of(place))
    }

    fn newest_of(&self, place: usize) -> impl Iterator<Item = InternalValue> + use<> {
        let versions = {
            let shelves = self.shelves.read().unwrap_or_else(PoisonError::into_inner);
            let Shelf { runs, tail, .. } = &shelves[place];
            let count = runs.iter().map(|run| run.len()).sum::<usize>() + tail.len();
            let mut versions = Vec::with_capacity(count);
            runs.iter().for_each(|run| versions.extend_from_slice(run));
            versions.extend(sorted(tail.clone()));
            versions
        };
        let mut versions = sorted(versions);
        versions.dedup_by(|older, newer| older.key == newer.key);
        versions.into_iter().map(|Version { key, value, sequence }| match value {
            Some(value) => InternalValue::from_components(key, value, sequence, ValueType::Value),
            None => InternalValue::new_tombstone(key, sequence),
        })
    }
}

pub(super) fn hash(key: &[u8]) -> u64 {
    xxhash_rust::xxh3::xxh3_64(key)
}

fn shelf_of(key: &[u8]) -> Option<usize> {
    key.first().map(|first| usize::from(*first))
}

/// By key, newest first; of versions with the same number only the one that came last.
fn sorted(mut versions: Vec<Version>) -> Vec<Version> {
    let shared = shared_bytes(&versions);
    // Most pairs are told apart by a few bytes, without a look at the keys themselves.
    let lead = |(version, place): (&Version, u32)| (lead(&version.key[shared..]), place);
    let mut order: Vec<(u128, u32)> = versions.iter().zip(0..).map(lead).collect();
    order.sort_by(|one, other| {
        let versions = |place: u32| &versions[place as usize];
        one.0.cmp(&other.0).then_with(|| {
            let (a, b) = (versions(one.1), versions(other.1));
            a.key.cmp(&b.key).then_with(|| b.sequence.cmp(&a.sequence)).then(other.1.cmp(&one.1))
        })
    });
    let mut sorted = Vec::with_capacity(versions.len());
    for (_, place) in order {
        let Version { key, value, sequence } = &mut versions[place as usize];
        let (key, value) = (mem::take(key), value.take());
        sorted.push(Version { key, value, sequence: *sequence });
    }
    sorted.dedup_by(|older, newer| older.sequence == newer.sequence && older.key == newer.key);
    sorted
}

/// With how many bytes all of the keys begin alike.
fn shared_bytes(versions: &[Version]) -> usize {
    let Some((first, others)) = versions.split_first() else { return 0 };
    let mut shared: &[u8] = &first.key;
    for Version { key, .. } in others {
        if !key.starts_with(shared) {
            let alike = shared.iter().zip(key.iter()).take_while(|(one, other)| one == other);
            shared = &shared[..alike.count()];
        }
    }
    shared.len()
}

/// The first bytes, as a number.
fn lead(bytes: &[u8]) -> u128 {
    match bytes.first_chunk::<16>() {
        Some(lead) => u128::from_be_bytes(*lead),
        None => {
            let mut lead = [0; 16];
            lead[..bytes.len()].copy_from_slice(bytes);
            u128::from_be_bytes(lead)
        }
    }
}

fn is_within(key: &[u8], (low, high): &Span) -> bool {
    let above = match low {
        Bound::Included(low) => key >= low.as_slice(),
        Bound::Excluded(low) => key > low.as_slice(),
        Bound::Unbounded => true,
    };
    above
        && match high {
            Bound::Included(high) => key <= high.as_slice(),
            Bound::Excluded(high) => key < high.as_slice(),
            Bound::Unbounded => true,
        }
}

fn part_of(run: &[Version], (low, high): &Span) -> Range<usize> {
    let from = match low {
        Bound::Included(low) => run.partition_point(|version| *version.key < **low),
        Bound::Excluded(low) => run.partition_point(|version| *version.key <= **low),
        Bound::Unbounded => 0,
    };
    let to = match high {
        Bound::Included(high) => run.partition_point(|version| *version.key <= **high),
        Bound::Excluded(high) => run.partition_point(|version| *version.key < **high),
        Bound::Unbounded => run.len(),
    };
    from..to.max(from)
}

#[cfg(test)]
mod tests;
