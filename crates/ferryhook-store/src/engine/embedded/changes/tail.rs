//! The tail: the last frames that were read for their changes.
//!
//! All who read at the end of the log want the same frames: the first one reads a frame from its
//! file and checks it, the others find it here. Bounded; whoever is further behind reads files.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};

use super::super::layout;
use super::super::log::{FRAME_HEADER, Op, Position, take_op};
use super::super::shared::lock;
use crate::StoreError;

/// Bytes of frames that are kept.
const TAIL_BYTES_MAX: usize = 8 * 1024 * 1024;

/// A frame, and where in it the ops stand that may be changes.
#[derive(Debug)]
pub(super) struct Frame {
    pub(super) at: Position,
    pub(super) bytes: Vec<u8>,
    rows: Vec<u32>,
}

impl Frame {
    pub(super) fn read(at: Position, bytes: Vec<u8>) -> Result<Self, StoreError> {
        let mut frame = Self { at, bytes, rows: Vec::new() };
        let mut rows = Vec::new();
        frame.each(|begin, op| {
            if layout::is_told(op.key()) {
                rows.push(begin);
            }
        })?;
        frame.rows = rows;
        Ok(frame)
    }

    pub(super) fn end(&self) -> Position {
        Position { offset: self.at.offset + self.bytes.len() as u32, ..self.at }
    }

    /// Those that stand behind another, which may be none of them; nothing if no op begins there.
    pub(super) fn rows_behind(&self, op: u32) -> Result<Option<&[u32]>, StoreError> {
        let behind = &self.rows[self.rows.partition_point(|row| *row <= op)..];
        let mut is_op = op == 0 || self.rows.binary_search(&op).is_ok();
        if !is_op {
            // A scrub may have made it void since.
            self.each(|begin, _| is_op |= begin == op)?;
        }
        Ok(is_op.then_some(behind))
    }

    pub(super) fn op(&self, begin: u32) -> Result<Op<'_>, StoreError> {
        let mut rest = self.bytes.get(begin as usize..).unwrap_or_default();
        take_op(&mut rest).ok_or_else(|| self.damaged())
    }

    fn each(&self, mut each: impl FnMut(u32, Op<'_>)) -> Result<(), StoreError> {
        let mut rest = &self.bytes[FRAME_HEADER..];
        while !rest.is_empty() {
            let begin = self.bytes.len() - rest.len();
            let op = take_op(&mut rest).ok_or_else(|| self.damaged())?;
            each(begin as u32, op);
        }
        Ok(())
    }

    fn damaged(&self) -> StoreError {
        let Position { segment, offset } = self.at;
        StoreError::Damaged(format!("segment {segment} at {offset}: unknown op"))
    }
}

#[derive(Debug, Default)]
pub(in super::super) struct Tail(Mutex<Kept>);

#[derive(Debug, Default)]
struct Kept {
    /// Oldest first.
    frames: VecDeque<Arc<Frame>>,
    bytes: usize,
    /// How often all of them were forgotten.
    cleared: u64,
}

impl Tail {
    /// Forgets all: files were written again, with less in them. What was read before is not
    /// taken any more.
    pub(in super::super) fn clear(&self) {
        let mut kept = lock(&self.0);
        *kept = Kept { cleared: kept.cleared + 1, ..Kept::default() };
    }

    /// To be told with [`add`](Self::add); asked before a file is opened.
    pub(super) fn cleared(&self) -> u64 {
        lock(&self.0).cleared
    }

    pub(super) fn find(&self, at: Position) -> Option<Arc<Frame>> {
        let kept = lock(&self.0);
        let found = kept.frames.binary_search_by_key(&at, |frame| frame.at).ok()?;
        kept.frames.get(found).cloned()
    }

    /// Keeps a frame that is newer than all others: who catches up must not drive out what those
    /// at the end need.
    pub(super) fn add(&self, frame: &Arc<Frame>, cleared: u64) {
        let mut kept = lock(&self.0);
        let is_newest = kept.frames.back().is_none_or(|last| last.at < frame.at);
        if kept.cleared != cleared || !is_newest || frame.bytes.len() > TAIL_BYTES_MAX {
            return;
        }
        kept.bytes += frame.bytes.len();
        kept.frames.push_back(frame.clone());
        while kept.bytes > TAIL_BYTES_MAX
            && let Some(oldest) = kept.frames.pop_front()
        {
            kept.bytes -= oldest.bytes.len();
        }
    }
}

#[cfg(test)]
mod tests;
