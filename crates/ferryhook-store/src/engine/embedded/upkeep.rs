//! Upkeep in the background: full tables go to disk, the tree is compacted, what has expired
//! gives its space back.
//!
//! Expired rows and index entries are dropped whenever compaction passes by; a sweep starts one
//! on purpose when enough has expired. Content lies in the log: a segment whose content has all
//! expired is deleted, one that is mostly dead has its living content written anew. None of this
//! is ever waited for by a commit, except when memory for tables runs out.

use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender};
use std::sync::{Arc, PoisonError};
use std::time::Duration;

use ferryhook_core::Env;
use lsm_tree::compaction::filter::{CompactionFilter, Context, Factory, ItemAccessor, Verdict};
use lsm_tree::compaction::{CompactionStrategy, MoveDown, PullDown};
use lsm_tree::{AbstractTree, AnyTree};

use super::change::Change;
use super::codec::{self, Place};
use super::directory::Directory;
use super::faults::Faults;
use super::layout;
use super::log::{self, Frames, Next, Op, Position, SEGMENT_HEADER};
use super::merges::{self, Step};
use super::recovery;
use super::scrub::Erased;
use super::shared::{Shared, lock, tree_error};
use super::tally::Tally;
use super::writer::Sealed;
use crate::StoreError;

/// How long a failed write-out waits before the next try.
const RETRY: Duration = Duration::from_millis(500);
/// How often an idle store looks for space to win.
const SWEEP_EVERY: Duration = Duration::from_secs(60);
/// Entries this long past their expiry are dropped by compaction; a clock set back by less than
/// that brings nothing back half.
const GRACE_SECONDS: i64 = 60;
/// A segment is written anew when this share of its content is dead.
const DEAD_PERCENT: u64 = 40;
/// The whole tree is compacted when this share of its entries has expired.
const EXPIRED_PERCENT: u64 = 40;
/// Or was deleted: who looks for what comes next has to pass all of these, again and again.
const DELETED_PERCENT: u64 = 10;
/// Content written anew in one commit.
const MOVE_AT_ONCE: usize = 64;
const TABLE_TARGET_BYTES: u64 = 32 * 1024 * 1024;

/// Writes full tables out, oldest first. Ends when the writer does.
pub(super) fn flush_tables(
    shared: &Shared,
    directory: &Directory,
    sealed: &Receiver<Sealed>,
    compact: &Sender<Job>,
) {
    while let Ok(Sealed(position)) = sealed.recv() {
        while let Err(error) = flush(shared, directory, position) {
            if shared.is_closing() || shared.check().is_err() {
                return; // the log has everything
            }
            tracing::error!(%error, "a table could not be written; trying again");
            clear_half_made(shared);
            std::thread::sleep(RETRY);
        }
        let _ = compact.send(Job::Compact);
    }
}

fn flush(shared: &Shared, directory: &Directory, position: Position) -> Result<(), StoreError> {
    let _files = shared.files.read().unwrap_or_else(PoisonError::into_inner);
    shared.flush().map_err(tree_error)?;
    directory
        .set_checkpoint(position)
        .map_err(|error| super::writer::disk_error("CHECKPOINT cannot be written", error))?;
    show(shared)
}

fn clear_half_made(shared: &Shared) {
    if let Err(error) = shared.clear_half_made() {
        tracing::warn!(%error, "files of the embedded store that are half made cannot be deleted");
    }
}

/// Lets readers use the newest files and lets go of what only older ones needed: a table that was
/// written out would otherwise stay in memory until the next one is.
fn show(shared: &Shared) -> Result<(), StoreError> {
    shared.show_files(|_| true);
    // Nobody reads through the tree's own lists of files: all but the last one may go.
    let (path, now) = (&shared.tree.tree_config().path, shared.sequence.get());
    shared.tree.get_version_history_lock().maintenance(path, now).map_err(tree_error)?;
    shared.free_unseen();
    Ok(())
}

