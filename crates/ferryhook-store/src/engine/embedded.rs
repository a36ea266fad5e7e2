//! The embedded engine: one directory, one process, one log and one tree.
//!
//! A commit is appended to the log and synced with everything else that waited ([`writer`]), then
//! enters the tree, where rows and index entries are sorted and small. The bulk of a row (an
//! event's body) is only ever in the log; the row knows its place. [`upkeep`] moves the tree to
//! disk, compacts it and gives back the space of what has expired; [`recovery`] reads the end of
//! the log again after a crash; [`scrub`] sees to it that nothing is left of what was erased;
//! [`backup`] copies a consistent state while all of that goes on. [`changes`] reads the log for
//! those who want to know of every write.

use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::Duration;

use ferryhook_core::Env;
use lsm_tree::config::{CompressionPolicy, PinningPolicy};
use lsm_tree::{AbstractTree, Cache, CompressionType, Config, SequenceNumberCounter};
use tokio::sync::{Semaphore, mpsc, oneshot};

use super::{Answer, Engine, Row};
use crate::StoreError;
use crate::batch::{Batch, Durability};
use crate::changes::{Changes, Place, Wanted};
use crate::key::Key;
use crate::query::{Cursor, Page, Query};

mod backup;
mod change;
mod changes;
mod codec;
mod directory;
mod faults;
mod files;
mod found;
mod fresh;
mod hashed;
mod layout;
mod log;
mod merges;
mod recovery;
mod scrub;
mod shared;
mod tally;
mod upkeep;
mod writer;
mod young;

pub use backup::{Summary, restore};
pub use faults::{Faults, Step};

use found::Step as Next;
use log::{ContentError, Contents, Log};
use scrub::Scrub;
use shared::{Shared, lock, tree_error};
use upkeep::{Job, Upkeep};
use writer::{Request, Writer};

/// Commits that may wait for the writer, in number and in KiB.
const WAITING_COMMITS_MAX: usize = 4096;
const WAITING_KIB_MAX: usize = 32 * 1024;
/// Whether the index and the filter of a file are read in parts of a block each, by the level of
/// the tree it was made for: all but those that were never merged, which are few and have theirs in
/// memory. Whole and not in memory, one is a megabyte that every look at a row reads and checks.
const IN_PARTS: [bool; 2] = [false, true];
/// A page ends early behind this many bytes of rows.
const PAGE_BYTES_MAX: usize = 4 * 1024 * 1024;
/// And behind this many entries that have expired or were deleted: to pass them takes time, and
/// whoever asked has a thread that serves others too.
const PASSED_MAX: usize = 5000;
/// Young markers fetched for a page beyond twice its rows: some may have expired.
const YOUNG_MORE: usize = 64;
/// How often a row is looked up again because its content moved meanwhile.
const MOVED_TRIES: usize = 4;

#[derive(Debug, Clone)]
pub struct EmbeddedConfig {
    pub directory: PathBuf,
    /// Whether an absent or empty directory is set up.
    pub create: bool,
    /// Memory for one table before it is written out; up to three exist at a time.
    pub table_bytes_max: u64,
    pub cache_bytes: u64,
    pub segment_bytes: u32,
    /// How long changes can be read at least; the log keeps what has died since. Zero saves that
    /// space, and nobody can read changes.
    pub changes_kept: Duration,
    pub faults: Faults,
}

impl EmbeddedConfig {
    pub fn new(directory: impl Into<PathBuf>) -> Self {
        Self {
            directory: directory.into(),
            create: true,
            table_bytes_max: 24 * 1024 * 1024,
            cache_bytes: 32 * 1024 * 1024,
            segment_bytes: log::SEGMENT_BYTES,
            changes_kept: Duration::from_secs(24 * 3600),
            faults: Faults::default(),
        }
    }
}

