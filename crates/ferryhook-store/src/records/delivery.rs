//! Deliveries, in the events table under their event.
//!
//! Until it is settled a delivery also stands in the queue of its connection: a partition of the
//! due index for each, so that what piles up for one destination is never in the way of another.

use ferryhook_core::delivery::{Lane, State};
use ferryhook_core::{Connection, Delivery, Event, Id, Timestamp};

use super::event;
use crate::key::{IndexKey, Key};
use crate::record::{Kind, Record};
use crate::tables::{Index, Table};

pub(crate) const PREFIX: &str = "DLV#";

pub(crate) fn key(of: Id<Event>, over: Id<Connection>) -> Key {
    Key::new(Table::Events, event::partition(of), [PREFIX, over.as_str()].concat())
}

/// Replays queue apart, so that a million of them do not stand before what is new.
pub(crate) fn queue(connection: Id<Connection>, lane: Lane) -> String {
    match lane {
        Lane::Live => connection.to_string(),
        Lane::Replay => format!("{connection}#replay"),
    }
}

/// By when it is due; where order counts, by when its event came, whatever happens to it, so
/// that nothing that came later is read before it.
fn place_in_queue(delivery: &Delivery) -> Option<Timestamp> {
    let at = match delivery.state {
        State::Waiting { next_attempt_at } | State::Held { next_attempt_at, .. } => next_attempt_at,
        State::Sending { lease_until } => lease_until,
        State::Delivered { .. } | State::Failed { .. } | State::Cancelled { .. } => return None,
    };
    match delivery.order_key {
        Some(_) => Some(delivery.event_id.made_at().unwrap_or(delivery.created_at)),
        None => Some(at),
    }
}

impl Record for Delivery {
    const KIND: Kind = Kind::Delivery;
    const VERSION: u8 = 2;

    fn key(&self) -> Key {
        key(self.event_id, self.connection_id)
    }

    fn indexes(&self) -> Vec<IndexKey> {
        let entry = |at: Timestamp| {
            IndexKey::new(Index::Due, queue(self.connection_id, self.lane), at.as_millis())
        };
        place_in_queue(self).map(entry).into_iter().collect()
    }

    fn expires_at(&self) -> Option<Timestamp> {
        self.expires_at
    }
}
