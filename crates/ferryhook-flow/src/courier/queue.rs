//! Reads a page of a connection's queue from the store into its lane.

use std::panic::AssertUnwindSafe;

use ferryhook_core::Timestamp;
use ferryhook_store::{Slice, StoreError, Window};
use futures_util::FutureExt;

use super::Courier;
use super::settle::again;
use crate::lanes::{LaneId, Work};
use crate::limits;

/// What a page came to: the works that may be in sight, and if there is more, from where to read
/// on and when that is due.
type Page = (Vec<Work>, Option<(Timestamp, Timestamp)>);

impl Courier {
    pub(super) async fn read_queue(&self, id: LaneId, from: Timestamp, limit: usize) {
        let read = AssertUnwindSafe(self.read_page(id, from, limit)).catch_unwind().await;
        let now = self.0.now();
        let mut watched = self.0.lanes();
        match read {
            Ok(Ok((works, rest))) => watched.lanes.loaded(id, works, rest, now),
            Ok(Err(error)) => {
                tracing::warn!(%error, connection.id = %id.connection, "a queue cannot be read");
                watched.lanes.unread(id, now.wall + limits::STORE_PAUSE_MAX, now);
            }
            Err(_) => {
                tracing::error!(connection.id = %id.connection, "reading a queue panicked");
                watched.lanes.unread(id, now.wall + limits::CRASH_PAUSE, now);
            }
        }
        drop(watched);
        self.pump();
    }

    async fn read_page(
        &self,
        id: LaneId,
        from: Timestamp,
        limit: usize,
    ) -> Result<Page, StoreError> {
        let limit = limit.min(ferryhook_core::limits::PAGE_MAX);
        let window = Window { from: Some(from), to: None };
        let mut slice = Slice::oldest_first().limit(limit);
        let (mut works, mut last) = (Vec::new(), from);
        let mut pages_left = limits::PAGES_OF_A_MOMENT_MAX;
        while pages_left > 0 {
            let deliveries = self.0.store.deliveries();
            let page = deliveries.list_open(id.connection, id.lane, window, slice).await?;
            let now = self.0.now().wall;
            // An empty page does not tell a time to go on from, only that there may be more.
            pages_left -= usize::from(!page.rows.is_empty());
            for delivery in page.rows {
                let since = delivery.event_id.made_at().unwrap_or(delivery.created_at);
                let ordered = delivery.order_key.is_some();
                let Some(work) = again(delivery, since) else { continue };
                // Not due yet, and neither is anything behind it. One with a key lies where its
                // event came: its lane knows whether those behind it have to wait for it.
                if !ordered && work.due > now {
                    return Ok((works, Some((work.due, work.due))));
                }
                last = last.max(if ordered { since } else { work.due });
                works.push(work);
            }
            let Some(next) = page.next else { return Ok((works, None)) };
            if last > from {
                return Ok((works, Some((last, now))));
            }
            slice = Slice::oldest_first().limit(limit).after(Some(next));
        }
        // What leads no further is asked for again, but not at once.
        Ok((works, Some((last, self.0.now().wall + limits::STORE_PAUSE_FIRST))))
    }
}