pub struct Embedded {
    env: Env,
    shared: Arc<Shared>,
    directory: Arc<directory::Directory>,
    changes_kept: Duration,
    readers: changes::Readers,
    requests: Mutex<Option<mpsc::Sender<Request>>>,
    waiting: Arc<Semaphore>,
    jobs: std::sync::mpsc::Sender<Job>,
    threads: Mutex<Vec<JoinHandle<()>>>,
}

impl Embedded {
    /// Opens the directory and brings it to the state of the last acknowledged commit.
    pub fn open(config: EmbeddedConfig, env: Env) -> Result<Self, StoreError> {
        let directory = Arc::new(directory::Directory::open(&config.directory, config.create)?);
        // Before the tree is opened, which would make a new one where it is missing.
        directory.checkpoint()?;
        backup::clear_away(&directory).and_then(|()| log::clear_away(&directory.log())).map_err(
            |error| writer::disk_error("what a crash has left cannot be removed", error),
        )?;
        let sequence = SequenceNumberCounter::new(1);
        let closing = Arc::new(AtomicBool::new(false));
        let expiry = upkeep::Expiry { env: env.clone(), closing: closing.clone() };
        let tree =
            Config::new(directory.tree(), sequence.clone(), SequenceNumberCounter::default())
                .use_cache(Arc::new(Cache::with_capacity_bytes(config.cache_bytes)))
                .data_block_compression_policy(CompressionPolicy::all(CompressionType::Lz4))
                .index_block_partitioning_policy(PinningPolicy::new(IN_PARTS))
                .filter_block_partitioning_policy(PinningPolicy::new(IN_PARTS))
                .index_block_pinning_policy(PinningPolicy::all(true))
                .filter_block_pinning_policy(PinningPolicy::all(true))
                .with_compaction_filter_factory(Some(Arc::new(expiry)))
                .open()
                .map_err(tree_error)?;
        sequence.fetch_max(tree.get_highest_persisted_seqno().map_or(1, |highest| highest + 1));
        let contents = Contents::new(&directory.log());
        let shared = Arc::new(Shared::new(tree, sequence, contents, closing));
        let recovered = {
            let now = env.now().as_seconds();
            recovery::recover(&directory, &shared, config.table_bytes_max, now, &config.faults)?
        };
        let log = Log::begin(
            &directory.log(),
            recovered.next_segment,
            config.segment_bytes,
            config.faults.clone(),
        )
        .map_err(|error| writer::disk_error("no log segment could be begun", error))?;
        shared.move_horizon(log.end(), log.end());

        let (requests, received) = mpsc::channel(WAITING_COMMITS_MAX);
        let (sealed, sealed_received) = std::sync::mpsc::channel();
        let (jobs, jobs_received) = std::sync::mpsc::channel();
        let (depths, woken) = std::sync::mpsc::channel();
        let waiting = Arc::new(Semaphore::new(WAITING_KIB_MAX));
        let writer = Writer {
            env: env.clone(),
            shared: shared.clone(),
            log,
            requests: received,
            sealed,
            table_bytes_max: config.table_bytes_max,
            content: tally::Tally::default(),
            latest: 0,
            notes: recovered.notes,
            frame: Vec::new(),
        };
        let upkeep = Upkeep {
            env: env.clone(),
            shared: shared.clone(),
            directory: directory.clone(),
            submit: submitter(requests.downgrade(), waiting.clone()),
            seal: sealer(requests.downgrade()),
            faults: config.faults,
            seal_first: recovered.long,
            changes_kept: config.changes_kept,
            depths,
        };
        let depths = {
            let shared = shared.clone();
            move || upkeep::merge_depths(&shared, &woken)
        };
        let flusher = {
            let (shared, directory, jobs) = (shared.clone(), directory.clone(), jobs.clone());
            move || upkeep::flush_tables(&shared, &directory, &sealed_received, &jobs)
        };
        let threads = vec![
            spawn("store-writer", &shared, move || writer.run())?,
            spawn("store-flush", &shared, flusher)?,
            spawn("store-upkeep", &shared, move || upkeep.run(&jobs_received))?,
            spawn("store-depths", &shared, depths)?,
        ];
        Ok(Self {
            env,
            shared,
            directory,
            changes_kept: config.changes_kept,
            readers: changes::Readers::default(),
            requests: Mutex::new(Some(requests)),
            waiting,
            jobs,
            threads: Mutex::new(threads),
        })
    }

