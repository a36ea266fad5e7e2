//! Events, in the events table under their source and in order of arrival.
//!
//! Each index entry of an event costs a write, and there are many events. Two entries are always
//! there (by id, inbox); the others only while someone may ask for them.

use ferryhook_core::event::{Origin, Status};
use ferryhook_core::{Event, Id, Source, Timestamp};

use super::{Shard, digits, source};
use crate::key::{IndexKey, Key};
use crate::record::{Kind, Record};
use crate::tables::{Index, Table};
use crate::value::{Name, Value};

pub(crate) const PREFIX: &str = "EVT#";

pub(crate) fn key(of: Id<Source>, received_at: Timestamp, id: Id<Event>) -> Key {
    let sort = format!("{PREFIX}{}#{id}", digits(received_at));
    Key::new(Table::Events, source::partition(of), sort)
}

/// Of everything that is kept under an event.
pub(crate) fn partition(id: Id<Event>) -> String {
    format!("EVT#{id}")
}

pub(crate) fn by_id(id: Id<Event>) -> IndexKey {
    IndexKey::new(Index::EventById, format!("EVTID#{id}"), "EVENT")
}

/// Whether the index by status has the event. Triggered events can be asked for by any status;
/// of the others only those that need someone.
fn is_listed_by_status(event: &Event) -> bool {
    let needs_someone = matches!(
        event.status,
        Status::Failed | Status::Retrying | Status::Held | Status::SignatureFailed
    );
    needs_someone || event.origin == Origin::Trigger
}

impl Record for Event {
    const KIND: Kind = Kind::Event;
    const VERSION: u8 = 2;

    fn key(&self) -> Key {
        key(self.source_id, self.received_at, self.id)
    }

    fn indexes(&self) -> Vec<IndexKey> {
        let account = self.account_id.as_str();
        let at = self.received_at.to_micros_text();
        let mut indexes = Vec::with_capacity(5);
        indexes.push(by_id(self.id));
        let inbox = format!("{at}#{}", self.id);
        indexes.push(IndexKey::new(Index::Inbox, account, inbox));
        if let Some(event_type) = &self.event_type {
            let sort = format!("{event_type}#{at}");
            indexes.push(IndexKey::new(Index::EventType, account, sort));
        }
        if is_listed_by_status(self) {
            let sort = format!("{}#{at}", self.status);
            indexes.push(IndexKey::new(Index::EventStatus, account, sort));
        }
        if let Some(since) = self.pending_since {
            let shard = Shard::of(self.id).partition();
            indexes.push(IndexKey::new(Index::Pending, shard, since.as_millis()));
        }
        indexes
    }

    fn expires_at(&self) -> Option<Timestamp> {
        self.expires_at
    }

    fn mirror(&self) -> Vec<(Name, Value)> {
        let mut mirror: Vec<(Name, Value)> = vec![
            ("event_id".into(), self.id.as_str().into()),
            ("timestamp".into(), self.received_at.to_micros_text().into()),
        ];
        mirror.extend(self.expires_at.map(|at| ("ttl".into(), at.as_seconds().into())));
        mirror
    }
}
