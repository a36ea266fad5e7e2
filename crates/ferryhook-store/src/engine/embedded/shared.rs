//! What the writer, the readers and the upkeep of one open store share.

use std::collections::{BTreeMap, HashMap};
use std::io;
use std::ops::Bound;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, OnceLock, PoisonError, RwLock};
use std::time::Duration;

use lsm_tree::{AbstractTree, AnyTree, SeqNo, SequenceNumberCounter};

use super::log::Contents;
use super::tally::Tally;
use super::young::{Changes, Few, Young};
use crate::StoreError;
use crate::query::Order;

pub(super) struct Shared {
    pub(super) tree: AnyTree,
    /// Counts every change of the tree, its own included.
    pub(super) sequence: SequenceNumberCounter,
    pub(super) contents: Contents,
    /// Readers see what is below.
    visible: AtomicU64,
    /// Held while a group enters the tree, so that nobody moves `visible` into its middle.
    pub(super) entering: Mutex<()>,
    /// Always as of `visible`: both move in one step, under this lock.
    pub(super) young: Mutex<Young>,
    /// Sequence numbers that someone still reads at.
    reading: Mutex<BTreeMap<SeqNo, usize>>,
    /// Read while files come and go; written by one who needs them to stand still.
    pub(super) files: RwLock<()>,
    /// Why the last try to write a table out failed.
    trouble: Mutex<Option<(io::ErrorKind, String)>>,
    drained: Condvar,
    failure: OnceLock<String>,
    closing: AtomicBool,
    /// One backup at a time: they share the place they are staged in.
    pub(super) backing_up: Mutex<()>,
    /// All entries of the tree that expire, by when. Noted in the tree with every new segment.
    pub(super) entries: Mutex<Tally>,
    /// Content bytes of each segment that were deleted before they expired.
    pub(super) freed: Mutex<HashMap<u32, u64>>,
}

pub(super) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Shared {
    pub(super) fn new(tree: AnyTree, sequence: SequenceNumberCounter, contents: Contents) -> Self {
        let visible = AtomicU64::new(sequence.get());
        Self {
            tree,
            sequence,
            contents,
            visible,
            entering: Mutex::default(),
            young: Mutex::default(),
            reading: Mutex::default(),
            files: RwLock::default(),
            trouble: Mutex::default(),
            drained: Condvar::new(),
            failure: OnceLock::new(),
            closing: AtomicBool::new(false),
            backing_up: Mutex::default(),
            entries: Mutex::default(),
            freed: Mutex::default(),
        }
    }

    /// Shows all that has entered the tree. The caller holds `entering` or is alone. After a
    /// failure the tree may hold what the disk does not: that is never shown.
    pub(super) fn publish(&self) {
        if self.failure.get().is_some() {
            return;
        }
        self.visible.store(self.sequence.get(), Ordering::Release);
    }

    /// Shows all that has entered the tree together with what it does to the young markers.
    pub(super) fn publish_with(&self, changes: Changes) {
        if changes.is_empty() {
            return self.publish();
        }
        let mut young = lock(&self.young);
        young.apply(changes);
        self.publish();
    }

    /// Shows the young markers, all of which have entered the tree, as part of it.
    pub(super) fn publish_grown(&self) {
        let grown = {
            let mut young = lock(&self.young);
            self.publish();
            std::mem::take(&mut *young)
        };
        drop(grown); // not while others wait for the lock
    }

    /// A view of the tree as of now, and the first few young markers of the same moment.
    pub(super) fn snapshot_with_young(
        &self,
        span: &(Bound<Vec<u8>>, Bound<Vec<u8>>),
        order: Order,
        most: usize,
    ) -> (Snapshot<'_>, Few) {
        let young = lock(&self.young);
        (self.snapshot(), young.few(span, order, most))
    }

    /// A view of the tree as of now; its rows stay readable while it lives.
    pub(super) fn snapshot(&self) -> Snapshot<'_> {
        let mut reading = lock(&self.reading);
        let at = self.visible.load(Ordering::Acquire);
        *reading.entry(at).or_default() += 1;
        Snapshot { shared: self, at }
    }

    /// Versions below this that have a successor are nobody's any more.
    pub(super) fn oldest_read(&self) -> SeqNo {
        let reading = lock(&self.reading);
        let visible = self.visible.load(Ordering::Acquire);
        reading.keys().next().map_or(visible, |oldest| visible.min(*oldest))
    }

    /// The first failure that makes every later promise impossible; it stays.
    pub(super) fn fail(&self, what: &str) {
        if self.failure.set(what.to_owned()).is_ok() {
            tracing::error!("the embedded store stopped taking writes: {what}; restart to recover");
        }
    }

    pub(super) fn close(&self) {
        self.closing.store(true, Ordering::Release);
    }

    pub(super) fn is_closing(&self) -> bool {
        self.closing.load(Ordering::Acquire)
    }

    pub(super) fn check(&self) -> Result<(), StoreError> {
        match self.failure.get() {
            Some(what) => Err(StoreError::Unavailable(
                format!("writing failed earlier ({what}); restart to recover"),
                None,
            )),
            None => Ok(()),
        }
    }

    pub(super) fn flushed(&self, result: Result<(), &lsm_tree::Error>) {
        *lock(&self.trouble) = result.err().map(|error| (io_kind(error), error.to_string()));
        self.drained.notify_all();
    }

    /// Waits until fewer than `most` sealed tables wait to be written, or writing them fails.
    pub(super) fn wait_for_room(&self, most: usize) -> Result<(), StoreError> {
        let mut trouble = lock(&self.trouble);
        while self.tree.sealed_memtable_count() >= most {
            if let Some((kind, what)) = &*trouble {
                return Err(match kind {
                    io::ErrorKind::StorageFull => StoreError::Full(what.clone()),
                    _ => StoreError::Unavailable(what.clone(), None),
                });
            }
            let waited = self.drained.wait_timeout(trouble, Duration::from_millis(100));
            trouble = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
        Ok(())
    }
}

fn io_kind(error: &lsm_tree::Error) -> io::ErrorKind {
    match error {
        lsm_tree::Error::Io(error) => error.kind(),
        _ => io::ErrorKind::Other,
    }
}

pub(super) fn tree_error(error: lsm_tree::Error) -> StoreError {
    match error {
        lsm_tree::Error::Io(error) if error.kind() == io::ErrorKind::StorageFull => {
            StoreError::Full(error.to_string())
        }
        lsm_tree::Error::Io(error) => StoreError::unavailable("the tree cannot be read", error),
        lsm_tree::Error::ChecksumMismatch { .. } => {
            StoreError::Damaged("a block of the tree does not match its checksum".into())
        }
        other => StoreError::Damaged(format!("the tree cannot be read: {other}")),
    }
}

pub(super) struct Snapshot<'a> {
    shared: &'a Shared,
    pub(super) at: SeqNo,
}

impl Drop for Snapshot<'_> {
    fn drop(&mut self) {
        let mut reading = lock(&self.shared.reading);
        if let Some(count) = reading.get_mut(&self.at) {
            *count -= 1;
            if *count == 0 {
                reading.remove(&self.at);
            }
        }
    }
}
