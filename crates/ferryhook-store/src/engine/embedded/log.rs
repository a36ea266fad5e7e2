//! The log: the truth on disk, and the only copy of every row's content.
//!
//! A segment is a file of frames. A frame is one group of commits: it is written and synced as a
//! whole and, after a crash, counts as a whole or not at all. Its hash covers its place, so that
//! no frame can be taken for another, and it notes how far the segment was durable before it.
//! That tells a torn tail (never acknowledged, cut off) from damage (acknowledged, refused).
//!
//! The tree holds only what is small; see `writer` for how the two stay together.

use std::collections::HashMap;
use std::fs::{File, OpenOptions};
use std::io;
use std::ops::Range;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};

use xxhash_rust::xxh3::{xxh3_64, xxh3_64_with_seed};

use super::codec::{self, Place};
use super::faults::{Faults, Step};
use crate::StoreError;

mod blank;
mod frames;

pub(super) use blank::{blank_segment, clear_away};
pub(super) use frames::{Frames, Next};

/// A segment grows to about this size before the next one is begun.
pub(super) const SEGMENT_BYTES: u32 = 64 * 1024 * 1024;
/// Behind that it has room of this part of it for what the upkeep has to note before it may give
/// room back: on a full disk there is no other.
const SPARE_SHARE: u32 = 64;
/// A segment starts with this, its number and a check of both.
const SEGMENT_MAGIC: [u8; 8] = *b"FHLOG\0\0\x01";
pub(super) const SEGMENT_HEADER: u32 = 16;
const FRAME_MAGIC: [u8; 4] = *b"FHf1";
pub(super) const FRAME_HEADER: usize = 20;
/// Open files kept for reading content.
const OPEN_FILES_MAX: usize = 256;

/// A place between two frames.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Position {
    pub(super) segment: u32,
    pub(super) offset: u32,
}

pub(super) fn segment_path(directory: &Path, segment: u32) -> PathBuf {
    directory.join(format!("{segment:08}.log"))
}

/// The numbers of all segments, oldest first.
pub(super) fn list_segments(directory: &Path) -> io::Result<Vec<u32>> {
    let mut numbers = Vec::new();
    for entry in std::fs::read_dir(directory)? {
        let name = entry?.file_name();
        let number = name.to_str().and_then(|name| name.strip_suffix(".log"));
        numbers.extend(number.and_then(|number| number.parse::<u32>().ok()));
    }
    numbers.sort_unstable();
    Ok(numbers)
}

/// The end of the log, where frames are added. Owned by the writer.
#[derive(Debug)]
pub(super) struct Log {
    directory: PathBuf,
    file: Arc<File>,
    end: Position,
    /// Up to here the current segment is known to be on disk.
    synced: u32,
    /// Up to here the current segment has room that no full disk takes away.
    room: u32,
    segment_bytes: u32,
    faults: Faults,
    syncer: Syncer,
}

/// Files to sync, and how it went; served by a thread that ends with the log.
type Syncer = (Sender<Arc<File>>, Receiver<io::Result<()>>);

fn start_syncer() -> io::Result<Syncer> {
    let (files, asked) = channel::<Arc<File>>();
    let (done, answers) = channel();
    std::thread::Builder::new().name("store-sync".into()).spawn(move || {
        while let Ok(file) = asked.recv() {
            if done.send(file.sync_data()).is_err() {
                return;
            }
        }
    })?;
    Ok((files, answers))
}

impl Log {
    /// Begins a new segment; nothing is ever added to an old one.
    pub(super) fn begin(
        directory: &Path,
        segment: u32,
        segment_bytes: u32,
        faults: Faults,
    ) -> io::Result<Self> {
        let file = create_segment(directory, segment, segment_bytes, &faults)?;
        Ok(Self {
            directory: directory.to_owned(),
            file: Arc::new(file),
            end: Position { segment, offset: SEGMENT_HEADER },
            synced: SEGMENT_HEADER,
            room: room_of(segment_bytes),
            segment_bytes,
            faults,
            syncer: start_syncer()?,
        })
    }

    pub(super) fn end(&self) -> Position {
        self.end
    }

    /// Up to where all is on disk.
    pub(super) fn durable(&self) -> Position {
        Position { offset: self.synced, ..self.end }
    }

    pub(super) fn is_synced(&self) -> bool {
        self.synced == self.end.offset
    }

