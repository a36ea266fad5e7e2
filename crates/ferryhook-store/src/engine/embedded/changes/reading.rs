//! Reading: one page of changes on its way, on a thread that may wait for the disk.

use std::borrow::Cow;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use ferryhook_core::Env;

use super::super::codec::{self, View};
use super::super::directory::Directory;
use super::super::layout;
use super::super::log::{self, ContentError, Frames, Op, Position, SEGMENT_HEADER};
use super::super::shared::{Horizon, Shared};
use super::tail::Frame;
use super::{Spot, unknown};
use crate::StoreError;
use crate::changes::{Change, Changes, ChangesError, PAGE_BYTES_MAX, Start, Wanted, What};

/// A page ends early behind this many bytes of the log.
const PAGE_READ_BYTES_MAX: usize = 4 * 1024 * 1024;

/// The log, for who reads it as changes.
pub(super) struct Reading {
    pub(super) env: Env,
    pub(super) shared: Arc<Shared>,
    pub(super) directory: Arc<Directory>,
    pub(super) wanted: Wanted,
}

#[derive(Default)]
struct Page {
    changes: Vec<Change>,
    read_bytes: usize,
    given_bytes: usize,
}

enum Unread {
    /// Nothing that was written by us stands there.
    NoFrame,
    Error(StoreError),
}

impl From<StoreError> for Unread {
    fn from(error: StoreError) -> Self {
        Self::Error(error)
    }
}

impl Reading {
    pub(super) fn page(&self, horizon: Horizon) -> Result<Changes, StoreError> {
        let begin = |segment| Spot::before(Position { segment, offset: SEGMENT_HEADER });
        let (start, place) = match &self.wanted.start {
            Start::Now => return Ok(super::nothing_before(horizon)),
            Start::Oldest => {
                let oldest = begin(self.floor() + 1);
                (oldest, oldest.place())
            }
            Start::After(place) => (Spot::of(place).ok_or_else(|| unknown(place))?, place.clone()),
        };
        let too_old = || StoreError::from(ChangesError::TooOld(place.clone()));
        if start.frame.segment <= self.floor() {
            return Err(too_old());
        }
        if start.frame > horizon.shown {
            return Err(unknown(&place));
        }
        let mut page = Page::default();
        for segment in start.frame.segment..=horizon.durable.segment {
            let from = if segment == start.frame.segment { start } else { begin(segment) };
            let end = (segment == horizon.durable.segment).then_some(horizon.durable.offset);
            if !log::segment_path(&self.directory.log(), segment).exists() {
                // One that was never written to leaves no trace.
                if segment <= self.floor() {
                    return Err(too_old());
                }
                continue;
            }
            let next = match self.read_segment(&mut page, from, end) {
                Err(Unread::NoFrame) if from == start => return Err(unknown(&place)),
                Err(Unread::NoFrame) => {
                    let what = format!("segment {segment} of the log cannot be read as a whole");
                    return Err(StoreError::Damaged(what));
                }
                // It went while it was read.
                Err(Unread::Error(_)) if segment <= self.floor() => return Err(too_old()),
                Err(Unread::Error(error)) => return Err(error),
                Ok(next) => next,
            };
            if let Some(next) = next {
                let (changes, next) = (page.changes, next.place());
                return Ok(Changes { changes, next, is_end: false });
            }
        }
        let next = start.max(Spot::before(horizon.durable)).place();
        Ok(Changes { changes: page.changes, next, is_end: true })
    }

    fn floor(&self) -> u32 {
        self.shared.floor.load(Ordering::Acquire)
    }

    /// Reads a segment from behind a spot, up to an offset or to its end. Tells where to go on
    /// with the next page if this one is full.
    fn read_segment(
        &self,
        page: &mut Page,
        from: Spot,
        end: Option<u32>,
    ) -> Result<Option<Spot>, Unread> {
        let (mut at, mut behind) = (from.frame, from.op);
        let mut file = None;
        while end.is_none_or(|end| at.offset < end) {
            let frame = match self.shared.tail.find(at) {
                Some(frame) => frame,
                None => match self.read_frame(&mut file, at)? {
                    Some(frame) => frame,
                    None => return Ok(None),
                },
            };
            let rows = frame.rows_behind(behind)?.ok_or(Unread::NoFrame)?;
            for row in rows {
                let spot = Spot { frame: at, op: *row };
                if let Some(change) = self.change(&frame, spot)? {
                    page.given_bytes += change.what.bytes();
                    page.changes.push(change);
                }
                if page.changes.len() == self.wanted.limit || page.given_bytes >= PAGE_BYTES_MAX {
                    return Ok(Some(spot));
                }
            }
            (at, behind) = (frame.end(), 0);
            page.read_bytes += frame.bytes.len();
            if page.read_bytes >= PAGE_READ_BYTES_MAX {
                return Ok(Some(Spot::before(at)));
            }
        }
        Ok(None)
    }

