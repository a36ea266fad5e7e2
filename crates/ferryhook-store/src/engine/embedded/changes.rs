//! Changes: the log, read as the list of all writes that it is.
//!
//! Nothing is written for them. An op is named by its segment, the offset of its frame and its
//! own offset in there, as one number: it grows from op to op, and no segment's number is ever
//! used twice. Only what is on disk is read, so that no crash takes back what someone was told.
//! What is not a change is passed over: entries of indexes, the engine's notes, rows that the
//! upkeep has moved, ops that a scrub made void, and rows that have expired since.

use std::borrow::Cow;
use std::sync::atomic::Ordering;

use tokio::sync::oneshot;

use super::codec::{self, View};
use super::log::{self, ContentError, Frames, Op, Position, SEGMENT_HEADER};
use super::shared::{Horizon, lock};
use super::writer::Request;
use super::{Embedded, closed, layout};
use crate::StoreError;
use crate::changes::{Change, Changes, ChangesError, Place, Start, Wanted, What};
use crate::engine::Row;

/// A page ends early behind this many bytes of the log.
const PAGE_BYTES_MAX: usize = 4 * 1024 * 1024;

/// Where an op stands: in this frame, so far into it. Zero is before all ops of the frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Spot {
    frame: Position,
    op: u32,
}

impl Spot {
    fn before(frame: Position) -> Self {
        Self { frame, op: 0 }
    }

    fn place(self) -> Place {
        let Position { segment, offset } = self.frame;
        let number = u128::from(segment) << 64 | u128::from(offset) << 32 | u128::from(self.op);
        Place::new(number.to_string())
    }

    fn of(place: &Place) -> Option<Self> {
        let text = place.as_str();
        let number: u128 = text.parse().ok().filter(|number: &u128| number.to_string() == text)?;
        let segment = u32::try_from(number >> 64).ok()?;
        let frame = Position { segment, offset: (number >> 32) as u32 };
        (frame.offset >= SEGMENT_HEADER).then_some(Self { frame, op: number as u32 })
    }
}

impl Embedded {
    pub(super) async fn read_changes(&self, wanted: &Wanted) -> Result<Changes, StoreError> {
        wanted.check()?;
        if self.changes_kept.is_zero() {
            return Err(ChangesError::NotKept.into());
        }
        let horizon = *self.shared.horizon.borrow();
        let mut found = self.read_until(wanted, horizon)?;
        let is_behind = horizon.durable < horizon.shown;
        if !is_behind || !found.is_end || wanted.start == Start::Now {
            return Ok(found);
        }
        if !found.changes.is_empty() {
            found.is_end = false;
            return Ok(found);
        }
        // What comes next was only buffered, and nobody else may want it on disk.
        self.sync().await?;
        let wanted = Wanted { start: Start::After(found.next), ..wanted.clone() };
        self.read_until(&wanted, *self.shared.horizon.borrow())
    }

    pub(super) async fn await_change(&self, since: &Place) -> Result<(), StoreError> {
        let since = Spot::of(since).ok_or_else(|| ChangesError::Unknown(since.clone()))?;
        let mut bell = self.shared.horizon.subscribe();
        bell.wait_for(|horizon| horizon.shown > since.frame).await.map_err(|_| closed())?;
        Ok(())
    }

    async fn sync(&self) -> Result<(), StoreError> {
        let requests = lock(&self.requests).clone().ok_or_else(closed)?;
        let (done, answer) = oneshot::channel();
        requests.send(Request::Sync { done }).await.map_err(|_| closed())?;
        answer.await.map_err(|_| closed())?
    }

    fn read_until(&self, wanted: &Wanted, horizon: Horizon) -> Result<Changes, StoreError> {
        let floor = || self.shared.floor.load(Ordering::Acquire);
        let begin = |segment| Spot::before(Position { segment, offset: SEGMENT_HEADER });
        let (start, place) = match &wanted.start {
            // What is still on its way to the disk was written before, too.
            Start::Now => {
                let next = Spot::before(horizon.shown).place();
                return Ok(Changes { changes: Vec::new(), next, is_end: true });
            }
            Start::Oldest => (begin(floor() + 1), begin(floor() + 1).place()),
            Start::After(place) => (Spot::of(place).ok_or_else(|| unknown(place))?, place.clone()),
        };
        let too_old = || StoreError::from(ChangesError::TooOld(place.clone()));
        if start.frame.segment <= floor() {
            return Err(too_old());
        }
        if start.frame > horizon.shown {
            return Err(unknown(&place));
        }
        let mut reading = Reading { engine: self, wanted, found: Vec::new(), bytes: 0 };
        for segment in start.frame.segment..=horizon.durable.segment {
            let from = if segment == start.frame.segment { start } else { begin(segment) };
            let end = (segment == horizon.durable.segment).then_some(horizon.durable.offset);
            if !log::segment_path(&self.directory.log(), segment).exists() {
                // One that was never written to leaves no trace.
                if segment <= floor() {
                    return Err(too_old());
                }
                continue;
            }
            let next = match reading.read_segment(from, end) {
                Err(Unread::NoFrame) if from == start => return Err(unknown(&place)),
                Err(Unread::NoFrame) => {
                    let what = format!("segment {segment} of the log cannot be read as a whole");
                    return Err(StoreError::Damaged(what));
                }
                // It went while it was read.
                Err(Unread::Error(_)) if segment <= floor() => return Err(too_old()),
                Err(Unread::Error(error)) => return Err(error),
                Ok(next) => next,
            };
            if let Some(next) = next {
                let (changes, next) = (reading.found, next.place());
                return Ok(Changes { changes, next, is_end: false });
            }
        }
        let next = start.max(Spot::before(horizon.durable)).place();
        Ok(Changes { changes: reading.found, next, is_end: true })
    }
}

