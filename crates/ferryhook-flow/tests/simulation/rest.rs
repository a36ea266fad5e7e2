//! How a world comes to rest: nothing fails any more, whoever was paused goes on, and time passes
//! until nothing is left to do or nobody can be bothered to wait any longer.

use std::time::Duration;

use ferryhook_core::delivery::{Hold, Lane, State};
use ferryhook_core::{Connection, Delivery, Id, Source, connection, source};
use ferryhook_store::{Shard, Slice, Window};

use crate::disk::Manner;
use crate::world::{Life, World};

/// Longer than any retry, rest of a destination and sweep together.
const PATIENCE: Duration = Duration::from_secs(900);
const LOOK_EVERY: Duration = Duration::from_secs(15);

impl World {
    pub(crate) async fn come_to_rest(&mut self, life: &Life) {
        self.story.tell(format_args!("nothing fails any more"));
        self.disk.behave(Manner { wait_ms: 1, ..Manner::default() });
        self.disk.never_crash();
        self.fleet.heal();
        life.senders.finish(Duration::from_secs(120)).await;
        self.resume_most(life).await;
        let mut waited = Duration::from_secs(1);
        tokio::time::sleep(waited).await;
        while !self.open_ends().await.is_empty() && waited < PATIENCE {
            tokio::time::sleep(LOOK_EVERY).await;
            waited += LOOK_EVERY;
        }
        for open in self.open_ends().await {
            self.story.violate(format_args!("{open}"));
        }
        self.stop(life).await;
        let under_way = life.courier.under_way();
        if under_way > 0 {
            self.story.violate(format_args!("{under_way} attempts never ended"));
        }
    }

    /// What somebody should still do something about.
    async fn open_ends(&self) -> Vec<String> {
        let mut open = Vec::new();
        let behind = self.with_parked().await;
        for shard in Shard::all() {
            let events = self.operator.events();
            let page = events.list_pending(shard, Window::ALWAYS, Slice::default()).await.unwrap();
            let pending = page.rows.iter().filter(|event| !behind.contains(&event.source_id));
            open.extend(pending.map(|event| format!("{} is pending", event.id)));
        }
        for (place, source) in self.cast.sources.iter().enumerate() {
            let stored = self.operator.sources().find(source.id).await.unwrap().unwrap();
            let slice = Slice::default().limit(1000);
            let events = self.operator.events();
            let page = events.list_by_source(source.id, Window::ALWAYS, slice).await.unwrap();
            let held = page.rows.iter().filter(|event| {
                event.status == ferryhook_core::event::Status::Held && event.processed_at.is_none()
            });
            // A start finds sources by their connections: without one nobody waits for anything.
            let connections = self.operator.connections();
            let ways = connections.list_by_source(source.id, Slice::default()).await.unwrap();
            let is_wanted = !ways.rows.is_empty();
            if stored.status == source::Status::Active && is_wanted {
                open.extend(held.map(|event| format!("{} of source {place} is held", event.id)));
            }
        }
        for way in 0..self.cast.ways.len() {
            open.extend(self.open_deliveries(way).await);
        }
        open
    }

    /// Sources of which something is parked: what comes behind it may wait in memory, and is
    /// pending as long as it does.
    async fn with_parked(&self) -> Vec<Id<Source>> {
        let mut sources = Vec::new();
        for way in &self.cast.ways {
            if self.queue(&way.connection).await.iter().any(is_parked) {
                sources.push(way.connection.source_id);
            }
        }
        sources
    }

    async fn queue(&self, of: &Connection) -> Vec<Delivery> {
        let mut queue = Vec::new();
        for lane in [Lane::Live, Lane::Replay] {
            let slice = Slice::oldest_first().limit(1000);
            let open = self.operator.deliveries();
            let open = open.list_open(of.id, lane, Window::ALWAYS, slice).await.unwrap();
            queue.extend(open.rows.into_iter().map(|row| row.record));
        }
        queue
    }

    async fn open_deliveries(&self, way: usize) -> Vec<String> {
        let of = &self.cast.ways[way].connection;
        let connections = self.operator.connections();
        let Some(stored) = connections.find_of(of.source_id, of.id).await.unwrap() else {
            return Vec::new();
        };
        if stored.status == connection::Status::Paused {
            return Vec::new();
        }
        let open = self.queue(of).await;
        let parked: Vec<&Delivery> = open.iter().filter(|one| is_parked(one)).collect();
        let waits = |one: &Delivery| {
            let before = |other: &&Delivery| {
                other.order_key == one.order_key && other.event_id <= one.event_id
            };
            one.order_key.is_some() && parked.iter().any(before)
        };
        let open = open.iter().filter(|one| !waits(one));
        open.map(|one| format!("{} for connection {way} is {:?}", one.event_id, one.state))
            .collect()
    }
}

fn is_parked(delivery: &Delivery) -> bool {
    matches!(delivery.state, State::Held { reason: Hold::Parked, .. })
}
