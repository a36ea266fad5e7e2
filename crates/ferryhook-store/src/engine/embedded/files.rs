//! The tree's files as of one moment, and how to look through them.
//!
//! Looking goes past the tree itself, which keeps its list of files locked while it writes it to
//! disk, and which knows of a file only its first and its last key. Ids of events begin with their
//! time, so of all files one or two can have an id; but every file has keys of all kinds, and by
//! its first and last key each might. So a file's first and last id are found out once, when they
//! are first needed, and an event is found by its id as quickly among many files as among few.

use std::collections::HashMap;
use std::ops::Bound;
use std::sync::{Arc, OnceLock};

use lsm_tree::merge::Merger;
use lsm_tree::mvcc_stream::MvccStream;
use lsm_tree::{AbstractTree, AnyTree, InternalValue, KeyRange, SeqNo, Table, TableId};
use lsm_tree::{UserKey, UserValue};

use super::fresh::Span;
use super::layout;

/// What the files have of a span: each key once, in the version that the reader may see.
pub(super) type Old = Box<dyn DoubleEndedIterator<Item = lsm_tree::Result<Entry>> + Send>;
pub(super) type Entry = (UserKey, UserValue);

type Bounds = (Bound<UserKey>, Bound<UserKey>);
type Versions = Box<dyn DoubleEndedIterator<Item = lsm_tree::Result<InternalValue>> + Send>;

#[derive(Default)]
pub(super) struct Files {
    /// Newest first. The files of a run do not overlap and are in order.
    runs: Vec<Vec<Arc<File>>>,
    /// Counts up with every change of the files.
    pub(super) version: u64,
}

struct File {
    table: Table,
    /// The first and the last of the keys by which events are found by their ids.
    ids: OnceLock<Option<KeyRange>>,
}

impl Files {
    /// As they are now. What was known about a file stays known.
    pub(super) fn of(tree: &AnyTree, before: &Self) -> Self {
        let known: HashMap<TableId, &Arc<File>> =
            before.runs.iter().flatten().map(|file| (file.table.id(), file)).collect();
        let file = |table: &Table| match known.get(&table.id()) {
            Some(file) => Arc::clone(file),
            None => Arc::new(File { table: table.clone(), ids: OnceLock::new() }),
        };
        let version = tree.current_version();
        let runs = version.iter_levels().flat_map(|level| level.iter());
        let runs = runs.map(|run| run.iter().map(file).collect()).collect();
        Self { runs, version: version.id() }
    }

    /// The value of a row or a note that the newest file with its key has.
    pub(super) fn get(
        &self,
        key: &[u8],
        hash: u64,
        at: SeqNo,
    ) -> lsm_tree::Result<Option<UserValue>> {
        for run in &self.runs {
            let place = run.partition_point(|file| **file.keys().max() < *key);
            let Some(file) = run.get(place).filter(|file| file.keys().contains_key(key)) else {
                continue;
            };
            // The tree's filters use the same hash.
            if let Some(item) = file.table.get(key, at, hash)? {
                return Ok((!item.is_tombstone()).then_some(item.value));
            }
        }
        Ok(None)
    }

    pub(super) fn look(&self, span: &Span, at: SeqNo) -> lsm_tree::Result<Old> {
        let by_id = layout::is_of_ids(span);
        let mut runs = Vec::new();
        for run in &self.runs {
            let mut tables = Vec::new();
            for file in within(run, span) {
                if !by_id || file.may_have_ids(span)? {
                    tables.push(file.table.clone());
                }
            }
            if !tables.is_empty() {
                runs.push(versions_of(tables, span, at));
            }
        }
        let newest = MvccStream::new(Merger::new(runs));
        Ok(Box::new(newest.filter_map(|item| match item {
            Ok(item) => (!item.is_tombstone()).then(|| Ok((item.key.user_key, item.value))),
            Err(error) => Some(Err(error)),
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

    fn may_have_ids(&self, span: &Span) -> lsm_tree::Result<bool> {
        if self.ids.get().is_none() {
            let ids = layout::ids();
            // One walk for each end: a walk from both would end where it meets itself.
            let walk = || versions_of(vec![self.table.clone()], &ids, SeqNo::MAX);
            let (first, last) = (walk().next().transpose()?, walk().next_back().transpose()?);
            let ends = first.zip(last).map(|(first, last)| (first.key.user_key, last.key.user_key));
            let _ = self.ids.set(ends.map(KeyRange::new)); // someone may have been faster
        }
        let ids = self.ids.get().and_then(Option::as_ref);
        Ok(ids.is_some_and(|ids| ids.overlaps_with_bounds(&borrowed(span))))
    }
}