/// How many runs lie on each level.
pub(super) fn runs_of(tree: &AnyTree) -> [usize; merges::LEVELS] {
    let version = tree.current_version();
    let mut runs = [0; merges::LEVELS];
    for (count, level) in runs.iter_mut().zip(version.iter_levels()) {
        *count = level.run_count();
    }
    // Each table counts: it has its index in memory until it is merged.
    runs[0] = version.l0().table_count();
    runs
}

/// Deletions that the files have; each stands for a row or an entry that some file below may have.
pub(super) fn deletions_in(tree: &AnyTree) -> u64 {
    tree.current_version().iter_tables().map(|table| table.tombstone_count()).sum()
}

/// Merges what lies deep, whenever something may have come there. Ends when the upkeep does.
pub(super) fn merge_depths(shared: &Shared, woken: &Receiver<()>) {
    while woken.recv().is_ok() {
        if let Err(error) = merge(shared, merges::deep)
            && !shared.is_closing()
        {
            tracing::error!(%error, "files of the embedded store cannot be merged; trying again later");
            clear_half_made(shared);
        }
    }
}

/// Takes one step after the other until there is none, or the store is closed.
fn merge(
    shared: &Shared,
    next: fn(&[usize; merges::LEVELS]) -> Option<Step>,
) -> Result<(), StoreError> {
    let tree = &shared.tree;
    while !shared.is_closing() {
        let _files = shared.files.read().unwrap_or_else(PoisonError::into_inner);
        let _parts = shared.merging.read().unwrap_or_else(PoisonError::into_inner);
        let Some(step) = next(&runs_of(tree)) else { break };
        if let Step::Merge { from, to } = step {
            check_room(tree, [from, to])?;
        }
        let before = tree.current_version().id();
        tree.compact(strategy_of(step), shared.oldest_read())
            .inspect_err(|_| shared.note_half_made())
            .map_err(tree_error)?;
        if tree.current_version().id() == before {
            break; // the tree would not, and would not again
        }
        show(shared)?;
    }
    Ok(())
}

/// A merge that finds no room for its end would have taken all there is, which commits need.
fn check_room(tree: &AnyTree, levels: [usize; 2]) -> Result<(), StoreError> {
    let version = tree.current_version();
    let merged = version.iter_levels().enumerate().filter(|(level, _)| levels.contains(level));
    let tables = merged.flat_map(|(_, level)| level.iter()).flat_map(|run| run.iter());
    let needed: u64 = tables.map(|table| table.metadata.file_size).sum();
    let disk = rustix::fs::statvfs(&tree.tree_config().path)
        .map_err(|error| StoreError::unavailable("the disk does not tell its room", error))?;
    let free = disk.f_bavail.saturating_mul(disk.f_frsize);
    if free < needed {
        let what = format!("files of {needed} bytes are to be merged, and {free} bytes are free");
        return Err(StoreError::Full(what));
    }
    Ok(())
}

pub(super) fn strategy_of(step: Step) -> Arc<dyn CompactionStrategy> {
    match step {
        Step::Merge { from, to } => Arc::new(PullDown(from as u8, to as u8)),
        Step::Move { from, to } => Arc::new(MoveDown(from as u8, to as u8)),
    }
}

pub(super) enum Job {
    Compact,
    /// Look for space to win now; says how many bytes of the log came back.
    Sweep(Sender<Result<u64, StoreError>>),
    /// A step of a scrub, between which the others get their turn.
    Merge(Sender<Result<(), StoreError>>),
    Blank(u32, Arc<Erased>, Sender<Result<(), StoreError>>),
    Stop,
}

/// Moves content to the end of the log; what the writer offers to the upkeep.
pub(super) type Submit = dyn Fn(Vec<Change>) -> Result<(), StoreError> + Send;
/// Has the writer end its segment and table.
pub(super) type Seal = dyn Fn() -> Result<(), StoreError> + Send;

