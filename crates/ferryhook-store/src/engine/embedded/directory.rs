//! The data directory: who may open it, and whether we can read what is in it.
//!
//! ```text
//! FORMAT      which version of the layout this is
//! LOCK        held by the one process that has it open
//! CHECKPOINT  from where on the log must be read again at the next start
//! log/        segments: the truth, and the content of rows
//! tree/       keys, rows and index entries, sorted
//! ```

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use xxhash_rust::xxh3::xxh3_64;

use super::log::{Position, SEGMENT_HEADER};
use crate::StoreError;

/// Counts up when an older program could no longer read the directory.
///
/// 2: the log tells what the upkeep has moved from what was changed.
/// 3: a level of the tree may have several runs, which merges of before would get out of order.
const FORMAT: u32 = 3;
const OLDEST: u32 = 1;
const FORMAT_WORD: &str = "ferryhook-data";

#[derive(Debug)]
pub(super) struct Directory {
    pub(super) path: PathBuf,
    /// Released when the process ends, however it ends.
    _lock: File,
}

impl Directory {
    pub(super) fn open(path: &Path, create: bool) -> Result<Self, StoreError> {
        let name = path.display();
        let unusable = |what: String| StoreError::Unusable(what);
        match fs::metadata(path) {
            Ok(found) if !found.is_dir() => {
                return Err(unusable(format!("{name} is not a directory")));
            }
            Ok(_) => {}
            Err(error) if error.kind() == io::ErrorKind::NotFound && create => {
                fs::create_dir_all(path)
                    .map_err(|error| unusable(format!("{name} cannot be created: {error}")))?;
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                return Err(unusable(format!("there is no data directory {name}")));
            }
            Err(error) => return Err(unusable(format!("{name} cannot be opened: {error}"))),
        }
        let empty =
            is_unused(path).map_err(|error| unusable(format!("{name} cannot be read: {error}")))?;
        let is_older = match !empty || !create {
            true => check_format(path)? < FORMAT,
            false => false,
        };
        let lock = lock(path)?;
        if empty || is_older {
            begin(path).map_err(|error| {
                super::writer::disk_error("cannot set up the data directory", error)
            })?;
        }
        Ok(Self { path: path.to_owned(), _lock: lock })
    }

    pub(super) fn log(&self) -> PathBuf {
        self.path.join("log")
    }

    pub(super) fn tree(&self) -> PathBuf {
        self.path.join("tree")
    }

    /// From where on the log is not yet in the tree's files.
    pub(super) fn checkpoint(&self) -> Result<Position, StoreError> {
        let start = Position { segment: 0, offset: SEGMENT_HEADER };
        let text = match fs::read_to_string(self.path.join("CHECKPOINT")) {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(start),
            Err(error) => return Err(StoreError::unavailable("CHECKPOINT cannot be read", error)),
        };
        let parse = || {
            let (segment, rest) = text.split_once(' ')?;
            let (offset, _) = rest.split_once(' ')?;
            let position =
                Position { segment: segment.parse().ok()?, offset: offset.parse().ok()? };
            (checkpoint_text(position) == text).then_some(position)
        };
        let position = parse().ok_or_else(|| {
            StoreError::Damaged("CHECKPOINT does not match its checksum; restore a backup".into())
        })?;
        if !self.tree().join("current").exists() {
            // An empty tree in its place would be a silent loss of all that was in it.
            return Err(StoreError::Damaged("the tree is missing; restore a backup".into()));
        }
        Ok(position)
    }

    pub(super) fn set_checkpoint(&self, position: Position) -> io::Result<()> {
        replace(&self.path.join("CHECKPOINT"), &checkpoint_text(position))
    }
}

/// Two numbers and their hash.
pub(super) fn checkpoint_text(position: Position) -> String {
    let numbers = format!("{} {}", position.segment, position.offset);
    format!("{numbers} {:016x}\n", xxh3_64(numbers.as_bytes()))
}

/// Whether there is nothing, or no more than a first start leaves that was cut short.
fn is_unused(path: &Path) -> io::Result<bool> {
    for entry in fs::read_dir(path)? {
        let entry = entry?;
        let unused = match entry.file_name().to_str() {
            Some("LOCK" | "FORMAT.new") => true,
            Some("log") => fs::read_dir(entry.path())?.next().is_none(),
            _ => false,
        };
        if !unused {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Marks the directory as ours, and as what we write, before anything else is written there.
fn begin(path: &Path) -> io::Result<()> {
    fs::create_dir_all(path.join("log"))?;
    replace(&path.join("FORMAT"), &format!("{FORMAT_WORD} {FORMAT}\n"))
}

/// The version of the layout, if it is one that we read.
pub(super) fn check_format(path: &Path) -> Result<u32, StoreError> {
    let name = path.display();
    let text = match fs::read_to_string(path.join("FORMAT")) {
        Ok(text) => text,
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            let what = format!("{name} holds other things and is not a Ferryhook data directory");
            return Err(StoreError::Unusable(what));
        }
        Err(error) => return Err(StoreError::Unusable(format!("{name}/FORMAT: {error}"))),
    };
    let version = text.trim().strip_prefix(FORMAT_WORD).and_then(|rest| rest.trim().parse().ok());
    match version {
        Some(known @ OLDEST..=FORMAT) => Ok(known),
        Some(newer) if newer > FORMAT => Err(StoreError::Unusable(format!(
            "{name} was written by a newer Ferryhook (format {newer}, this one reads {FORMAT}): \
             upgrade, or restore a backup"
        ))),
        _ => Err(StoreError::Unusable(format!(
            "{name}/FORMAT says {:?}, which is no format",
            text.trim()
        ))),
    }
}

fn lock(path: &Path) -> Result<File, StoreError> {
    let name = path.display();
    let file = OpenOptions::new()
        .create(true)
        .truncate(false)
        .write(true)
        .open(path.join("LOCK"))
        .map_err(|error| StoreError::Unusable(format!("{name}/LOCK cannot be opened: {error}")))?;
    match file.try_lock() {
        Ok(()) => Ok(file),
        Err(TryLockError::WouldBlock) => {
            Err(StoreError::Unusable(format!("{name} is in use by another Ferryhook process")))
        }
        Err(TryLockError::Error(error)) => {
            Err(StoreError::Unusable(format!("{name}/LOCK cannot be locked: {error}")))
        }
    }
}

/// Writes a small file so that a crash leaves the old one or the new one.
pub(super) fn replace(path: &Path, text: &str) -> io::Result<()> {
    let fresh = path.with_extension("new");
    let mut file = File::create(&fresh)?;
    file.write_all(text.as_bytes())?;
    file.sync_all()?;
    fs::rename(&fresh, path)?;
    match path.parent() {
        Some(directory) => File::open(directory)?.sync_all(),
        None => Ok(()),
    }
}
