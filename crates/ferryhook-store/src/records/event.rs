//! Events, in the events table under their source and in order of arrival.
//!
//! Each index entry of an event costs a write, and there are many events. Two entries are always
//! there (by id, inbox); the others only while someone may ask for them.

use ferryhook_core::event::{Origin, Standing, Status};
use ferryhook_core::{Event, Id, Source, Timestamp};

use super::{Shard, digits, source};
use crate::batch::{Condition, Moves, Patch};
use crate::key::{IndexKey, Key};
use crate::record::{Kind, Record, Stored};
use crate::tables::{Index, Table};
use crate::value::{Name, Value};

pub(crate) const PREFIX: &str = "EVT#";

pub(crate) fn key(of: Id<Source>, received_at: Timestamp, id: Id<Event>) -> Key {
    let sort = [PREFIX, &digits(received_at), "#", id.as_str()].concat();
    Key::new(Table::Events, source::partition(of), sort)
}

/// Of everything that is kept under an event.
pub(crate) fn partition(id: Id<Event>) -> String {
    ["EVT#", id.as_str()].concat()
}

pub(crate) fn by_id(id: Id<Event>) -> IndexKey {
    IndexKey::new(Index::EventById, ["EVTID#", id.as_str()].concat(), "EVENT")
}

/// Where events wait that came while their source was paused: each source has them apart, so that
/// to let them go on costs nothing for all the others that are held.
pub(crate) fn held(of: Id<Source>) -> String {
    ["HELD#", of.as_str()].concat()
}

/// Whether the index by status has the event. Triggered events can be asked for by any status;
/// of the others only those that need someone.
fn is_listed_by_status(event: &Event, status: Status) -> bool {
    let needs_someone = matches!(
        status,
        Status::Failed | Status::Retrying | Status::Held | Status::SignatureFailed
    );
    needs_someone || event.origin == Origin::Trigger
}

/// All of them, as they are when the event stands there. `at` is the text of when it came.
fn indexes(event: &Event, standing: &Standing, at: &str) -> Vec<IndexKey> {
    let account = event.account_id.as_str();
    let mut indexes = Vec::with_capacity(5);
    indexes.push(by_id(event.id));
    let inbox = [at, "#", event.id.as_str()].concat();
    indexes.push(IndexKey::new(Index::Inbox, account, inbox));
    if let Some(event_type) = &event.event_type {
        let sort = [event_type, "#", at].concat();
        indexes.push(IndexKey::new(Index::EventType, account, sort));
    }
    if is_listed_by_status(event, standing.status) {
        let sort = [standing.status.as_str(), "#", at].concat();
        indexes.push(IndexKey::new(Index::EventStatus, account, sort));
    }
    if let Some(since) = standing.pending_since {
        let shard = Shard::of(event.id).partition();
        indexes.push(IndexKey::new(Index::Pending, shard, since.as_millis()));
    } else if standing.status == Status::Held && standing.processed_at.is_none() {
        let came = event.received_at.as_millis();
        indexes.push(IndexKey::new(Index::Pending, held(event.source_id), came));
    }
    indexes
}

/// Moves an event on without reading or writing what it carries; `None` when it stays as it is.
pub(crate) fn progress(event: &Event, was: &Stored<Standing>, now: &Standing) -> Option<Patch> {
    if was.record == *now {
        return None;
    }
    let mut patch = Patch::of(Kind::Event, event.key()).when(Condition::Revision(was.revision));
    if was.status != now.status {
        patch = patch.set("status", now.status.as_str());
    }
    if was.retry_count != now.retry_count {
        patch = patch.set("retry_count", i64::from(now.retry_count));
    }
    let times = [
        ("pendingSince", was.pending_since, now.pending_since),
        ("processedAt", was.processed_at, now.processed_at),
        ("deliveredAt", was.delivered_at, now.delivered_at),
    ];
    for (name, was, now) in times {
        patch = match now {
            _ if was == now => patch,
            Some(at) => patch.set(name, at.as_millis()),
            None => patch.remove(name),
        };
    }
    let at = event.received_at.to_micros_text();
    let (from, to) = (indexes(event, was, &at), indexes(event, now, &at));
    if from != to {
        patch.moves = Some(Moves { from, to, expires: None });
    }
    Some(patch)
}

/// Moves an event on to deliveries that begin. Written even if it stands where it stood, so that
/// others who look at its deliveries meanwhile notice.
pub(crate) fn begin_again(event: &Stored<Event>, now: &Standing) -> Patch {
    let was = event.standing();
    let mut patch = progress(event, &was, now).unwrap_or_else(|| {
        let patch = Patch::of(Kind::Event, event.key()).when(Condition::Revision(event.revision));
        patch.set("status", now.status.as_str())
    });
    // It has been planned now, whatever went wrong with that before.
    if event.processing_tries > 0 {
        patch = patch.remove("processingTries");
    }
    if event.processing_error.is_some() {
        patch = patch.remove("processingError");
    }
    patch
}

impl Record for Event {
    const KIND: Kind = Kind::Event;
    const VERSION: u8 = 3;

    fn key(&self) -> Key {
        key(self.source_id, self.received_at, self.id)
    }

    fn indexes(&self) -> Vec<IndexKey> {
        indexes(self, &self.standing(), &self.received_at.to_micros_text())
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
