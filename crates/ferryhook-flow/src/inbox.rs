//! Inbox: gives items to those who come for them, and hears what they have to say.
//!
//! Woken by workers, through the API. What there is stands in the store, in a queue for each group;
//! here is only who waits for it and from where that queue is worth reading, and all of that may be
//! thrown away at any time. It sends nothing, and no lane knows of it.

mod hand_out;
mod lease;
mod leases;
mod look;
mod moves;
mod reply;

use std::collections::{HashMap, HashSet};
use std::future::Future;
use std::sync::{Arc, Mutex};

use ferryhook_core::delivery::Consequence;
use ferryhook_core::inbox::{Group, Place};
use ferryhook_core::{Account, Connection, Delivery, Event, Id, Timestamp};
use ferryhook_store::Stored;
use tokio::sync::watch;

use crate::courier::{Courier, lock};
use crate::limits;
pub(crate) use leases::Leases;
use look::Spot;

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
    hands: Mutex<Hands>,
    /// Counts what came, for those who wait.
    bell: watch::Sender<u64>,
}

/// What was found and is not written down yet.
#[derive(Debug, Default)]
struct Hands {
    /// Found by somebody who has not written their lease yet.
    held: HashSet<Item>,
    /// Since the last look something was put back that was due then: it lies before the place from
    /// where the queue is read.
    left: Option<Timestamp>,
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
            Arc::new(Queue { turn: Default::default(), hands: Default::default(), bell })
        };
        queues.entry((account, group.clone())).or_insert_with(new).clone()
    }

    /// Something has come into the group, or will be there sooner than was thought.
    fn ring(&self, account: Id<Account>, group: &Group) {
        let queue = lock(&self.0).get(&(account, group.clone())).cloned();
        if let Some(queue) = queue {
            queue.ring();
        }
    }
}

impl Queue {
    fn ring(&self) {
        self.bell.send_modify(|came| *came = came.wrapping_add(1));
    }

    /// What others have found, after the place was set back to what they have left.
    fn taken(&self, spot: &mut Spot) -> HashSet<Item> {
        let mut hands = lock(&self.hands);
        if let Some(left) = hands.left.take() {
            spot.go_back(left);
        }
        hands.held.clone()
    }
}

/// What somebody has found, until it is written down whose it is or they have gone.
#[derive(Debug)]
struct InHand {
    queue: Arc<Queue>,
    /// With when it was due, as long as nothing became of it.
    items: HashMap<Item, Option<Timestamp>>,
}

impl InHand {
    fn of(queue: &Arc<Queue>, found: &[Stored<Delivery>]) -> Self {
        let items = found.iter().map(|one| (name(one), one.due_at()));
        let items: HashMap<_, _> = items.collect();
        lock(&queue.hands).held.extend(items.keys());
        Self { queue: queue.clone(), items }
    }

    /// It has moved on, through whoever has it in hand or somebody else.
    fn has_moved(&mut self, item: Item) {
        self.items.insert(item, None);
    }
}

/// Whoever has gone without a word leaves what they found to the others.
impl Drop for InHand {
    fn drop(&mut self) {
        let left = self.items.values().copied().flatten().min();
        let mut hands = lock(&self.queue.hands);
        for item in self.items.keys() {
            hands.held.remove(item);
        }
        hands.left = hands.left.into_iter().chain(left).min();
        drop(hands);
        if left.is_some() {
            self.queue.ring();
        }
    }
}

fn name(item: &Delivery) -> Item {
    (item.event_id, item.connection_id)
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
        self.heed_item(now);
    }
}

#[cfg(test)]
mod tests;
