//! Hot backup: a consistent copy of the directory while commits go on.
//!
//! The writer ends its segment and its table; the table is written out; then, for as long as it
//! takes to link the files (they never change once written), no file may come or go. The copying
//! itself happens from the links, with nobody waiting. `BACKUP` lists every file with its length
//! and hash and is written last, so that half a backup is never taken for one.

use std::fs::{self, File};
use std::hash::Hasher;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::TryLockError;
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::Duration;

use tokio::sync::mpsc;
use tokio::sync::mpsc::error::TrySendError;
use xxhash_rust::xxh3::Xxh3;

use super::directory::{self, Directory};
use super::log::{self, Position};
use super::shared::{Shared, lock, tree_error};
use super::writer::{Request, disk_error};
use crate::StoreError;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Summary {
    pub files: usize,
    pub bytes: u64,
}

/// How long to wait for the writer before looking whether it waits for us.
const WAIT: Duration = Duration::from_millis(5);
const LIST: &str = "BACKUP";
const LIST_WORD: &str = "ferryhook-backup 1";

pub(super) fn backup(
    shared: &Shared,
    directory: &Directory,
    requests: &mpsc::Sender<Request>,
    target: &Path,
) -> Result<Summary, StoreError> {
    if target.exists() {
        let name = target.display();
        return Err(StoreError::Unusable(format!("{name} exists already; name a new directory")));
    }
    let _one = lock(&shared.backing_up);
    let staging = staging(directory);
    let failed = |error| disk_error("the backup cannot be written", error);
    clear_away(directory).map_err(failed)?;
    let result = stage(shared, directory, requests, &staging)
        .and_then(|()| copy_all(&staging, target).map_err(failed));
    let _ = fs::remove_dir_all(&staging);
    if result.is_err() {
        let _ = fs::remove_dir_all(target);
    }
    result
}

fn staging(directory: &Directory) -> PathBuf {
    directory.path.join("backup.staging")
}

/// Removes what a backup that a crash ended has left. No other may be under way.
pub(super) fn clear_away(directory: &Directory) -> io::Result<()> {
    match fs::remove_dir_all(staging(directory)) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

/// Links a consistent set of files.
fn stage(
    shared: &Shared,
    directory: &Directory,
    requests: &mpsc::Sender<Request>,
    staging: &Path,
) -> Result<(), StoreError> {
    // Once without holding anyone up, so that little is left to do while the writer waits.
    let (_, hurry) = std::sync::mpsc::channel();
    seal(shared, requests, hurry)?;
    // A compaction may take long, and the writer may meanwhile wait for tables to be written out.
    let _still = loop {
        match shared.files.try_write() {
            Ok(guard) => break guard,
            Err(TryLockError::Poisoned(poisoned)) => break poisoned.into_inner(),
            Err(TryLockError::WouldBlock) => {
                flush(shared)?;
                std::thread::sleep(WAIT);
            }
        }
    };
    let (hold, held) = std::sync::mpsc::channel();
    let sealed = seal(shared, requests, held)?;
    flush(shared)?;
    let failed = |error| disk_error("the backup cannot be staged", error);
    let link = || -> io::Result<()> {
        fs::create_dir_all(staging.join("log"))?;
        fs::hard_link(directory.path.join("FORMAT"), staging.join("FORMAT"))?;
        directory::replace(&staging.join("CHECKPOINT"), &directory::checkpoint_text(sealed))?;
        for segment in log::list_segments(&directory.log())? {
            // The segment that is being written now begins behind the seal.
            if segment < sealed.segment {
                let path = log::segment_path(&directory.log(), segment);
                fs::hard_link(path, log::segment_path(&staging.join("log"), segment))?;
            }
        }
        link_all(&directory.tree(), &staging.join("tree"))
    };
    let linked = link().map_err(failed);
    drop(hold);
    linked
}

/// Has the writer end its segment and table. It may be waiting for tables to be written out, and
/// those who do that for this one: so it is done here meanwhile.
pub(super) fn seal(
    shared: &Shared,
    requests: &mpsc::Sender<Request>,
    go_on: Receiver<()>,
) -> Result<Position, StoreError> {
    let (done, answer) = std::sync::mpsc::channel();
    let closed = || StoreError::Unavailable("the store is closed".into(), None);
    let mut request = Request::Seal { done, go_on };
    while let Err(error) = requests.try_send(request) {
        request = match error {
            TrySendError::Full(request) => request,
            TrySendError::Closed(_) => return Err(closed()),
        };
        flush(shared)?;
    }
    loop {
        match answer.recv_timeout(WAIT) {
            Ok(sealed) => return sealed,
            Err(RecvTimeoutError::Timeout) => flush(shared)?,
            Err(RecvTimeoutError::Disconnected) => return Err(closed()),
        }
    }
}

fn flush(shared: &Shared) -> Result<(), StoreError> {
    shared.flush().map_err(tree_error)
}

fn link_all(from: &Path, to: &Path) -> io::Result<()> {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let target = to.join(entry.file_name());
        match entry.file_type()?.is_dir() {
            true => link_all(&entry.path(), &target)?,
            false => match fs::hard_link(entry.path(), target) {
                // A table that no version needs any more goes with its last reader.
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                linked => linked?,
            },
        }
    }
    Ok(())
}

