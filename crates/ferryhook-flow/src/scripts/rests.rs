//! Connections whose scripts did not end, and how long each has to rest for it.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use ferryhook_core::transform::Transform;
use ferryhook_core::{Connection, Id};

use super::limits::{REST, REST_MAX, RESTING_MAX, STUCK_PER_CONNECTION_MAX};

#[derive(Debug, Default)]
pub(super) struct Rests(HashMap<Id<Connection>, Rest>);

#[derive(Debug)]
struct Rest {
    /// Another transform of the same connection is not the one that has to rest.
    transform: Arc<Transform>,
    until: Duration,
    times: u32,
    /// Threads that it has not given back yet.
    stuck: usize,
}

impl Rests {
    /// One more thread is lost to it. Those that were lost together count once.
    pub(super) fn begin(
        &mut self,
        connection: Id<Connection>,
        transform: Arc<Transform>,
        now: Duration,
    ) {
        self.0.retain(|_, rest| rest.stuck > 0 || !rest.is_forgotten(now));
        if self.0.len() >= RESTING_MAX && !self.0.contains_key(&connection) {
            let first = self.0.iter().min_by_key(|(_, rest)| (rest.stuck, rest.until));
            if let Some(first) = first.map(|(connection, _)| *connection) {
                self.0.remove(&first);
            }
        }
        let rest = self.0.entry(connection).or_insert_with(|| Rest {
            transform: transform.clone(),
            until: Duration::ZERO,
            times: 0,
            stuck: 0,
        });
        rest.stuck += 1;
        if now >= rest.until || !Arc::ptr_eq(&rest.transform, &transform) {
            let doubled = REST.saturating_mul(2u32.saturating_pow(rest.times));
            rest.times += 1;
            rest.until = now + doubled.min(REST_MAX);
            rest.transform = transform;
        }
    }

    /// A thread that was lost to it came back.
    pub(super) fn give_back(&mut self, connection: Id<Connection>) {
        if let Some(rest) = self.0.get_mut(&connection) {
            rest.stuck = rest.stuck.saturating_sub(1);
        }
    }

    pub(super) fn is_resting(
        &self,
        connection: Id<Connection>,
        transform: &Arc<Transform>,
        now: Duration,
    ) -> bool {
        self.0.get(&connection).is_some_and(|rest| {
            rest.stuck >= STUCK_PER_CONNECTION_MAX
                || now < rest.until && Arc::ptr_eq(&rest.transform, transform)
        })
    }

    /// Whether it is still known for it. Until it is not, nothing makes it a quick one.
    pub(super) fn remembers(&self, connection: Id<Connection>, now: Duration) -> bool {
        self.0.get(&connection).is_some_and(|rest| rest.stuck > 0 || !rest.is_forgotten(now))
    }
}

impl Rest {
    fn is_forgotten(&self, now: Duration) -> bool {
        now >= self.until + REST_MAX
    }
}
