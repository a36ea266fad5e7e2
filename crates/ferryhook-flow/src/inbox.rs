//! Inbox: gives items to those who come for them, and hears what they have to say.
//!
//! Woken by workers, through the API. What there is stands in the store, in a queue for each group;
//! here is only who waits for it and from where that queue is worth reading, and all of that may be
//! thrown away at any time. It sends nothing, and no lane knows of it.

mod lease;
mod moves;
mod reply;

use std::collections::{HashMap, HashSet};
use std::future::Future;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use ferryhook_core::delivery::Consequence;
use ferryhook_core::inbox::{Group, Place};
use ferryhook_core::{Account, Connection, Delivery, Event, Id, Timestamp};
use ferryhook_store::{Cursor, Stored};
use tokio::sync::watch;

use crate::courier::{Courier, lock};
use crate::limits;

/// Those groups that somebody has asked for lately.
#[derive(Debug, Default)]
pub(crate) struct Queues(Mutex<HashMap<Whose, Arc<Queue>>>);

type Whose = (Id<Account>, Group);
type Item = (Id<Event>, Id<Connection>);

/// Of one group.
#[derive(Debug)]
struct Queue {
    /// Whoever looks for items, one after the other in the order they came: two at once would find
    /// the same, and one of them would have worked for nothing.
    turn: tokio::sync::Mutex<Spot>,
    /// Found by somebody who has not written their lease yet.
    in_hand: Mutex<HashSet<Item>>,
    /// Counts what came, for those who wait.
    bell: watch::Sender<u64>,
}

/// From where a queue is worth reading: what lies before has been leased or settled.
#[derive(Debug, Default)]
struct Spot {
    from: Option<Timestamp>,
    /// When it was last looked at from the very beginning, where something may turn up that was
    /// due earlier and written later.
    began_at: Duration,
    /// How far those have passed who want only some types.
    passed: Vec<(Vec<String>, Cursor)>,
}

impl Queues {
    fn of(&self, account: Id<Account>, group: &Group) -> Arc<Queue> {
        let mut queues = lock(&self.0);
        if queues.len() >= limits::INBOX_QUEUES_MAX {
            // Whoever waits or leases holds on to theirs.
            queues.retain(|_, queue| Arc::strong_count(queue) > 1);
        }
        let new = || {
            let bell = watch::Sender::new(0);
            Arc::new(Queue { turn: Default::default(), in_hand: Default::default(), bell })
        };
        queues.entry((account, group.clone())).or_insert_with(new).clone()
    }

    /// Something has come into the group, or will be there sooner than was thought.
    fn ring(&self, account: Id<Account>, group: &Group) {
        let queue = lock(&self.0).get(&(account, group.clone())).cloned();
        if let Some(queue) = queue {
            queue.bell.send_modify(|came| *came = came.wrapping_add(1));
        }
    }
}

/// What somebody has found, until it is written down whose it is or they have gone.
#[derive(Debug)]
struct InHand {
    queue: Arc<Queue>,
    items: Vec<Item>,
}

impl InHand {
    fn of(queue: &Arc<Queue>, found: &[Stored<Delivery>]) -> Self {
        let items: Vec<_> = found.iter().map(|one| (one.event_id, one.connection_id)).collect();
        lock(&queue.in_hand).extend(&items);
        Self { queue: queue.clone(), items }
    }
}

impl Drop for InHand {
    fn drop(&mut self) {
        let mut in_hand = lock(&self.queue.in_hand);
        for item in &self.items {
            in_hand.remove(item);
        }
    }
}

impl Courier {
    /// Resolves when something has come into the group since the call; where other processes
    /// write to the same store, also now and then for nothing.
    pub fn arrival(
        &self,
        account: Id<Account>,
        group: &Group,
    ) -> impl Future<Output = ()> + Send + use<> {
        let queue = self.inner().queues.of(account, group);
        let mut bell = queue.bell.subscribe();
        let looks = self.inner().shared;
        async move {
            let rung = bell.changed();
            match looks {
                true => drop(tokio::time::timeout(limits::INBOX_LOOK_EVERY, rung).await),
                false => drop(rung.await),
            }
            drop(queue); // held until here, so that it is still the one that is rung
        }
    }

    /// These items lie in the inbox now.
    pub(crate) fn arrived<'a>(&self, items: impl IntoIterator<Item = &'a Delivery>) {
        for item in items {
            if let Some(Place { group, .. }) = &item.inbox {
                self.inner().queues.ring(item.account_id, group);
            }
        }
    }

    /// An item was settled: whoever counts and whoever should hear of it does.
    fn fetched(&self, event: &Event, now: &Delivery, consequence: Consequence) {
        self.count(event, now, None);
        if consequence == Consequence::Alert {
            self.inner().gauges.gave_up();
            tracing::warn!(event.id = %event.id, connection.id = %now.connection_id,
                account.id = %now.account_id, "an item of the inbox was given up");
        }
        self.heed_item(event, now);
    }
}

#[cfg(test)]
mod tests;