pub(super) struct Upkeep {
    pub(super) env: Env,
    pub(super) shared: Arc<Shared>,
    pub(super) directory: Arc<Directory>,
    pub(super) submit: Box<Submit>,
    pub(super) seal: Box<Seal>,
    pub(super) faults: Faults,
    /// Whether to do so before anything else.
    pub(super) seal_first: bool,
    /// Rung when something may have come to where merges take long.
    pub(super) depths: Sender<()>,
    /// How long a segment stays for who reads the changes.
    pub(super) changes_kept: Duration,
}

impl Upkeep {
    pub(super) fn run(&self, jobs: &Receiver<Job>) {
        if self.seal_first
            && let Err(error) = (self.seal)()
        {
            tracing::debug!(%error, "the next start has as much to read again as this one had");
        }
        let mut swept = self.env.elapsed();
        loop {
            let (outcome, mut sweep) = match jobs.recv_timeout(SWEEP_EVERY) {
                Ok(Job::Compact) => (self.compact(), false),
                Ok(Job::Sweep(done)) => {
                    let _ = done.send(self.sweep());
                    swept = self.env.elapsed();
                    (Ok(()), false)
                }
                Ok(Job::Merge(done)) => {
                    let _ = done.send(self.merge_all());
                    (Ok(()), false)
                }
                Ok(Job::Blank(segment, erased, done)) => {
                    let _ = done.send(self.blank(segment, &erased));
                    (Ok(()), false)
                }
                Err(RecvTimeoutError::Timeout) => (Ok(()), true),
                Ok(Job::Stop) | Err(RecvTimeoutError::Disconnected) => return,
            };
            // A busy store is never idle long enough for the timeout: it looks at the clock.
            sweep |= self.env.elapsed().saturating_sub(swept) >= SWEEP_EVERY;
            let outcome = match sweep {
                true => outcome.and(self.sweep().map(drop)),
                false => outcome,
            };
            clear_half_made(&self.shared);
            if sweep {
                swept = self.env.elapsed();
            }
            if let Err(error) = outcome
                && !self.shared.is_closing()
            {
                tracing::error!(%error, "upkeep of the embedded store failed; trying again later");
            }
        }
    }

    fn compact(&self) -> Result<(), StoreError> {
        merge(&self.shared, merges::shallow)?;
        let _ = self.depths.send(());
        Ok(())
    }

    fn sweep(&self) -> Result<u64, StoreError> {
        self.shared.check()?;
        // Each for itself: a damaged file of the tree must not let the log grow without end.
        let freed = self.free_segments();
        let compacted = self.compact_expired();
        freed.and_then(|won| compacted.map(|()| won))
    }

    fn compact_expired(&self) -> Result<(), StoreError> {
        let now = self.env.now().as_seconds() - GRACE_SECONDS;
        let expired = lock(&self.shared.entries).expired(now);
        let (all, deleted) = (self.shared.approximate_len(), deletions_in(&self.shared.tree));
        let is_worth_it =
            expired * 100 >= all * EXPIRED_PERCENT || deleted * 100 >= all * DELETED_PERCENT;
        if !is_worth_it || expired + deleted == 0 {
            return Ok(());
        }
        self.merge_all()?;
        lock(&self.shared.entries).forget_expired(now);
        Ok(())
    }

    /// Writes the whole tree anew, without what was replaced, deleted or has expired.
    fn merge_all(&self) -> Result<(), StoreError> {
        self.shared.check()?;
        let _files = self.shared.files.read().unwrap_or_else(PoisonError::into_inner);
        let _whole = self.shared.merging.write().unwrap_or_else(PoisonError::into_inner);
        let oldest = self.shared.oldest_read();
        self.shared
            .tree
            .major_compact(TABLE_TARGET_BYTES, oldest)
            .inspect_err(|_| self.shared.note_half_made())
            .map_err(tree_error)?;
        show(&self.shared)
    }