    /// Whether the next frame should go to a new segment.
    pub(super) fn is_full(&self) -> bool {
        self.end.offset >= self.segment_bytes
    }

    /// Takes room for a frame that may reach beyond what the segment has. What a full disk refuses
    /// here has changed nothing; a write that it stops half-way would be the last.
    pub(super) fn make_room(&mut self, frame_bytes: usize, room_for: RoomFor) -> io::Result<()> {
        let spare = match room_for {
            RoomFor::Commits => self.segment_bytes / SPARE_SHARE,
            RoomFor::Upkeep => 0,
        };
        let bytes = u32::try_from(frame_bytes).map_err(io::Error::other)?;
        let needed = self.end.offset.saturating_add(bytes).saturating_add(spare);
        if needed > self.room {
            self.faults.check(Step::Grow)?;
            allocate(&self.file, self.room..needed)?;
            self.room = needed;
        }
        Ok(())
    }

    /// Writes a frame whose first [`FRAME_HEADER`] bytes are still free.
    pub(super) fn append(&mut self, frame: &mut [u8]) -> io::Result<()> {
        let length = u32::try_from(frame.len() - FRAME_HEADER).map_err(io::Error::other)?;
        frame[0..4].copy_from_slice(&FRAME_MAGIC);
        frame[4..8].copy_from_slice(&length.to_le_bytes());
        frame[8..12].copy_from_slice(&self.synced.to_le_bytes());
        let hash = frame_hash(self.end, frame);
        frame[12..20].copy_from_slice(&hash.to_le_bytes());
        self.faults.check(Step::Write)?;
        self.file.write_all_at(frame, u64::from(self.end.offset))?;
        self.end.offset += length + FRAME_HEADER as u32;
        Ok(())
    }

    pub(super) fn sync(&mut self) -> io::Result<()> {
        self.sync_beside(false, || ()).1
    }

    /// Syncs all that was appended and does `work` meanwhile. `apart` has the disk wait on a
    /// thread of its own; for little work that would cost more than it saves.
    pub(super) fn sync_beside<T>(
        &mut self,
        apart: bool,
        work: impl FnOnce() -> T,
    ) -> (T, io::Result<()>) {
        if let Err(fault) = self.faults.check(Step::Sync) {
            return (work(), Err(fault));
        }
        let asked = apart && self.syncer.0.send(self.file.clone()).is_ok();
        let done = work();
        let synced = match asked {
            true => self.syncer.1.recv().unwrap_or_else(|lost| Err(io::Error::other(lost))),
            false => self.file.sync_data(),
        };
        if synced.is_ok() {
            self.synced = self.end.offset;
        }
        (done, synced)
    }

    /// Syncs what there is and gives the rest of the room back. What is added later still counts.
    pub(super) fn finish(&mut self) -> io::Result<()> {
        self.faults.check(Step::Sync)?;
        self.file.set_len(u64::from(self.end.offset))?;
        self.file.sync_all()?;
        self.synced = self.end.offset;
        Ok(())
    }

    /// Begins the next segment. This one has been synced: that a later one exists proves it
    /// durable. It keeps its room until there is a next one: should none be begun, frames go on
    /// coming here.
    pub(super) fn begin_next(&mut self) -> io::Result<Ended> {
        let next = self.end.segment + 1;
        let file = create_segment(&self.directory, next, self.segment_bytes, &self.faults)?;
        let ended = std::mem::replace(&mut self.file, Arc::new(file));
        let ended = Ended { file: ended, length: self.end.offset, faults: self.faults.clone() };
        self.end = Position { segment: next, offset: SEGMENT_HEADER };
        self.synced = SEGMENT_HEADER;
        self.room = room_of(self.segment_bytes);
        Ok(ended)
    }

    pub(super) fn faults(&self) -> &Faults {
        &self.faults
    }
}

/// Whose frame it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum RoomFor {
    Commits,
    /// Notes of the upkeep, which may use what is spared for them.
    Upkeep,
}

/// A segment that has a successor and more room than it needs.
#[derive(Debug)]
#[must_use]
pub(super) struct Ended {
    file: Arc<File>,
    length: u32,
    faults: Faults,
}

impl Ended {
    /// Gives the rest of its room back. Whoever reads it knows its end by the file's.
    pub(super) fn cut(self) -> io::Result<()> {
        self.faults.check(Step::Sync)?;
        self.file.set_len(u64::from(self.length))?;
        self.file.sync_all()
    }
}