fn unknown(place: &Place) -> StoreError {
    ChangesError::Unknown(place.clone()).into()
}

/// One page on its way.
struct Reading<'a> {
    engine: &'a Embedded,
    wanted: &'a Wanted,
    found: Vec<Change>,
    bytes: usize,
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

impl Reading<'_> {
    /// Reads a segment from behind a spot, up to an offset or to its end. Tells where to go on
    /// with the next page if this one is full.
    fn read_segment(&mut self, from: Spot, end: Option<u32>) -> Result<Option<Spot>, Unread> {
        let unreadable = |error| StoreError::unavailable("the log cannot be read", error);
        let mut frames = Frames::open(&self.engine.directory.log(), from.frame)?;
        let mut behind = from.op;
        while !frames.is_over() && end.is_none_or(|end| frames.position().offset < end) {
            let (at, frame) = frames.take().map_err(unreadable)?.ok_or(Unread::NoFrame)?;
            if let Some(full) = self.read_frame(at, &frame, behind)? {
                return Ok(Some(full));
            }
            behind = 0;
            self.bytes += frame.len();
            if self.bytes >= PAGE_BYTES_MAX {
                return Ok(Some(Spot::before(frames.position())));
            }
        }
        Ok(None)
    }

    fn read_frame(
        &mut self,
        at: Position,
        frame: &[u8],
        behind: u32,
    ) -> Result<Option<Spot>, Unread> {
        let mut is_known = behind == 0;
        let mut last = None;
        log::read_ops(frame, at, |op, place, bytes| {
            let spot = Spot { frame: at, op: bytes.start as u32 };
            is_known |= spot.op == behind;
            if spot.op <= behind || self.found.len() == self.wanted.limit {
                return Ok(());
            }
            let Some(what) = self.what(&op, place, at, frame)? else { return Ok(()) };
            let (key, place) = (layout::read_row_key(op.key())?, spot.place());
            let sequence = place.as_str().to_owned();
            self.found.push(Change { key, what, sequence, place });
            last = Some(spot);
            Ok(())
        })?;
        match is_known {
            false => Err(Unread::NoFrame),
            true => Ok(last.filter(|_| self.found.len() == self.wanted.limit)),
        }
    }

    fn what(
        &self,
        op: &Op<'_>,
        place: Option<codec::Place>,
        at: Position,
        frame: &[u8],
    ) -> Result<Option<What>, StoreError> {
        let kind = self.wanted.kind;
        if !layout::is_row_of(kind.table(), op.key()) {
            return Ok(None);
        }
        let value = match *op {
            Op::Delete { .. } => return Ok(Some(What::Removed)),
            Op::PutWithContent { moved: true, .. } => return Ok(None),
            Op::Put { value, .. } => Cow::Borrowed(value),
            Op::PutWithContent { expires, tail, .. } => {
                Cow::Owned(codec::assemble(expires, place, tail))
            }
        };
        let now = self.engine.env.now().as_seconds();
        if codec::kind_of(&value) != Some(kind) || codec::has_expired(&value, now) {
            return Ok(None);
        }
        if let Some((name, wanted)) = &self.wanted.only
            && View::of(&value)?.get(name)?.as_ref() != Some(wanted)
        {
            return Ok(None);
        }
        let codec::Head { place, mut row, .. } = codec::read_head(&value)?;
        if let Some(place) = place {
            self.fill(&mut row, op.key(), place, at, frame)?;
        }
        Ok(Some(What::written(row)))
    }

    /// Adds what a row carries, unless that is gone.
    fn fill(
        &self,
        row: &mut Row,
        key: &[u8],
        place: codec::Place,
        at: Position,
        frame: &[u8],
    ) -> Result<(), StoreError> {
        let here = (place.segment == at.segment)
            .then(|| place.offset.checked_sub(at.offset))
            .flatten()
            .and_then(|start| frame.get(start as usize..(start + place.length) as usize));
        let content = match here {
            Some(content) => Cow::Borrowed(content),
            None => match self.content(key, place)? {
                Some(content) => Cow::Owned(content),
                None => return Ok(()),
            },
        };
        let content = codec::read_item(&content)
            .ok_or_else(|| StoreError::corrupt(row.kind, "its content does not decode"))?;
        row.item.extend(content);
        Ok(())
    }

    fn content(&self, key: &[u8], place: codec::Place) -> Result<Option<Vec<u8>>, StoreError> {
        let contents = &self.engine.shared.contents;
        let reason = match contents.read(place) {
            Ok(content) => return Ok(Some(content)),
            Err(ContentError::Moved) => "its content is gone".into(),
            Err(ContentError::Unreadable(reason)) => reason,
        };
        // The row as it is now may know where its content went; that never changes.
        let now = self.engine.shared.snapshot().get(key)?;
        match now.as_deref().and_then(codec::place_of) {
            Some(now) if now == place => {
                Err(StoreError::Corrupt { kind: self.wanted.kind, reason })
            }
            Some(now) if (now.length, now.check) == (place.length, place.check) => {
                Ok(contents.read(now).ok())
            }
            _ => Ok(None),
        }
    }
}