    /// Makes void what a segment, which opening the store does not read any more, has of rows
    /// that were erased.
    fn blank(&self, segment: u32, erased: &Erased) -> Result<(), StoreError> {
        self.shared.check()?;
        let _files = self.shared.files.read().unwrap_or_else(PoisonError::into_inner);
        if !log::segment_path(&self.directory.log(), segment).exists() {
            return Ok(()); // a sweep was faster
        }
        let now = self.env.now().as_seconds() - GRACE_SECONDS;
        let keeps = !self.changes_kept.is_zero();
        let mut room = Vec::new();
        let count =
            log::blank_segment(&self.shared.contents, &self.faults, segment, |op, place| {
                match (op, place) {
                    // That a row went is told for as long as changes are. Where changes are told,
                    // keys are nothing but ids and times.
                    (Op::Delete { key }, _) if keeps && layout::is_told(key) => Ok(false),
                    _ if !erased.has(op.key(), &mut room) => Ok(false),
                    // A row of the same key that came later.
                    (Op::PutWithContent { key, .. }, Some(place)) => {
                        self.lives_at(key, place, now).map(|lives| !lives)
                    }
                    _ => Ok(true),
                }
            })?;
        tracing::debug!(segment, count, "what was erased is gone from a log segment");
        Ok(())
    }

    fn free_segments(&self) -> Result<u64, StoreError> {
        let path = self.directory.log();
        let now = self.env.now().as_seconds() - GRACE_SECONDS;
        // Only what is in the tree's files may go: the rest is still needed to open the store.
        let checkpoint = self.directory.checkpoint()?;
        let segments = log::list_segments(&path)
            .map_err(|error| StoreError::unavailable("the log cannot be read", error))?;
        let (mut won, mut trouble) = (0, Ok(()));
        for segment in segments {
            let total = match self.worth_taking(segment, now) {
                Ok(Some(total)) => total,
                Ok(None) => continue,
                Err(error) => {
                    trouble = trouble.and(Err(error));
                    continue;
                }
            };
            if segment >= checkpoint.segment {
                if total == 0 {
                    continue; // nothing to win, and no reason to hurry the tree
                }
                // The tree's files have to catch up first; the next sweep may have it then.
                if self.shared.sealed_count() == 0 {
                    trouble = trouble.and((self.seal)());
                }
                break;
            }
            // The figures only say that it is worth a look: what was deleted may have expired as
            // well, and an expiry may have been put off.
            if total > 0
                && let Err(error) = self.move_living(segment, now)
            {
                tracing::error!(%error, segment, "a log segment cannot be emptied and stays");
                continue;
            }
            match self.delete_segment(segment) {
                Ok(bytes) => won += bytes,
                Err(error) => trouble = trouble.and(Err(error)),
            }
        }
        trouble.map(|()| won)
    }

    /// Tells how much content a segment has been given, if so much of it is dead that it is worth
    /// writing the rest anew.
    fn worth_taking(&self, segment: u32, now: i64) -> Result<Option<u64>, StoreError> {
        let Some(content) = self.note(&layout::segment_note(segment))? else { return Ok(None) };
        let total = content.total();
        let freed = lock(&self.shared.freed).get(&segment).copied().unwrap_or(0);
        let dead = content.expired(now) + freed;
        let is_worth_it = dead * 100 >= total * DEAD_PERCENT && !self.is_kept(segment)?;
        Ok(is_worth_it.then_some(total))
    }

    /// Whether someone may still want to read its changes.
    fn is_kept(&self, segment: u32) -> Result<bool, StoreError> {
        let note = self.shared.snapshot().get(&layout::era_note(segment))?;
        let latest = note.and_then(|value| i64::try_from(codec::read_count(&value)?).ok());
        let kept = i64::try_from(self.changes_kept.as_secs()).unwrap_or(i64::MAX);
        let now = self.env.now().as_seconds();
        Ok(kept > 0 && latest.is_some_and(|latest| latest.saturating_add(kept) > now))
    }

