//! The tree's files as of one moment, and how to look through them.
//!
//! Looking goes past the tree itself, which keeps its list of files locked while it writes it to
//! disk, and which knows of a file only its first and its last key. Ids of events begin with their
//! time, so of all files one or two can have an id, or what is kept under it; but every file has
//! keys of all kinds, and by its first and last key each might. So the first and the last key that a
//! file has of such a stretch are found out once, when they are first needed. Then an event is found
//! by its id as quickly among many files as among few, and that a new delivery is not there yet
//! costs no look into any of them.

use std::collections::HashMap;
use std::ops::Bound;
use std::sync::{Arc, OnceLock};

use lsm_tree::merge::Merger;
use lsm_tree::mvcc_stream::MvccStream;
use lsm_tree::{AbstractTree, AnyTree, InternalValue, KeyRange, SeqNo, Table, TableId};
use lsm_tree::{UserKey, UserValue};

use super::fresh::Span;
use super::layout::{self, Stretch};

/// What the files have of a span: each key once, in the version that the reader may see.
pub(super) type Old = Box<dyn DoubleEndedIterator<Item = lsm_tree::Result<Entry>> + Send>;
/// A key with its value, or without if it was deleted.
pub(super) type Entry = (UserKey, Option<UserValue>);

type Bounds = (Bound<UserKey>, Bound<UserKey>);
type Versions = Box<dyn DoubleEndedIterator<Item = lsm_tree::Result<InternalValue>> + Send>;

#[derive(Default)]
pub(super) struct Files {
    /// Newest first. The files of a run do not overlap and are in order.
    runs: Vec<Vec<Arc<File>>>,
    /// The last entry by which they find an event by its id.
    last_by_id: OnceLock<Option<UserKey>>,
    /// Counts up with every change of the files.
    pub(super) version: u64,
}

pub(super) struct File {
    table: Table,
    /// The first and the last of its keys in each stretch that goes by time.
    timely: [OnceLock<Option<KeyRange>>; Stretch::ALL.len()],
}

impl Files {
    /// As they are now. What was known about a file stays known.
    pub(super) fn of(tree: &AnyTree, before: &Self) -> Self {
        let known: HashMap<TableId, &Arc<File>> =
            before.runs.iter().flatten().map(|file| (file.table.id(), file)).collect();
        let file = |table: &Table| match known.get(&table.id()) {
            Some(file) => Arc::clone(file),
            None => Arc::new(File { table: table.clone(), timely: Default::default() }),
        };
        let version = tree.current_version();
        let runs = version.iter_levels().flat_map(|level| level.iter());
        let runs = runs.map(|run| run.iter().map(file).collect()).collect();
        Self { runs, last_by_id: OnceLock::new(), version: version.id() }
    }

    pub(super) fn ids(&self) -> impl Iterator<Item = TableId> {
        self.runs.iter().flatten().map(|file| file.table.id())
    }

    /// The value of a row or a note that the newest file with its key has.
    pub(super) fn get(
        &self,
        key: &[u8],
        hash: u64,
        at: SeqNo,
    ) -> lsm_tree::Result<Option<UserValue>> {
        for file in self.that_may_have(key) {
            // The tree's filters use the same hash.
            if let Some(item) = file?.table.get(key, at, hash)? {
                return Ok((!item.is_tombstone()).then_some(item.value));
            }
        }
        Ok(None)
    }