fn room_of(segment_bytes: u32) -> u32 {
    segment_bytes.saturating_add(segment_bytes / SPARE_SHARE)
}

fn allocate(file: &File, room: Range<u32>) -> io::Result<()> {
    let (from, bytes) = (u64::from(room.start), u64::from(room.end - room.start));
    rustix::fs::fallocate(file, rustix::fs::FallocateFlags::empty(), from, bytes)
        .map_err(io::Error::from)
        .or_else(|error| match error.kind() {
            io::ErrorKind::Unsupported => Ok(()),
            _ => Err(error),
        })
}

/// Room is taken at once: a full disk shows here, before anything depends on the segment, and
/// later syncs need not write the file's length.
fn create_segment(directory: &Path, segment: u32, bytes: u32, faults: &Faults) -> io::Result<File> {
    faults.check(Step::Create)?;
    let path = segment_path(directory, segment);
    let file = OpenOptions::new().read(true).write(true).create_new(true).open(&path)?;
    let made = allocate(&file, 0..room_of(bytes))
        .and_then(|()| file.write_all_at(&segment_header(segment), 0))
        .and_then(|()| file.sync_all())
        .and_then(|()| File::open(directory)?.sync_all());
    match made {
        Ok(()) => Ok(file),
        Err(error) => {
            // Leave nothing half made behind; the next try makes it again.
            let _ = std::fs::remove_file(&path);
            Err(error)
        }
    }
}

fn segment_header(segment: u32) -> [u8; SEGMENT_HEADER as usize] {
    let mut header = [0; SEGMENT_HEADER as usize];
    header[..8].copy_from_slice(&SEGMENT_MAGIC);
    header[8..12].copy_from_slice(&segment.to_le_bytes());
    let check = xxh3_64(&header[..12]) as u32;
    header[12..].copy_from_slice(&check.to_le_bytes());
    header
}

fn frame_hash(at: Position, frame: &[u8]) -> u64 {
    let seed = u64::from(at.segment) << 32 | u64::from(at.offset);
    let body = xxh3_64_with_seed(&frame[FRAME_HEADER..], seed);
    xxh3_64_with_seed(&frame[..12], body)
}

pub(super) fn content_check(content: &[u8]) -> u32 {
    xxh3_64(content) as u32
}

/// Reads content by its place. Shared by all readers.
#[derive(Debug)]
pub(super) struct Contents {
    directory: PathBuf,
    open: Mutex<HashMap<u32, Arc<File>>>,
}

pub(super) enum ContentError {
    /// The segment is gone: its content has moved, look the row up again.
    Moved,
    Unreadable(String),
}

impl Contents {
    pub(super) fn new(directory: &Path) -> Self {
        Self { directory: directory.to_owned(), open: Mutex::default() }
    }

    pub(super) fn read(&self, place: Place) -> Result<Vec<u8>, ContentError> {
        let file = self.file(place.segment).map_err(|error| match error.kind() {
            io::ErrorKind::NotFound => ContentError::Moved,
            _ => ContentError::Unreadable(error.to_string()),
        })?;
        let mut content = vec![0; place.length as usize];
        file.read_exact_at(&mut content, u64::from(place.offset))
            .map_err(|error| ContentError::Unreadable(error.to_string()))?;
        if content_check(&content) != place.check {
            let Place { segment, offset, .. } = place;
            return Err(ContentError::Unreadable(format!(
                "its content in segment {segment} at {offset} does not match its checksum"
            )));
        }
        Ok(content)
    }

    fn file(&self, segment: u32) -> io::Result<Arc<File>> {
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(file) = open.get(&segment) {
            return Ok(file.clone());
        }
        let file = Arc::new(File::open(segment_path(&self.directory, segment))?);
        if open.len() >= OPEN_FILES_MAX {
            open.clear();
        }
        open.insert(segment, file.clone());
        Ok(file)
    }

    /// Has readers open a segment anew, whose file was replaced.
    fn reopen(&self, segment: u32) {
        self.open.lock().unwrap_or_else(PoisonError::into_inner).remove(&segment);
    }

    /// Deletes a segment nothing points into any more.
    pub(super) fn remove(&self, segment: u32) -> io::Result<()> {
        // In this order: a reader may not open it again once it is forgotten.
        let removed = std::fs::remove_file(segment_path(&self.directory, segment));
        self.open.lock().unwrap_or_else(PoisonError::into_inner).remove(&segment);
        removed
    }
}