    /// Writes the living content of a segment to the end of the log.
    fn move_living(&self, segment: u32, now: i64) -> Result<(), StoreError> {
        let start = Position { segment, offset: SEGMENT_HEADER };
        let mut frames = Frames::open(&self.directory.log(), start)?;
        let mut moving = Vec::new();
        let unreadable = |error| StoreError::unavailable("the log cannot be read", error);
        loop {
            let (at, frame) = match frames.next().map_err(unreadable)? {
                Next::Frame(at, frame) => (at, frame),
                Next::End => break,
                Next::Broken => {
                    let offset = frames.position().offset;
                    let what = format!("segment {segment} is damaged at byte {offset}");
                    return Err(StoreError::Damaged(what));
                }
            };
            log::read_frame(&frame, at, |op, place| {
                if let (Op::PutWithContent { key, content, .. }, Some(from)) = (op, place)
                    && self.lives_at(key, from, now)?
                {
                    let (key, content) = (key.into(), content.to_vec());
                    moving.push(Change::Relocate { key, from, content });
                }
                Ok(())
            })?;
            while moving.len() >= MOVE_AT_ONCE {
                (self.submit)(moving.split_off(moving.len() - MOVE_AT_ONCE))?;
            }
        }
        if moving.is_empty() { Ok(()) } else { (self.submit)(moving) }
    }

    /// Whether a row that has not expired has its content there.
    fn lives_at(&self, key: &[u8], place: Place, now: i64) -> Result<bool, StoreError> {
        let snapshot = self.shared.snapshot();
        let value = snapshot.get(key)?;
        Ok(value.is_some_and(|value| {
            codec::place_of(&value) == Some(place) && !codec::has_expired(&value, now)
        }))
    }

    fn delete_segment(&self, segment: u32) -> Result<u64, StoreError> {
        // What made its content dead may only be buffered: a durable commit behind it makes sure
        // that no crash brings a row back whose content is gone.
        let floor = segment.max(self.shared.floor.load(Ordering::Acquire));
        let forget = Change::Forget { key: layout::freed_note(segment).into() };
        (self.submit)(vec![forget, recovery::floor_note(floor)])?;
        self.shared.floor.fetch_max(floor, Ordering::AcqRel);
        let _files = self.shared.files.read().unwrap_or_else(PoisonError::into_inner);
        let path = log::segment_path(&self.directory.log(), segment);
        let gone = |error| StoreError::unavailable("a log segment cannot be deleted", error);
        let bytes = std::fs::metadata(&path).map_err(gone)?.len();
        self.shared.contents.remove(segment).map_err(gone)?;
        lock(&self.shared.freed).remove(&segment);
        let notes = [layout::segment_note(segment), layout::era_note(segment)];
        let forget = |key: Vec<u8>| Change::Forget { key: key.into() };
        (self.submit)(notes.into_iter().map(forget).collect())?;
        Ok(bytes)
    }

    fn note(&self, key: &[u8]) -> Result<Option<Tally>, StoreError> {
        let snapshot = self.shared.snapshot();
        let value = snapshot.get(key)?;
        Ok(value.and_then(|value| Tally::from_value(&value)))
    }
}

/// Drops what has expired while the tree is compacted.
pub(super) struct Expiry {
    pub(super) env: Env,
    /// A store that is closed does not wait for a merge: the next start clears away what is half
    /// done.
    pub(super) closing: Arc<AtomicBool>,
}

struct Before {
    seconds: i64,
    closing: Arc<AtomicBool>,
}

impl Factory for Expiry {
    fn name(&self) -> &str {
        "expiry"
    }

    fn make_filter(&self, _: &Context) -> Box<dyn CompactionFilter> {
        let seconds = self.env.now().as_seconds() - GRACE_SECONDS;
        Box::new(Before { seconds, closing: self.closing.clone() })
    }
}

impl std::panic::RefUnwindSafe for Expiry {}

impl CompactionFilter for Before {
    fn filter_item(&mut self, item: ItemAccessor<'_>, _: &Context) -> lsm_tree::Result<Verdict> {
        if self.closing.load(Ordering::Relaxed) {
            return Err(io::Error::from(io::ErrorKind::Interrupted).into());
        }
        Ok(match codec::has_expired(&item.value()?, self.seconds) {
            true => Verdict::Remove,
            false => Verdict::Keep,
        })
    }
}
