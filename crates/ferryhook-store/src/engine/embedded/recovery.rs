//! Opening after a stop of any kind: what the log has and the tree's files have not.
//!
//! Only the log behind the checkpoint is read, so the time it takes depends on the work that was
//! in flight and not on history. A torn tail is cut off; damage to what was acknowledged is an
//! error that names the place, never a silent loss.

use std::collections::HashMap;
use std::fs::{self, File, OpenOptions};
use std::io;
use std::path::Path;
use std::sync::atomic::Ordering;

use lsm_tree::AbstractTree;

use super::change::Change;
use super::codec;
use super::directory::Directory;
use super::faults::{Faults, Step};
use super::layout;
use super::log::{self, Frames, Next, Op, Position, SEGMENT_HEADER};
use super::shared::{Shared, lock, tree_error};
use super::tally::Tally;
use super::writer;
use super::young::Few;
use crate::StoreError;
use crate::query::Order;

/// What the writer goes on with.
pub(super) struct Recovered {
    pub(super) next_segment: u32,
    /// Notes about the segments that were read, which no one has noted yet.
    pub(super) notes: Vec<Change>,
    /// There was more than one table's worth. Unless the checkpoint moves on, the next start
    /// reads all of it again and writes the same tables once more.
    pub(super) long: bool,
}

pub(super) fn recover(
    directory: &Directory,
    shared: &Shared,
    table_bytes_max: u64,
    now: i64,
    faults: &Faults,
) -> Result<Recovered, StoreError> {
    let path = directory.log();
    let unreadable = |error| StoreError::unavailable("the log cannot be read", error);
    let checkpoint = directory.checkpoint()?;
    let segments: Vec<u32> = log::list_segments(&path)
        .map_err(unreadable)?
        .into_iter()
        .filter(|segment| *segment >= checkpoint.segment)
        .collect();
    let mut entries = shared
        .tree
        .get(layout::tree_note(), lsm_tree::SeqNo::MAX)
        .map_err(tree_error)?
        .and_then(|value| Tally::from_value(&value))
        .unwrap_or_default();
    let mut notes = Vec::new();
    let mut read = HashMap::new();
    let mut long = false;
    for segment in &segments {
        let mut content = Tally::default();
        let start = Position { segment: *segment, offset: SEGMENT_HEADER };
        let mut frames = Frames::open(&path, start)?;
        loop {
            match frames.next().map_err(unreadable)? {
                Next::Frame(at, frame) => {
                    let sequence = (at >= checkpoint).then(|| shared.sequence.next());
                    let mut versions = Vec::new();
                    log::read_frame(&frame, at, |op, place| {
                        if let Op::PutWithContent { expires, content: bytes, .. } = &op {
                            content.add(*expires, bytes.len() as u64);
                        }
                        if let Op::Put { key, value } = &op
                            && let Some(noted) = layout::segment_noted(key)
                            && noted >= checkpoint.segment
                        {
                            check_whole(&path, noted, value, &read)?;
                        }
                        if let Some(sequence) = sequence {
                            count(&mut entries, &op);
                            versions.push(writer::replay(&op, place, sequence));
                        }
                        Ok(())
                    })?;
                    let table = shared.table();
                    table.add(versions);
                    table.tidy();
                    if table.bytes() >= table_bytes_max {
                        drop(table);
                        // What the rows of a file point at has to be on disk before the file is.
                        sync(&path, *segment, faults).map_err(unreadable)?;
                        shared.seal_table();
                        shared.flush().map_err(tree_error)?;
                        shared.free_unseen();
                        long = true;
                    }
                }
                Next::End => break,
                Next::Broken => {
                    // A segment is begun only once the one before it is durable.
                    let place = frames.position();
                    let is_last = Some(segment) == segments.last();
                    if !is_last || frames.broken_place_was_durable().map_err(unreadable)? {
                        return Err(damaged(&path, place));
                    }
                    let Position { segment, offset } = place;
                    tracing::warn!(segment, offset, "the log ends in a torn group; it is cut off");
                    break;
                }
            }
        }
        cut(&path, frames.position()).map_err(unreadable)?;
        read.insert(*segment, content.total());
        let key = layout::segment_note(*segment).into();
        notes.push(Change::Note { key, value: content.to_value() });
        // When it was last written is not known, only that it was before.
        let key = layout::era_note(*segment).into();
        let value = codec::count_value(u64::try_from(now).unwrap_or(0));
        notes.push(Change::Note { key, value });
    }
    shared.publish();
    *lock(&shared.freed) = freed(shared)?;
    let last = segments.last().copied().unwrap_or(checkpoint.segment);
    *lock(&shared.entries) = entries;
    let floor = shared.snapshot().get(&layout::floor_note())?;
    let floor = floor.and_then(|value| codec::read_count(&value)?.try_into().ok());
    if floor.is_none() {
        // A log from before does not tell what was moved from what was changed.
        notes.push(floor_note(last));
    }
    shared.floor.store(floor.unwrap_or(last), Ordering::Release);
    Ok(Recovered { next_segment: last + 1, notes, long })
}