    /// Looks for space to win and says how many bytes of the log came back. The store also does
    /// this by itself.
    pub async fn sweep(&self) -> Result<u64, StoreError> {
        let (done, answer) = std::sync::mpsc::channel();
        self.jobs.send(Job::Sweep(done)).map_err(|_| closed())?;
        tokio::task::spawn_blocking(move || answer.recv().map_err(|_| closed())?)
            .await
            .map_err(|error| StoreError::unavailable("the sweep was lost", error))?
    }

    /// Copies a consistent state into `target`, which must not exist yet, while serving goes on.
    pub async fn backup(&self, target: &Path) -> Result<backup::Summary, StoreError> {
        let requests = lock(&self.requests).clone().ok_or_else(closed)?;
        let (shared, directory) = (self.shared.clone(), self.directory.clone());
        let target = target.to_owned();
        tokio::task::spawn_blocking(move || backup::backup(&shared, &directory, &requests, &target))
            .await
            .map_err(|error| StoreError::unavailable("the backup was lost", error))?
    }

    /// Whether commits can be expected to succeed.
    pub fn check(&self) -> Result<(), StoreError> {
        self.shared.check()
    }

    fn get_now(&self, key: &Key) -> Result<Option<Row>, StoreError> {
        key.check()?;
        self.read_row(&layout::row_key(key))
    }

    fn read_row(&self, key: &[u8]) -> Result<Option<Row>, StoreError> {
        let mut tries = 0;
        loop {
            let snapshot = self.shared.snapshot();
            let Some(value) = snapshot.get(key)? else {
                return Ok(None);
            };
            match self.row_of(&value) {
                Ok(row) => return Ok(row),
                Err(Unread::Moved) if tries < MOVED_TRIES => tries += 1,
                Err(error) => return Err(error.into()),
            }
        }
    }

    /// The row with its content, unless it has expired.
    fn row_of(&self, value: &[u8]) -> Result<Option<Row>, Unread> {
        if codec::has_expired(value, self.env.now().as_seconds()) {
            return Ok(None);
        }
        let mut head = codec::read_head(value).map_err(Unread::Error)?;
        if let Some(place) = head.place {
            let kind = head.row.kind;
            let content = self.shared.contents.read(place).map_err(|error| match error {
                ContentError::Moved => Unread::Moved,
                ContentError::Unreadable(reason) => {
                    Unread::Error(StoreError::Corrupt { kind, reason })
                }
            })?;
            let content = codec::read_item(&content).ok_or_else(|| {
                Unread::Error(StoreError::corrupt(kind, "its content does not decode"))
            })?;
            head.row.item.extend(content);
        }
        Ok(Some(head.row))
    }

    fn query_now(&self, query: &Query) -> Result<Page<Row>, StoreError> {
        query.check()?;
        let now = self.env.now().as_seconds();
        let span = layout::span(query);
        let (snapshot, young) = match query.index.is_some_and(layout::is_young) {
            true => {
                let most = query.limit * 2 + YOUNG_MORE;
                self.shared.snapshot_with_young(&span, query.order, most)
            }
            false => (self.shared.snapshot(), young::Few::default()),
        };
        let mut found = snapshot.look(&span, young, query.order)?;
        let mut page = Page { rows: Vec::new(), next: None };
        let mut last: Option<Vec<u8>> = None;
        let (mut bytes, mut passed) = (0, 0);
        loop {
            let (key, row) = match found.step()? {
                Next::Entry(key, value) => {
                    let row = self.row_behind(query, &snapshot, (&key, &value), now)?;
                    (key, row)
                }
                Next::Gone(key) => (key, None),
                Next::Later(key) => {
                    page.next = Some(cursor_of(query, &key)?);
                    return Ok(page);
                }
                Next::End => return Ok(page),
            };
            let Some(row) = row else {
                passed += 1;
                if passed == PASSED_MAX {
                    page.next = Some(cursor_of(query, &key)?);
                    return Ok(page);
                }
                continue;
            };
            if page.rows.len() == query.limit || bytes >= PAGE_BYTES_MAX {
                page.next = last.map(|key| cursor_of(query, &key)).transpose()?;
                return Ok(page);
            }
            bytes += row.item.bytes();
            page.rows.push(row);
            last = Some(key.to_vec());
        }
    }

