//! Deliveries, in the events table under their event.
//!
//! Until it is settled a delivery also stands in the queue of its connection: a partition of the
//! due index for each, so that what piles up for one destination is never in the way of another.
//! One that is fetched stands in the queue of its group instead, whichever connection it came by,
//! and settled or not in the lists of that group: by time, by type and by status.

use ferryhook_core::delivery::{Lane, State};
use ferryhook_core::inbox::{Group, Place};
use ferryhook_core::{Account, Connection, Delivery, Event, Id, Timestamp};

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

/// Of the queue and of the lists of those who share an inbox. No account is called like this, so
/// that whoever lists the events of an account sees none of it.
pub(crate) fn inbox(account: Id<Account>, group: &Group) -> String {
    [account.as_str(), "#inbox#", group.as_str()].concat()
}

/// By when it is due; where order counts, by when its event came, whatever happens to it, so
/// that nothing that came later is read before it.
fn place_in_queue(delivery: &Delivery) -> Option<Timestamp> {
    let at = match delivery.state {
        State::Waiting { next_attempt_at } | State::Held { next_attempt_at, .. } => next_attempt_at,
        State::Sending { lease_until } => lease_until,
        State::Delivered { .. } | State::Failed { .. } | State::Cancelled { .. } => return None,
    };
    match (&delivery.order_key, &delivery.inbox) {
        (Some(_), None) => Some(delivery.event_id.made_at().unwrap_or(delivery.created_at)),
        _ => Some(at),
    }
}

fn inbox_indexes(item: &Delivery, place: &Place) -> Vec<IndexKey> {
    let partition = inbox(item.account_id, &place.group);
    let at = place.received_at.to_micros_text();
    let mut indexes = Vec::with_capacity(4);
    let by_time = [&at, "#", item.event_id.as_str()].concat();
    indexes.push(IndexKey::new(Index::Inbox, &*partition, by_time));
    if let Some(event_type) = &place.event_type {
        let by_type = [event_type, "#", &at].concat();
        indexes.push(IndexKey::new(Index::EventType, &*partition, by_type));
    }
    let by_status = [item.inbox_status().as_str(), "#", &at].concat();
    indexes.push(IndexKey::new(Index::EventStatus, &*partition, by_status));
    if let Some(at) = place_in_queue(item) {
        indexes.push(IndexKey::new(Index::Due, partition, at.as_millis()));
    }
    indexes
}

impl Record for Delivery {
    const KIND: Kind = Kind::Delivery;
    const VERSION: u8 = 3;

    fn key(&self) -> Key {
        key(self.event_id, self.connection_id)
    }

    fn indexes(&self) -> Vec<IndexKey> {
        if let Some(place) = &self.inbox {
            return inbox_indexes(self, place);
        }
        let entry = |at: Timestamp| {
            IndexKey::new(Index::Due, queue(self.connection_id, self.lane), at.as_millis())
        };
        place_in_queue(self).map(entry).into_iter().collect()
    }

    fn expires_at(&self) -> Option<Timestamp> {
        self.expires_at
    }
}
