//! Room: keeps a job from filling the queue of a destination that takes nothing.

use std::collections::HashMap;

use ferryhook_core::delivery::Lane;
use ferryhook_core::{Connection, Id};
use ferryhook_store::{Slice, Store, StoreError, Window};

use crate::limits;

/// For each connection, how many more may begin before its queue has to be looked at.
#[derive(Debug, Default)]
pub(super) struct Room {
    left: HashMap<Id<Connection>, usize>,
}

impl Room {
    /// One more has begun.
    pub(super) fn used(&mut self, connection: Id<Connection>) {
        let left = self.left.entry(connection).or_insert(0);
        *left = left.saturating_sub(1);
    }

    /// A connection that should get nothing for now.
    pub(super) async fn find_full(
        &mut self,
        store: &Store,
    ) -> Result<Option<Id<Connection>>, StoreError> {
        for (connection, left) in self.left.iter_mut().filter(|(_, left)| **left == 0) {
            let mut slice = Slice::oldest_first().limit(limits::REPLAY_AHEAD + 1);
            let mut waiting = 0;
            loop {
                let (deliveries, always) = (store.deliveries(), Window::ALWAYS);
                let page = deliveries.list_open(*connection, Lane::Replay, always, slice.clone());
                let page = page.await?;
                waiting += page.rows.len();
                if waiting > limits::REPLAY_AHEAD {
                    return Ok(Some(*connection));
                }
                let Some(next) = page.next else { break };
                slice = slice.after(Some(next));
            }
            *left = limits::REPLAY_AHEAD;
        }
        Ok(None)
    }
}