    /// Newest first.
    pub(super) fn that_may_have<'a>(
        &'a self,
        key: &'a [u8],
    ) -> impl Iterator<Item = lsm_tree::Result<&'a File>> {
        let stretch = Stretch::of(key);
        let runs = match layout::entry_by_id(key) {
            Some(entry) if self.end_before(&entry) => &[],
            _ => self.runs.as_slice(),
        };
        let one_of = |run: &'a Vec<Arc<File>>| {
            let place = run.partition_point(|file| **file.keys().max() < *key);
            run.get(place).map(Arc::as_ref).filter(|file| file.keys().contains_key(key))
        };
        runs.iter().filter_map(one_of).filter_map(move |file| {
            let Some(stretch) = stretch else { return Some(Ok(file)) };
            match file.has_of(stretch) {
                Ok(keys) => keys.is_some_and(|keys| keys.contains_key(key)).then_some(Ok(file)),
                Err(error) => Some(Err(error)),
            }
        })
    }

    /// Whether all events that they find by id come before this one.
    fn end_before(&self, entry: &[u8]) -> bool {
        if self.last_by_id.get().is_none() {
            let mut last = None;
            for file in self.runs.iter().flatten() {
                // Whoever asks the file itself next is told what is wrong with it.
                let Ok(keys) = file.has_of(Stretch::Ids) else { return false };
                last = last.max(keys.map(KeyRange::max));
            }
            let _ = self.last_by_id.set(last.cloned()); // someone may have been faster
        }
        matches!(self.last_by_id.get(), Some(Some(last)) if **last < *entry)
    }

    pub(super) fn look(&self, span: &Span, at: SeqNo) -> lsm_tree::Result<Old> {
        // A span never lies in two.
        let stretch = match &span.0 {
            Bound::Included(low) | Bound::Excluded(low) => Stretch::of(low),
            Bound::Unbounded => None,
        };
        let mut runs = Vec::new();
        for run in &self.runs {
            let mut tables = Vec::new();
            for file in within(run, span) {
                let may_have = match stretch {
                    Some(stretch) => file
                        .has_of(stretch)?
                        .is_some_and(|keys| keys.overlaps_with_bounds(&borrowed(span))),
                    None => true,
                };
                if may_have {
                    tables.push(file.table.clone());
                }
            }
            if !tables.is_empty() {
                runs.push(versions_of(tables, span, at));
            }
        }
        let newest = MvccStream::new(Merger::new(runs));
        Ok(Box::new(newest.map(|item| {
            let item = item?;
            let is_there = !item.is_tombstone();
            Ok((item.key.user_key, is_there.then_some(item.value)))
        })))
    }
}

/// The files of a run that may have keys of the span.
fn within<'a>(run: &'a [Arc<File>], span: &'a Span) -> impl Iterator<Item = &'a Arc<File>> {
    let first = match &span.0 {
        Bound::Included(from) | Bound::Excluded(from) => {
            run.partition_point(|file| **file.keys().max() < **from)
        }
        Bound::Unbounded => 0,
    };
    let ends_before = |file: &Arc<File>| match &span.1 {
        Bound::Included(to) | Bound::Excluded(to) => **to < **file.keys().min(),
        Bound::Unbounded => false,
    };
    let rest = run[first..].iter().take_while(move |file| !ends_before(file));
    rest.filter(|file| file.keys().overlaps_with_bounds(&borrowed(span)))
}

fn borrowed((from, to): &Span) -> (Bound<&[u8]>, Bound<&[u8]>) {
    (from.as_ref().map(Vec::as_slice), to.as_ref().map(Vec::as_slice))
}

/// All versions that the files of one run have, one file after the other. It keeps the files.
fn versions_of(tables: Vec<Table>, (from, to): &Span, at: SeqNo) -> Versions {
    let key = |key: &Vec<u8>| UserKey::from(key.as_slice());
    let bounds: Bounds = (from.as_ref().map(key), to.as_ref().map(key));
    let range = move |table: Table| table.range(bounds.clone());
    let kept = tables.clone();
    let seen = move |item: &lsm_tree::Result<InternalValue>| {
        let _ = &kept;
        item.as_ref().map_or(true, |item| item.key.seqno < at)
    };
    Box::new(tables.into_iter().flat_map(range).filter(seen))
}

impl File {
    fn keys(&self) -> &KeyRange {
        &self.table.metadata.key_range
    }

    /// The first and the last of its keys there.
    fn has_of(&self, stretch: Stretch) -> lsm_tree::Result<Option<&KeyRange>> {
        let known = &self.timely[stretch as usize];
        if known.get().is_none() {
            let span = stretch.span();
            // One walk for each end: a walk from both would end where it meets itself.
            let walk = || versions_of(vec![self.table.clone()], &span, SeqNo::MAX);
            let (first, last) = (walk().next().transpose()?, walk().next_back().transpose()?);
            let ends = first.zip(last).map(|(first, last)| (first.key.user_key, last.key.user_key));
            let _ = known.set(ends.map(KeyRange::new)); // someone may have been faster
        }
        Ok(known.get().and_then(Option::as_ref))
    }
}
