//! Changes: the log, read as the list of all writes that it is.
//!
//! Nothing is written for them. An op is named by its segment, the offset of its frame and its
//! own offset in there, as one number: it grows from op to op, and no segment's number is ever
//! used twice. Only what is on disk is read, so that no crash takes back what someone was told.
//! What is not a change is passed over: entries of indexes, the engine's notes, rows that the
//! upkeep has moved, ops that a scrub made void, and rows that have expired since.
//!
//! However many read, they cost the others little: few pages are read at once ([`reading`]), those
//! at the end read each frame once between them ([`tail`]), and what was only buffered is synced
//! for them a few times a second.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::{Mutex, Semaphore, oneshot};

use super::log::{Position, SEGMENT_HEADER};
use super::shared::{Horizon, lock};
use super::writer::Request;
use super::{Embedded, closed};
use crate::StoreError;
use crate::changes::{Changes, ChangesError, Place, Start, Wanted};

mod reading;
mod tail;

use reading::Reading;
pub(super) use tail::Tail;

/// Pages that are read at the same time.
const READS_AT_ONCE: usize = 2;
/// Those who read have what was buffered synced no more often than this; so long it may take until
/// they are told of it.
pub(super) const SYNC_EVERY: Duration = Duration::from_millis(100);

/// What all who read share.
#[derive(Debug)]
pub(super) struct Readers {
    reads: Arc<Semaphore>,
    /// When one of them has last asked for a sync. Held by the one who does: the others wait for
    /// the same.
    asked: Mutex<Option<Duration>>,
}

impl Default for Readers {
    fn default() -> Self {
        Self { reads: Arc::new(Semaphore::new(READS_AT_ONCE)), asked: Mutex::default() }
    }
}

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
        if wanted.start == Start::Now {
            return Ok(nothing_before(horizon));
        }
        let mut found = self.read_page(wanted.clone(), horizon).await?;
        if !found.is_end || horizon.durable == horizon.shown {
            return Ok(found);
        }
        if !found.changes.is_empty() {
            found.is_end = false;
            return Ok(found);
        }
        // What comes next was only buffered, and nobody else may want it on disk.
        self.await_durable(horizon.durable).await?;
        let wanted = Wanted { start: Start::After(found.next), ..wanted.clone() };
        let horizon = *self.shared.horizon.borrow();
        self.read_page(wanted, horizon).await
    }

    pub(super) async fn await_change(&self, since: &Place) -> Result<(), StoreError> {
        let since = Spot::of(since).ok_or_else(|| unknown(since))?;
        let mut bell = self.shared.horizon.subscribe();
        bell.wait_for(|horizon| horizon.shown > since.frame).await.map_err(|_| closed())?;
        self.await_durable(since.frame).await
    }

    async fn read_page(&self, wanted: Wanted, horizon: Horizon) -> Result<Changes, StoreError> {
        if let Start::After(place) = &wanted.start
            && Spot::of(place) == Some(Spot::before(horizon.durable))
        {
            return Ok(Changes { changes: Vec::new(), next: place.clone(), is_end: true });
        }
        let permit = self.readers.reads.clone().acquire_owned().await.map_err(|_| closed())?;
        let reading = Reading {
            env: self.env.clone(),
            shared: self.shared.clone(),
            directory: self.directory.clone(),
            wanted,
        };
        tokio::task::spawn_blocking(move || {
            let _permit = permit; // also if nobody waits for the page any more
            reading.page(horizon)
        })
        .await
        .map_err(|error| StoreError::unavailable("a page of changes was lost", error))?
    }

    /// Waits until more of the log is on disk than up to here; more was written.
    async fn await_durable(&self, here: Position) -> Result<(), StoreError> {
        let mut bell = self.shared.horizon.subscribe();
        tokio::select! {
            biased;
            moved = bell.wait_for(|horizon| horizon.durable > here) => {
                moved.map(drop).map_err(|_| closed())
            }
            synced = self.sync_in_turn() => synced,
        }
    }

    async fn sync_in_turn(&self) -> Result<(), StoreError> {
        let mut asked = self.readers.asked.lock().await;
        if let Some(last) = *asked {
            let since = self.env.elapsed().saturating_sub(last);
            tokio::time::sleep(SYNC_EVERY.saturating_sub(since)).await;
        }
        *asked = Some(self.env.elapsed());
        let requests = lock(&self.requests).clone().ok_or_else(closed)?;
        let (done, answer) = oneshot::channel();
        requests.send(Request::Sync { done }).await.map_err(|_| closed())?;
        answer.await.map_err(|_| closed())?
    }
}

/// What is still on its way to the disk was written before, too.
fn nothing_before(horizon: Horizon) -> Changes {
    let next = Spot::before(horizon.shown).place();
    Changes { changes: Vec::new(), next, is_end: true }
}

fn unknown(place: &Place) -> StoreError {
    ChangesError::Unknown(place.clone()).into()
}