fn files_below(root: &Path) -> io::Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    let mut open = vec![root.to_owned()];
    while let Some(directory) = open.pop() {
        for entry in fs::read_dir(directory)? {
            let entry = entry?;
            match entry.file_type()?.is_dir() {
                true => open.push(entry.path()),
                false => found.push(entry.path()),
            }
        }
    }
    found.sort();
    Ok(found)
}

fn copy_all(staging: &Path, target: &Path) -> io::Result<Summary> {
    fs::create_dir_all(target)?;
    let mut list = format!("{LIST_WORD}\n");
    let mut summary = Summary { files: 0, bytes: 0 };
    for path in files_below(staging)? {
        let name = path.strip_prefix(staging).map_err(io::Error::other)?;
        let (bytes, hash) = copy(&path, &target.join(name))?;
        list += &format!("{hash:016x} {bytes} {}\n", name.display());
        summary.files += 1;
        summary.bytes += bytes;
    }
    sync_directories(target)?;
    directory::replace(&target.join(LIST), &list)?;
    Ok(summary)
}

fn sync_directories(root: &Path) -> io::Result<()> {
    for entry in fs::read_dir(root)? {
        let entry = entry?;
        if entry.file_type()?.is_dir() {
            sync_directories(&entry.path())?;
        }
    }
    File::open(root)?.sync_all()
}

/// Copies and syncs one file; tells its length and hash.
fn copy(from: &Path, to: &Path) -> io::Result<(u64, u64)> {
    if let Some(parent) = to.parent() {
        fs::create_dir_all(parent)?;
    }
    let mut source = File::open(from)?;
    let mut target = File::create(to)?;
    let mut hasher = Xxh3::new();
    let mut buffer = vec![0; 256 * 1024];
    let mut length = 0;
    loop {
        let read = source.read(&mut buffer)?;
        if read == 0 {
            break;
        }
        hasher.write(&buffer[..read]);
        target.write_all(&buffer[..read])?;
        length += read as u64;
    }
    target.sync_all()?;
    Ok((length, hasher.finish()))
}

/// Makes a data directory from a backup, checking every file on the way. The directory must not
/// exist or be empty.
pub fn restore(backup: &Path, target: &Path) -> Result<Summary, StoreError> {
    let (name, place) = (backup.display(), target.display());
    let list = fs::read_to_string(backup.join(LIST)).map_err(|error| {
        StoreError::Unusable(format!("{name} is not a complete backup: {LIST}: {error}"))
    })?;
    let mut lines = list.lines();
    if lines.next() != Some(LIST_WORD) {
        return Err(StoreError::Unusable(format!(
            "{name}/{LIST} is not a list this version reads"
        )));
    }
    directory::check_format(backup)?;
    if fs::read_dir(target).is_ok_and(|mut entries| entries.next().is_some()) {
        return Err(StoreError::Unusable(format!("{place} is not empty; nothing was restored")));
    }
    let restored = copy_checked(backup, target, lines);
    if restored.is_err() {
        let _ = fs::remove_dir_all(target);
    }
    restored
}

fn copy_checked<'a>(
    backup: &Path,
    target: &Path,
    lines: impl Iterator<Item = &'a str>,
) -> Result<Summary, StoreError> {
    let mut summary = Summary { files: 0, bytes: 0 };
    let failed = |error| disk_error("the backup cannot be restored", error);
    // FORMAT comes last: without it a directory that was restored by half does not open.
    let (last, first): (Vec<_>, Vec<_>) = lines.partition(|line| line.ends_with(" FORMAT"));
    for line in first {
        restore_one(backup, target, line, &mut summary)?;
    }
    sync_directories(target).map_err(failed)?;
    for line in last {
        restore_one(backup, target, line, &mut summary)?;
    }
    sync_directories(target).map_err(failed)?;
    Ok(summary)
}

fn restore_one(
    backup: &Path,
    target: &Path,
    line: &str,
    summary: &mut Summary,
) -> Result<(), StoreError> {
    let listed = (|| {
        let (hash, rest) = line.split_once(' ')?;
        let (bytes, file) = rest.split_once(' ')?;
        Some((u64::from_str_radix(hash, 16).ok()?, bytes.parse::<u64>().ok()?, file))
    })();
    let Some((hash, bytes, file)) = listed.filter(|(_, _, file)| is_inside(file)) else {
        return Err(StoreError::Damaged(format!("the backup's list has the line {line:?}")));
    };
    let copied = copy(&backup.join(file), &target.join(file))
        .map_err(|error| disk_error(&format!("{file} cannot be restored"), error))?;
    if copied != (bytes, hash) {
        return Err(StoreError::Damaged(format!("{file} in the backup is not what was saved")));
    }
    summary.files += 1;
    summary.bytes += bytes;
    Ok(())
}

/// Whether a listed path stays below the directory.
fn is_inside(file: &str) -> bool {
    Path::new(file).components().all(|part| matches!(part, std::path::Component::Normal(_)))
}