    /// The row that a key and its value stand for, unless it has expired or is of another kind.
    fn row_behind(
        &self,
        query: &Query,
        snapshot: &shared::Snapshot<'_>,
        (key, value): (&[u8], &[u8]),
        now: i64,
    ) -> Result<Option<Row>, StoreError> {
        if codec::has_expired(value, now) {
            return Ok(None);
        }
        match query.index {
            None if codec::kind_of(value) != Some(query.kind) => Ok(None),
            None => match self.row_of(value) {
                Ok(row) => Ok(row),
                Err(Unread::Moved) => self.read_row(key),
                Err(Unread::Error(error)) => Err(error),
            },
            Some(index) => {
                let (_, row_key) = layout::read_entry(index, key)?;
                self.read_row_at(&layout::row_key(&row_key), snapshot, query)
            }
        }
    }

    /// The row behind an index entry, as of the same moment as the entry.
    fn read_row_at(
        &self,
        key: &[u8],
        snapshot: &shared::Snapshot<'_>,
        query: &Query,
    ) -> Result<Option<Row>, StoreError> {
        let Some(value) = snapshot.get(key)? else {
            return Ok(None);
        };
        if codec::kind_of(&value) != Some(query.kind) {
            return Ok(None);
        }
        match self.row_of(&value) {
            Ok(row) => Ok(row),
            Err(Unread::Moved) => self.read_row(key),
            Err(Unread::Error(error)) => Err(error),
        }
    }
}

fn cursor_of(query: &Query, key: &[u8]) -> Result<Cursor, StoreError> {
    Ok(match query.index {
        Some(index) => {
            let (entry, key) = layout::read_entry(index, key)?;
            Cursor { key, entry: Some(entry) }
        }
        None => Cursor { key: layout::read_row(query.table, key)?, entry: None },
    })
}

enum Unread {
    Moved,
    Error(StoreError),
}

impl From<Unread> for StoreError {
    fn from(unread: Unread) -> Self {
        match unread {
            Unread::Moved => {
                StoreError::Damaged("a row points into a log segment that is gone".into())
            }
            Unread::Error(error) => error,
        }
    }
}

fn closed() -> StoreError {
    StoreError::Unavailable("the store is closed".into(), None)
}

/// Lets the upkeep commit changes of its own. It holds no sender while idle, so that the writer
/// ends when the engine does.
fn submitter(requests: mpsc::WeakSender<Request>, waiting: Arc<Semaphore>) -> Box<upkeep::Submit> {
    Box::new(move |changes| {
        let requests = requests.upgrade().ok_or_else(closed)?;
        let kib = kib_of(&changes);
        let permit = loop {
            match waiting.clone().try_acquire_many_owned(kib) {
                Ok(permit) => break permit,
                // Upkeep may wait; commits of the product go first.
                Err(_) => std::thread::sleep(Duration::from_millis(1)),
            }
        };
        let (done, answer) = oneshot::channel();
        let request =
            Request::Commit { changes, durability: Durability::Synced, done, _permit: permit };
        requests.blocking_send(request).map_err(|_| closed())?;
        answer.blocking_recv().map_err(|_| closed())?
    })
}

