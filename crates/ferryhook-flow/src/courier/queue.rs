//! Reads a page of a connection's queue from the store into its lane.

use ferryhook_core::Timestamp;
use ferryhook_store::{Slice, StoreError, Window};

use super::Courier;
use super::settle::again;
use crate::lanes::{LaneId, Work};
use crate::limits;

/// What a page came to: the works that may be in sight, and if there is more, from where to read
/// on and when that is due.
type Page = (Vec<Work>, Option<(Timestamp, Timestamp)>);

impl Courier {
    pub(super) async fn read_queue(&self, id: LaneId, from: Timestamp, limit: usize) {
        let read = self.read_page(id, from, limit).await;
        let now = self.0.now();
        let mut watched = self.0.lanes();
        match read {
            Ok((works, rest)) => watched.lanes.loaded(id, works, rest, now),
            Err(error) => {
                tracing::warn!(%error, connection.id = %id.connection, "a queue cannot be read");
                watched.lanes.unread(id, now.wall + limits::STORE_PAUSE_MAX, now);
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
        let deliveries = self.0.store.deliveries();
        let mut slice = Slice::oldest_first().limit(limit);
        // An empty page does not tell a time to go on from, only that there may be more behind it.
        let page = loop {
            let page = deliveries.list_open(id.connection, id.lane, window, slice.clone()).await?;
            if page.next.is_none() || !page.rows.is_empty() {
                break page;
            }
            slice = slice.after(page.next);
        };
        let now = self.0.now().wall;
        let mut works = Vec::with_capacity(page.rows.len());
        let mut last = from;
        for delivery in page.rows {
            let since = delivery.event_id.made_at().unwrap_or(delivery.created_at);
            let ordered = delivery.order_key.is_some();
            let Some(work) = again(delivery, since) else { continue };
            // Not due yet, and neither is anything behind it. In order it has to be in sight, to
            // keep back those behind it.
            if !ordered && work.due > now {
                return Ok((works, Some((work.due, work.due))));
            }
            last = last.max(if ordered { since } else { work.due });
            works.push(work);
        }
        // A page that leads no further is asked for again, but not at once.
        let next = if last > from { now } else { now + limits::STORE_PAUSE_FIRST };
        let rest = page.next.map(|_| (last, next));
        Ok((works, rest))
    }
}