    /// From the file, which is opened for the first; nothing at its end.
    fn read_frame(
        &self,
        file: &mut Option<(Frames, u64)>,
        at: Position,
    ) -> Result<Option<Arc<Frame>>, Unread> {
        let unreadable = |error| StoreError::unavailable("the log cannot be read", error);
        let (frames, cleared) = match file {
            Some(file) => file,
            None => {
                let cleared = self.shared.tail.cleared();
                file.insert((Frames::open(&self.directory.log(), at)?, cleared))
            }
        };
        frames.seek(at.offset);
        if frames.is_over() {
            return Ok(None);
        }
        let (at, bytes) = frames.take().map_err(unreadable)?.ok_or(Unread::NoFrame)?;
        let frame = Arc::new(Frame::read(at, bytes)?);
        self.shared.tail.add(&frame, *cleared);
        Ok(Some(frame))
    }

    /// The change, if the op is one that is wanted.
    fn change(&self, frame: &Frame, spot: Spot) -> Result<Option<Change>, StoreError> {
        let op = frame.op(spot.op)?;
        if !layout::is_row_of(self.wanted.kind.table(), op.key()) {
            return Ok(None);
        }
        let Some(what) = self.what(&op, frame)? else { return Ok(None) };
        let (key, place) = (layout::read_row_key(op.key())?, spot.place());
        let sequence = place.as_str().to_owned();
        Ok(Some(Change { key, what, sequence, place }))
    }

    /// What others wrote is recognised by the head of the row; its content is not touched.
    fn what(&self, op: &Op<'_>, frame: &Frame) -> Result<Option<What>, StoreError> {
        let (value, here) = match *op {
            Op::Delete { .. } => return Ok(Some(What::Removed)),
            Op::PutWithContent { moved: true, .. } => return Ok(None),
            Op::Put { value, .. } => (Cow::Borrowed(value), None),
            // The frame's own check has been made, so its content needs no place.
            Op::PutWithContent { expires, tail, content, .. } => {
                (Cow::Owned(codec::assemble(expires, None, tail)), Some(content))
            }
        };
        let now = self.env.now().as_seconds();
        if codec::kind_of(&value) != Some(self.wanted.kind) || codec::has_expired(&value, now) {
            return Ok(None);
        }
        if let Some((name, wanted)) = &self.wanted.only
            && View::of(&value)?.get(name)?.as_ref() != Some(wanted)
        {
            return Ok(None);
        }
        let codec::Head { place, mut row, .. } = codec::read_head(&value)?;
        let content = match (here, place) {
            (Some(content), _) => Some(Cow::Borrowed(content)),
            (None, Some(place)) => self.content(op.key(), place, frame)?,
            (None, None) => None,
        };
        if let Some(content) = content {
            let content = codec::read_item(&content)
                .ok_or_else(|| StoreError::corrupt(row.kind, "its content does not decode"))?;
            row.item.extend(content);
        }
        Ok(Some(What::written(row)))
    }

    /// What a row carries that was written before, unless that is gone.
    fn content<'a>(
        &self,
        key: &[u8],
        place: codec::Place,
        frame: &'a Frame,
    ) -> Result<Option<Cow<'a, [u8]>>, StoreError> {
        let here = (place.segment == frame.at.segment)
            .then(|| place.offset.checked_sub(frame.at.offset))
            .flatten()
            .and_then(|start| frame.bytes.get(start as usize..(start + place.length) as usize));
        if let Some(content) = here {
            return Ok(Some(Cow::Borrowed(content)));
        }
        let contents = &self.shared.contents;
        let reason = match contents.read(place) {
            Ok(content) => return Ok(Some(Cow::Owned(content))),
            Err(ContentError::Moved) => "its content is gone".into(),
            Err(ContentError::Unreadable(reason)) => reason,
        };
        // The row as it is now may know where its content went; that never changes.
        let now = self.shared.snapshot().get(key)?;
        match now.as_deref().and_then(codec::place_of) {
            Some(now) if now == place => {
                Err(StoreError::Corrupt { kind: self.wanted.kind, reason })
            }
            Some(now) if (now.length, now.check) == (place.length, place.check) => {
                Ok(contents.read(now).ok().map(Cow::Owned))
            }
            _ => Ok(None),
        }
    }
}