/// Lets the upkeep have the writer's segment and table ended, without holding it up.
fn sealer(requests: mpsc::WeakSender<Request>) -> Box<upkeep::Seal> {
    Box::new(move || {
        let requests = requests.upgrade().ok_or_else(closed)?;
        let (done, answer) = std::sync::mpsc::channel();
        let (_, go_on) = std::sync::mpsc::channel();
        requests.blocking_send(Request::Seal { done, go_on }).map_err(|_| closed())?;
        answer.recv().map_err(|_| closed())?.map(drop)
    })
}

fn kib_of(changes: &[change::Change]) -> u32 {
    let bytes: usize = changes.iter().map(change::Change::bytes).sum();
    u32::try_from(bytes / 1024 + 1).unwrap_or(u32::MAX).min(WAITING_KIB_MAX as u32)
}

fn spawn(
    name: &'static str,
    shared: &Arc<Shared>,
    run: impl FnOnce() + Send + 'static,
) -> Result<JoinHandle<()>, StoreError> {
    let shared = shared.clone();
    let guarded = move || {
        // A thread that is gone must not look like one that is idle.
        if catch_unwind(AssertUnwindSafe(run)).is_err() {
            shared.fail(&format!("the thread {name} panicked"));
        }
    };
    std::thread::Builder::new()
        .name(name.into())
        .spawn(guarded)
        .map_err(|error| StoreError::unavailable("a thread of the store cannot be started", error))
}

impl Engine for Embedded {
    fn get<'a>(&'a self, key: &'a Key) -> Answer<'a, Option<Row>> {
        Box::pin(async move { self.get_now(key) })
    }

    fn query(&self, query: Query) -> Answer<'_, Page<Row>> {
        Box::pin(async move {
            let page = self.query_now(&query)?;
            if page.rows.is_empty() && page.next.is_some() {
                // Whoever goes on at once lets others have the thread in between.
                tokio::task::yield_now().await;
            }
            Ok(page)
        })
    }

    fn commit(&self, batch: Batch, durability: Durability) -> Answer<'_, ()> {
        Box::pin(async move {
            let erases_since = batch.erases_since();
            let mut changes = change::prepare(batch.checked()?);
            if let Some(since) = erases_since {
                // Behind all others: a refusal tells the place of its action.
                changes.extend(scrub::notes(&changes, since.as_seconds()));
            }
            let requests = lock(&self.requests).clone().ok_or_else(closed)?;
            let permit = self.waiting.clone().acquire_many_owned(kib_of(&changes)).await;
            let permit = permit.map_err(|_| closed())?;
            let (done, answer) = oneshot::channel();
            let request = Request::Commit { changes, durability, done, _permit: permit };
            requests.send(request).await.map_err(|_| closed())?;
            answer.await.map_err(|_| closed())?
        })
    }

    fn changes<'a>(&'a self, wanted: &'a Wanted) -> Answer<'a, Changes> {
        Box::pin(self.read_changes(wanted))
    }

    fn changed<'a>(&'a self, since: &'a Place) -> Answer<'a, ()> {
        Box::pin(self.await_change(since))
    }

    fn scrub(&self) -> Answer<'_, ()> {
        Box::pin(async move {
            let requests = lock(&self.requests).clone().ok_or_else(closed)?;
            let scrub = Scrub {
                shared: self.shared.clone(),
                directory: self.directory.clone(),
                submit: submitter(requests.downgrade(), self.waiting.clone()),
                requests,
                jobs: self.jobs.clone(),
            };
            tokio::task::spawn_blocking(move || scrub.run())
                .await
                .map_err(|error| StoreError::unavailable("the scrub was lost", error))?
        })
    }
}

/// Closing waits for the writer, so that everything buffered is on disk.
impl Drop for Embedded {
    fn drop(&mut self) {
        self.shared.close();
        lock(&self.requests).take();
        let _ = self.jobs.send(Job::Stop);
        for thread in lock(&self.threads).drain(..) {
            let _ = thread.join();
        }
    }
}

impl fmt::Debug for Embedded {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Embedded").field("directory", &self.directory.path).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests;
