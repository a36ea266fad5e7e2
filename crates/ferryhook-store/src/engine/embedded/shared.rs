//! What the writer, the readers and the upkeep of one open store share.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::fs;
use std::io;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, OnceLock, PoisonError, RwLock, TryLockError};
use std::time::Duration;

use lsm_tree::{AbstractTree, AnyTree, SeqNo, SequenceNumberCounter, TableId, UserValue};
use tokio::sync::watch;

use super::changes::Tail;
use super::files::{Files, Old};
use super::found::Found;
use super::fresh::{self, Span, Table};
use super::log::{Contents, Position, SEGMENT_HEADER};
use super::tally::Tally;
use super::young::{Changes, Few, Young};
use crate::StoreError;
use crate::query::Order;

/// A group of commits or a page of rows is over within a few of these.
const FREE_PAUSE: Duration = Duration::from_millis(1);
const FREE_TRIES: usize = 200;
/// Tables that were written out and not merged yet. The tree counts them in one byte when it notes
/// its files.
const WRITTEN_OUT_MAX: usize = 200;

pub(super) struct Shared {
    pub(super) tree: AnyTree,
    /// Counts every change of the tree, its own included.
    pub(super) sequence: SequenceNumberCounter,
    pub(super) contents: Contents,
    /// Held while a group enters the tree, so that nobody moves `visible` into its middle.
    pub(super) entering: Mutex<()>,
    /// Always as of what is visible: both move in one step, under this lock.
    pub(super) young: Mutex<Young>,
    views: Mutex<Views>,
    /// What was replaced and someone may still look at; see `free_unseen`.
    unseen: Mutex<Vec<Arc<Layers>>>,
    /// Whether there may be files that a failed write-out or merge has left half made.
    half_made: AtomicBool,
    /// Read while files come and go; written by one who needs them to stand still.
    pub(super) files: RwLock<()>,
    /// Read by who merges parts of the tree; written by who merges the whole of it.
    pub(super) merging: RwLock<()>,
    /// Why the last try to write a table out failed.
    trouble: Mutex<Option<(io::ErrorKind, String)>>,
    drained: Condvar,
    failure: OnceLock<String>,
    closing: Arc<AtomicBool>,
    /// One backup at a time: they share the place they are staged in.
    pub(super) backing_up: Mutex<()>,
    /// One scrub at a time.
    pub(super) scrubbing: Mutex<()>,
    /// All entries of the tree that expire, by when. Noted in the tree with every new segment.
    pub(super) entries: Mutex<Tally>,
    /// Content bytes of each segment that were deleted before they expired.
    pub(super) freed: Mutex<HashMap<u32, u64>>,
    /// How far the log may be read by who wants to know of changes, and the bell for them.
    pub(super) horizon: watch::Sender<Horizon>,
    /// The last segment whose changes cannot be read any more; noted in the tree.
    pub(super) floor: AtomicU32,
    /// What was read last of the log for those who want to know of changes.
    pub(super) tail: Tail,
}

/// The ends of the log: of what readers see, and of what no crash takes back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Horizon {
    pub(super) shown: Position,
    pub(super) durable: Position,
}

/// What readers see, and who reads.
struct Views {
    /// All that is below.
    visible: SeqNo,
    layers: Arc<Layers>,
    /// Sequence numbers that someone still reads at.
    reading: BTreeMap<SeqNo, usize>,
}

/// Where to look for a key: first in memory, then in the files.
pub(super) struct Layers {
    /// Newest first; the first is being filled.
    pub(super) tables: Vec<Arc<Table>>,
    pub(super) files: Arc<Files>,
}

impl Layers {
    /// The value of a row or a note, as of a sequence number.
    pub(super) fn get(
        &self,
        key: &[u8],
        hash: u64,
        at: SeqNo,
    ) -> Result<Option<UserValue>, StoreError> {
        match self.tables.iter().find_map(|table| table.get(key, hash, at)) {
            Some(found) => Ok(found),
            None => self.files.get(key, hash, at).map_err(tree_error),
        }
    }
}

