//! Scrub: what was erased leaves the data directory for good.
//!
//! A deletion by itself only hides: the content stays in the log, older versions in the tree's
//! files, keys and attributes in both. Batches that erase note of which rows nothing may be left
//! ([`notes`]), in the same commit. Asked by whoever erased; it has the table in memory written
//! out, the whole tree merged, and every segment that names such a row written again without it
//! (but for the name in its deletion, where changes are told).
//! Only when nobody can find anything any more are the notes forgotten, so after a crash or a
//! failure the next scrub begins again. Commits never wait for it.

use std::collections::HashSet;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::mpsc::Sender;
use std::time::Duration;

use lsm_tree::AbstractTree;
use tokio::sync::mpsc;

use super::change::Change;
use super::directory::Directory;
use super::fresh;
use super::hashed::ByHash;
use super::log::{self, Position};
use super::shared::{Shared, lock};
use super::upkeep::{Job, Submit};
use super::writer::{Request, disk_error};
use super::young::Few;
use super::{backup, closed, codec, layout};
use crate::StoreError;
use crate::query::Order;

/// Rows that one pass takes on; it keeps the hash of each in memory.
const ROWS_AT_ONCE: usize = 500_000;
/// Notes that are forgotten in one commit.
const FORGOTTEN_AT_ONCE: usize = 500;
/// The clock may have been set back by as much between an arrival and its commit.
const SLACK_SECONDS: i64 = 3600;
/// How long a scrub waits for others: for tables to be written out, for readers to let go.
const PAUSE: Duration = Duration::from_millis(5);
const PAUSES_MAX: usize = 12_000;

/// Rows of which nothing may be left.
#[derive(Debug)]
pub(super) struct Erased {
    /// Hashes of their keys.
    rows: HashSet<u64, ByHash>,
    /// None was written before, in seconds.
    since: i64,
}

impl Erased {
    /// Whether the key is of such a row or of an entry that leads to one. `room` is kept by the
    /// caller, who has many to ask for.
    pub(super) fn has(&self, key: &[u8], room: &mut Vec<u8>) -> bool {
        layout::row_behind(key, room).is_some_and(|row| self.rows.contains(&fresh::hash(row)))
    }
}

/// What a batch that erases notes: one for each row that it deletes or changes.
pub(super) fn notes(changes: &[Change], since: i64) -> Vec<Change> {
    let value = codec::count_value(u64::try_from(since).unwrap_or(0));
    let note = |change: &Change| match change {
        Change::Delete { key, .. } | Change::Patch { key, .. } => {
            let key = layout::erased_note(fresh::hash(key)).into();
            Some(Change::Note { key, value: value.clone() })
        }
        _ => None,
    };
    changes.iter().filter_map(note).collect()
}

pub(super) struct Scrub {
    pub(super) shared: Arc<Shared>,
    pub(super) directory: Arc<Directory>,
    pub(super) requests: mpsc::Sender<Request>,
    pub(super) jobs: Sender<Job>,
    pub(super) submit: Box<Submit>,
}

impl Scrub {
    pub(super) fn run(&self) -> Result<(), StoreError> {
        let _one = lock(&self.shared.scrubbing);
        loop {
            let erased = Arc::new(self.erased()?);
            if erased.rows.is_empty() {
                return Ok(());
            }
            let behind = self.write_out()?;
            self.outwait_readers()?;
            self.merge()?;
            self.blank(&erased, behind)?;
            self.outwait_backup()?;
            self.forget(&erased)?;
            if erased.rows.len() < ROWS_AT_ONCE {
                return Ok(());
            }
        }
    }

    fn erased(&self) -> Result<Erased, StoreError> {
        let mut erased = Erased { rows: HashSet::default(), since: i64::MAX };
        let span = layout::beginning(layout::erased_notes());
        let snapshot = self.shared.snapshot();
        let mut found = snapshot.look(&span, Few::default(), Order::Ascending)?;
        while erased.rows.len() < ROWS_AT_ONCE
            && let Some((key, value)) = found.entry()?
        {
            if let (Some(hash), Some(since)) = (key.last_chunk(), codec::read_count(&value)) {
                erased.rows.insert(u64::from_be_bytes(*hash));
                erased.since = erased.since.min(i64::try_from(since).unwrap_or(0));
            }
        }
        Ok(erased)
    }

