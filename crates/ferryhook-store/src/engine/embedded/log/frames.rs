//! Reads the frames of one segment, from a frame boundary on, and tells what was torn from what is
//! damaged.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::Path;

use super::{
    FRAME_HEADER, FRAME_MAGIC, Position, SEGMENT_HEADER, frame_hash, segment_header, segment_path,
    take_op,
};
use crate::StoreError;

/// Bytes hashed at most, in each of two tries, in search of a frame where lengths cannot be trusted.
const HASHED_MAX: usize = 256 * 1024 * 1024;

#[derive(Debug)]
pub(in crate::engine::embedded) struct Frames {
    file: File,
    length: u64,
    at: Position,
}

pub(in crate::engine::embedded) enum Next {
    Frame(Position, Vec<u8>),
    /// Nothing more was ever written.
    End,
    /// What follows was written but is not whole.
    Broken,
}

impl Frames {
    pub(in crate::engine::embedded) fn open(
        directory: &Path,
        from: Position,
    ) -> Result<Self, StoreError> {
        let path = segment_path(directory, from.segment);
        let name = path.display();
        let unreadable = |error| StoreError::unavailable(format!("cannot read {name}"), error);
        let file = File::open(&path).map_err(unreadable)?;
        let length = file.metadata().map_err(unreadable)?.len();
        let mut header = [0; SEGMENT_HEADER as usize];
        let whole = file.read_exact_at(&mut header, 0).is_ok();
        let mut frames = Self { file, length, at: Position { offset: 0, ..from } };
        if !whole || header != segment_header(from.segment) {
            // Unless a frame says otherwise: torn while it was made, and nothing was ever in it.
            let was_used = frames.begins_with_a_frame().map_err(unreadable)?
                || frames.broken_place_was_durable().map_err(unreadable)?;
            if was_used {
                return Err(StoreError::Damaged(format!("{name} does not start as a log segment")));
            }
        }
        frames.at.offset = from.offset.max(SEGMENT_HEADER);
        Ok(frames)
    }

    pub(in crate::engine::embedded) fn position(&self) -> Position {
        self.at
    }

    /// Goes on at another frame of the same segment.
    pub(in crate::engine::embedded) fn seek(&mut self, offset: u32) {
        self.at.offset = offset;
    }

    /// Whether the file ends here.
    pub(in crate::engine::embedded) fn is_over(&self) -> bool {
        u64::from(self.at.offset) >= self.length
    }

    /// The frame that begins here, and steps behind it.
    pub(in crate::engine::embedded) fn take(&mut self) -> io::Result<Option<(Position, Vec<u8>)>> {
        let at = self.at;
        let frame = self.frame_at(at)?;
        self.at.offset += frame.as_ref().map_or(0, |frame| frame.len() as u32);
        Ok(frame.map(|frame| (at, frame)))
    }

    pub(in crate::engine::embedded) fn next(&mut self) -> io::Result<Next> {
        match self.take()? {
            Some((at, frame)) => Ok(Next::Frame(at, frame)),
            None => Ok(match self.rest()?.iter().all(|byte| *byte == 0) {
                true => Next::End,
                false => Next::Broken,
            }),
        }
    }

    fn frame_at(&self, at: Position) -> io::Result<Option<Vec<u8>>> {
        let room = self.length.saturating_sub(u64::from(at.offset));
        if room < FRAME_HEADER as u64 {
            return Ok(None);
        }
        let mut frame = vec![0; FRAME_HEADER];
        self.file.read_exact_at(&mut frame, u64::from(at.offset))?;
        let length = u32::from_le_bytes([frame[4], frame[5], frame[6], frame[7]]);
        if frame[..4] != FRAME_MAGIC || u64::from(length) > room - FRAME_HEADER as u64 {
            return Ok(None);
        }
        frame.resize(FRAME_HEADER + length as usize, 0);
        let body = u64::from(at.offset) + FRAME_HEADER as u64;
        self.file.read_exact_at(&mut frame[FRAME_HEADER..], body)?;
        let stored = u64::from_le_bytes(frame[12..20].try_into().map_err(io::Error::other)?);
        Ok((stored == frame_hash(at, &frame)).then_some(frame))
    }