/// One change of the tree, as the log keeps it.
#[derive(Debug, PartialEq)]
pub(super) enum Op<'a> {
    Put {
        key: &'a [u8],
        value: &'a [u8],
    },
    Delete {
        key: &'a [u8],
    },
    /// A row whose content lies right here in the log.
    PutWithContent {
        key: &'a [u8],
        expires: Option<i64>,
        content: &'a [u8],
        tail: &'a [u8],
        /// Nobody has changed the row: its content was given a new place.
        moved: bool,
    },
}

mod tag {
    pub(super) const PUT: u8 = 1;
    pub(super) const DELETE: u8 = 2;
    pub(super) const PUT_WITH_CONTENT: u8 = 3;
    /// The same, by the upkeep.
    pub(super) const MOVE_WITH_CONTENT: u8 = 4;
}

impl Op<'_> {
    pub(super) fn key(&self) -> &[u8] {
        match self {
            Self::Put { key, .. } | Self::Delete { key } | Self::PutWithContent { key, .. } => key,
        }
    }

    /// Adds the op to a frame that will be written at `at`; tells where its content will lie.
    pub(super) fn push(&self, frame: &mut Vec<u8>, at: Position) -> Option<Place> {
        match self {
            Op::Put { key, value } => {
                frame.push(tag::PUT);
                codec::push_bytes(frame, key);
                codec::push_bytes(frame, value);
                None
            }
            Op::Delete { key } => {
                frame.push(tag::DELETE);
                codec::push_bytes(frame, key);
                None
            }
            Op::PutWithContent { key, expires, content, tail, moved } => {
                frame.push(match moved {
                    true => tag::MOVE_WITH_CONTENT,
                    false => tag::PUT_WITH_CONTENT,
                });
                codec::push_bytes(frame, key);
                frame.extend_from_slice(&codec::expiry_bytes(*expires));
                codec::push_bytes(frame, tail);
                codec::push_varint(frame, content.len() as u64);
                let place = Place {
                    segment: at.segment,
                    offset: at.offset + frame.len() as u32,
                    length: content.len() as u32,
                    check: content_check(content),
                };
                frame.extend_from_slice(content);
                Some(place)
            }
        }
    }
}

/// Calls `each` for every op of a frame that stands at `at`.
pub(super) fn read_frame(
    frame: &[u8],
    at: Position,
    mut each: impl FnMut(Op<'_>, Option<Place>) -> Result<(), StoreError>,
) -> Result<(), StoreError> {
    read_ops(frame, at, |op, place, _| each(op, place))
}

/// The same, and tells of each op which bytes of the frame it has.
pub(super) fn read_ops(
    frame: &[u8],
    at: Position,
    mut each: impl FnMut(Op<'_>, Option<Place>, Range<usize>) -> Result<(), StoreError>,
) -> Result<(), StoreError> {
    let bad =
        || StoreError::Damaged(format!("segment {} at {}: unknown op", at.segment, at.offset));
    let mut rest = &frame[FRAME_HEADER..];
    while !rest.is_empty() {
        let begin = frame.len() - rest.len();
        let op = take_op(&mut rest).ok_or_else(bad)?;
        let end = frame.len() - rest.len();
        let place = match op {
            Op::PutWithContent { content, .. } => Some(Place {
                segment: at.segment,
                offset: at.offset + (end - content.len()) as u32,
                length: content.len() as u32,
                check: content_check(content),
            }),
            Op::Put { .. } | Op::Delete { .. } => None,
        };
        each(op, place, begin..end)?;
    }
    Ok(())
}

/// The op that stands first, and steps behind it. What it carries is not looked at.
pub(super) fn take_op<'a>(rest: &mut &'a [u8]) -> Option<Op<'a>> {
    let [tag] = *codec::take::<1>(rest)?;
    let key = codec::take_bytes(rest)?;
    Some(match tag {
        tag::PUT => Op::Put { key, value: codec::take_bytes(rest)? },
        tag::DELETE => Op::Delete { key },
        tag::PUT_WITH_CONTENT | tag::MOVE_WITH_CONTENT => {
            let expires = codec::expiry_of(codec::take::<4>(rest)?);
            let tail = codec::take_bytes(rest)?;
            let content = codec::take_bytes(rest)?;
            let moved = tag == tag::MOVE_WITH_CONTENT;
            Op::PutWithContent { key, expires, content, tail, moved }
        }
        _ => return None,
    })
}

#[cfg(test)]
mod tests;