    /// Has all that was committed so far in the tree's files; tells where the log begins that is
    /// still read when the store is opened.
    fn write_out(&self) -> Result<Position, StoreError> {
        let (_, hurry) = std::sync::mpsc::channel();
        let sealed = backup::seal(&self.shared, &self.requests, hurry)?;
        let mut checkpoint = self.directory.checkpoint()?;
        self.wait_until("a table in memory is not written out", || {
            self.shared.check()?;
            checkpoint = self.directory.checkpoint()?;
            // It lies in the segment before, which has nothing but notes.
            Ok(checkpoint.segment + 1 >= sealed.segment)
        })?;
        Ok(checkpoint)
    }

    /// Whoever began to read before the erasure may still need what is about to go.
    fn outwait_readers(&self) -> Result<(), StoreError> {
        let now = self.shared.visible();
        self.wait_until("someone still reads what was erased", || {
            Ok(self.shared.oldest_read() >= now)
        })
    }

    /// Merges the tree, and waits until the files from before are gone.
    fn merge(&self) -> Result<(), StoreError> {
        let directory = self.directory.tree().join("tables");
        let before: Vec<PathBuf> = {
            let version = self.shared.tree.current_version();
            version.iter_tables().map(|table| directory.join(table.id().to_string())).collect()
        };
        self.step(Job::Merge)?;
        self.wait_until("a file of the tree is still in use", || {
            self.shared.free_unseen();
            Ok(!before.iter().any(|path| path.exists()))
        })
    }

    fn blank(&self, erased: &Arc<Erased>, behind: Position) -> Result<(), StoreError> {
        let failed = |error| disk_error("the log cannot be read", error);
        for segment in log::list_segments(&self.directory.log()).map_err(failed)? {
            if segment < behind.segment && !self.was_over(segment, erased.since)? {
                self.step(|done| Job::Blank(segment, erased.clone(), done))?;
            }
        }
        self.shared.tail.clear();
        Ok(())
    }

    /// Whether the segment was written before any of it came.
    fn was_over(&self, segment: u32, since: i64) -> Result<bool, StoreError> {
        let note = self.shared.snapshot().get(&layout::era_note(segment))?;
        let latest = note.and_then(|value| codec::read_count(&value));
        let latest = latest.and_then(|latest| i64::try_from(latest).ok());
        Ok(latest.is_some_and(|latest| latest.saturating_add(SLACK_SECONDS) < since))
    }

    /// A backup links files and copies them at leisure: those from before go with it.
    fn outwait_backup(&self) -> Result<(), StoreError> {
        let _none = lock(&self.shared.backing_up);
        backup::clear_away(&self.directory)
            .map_err(|error| disk_error("what a backup has left cannot be removed", error))
    }

    fn forget(&self, erased: &Erased) -> Result<(), StoreError> {
        let forget = |hash: &u64| Change::Forget { key: layout::erased_note(*hash).into() };
        let mut notes = erased.rows.iter().map(forget).peekable();
        while notes.peek().is_some() {
            (self.submit)(notes.by_ref().take(FORGOTTEN_AT_ONCE).collect())?;
        }
        Ok(())
    }

    fn step(
        &self,
        job: impl FnOnce(Sender<Result<(), StoreError>>) -> Job,
    ) -> Result<(), StoreError> {
        let (done, answer) = std::sync::mpsc::channel();
        self.jobs.send(job(done)).map_err(|_| closed())?;
        answer.recv().map_err(|_| closed())?
    }

    fn wait_until(
        &self,
        otherwise: &str,
        mut is_so: impl FnMut() -> Result<bool, StoreError>,
    ) -> Result<(), StoreError> {
        for _ in 0..PAUSES_MAX {
            if is_so()? {
                return Ok(());
            }
            if self.shared.is_closing() {
                return Err(closed());
            }
            std::thread::sleep(PAUSE);
        }
        let what = format!("{otherwise}; what was erased may still be on disk");
        Err(StoreError::Unavailable(what, None))
    }
}