pub(super) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Shared {
    pub(super) fn new(
        tree: AnyTree,
        sequence: SequenceNumberCounter,
        contents: Contents,
        closing: Arc<AtomicBool>,
    ) -> Self {
        let files = Arc::new(Files::of(&tree, &Files::default()));
        let layers = Layers { tables: vec![Arc::default()], files };
        let views =
            Views { visible: sequence.get(), layers: Arc::new(layers), reading: BTreeMap::new() };
        let nothing = Position { segment: 0, offset: SEGMENT_HEADER };
        Self {
            tree,
            sequence,
            contents,
            entering: Mutex::default(),
            young: Mutex::default(),
            views: Mutex::new(views),
            unseen: Mutex::default(),
            half_made: AtomicBool::new(false),
            files: RwLock::default(),
            merging: RwLock::default(),
            trouble: Mutex::default(),
            drained: Condvar::new(),
            failure: OnceLock::new(),
            closing,
            backing_up: Mutex::default(),
            scrubbing: Mutex::default(),
            entries: Mutex::default(),
            freed: Mutex::default(),
            horizon: watch::Sender::new(Horizon { shown: nothing, durable: nothing }),
            floor: AtomicU32::new(0),
            tail: Tail::default(),
        }
    }

    pub(super) fn move_horizon(&self, shown: Position, durable: Position) {
        self.horizon.send_replace(Horizon { shown, durable });
    }

    /// Shows all that has entered the tree. The caller holds `entering` or is alone. After a
    /// failure the tree may hold what the disk does not: that is never shown.
    pub(super) fn publish(&self) {
        self.show(&mut lock(&self.views));
    }

    fn show(&self, views: &mut Views) -> bool {
        let may_show = self.failure.get().is_none();
        if may_show {
            views.visible = self.sequence.get();
        }
        may_show
    }

    pub(super) fn layers(&self) -> Arc<Layers> {
        lock(&self.views).layers.clone()
    }

    /// The table that is being filled.
    pub(super) fn table(&self) -> Arc<Table> {
        lock(&self.views).layers.tables[0].clone()
    }

    /// Has readers look elsewhere from now on.
    fn replace(&self, views: &mut Views, layers: Layers) {
        let before = std::mem::replace(&mut views.layers, Arc::new(layers));
        lock(&self.unseen).push(before);
    }

    /// Begins a new table unless the one that is being filled is empty; tells whether it did.
    pub(super) fn seal_table(&self) -> bool {
        let mut views = lock(&self.views);
        let Layers { tables, files } = &*views.layers;
        if tables.first().is_some_and(|table| table.len() == 0) {
            return false;
        }
        let tables = [Arc::default()].into_iter().chain(tables.iter().cloned()).collect();
        let layers = Layers { tables, files: files.clone() };
        self.replace(&mut views, layers);
        true
    }

    /// Full tables that are still to be written out.
    pub(super) fn sealed_count(&self) -> usize {
        lock(&self.views).layers.tables.len() - 1
    }

    /// Writes full tables out, oldest first, until there is none. A table stays where readers
    /// look until they see its file.
    pub(super) fn flush(&self) -> lsm_tree::Result<()> {
        let flushing = self.tree.get_flush_lock();
        let flushed = loop {
            match self.flush_oldest() {
                Ok(true) => self.drained.notify_all(),
                Ok(false) => break Ok(()),
                Err(error) => break Err(error),
            }
        };
        drop(flushing);
        if flushed.is_err() {
            self.note_half_made();
        }
        let trouble = flushed.as_ref().err().map(|error| (io_kind(error), error.to_string()));
        *lock(&self.trouble) = trouble;
        self.drained.notify_all();
        flushed
    }

    /// Tells whether there was a full table.
    fn flush_oldest(&self) -> lsm_tree::Result<bool> {
        if self.tree.current_version().l0().run_count() >= WRITTEN_OUT_MAX {
            return Err(io::Error::other("too many tables wait to be merged").into());
        }
        let oldest = match &lock(&self.views).layers.tables[..] {
            [_, .., oldest] => oldest.clone(),
            _ => return Ok(false),
        };
        self.flush_table(&oldest)?;
        match self.show_files(|table| !Arc::ptr_eq(table, &oldest)) {
            true => Ok(true),
            // Nobody will see the file, so the table has to stay and hides those behind it: they
            // must not count as written.
            false => Err(io::Error::other("the store has stopped taking writes").into()),
        }
    }

    /// Shows the newest files, and all that has entered the tree, without the tables that those
    /// files have; tells whether it may.
    pub(super) fn show_files(&self, is_still_needed: impl Fn(&Arc<Table>) -> bool) -> bool {
        let files = Files::of(&self.tree, &self.layers().files);
        let _entering = lock(&self.entering);
        let mut views = lock(&self.views);
        if !self.show(&mut views) {
            return false;
        }
        let before = views.layers.clone();
        let tables = before.tables.iter().filter(|table| is_still_needed(table)).cloned().collect();
        // Someone else may have been faster with files that are newer still.
        let files = match files.version > before.files.version {
            true => Arc::new(files),
            false => before.files.clone(),
        };
        self.replace(&mut views, Layers { tables, files });
        true
    }

    /// Frees tables that were written out and files that were merged, as soon as nobody looks at
    /// them any more. That takes long: whoever waits for the writer or for a page should not wait
    /// for this as well.
    pub(super) fn free_unseen(&self) {
        for _ in 0..FREE_TRIES {
            // The others stay in the list: their files are still somebody's.
            let (free, is_empty): (Vec<_>, bool) = {
                let mut unseen = lock(&self.unseen);
                let free = unseen.extract_if(.., |layers| Arc::strong_count(layers) == 1);
                (free.collect(), unseen.is_empty())
            };
            drop(free);
            if is_empty {
                return;
            }
            std::thread::sleep(FREE_PAUSE);
        }
    }

    /// A write-out or a merge has failed: the tree lets lie what it had written until then.
    pub(super) fn note_half_made(&self) {
        self.half_made.store(true, Ordering::Release);
    }

    /// Deletes such files. The tree would at the next start; until then they would take the room
    /// that the next try needs. Only while nobody makes files, else another call has more luck.
    pub(super) fn clear_half_made(&self) -> io::Result<()> {
        if !self.half_made.load(Ordering::Acquire) {
            return Ok(());
        }
        let _alone = match self.files.try_write() {
            Ok(alone) => alone,
            Err(TryLockError::Poisoned(poisoned)) => poisoned.into_inner(),
            Err(TryLockError::WouldBlock) => return Ok(()),
        };
        let _flushing = self.tree.get_flush_lock();
        let version = self.tree.current_version();
        let config = self.tree.tree_config();
        // A list of files that the tree could not note to the end may have come into force.
        let current = fs::read(config.path.join("current"))?;
        if current.first_chunk() != Some(&version.id().to_le_bytes()) {
            return Ok(());
        }
        let mut needed: HashSet<TableId> = version.iter_tables().map(|table| table.id()).collect();
        {
            let views = lock(&self.views);
            let unseen = lock(&self.unseen);
            let layers = unseen.iter().chain([&views.layers]);
            needed.extend(layers.flat_map(|layers| layers.files.ids()));
        }
        for entry in fs::read_dir(config.path.join("tables"))? {
            let entry = entry?;
            let id = entry.file_name().to_str().and_then(|name| name.parse::<TableId>().ok());
            let Some(id) = id.filter(|id| !needed.contains(id)) else { continue };
            if entry.file_type()?.is_file() {
                fs::remove_file(entry.path())?;
                if let Some(open) = &config.descriptor_table {
                    open.remove_for_table(&(self.tree.id(), id).into());
                }
            }
        }
        self.half_made.store(false, Ordering::Release);
        Ok(())
    }

    fn flush_table(&self, table: &Table) -> lsm_tree::Result<()> {
        let Some((files, _)) = self.tree.flush_to_tables(table.newest().map(Ok))? else {
            return Ok(());
        };
        self.tree.register_tables(&files, None, None, &[], self.oldest_read())
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
        span: &Span,
        order: Order,
        most: usize,
    ) -> (Snapshot<'_>, Few) {
        let young = lock(&self.young);
        (self.snapshot(), young.few(span, order, most))
    }

    /// A view of all as of now; its rows stay readable while it lives.
    pub(super) fn snapshot(&self) -> Snapshot<'_> {
        let mut views = lock(&self.views);
        let (at, layers) = (views.visible, views.layers.clone());
        *views.reading.entry(at).or_default() += 1;
        Snapshot { shared: self, at, layers }
    }

    /// What was committed until now is below.
    pub(super) fn visible(&self) -> SeqNo {
        lock(&self.views).visible
    }

    /// Versions below this that have a successor are nobody's any more.
    pub(super) fn oldest_read(&self) -> SeqNo {
        let views = lock(&self.views);
        views.reading.keys().next().map_or(views.visible, |oldest| views.visible.min(*oldest))
    }

    /// All keys and versions, in memory and in files.
    pub(super) fn approximate_len(&self) -> u64 {
        let fresh: u64 = self.layers().tables.iter().map(|table| table.len()).sum();
        self.tree.approximate_len() as u64 + fresh
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

    /// Waits until fewer than `most` sealed tables wait to be written, or writing them fails, or
    /// whoever writes them has.
    pub(super) fn wait_for_room(&self, most: usize) -> Result<(), StoreError> {
        let mut trouble = lock(&self.trouble);
        while self.sealed_count() >= most {
            self.check()?;
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
    at: SeqNo,
    layers: Arc<Layers>,
}

impl Snapshot<'_> {
    /// The value of a row or a note.
    pub(super) fn get(&self, key: &[u8]) -> Result<Option<UserValue>, StoreError> {
        self.layers.get(key, fresh::hash(key), self.at)
    }

    /// What lies within a span, with these young markers among it.
    pub(super) fn look(
        &self,
        span: &Span,
        young: Few,
        order: Order,
    ) -> Result<Found<Old>, StoreError> {
        let mut cursors = Vec::new();
        for table in &self.layers.tables {
            table.look(span, order, self.at, &mut cursors);
        }
        let files = self.layers.files.look(span, self.at).map_err(tree_error)?;
        Ok(Found::new(files, cursors, young, order))
    }
}

impl Drop for Snapshot<'_> {
    fn drop(&mut self) {
        let mut views = lock(&self.shared.views);
        if let Some(count) = views.reading.get_mut(&self.at) {
            *count -= 1;
            if *count == 0 {
                views.reading.remove(&self.at);
            }
        }
    }
}

#[cfg(test)]
mod tests;