    fn rest(&self) -> io::Result<Vec<u8>> {
        let room = self.length.saturating_sub(u64::from(self.at.offset));
        let mut bytes = vec![0; usize::try_from(room).map_err(io::Error::other)?];
        self.file.read_exact_at(&mut bytes, u64::from(self.at.offset))?;
        Ok(bytes)
    }

    /// Whether there is a frame behind the header, or what is left of one.
    fn begins_with_a_frame(&self) -> io::Result<bool> {
        let mut magic = [0; FRAME_MAGIC.len()];
        match self.file.read_exact_at(&mut magic, u64::from(SEGMENT_HEADER)) {
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => Ok(false),
            read => read.map(|()| magic == FRAME_MAGIC),
        }
    }

    /// Whether a whole frame further on says that the broken place was once durable.
    pub(in crate::engine::embedded) fn broken_place_was_durable(&self) -> io::Result<bool> {
        Ok(Proof::new(self.at, self.rest()?).is_found())
    }
}

/// The search for a frame behind a broken place that says it was once durable.
///
/// Strangers choose what bodies hold, so any number of places may look like frames that reach far,
/// and to hash each of them to its end would take hours.
struct Proof {
    broken: Position,
    /// All from the broken place on.
    rest: Vec<u8>,
    hashed: usize,
}

impl Proof {
    fn new(broken: Position, rest: Vec<u8>) -> Self {
        Self { broken, rest, hashed: 0 }
    }

    fn is_found(&mut self) -> bool {
        self.is_found_in_line() || self.is_found_anywhere(true) || self.is_found_anywhere(false)
    }

    /// One frame behind the other, as their lengths say: no byte is hashed twice, and content is
    /// taken for nothing else.
    fn is_found_in_line(&mut self) -> bool {
        let mut at = 0;
        while let Some(bytes) = self.bytes_of(at) {
            if self.may_prove(at, bytes) && self.proves(at, bytes) {
                return true;
            }
            at += bytes;
        }
        false
    }

    /// A length may be what is broken, so whatever looks like a frame is tried, up to a bound. What
    /// was durable before a frame ends where it begins or where another does: only a frame behind a
    /// torn one may say something else, and whoever made a body up does not know its place.
    fn is_found_anywhere(&mut self, is_likely: bool) -> bool {
        let most = self.hashed + HASHED_MAX;
        for at in 1..self.rest.len().saturating_sub(FRAME_HEADER) {
            if let Some(bytes) = self.bytes_of(at)
                && self.may_prove(at, bytes)
                && self.names_a_frame(at) == is_likely
                && self.hashed + bytes <= most
                && self.proves(at, bytes)
            {
                return true;
            }
        }
        false
    }

    /// How long the frame is that seems to begin here.
    fn bytes_of(&self, at: usize) -> Option<usize> {
        let header = self.rest.get(at..)?.first_chunk::<FRAME_HEADER>()?;
        let length = u32::from_le_bytes([header[4], header[5], header[6], header[7]]);
        let bytes = (length as usize).saturating_add(FRAME_HEADER);
        (header[..4] == FRAME_MAGIC && bytes <= self.rest.len() - at).then_some(bytes)
    }

    /// Whether it would be a proof if it were a frame, as far as its first bytes tell.
    fn may_prove(&self, at: usize, bytes: usize) -> bool {
        let synced = self.synced_before(at);
        let mut ops = &self.rest[at + FRAME_HEADER..at + bytes];
        synced > self.broken.offset
            && synced <= self.place(at).offset
            && (ops.is_empty() || take_op(&mut ops).is_some())
    }

    /// Whether a frame begins where it says that the durable ones ended.
    fn names_a_frame(&self, at: usize) -> bool {
        let end = (self.synced_before(at) - self.broken.offset) as usize;
        end == at || self.bytes_of(end).is_some()
    }

    fn synced_before(&self, at: usize) -> u32 {
        let header = &self.rest[at..];
        u32::from_le_bytes([header[8], header[9], header[10], header[11]])
    }

    fn proves(&mut self, at: usize, bytes: usize) -> bool {
        self.hashed += bytes;
        let frame = &self.rest[at..at + bytes];
        frame[12..FRAME_HEADER] == frame_hash(self.place(at), frame).to_le_bytes()
    }

    fn place(&self, at: usize) -> Position {
        Position { offset: self.broken.offset + at as u32, ..self.broken }
    }
}

#[cfg(test)]
mod tests;
