//! Blanking: writes a segment again with some of its ops made void.
//!
//! Asked by the scrub for segments that opening the store does not read any more: there an op is
//! nothing but a place that content may lie at. Everything keeps its place, so nothing else has to
//! learn of it. A crash leaves the old file or the new one.

use std::fs::{self, File};
use std::io::{self, Write};
use std::ops::Range;
use std::path::{Path, PathBuf};

use super::{
    Contents, FRAME_HEADER, Frames, Next, Op, Position, SEGMENT_HEADER, frame_hash, read_ops,
    segment_path, tag,
};
use crate::StoreError;
use crate::engine::embedded::codec::Place;
use crate::engine::embedded::faults::{Faults, Step};
use crate::engine::embedded::writer::disk_error;

/// Tells how many ops were made void. The file is replaced only if there are any.
pub(in crate::engine::embedded) fn blank_segment(
    contents: &Contents,
    faults: &Faults,
    segment: u32,
    is_void: impl FnMut(&Op<'_>, Option<Place>) -> Result<bool, StoreError>,
) -> Result<usize, StoreError> {
    let path = segment_path(&contents.directory, segment);
    let mut fresh = Fresh { path: path.with_extension("new"), file: None };
    let count = fresh.fill(contents, faults, segment, is_void)?;
    if let Some(file) = fresh.file.take_if(|_| count > 0) {
        let replace = || -> io::Result<()> {
            faults.check(Step::Sync)?;
            file.sync_all()?;
            faults.check(Step::Create)?;
            fs::rename(&fresh.path, &path)?;
            File::open(&contents.directory)?.sync_all()
        };
        let replaced = replace();
        contents.reopen(segment);
        replaced.map_err(|error| disk_error("a log segment cannot be replaced", error))?;
    }
    Ok(count)
}

/// Removes what a crash has left of segments that were being written again.
pub(in crate::engine::embedded) fn clear_away(directory: &Path) -> io::Result<()> {
    for entry in fs::read_dir(directory)? {
        let path = entry?.path();
        if path.extension().is_some_and(|extension| extension == "new") {
            fs::remove_file(path)?;
        }
    }
    Ok(())
}

/// The file that takes the segment's place. Begun with the first op that is void, and gone again
/// unless it came to that.
struct Fresh {
    path: PathBuf,
    file: Option<File>,
}

impl Fresh {
    fn fill(
        &mut self,
        contents: &Contents,
        faults: &Faults,
        segment: u32,
        mut is_void: impl FnMut(&Op<'_>, Option<Place>) -> Result<bool, StoreError>,
    ) -> Result<usize, StoreError> {
        let unreadable = |error| StoreError::unavailable("the log cannot be read", error);
        let failed = |error| disk_error("a log segment cannot be written again", error);
        let start = Position { segment, offset: SEGMENT_HEADER };
        let mut frames = Frames::open(&contents.directory, start)?;
        let mut count = 0;
        loop {
            let (at, mut frame) = match frames.next().map_err(unreadable)? {
                Next::Frame(at, frame) => (at, frame),
                Next::End => break,
                Next::Broken => {
                    let offset = frames.position().offset;
                    let what = format!("segment {segment} is damaged at byte {offset}");
                    return Err(StoreError::Damaged(what));
                }
            };
            let mut void: Vec<Range<usize>> = Vec::new();
            read_ops(&frame, at, |op, place, bytes| {
                if is_void(&op, place)? {
                    void.push(bytes);
                }
                Ok(())
            })?;
            if void.is_empty() && self.file.is_none() {
                continue;
            }
            count += void.len();
            for bytes in void {
                blank(&mut frame[bytes]);
            }
            let hash = frame_hash(at, &frame);
            frame[12..FRAME_HEADER].copy_from_slice(&hash.to_le_bytes());
            self.write(contents, faults, at, &frame).map_err(failed)?;
        }
        Ok(count)
    }

    fn write(
        &mut self,
        contents: &Contents,
        faults: &Faults,
        at: Position,
        frame: &[u8],
    ) -> io::Result<()> {
        if self.file.is_none() {
            faults.check(Step::Create)?;
            let mut file = File::create(&self.path)?;
            let before = File::open(segment_path(&contents.directory, at.segment))?;
            // What lies before the first op that is void stays as it is.
            let length = u64::from(at.offset);
            let copied = io::copy(&mut io::Read::take(before, length), &mut file)?;
            if copied != length {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
            self.file = Some(file);
        }
        faults.check(Step::Write)?;
        match &mut self.file {
            Some(file) => file.write_all(frame),
            None => Ok(()),
        }
    }
}

/// Also after a failure to replace the segment; what is in its place already has another name.
impl Drop for Fresh {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.path);
    }
}

/// An op of the same length that says nothing: no key is empty.
fn blank(op: &mut [u8]) {
    op.fill(0);
    // Tag, the length of an empty key, the length of the value, the value.
    let Some(room) = op.len().checked_sub(2) else { return };
    let digits = (1..=room).find(|digits| room - digits < 1 << (7 * digits)).unwrap_or(room);
    let mut length = room - digits;
    op[0] = tag::PUT;
    for (place, byte) in op[2..2 + digits].iter_mut().enumerate() {
        let more = if place + 1 < digits { 0x80 } else { 0 };
        *byte = (length & 0x7F) as u8 | more;
        length >>= 7;
    }
}

#[cfg(test)]
mod tests;