pub(super) fn floor_note(segment: u32) -> Change {
    let key = layout::floor_note().into();
    Change::Note { key, value: codec::count_value(segment.into()) }
}

fn count(entries: &mut Tally, op: &Op<'_>) {
    let expires = match op {
        Op::Put { value, .. } => codec::expiry_of(value),
        Op::PutWithContent { expires, .. } => *expires,
        Op::Delete { .. } => None,
    };
    if expires.is_some() {
        entries.add(expires, 1);
    }
}

/// A segment that ended, which a later one tells with what it held, may have lost its last frames
/// without a trace of its own, or be gone.
fn check_whole(
    directory: &Path,
    segment: u32,
    noted: &[u8],
    read: &HashMap<u32, u64>,
) -> Result<(), StoreError> {
    let noted = Tally::from_value(noted).map_or(0, |noted| noted.total());
    let found = read.get(&segment).copied().unwrap_or(0);
    if noted != found {
        let path = log::segment_path(directory, segment);
        let name = path.display();
        return Err(StoreError::Damaged(format!(
            "{name} holds {found} bytes of the {noted} that were acknowledged; restore a backup"
        )));
    }
    Ok(())
}

fn damaged(directory: &Path, place: Position) -> StoreError {
    let path = log::segment_path(directory, place.segment);
    let (name, offset) = (path.display(), place.offset);
    StoreError::Damaged(format!(
        "{name} is damaged at byte {offset}, among acknowledged events; restore a backup"
    ))
}

fn sync(directory: &Path, segment: u32, faults: &Faults) -> io::Result<()> {
    faults.check(Step::Sync)?;
    File::open(log::segment_path(directory, segment))?.sync_data()
}

/// Gives back the room behind the last whole frame, and the file if there is none. What was read
/// may be in the page cache only, and from here on others build on it: so it is synced.
fn cut(directory: &Path, end: Position) -> io::Result<()> {
    let path = log::segment_path(directory, end.segment);
    if end.offset <= SEGMENT_HEADER {
        fs::remove_file(path)?;
        return File::open(directory)?.sync_all();
    }
    let file = OpenOptions::new().write(true).open(path)?;
    file.set_len(u64::from(end.offset))?;
    file.sync_all()
}

fn freed(shared: &Shared) -> Result<HashMap<u32, u64>, StoreError> {
    let mut freed = HashMap::new();
    let span = layout::beginning(layout::freed_notes());
    let snapshot = shared.snapshot();
    let mut found = snapshot.look(&span, Few::default(), Order::Ascending)?;
    while let Some((key, value)) = found.entry()? {
        if let (Some(segment), Some(bytes)) = (key.last_chunk(), codec::read_count(&value)) {
            freed.insert(u32::from_be_bytes(*segment), bytes);
        }
    }
    Ok(freed)
}
