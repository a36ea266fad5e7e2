//! Lease: gives items to whoever asks, for a while.
//!
//! At least once, never to two at a time: the condition on each item's revision decides between
//! processes, and within one they take turns.

use std::time::Duration;

use ferryhook_core::event_types::EventTypes;
use ferryhook_core::inbox::{Leased, Wanted};
use ferryhook_core::{Account, Id, Timestamp};
use ferryhook_store::{StoreError, Window};
use tokio::task::yield_now;
use tokio::time::sleep;

use super::InHand;
use super::hand_out::HandedOut;
use super::look::Look;
use crate::courier::Courier;
use crate::limits;

/// What came of looking for something to lease.
enum Sought {
    Leased(Vec<Leased>),
    /// There was nothing at this time.
    Nothing(Timestamp),
    /// So far there was nothing, and there is more to look at.
    Unfinished,
    /// Other processes are faster.
    Contended,
}

impl Courier {
    /// As many as are there, at most as many as wanted. Waits for the first as long as it may.
    pub async fn lease_items(
        &self,
        account: Id<Account>,
        wanted: &Wanted,
    ) -> Result<Vec<Leased>, StoreError> {
        let types = EventTypes::compile(&wanted.types).unwrap_or_default();
        let until = self.inner().now().passed + wanted.wait;
        loop {
            let arrival = self.arrival(account, &wanted.group);
            let sought = self.seek(account, wanted, &types).await?;
            let left = until.saturating_sub(self.inner().now().passed);
            match sought {
                Sought::Leased(leased) => return Ok(leased),
                _ if left.is_zero() => return Ok(Vec::new()),
                Sought::Unfinished => yield_now().await,
                Sought::Contended => sleep(left.min(limits::INBOX_CONFLICT_PAUSE)).await,
                Sought::Nothing(at) => {
                    let next = self.next_due(account, wanted, at).await?;
                    tokio::select! {
                        () = arrival => {}
                        () = sleep(next.map_or(left, |next| next.min(left))) => {}
                    }
                }
            }
        }
    }

    /// Until a lease ends or something that was given back is there again. Counted from the look,
    /// so that nothing falls between the two.
    async fn next_due(
        &self,
        account: Id<Account>,
        wanted: &Wanted,
        looked_at: Timestamp,
    ) -> Result<Option<Duration>, StoreError> {
        let inner = self.inner();
        let later = Window { from: Some(looked_at + Duration::from_millis(1)), to: None };
        let first = inner.store.inbox().find_open(account, &wanted.group, later).await?;
        let due = first.and_then(|first| first.due_at());
        Ok(due.map(|due| due.saturating_since(inner.now().wall)))
    }

    async fn seek(
        &self,
        account: Id<Account>,
        wanted: &Wanted,
        types: &EventTypes,
    ) -> Result<Sought, StoreError> {
        let inner = self.inner();
        let queue = inner.queues.of(account, &wanted.group);
        let (mut rows, mut conflicts) = (0, 0);
        while rows < limits::INBOX_ROWS_MAX {
            let mut spot = queue.turn.lock().await;
            let now = inner.now().wall;
            // As of before the look: what is written since is seen as it is.
            let taken = queue.taken(&mut spot);
            let look = Look { inner, account, wanted, types, taken, now };
            let seen = look.at(&mut spot).await?;
            rows += seen.rows.max(1);
            if seen.found.is_empty() {
                if seen.is_all {
                    return Ok(Sought::Nothing(now));
                }
                drop(spot);
                yield_now().await;
                continue;
            }
            let in_hand = InHand::of(&queue, &seen.found);
            drop(spot);
            let until = now + wanted.visibility;
            let HandedOut { leased, moved } =
                self.hand_out(seen.found, (until, now), in_hand).await?;
            if !leased.is_empty() {
                return Ok(Sought::Leased(leased));
            }
            // Given up, dropped by a transform, gone: that was worth a round, and there may be more.
            conflicts += usize::from(moved == 0);
            if conflicts == limits::CONFLICT_TRIES_MAX {
                return Ok(Sought::Contended);
            }
        }
        Ok(Sought::Unfinished)
    }
}
