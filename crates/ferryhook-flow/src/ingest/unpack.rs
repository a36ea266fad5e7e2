//! From one request to its events: mostly one, sometimes the elements of a list, each with the
//! claim that lets it in only once.

use bytes::Bytes;
use ferryhook_core::dedup::{Arriving, ledger_source};
use ferryhook_core::event::Status;
use ferryhook_core::split::Parts;
use ferryhook_core::{Body, Claim, Event, Timestamp};
use ferryhook_store::repositories::Arrival;

use super::letter::Letter;
use super::refusal::Refusal;
use super::room::Place;
use super::{Door, declared, limits};
use crate::routes::Route;

pub(super) async fn arrivals(
    door: &Door,
    route: &Route,
    letter: Letter,
    body: Bytes,
    now: Timestamp,
    place: &mut Place,
) -> Result<Vec<Arrival>, Refusal> {
    let whole = body.clone();
    let body = Body::from(body);
    let parts = route.reading.split.parts(letter.content_type.as_deref(), &body);
    let unpacking = Unpacking { door, route, now };
    let arrivals = match parts {
        Ok(None) => vec![unpacking.one(letter, body)?],
        Ok(Some(parts)) => unpacking.several(letter, parts, place)?,
        Err(error) => {
            let detail = format!("This source takes lists of events, but {error}.");
            return Err(Refusal::Unparsable { detail, body: whole });
        }
    };
    declared::check(door, route, &arrivals, &whole).await?;
    Ok(arrivals)
}

/// A request that does not prove who sent it, kept whole for its owner to see. It claims nothing:
/// a forgery that came first would take the real event's place.
pub(super) fn marked(
    door: &Door,
    route: &Route,
    letter: Letter,
    body: Bytes,
    now: Timestamp,
    reason: String,
) -> Result<Arrival, Refusal> {
    let body = Body::from(body);
    fits(&letter, &body)?;
    let (id, now) = door.names.next(now, &door.env);
    let event = Event {
        status: Status::SignatureFailed,
        processing_error: Some(reason),
        pending_since: None,
        processed_at: Some(now),
        ..letter.into_event(route, id, now, body)
    };
    Ok(Arrival { event, claim: None, items: Vec::new() })
}

/// What a marked event would have been, had its signature held when it came. Nothing is planned for
/// it: whoever wants it gets it by a replay.
pub(super) fn genuine(door: &Door, route: &Route, marked: Event, now: Timestamp) -> Arrival {
    let event = Event { status: Status::Filtered, processing_error: None, ..marked };
    Unpacking { door, route, now }.known(event)
}

struct Unpacking<'a> {
    door: &'a Door,
    route: &'a Route,
    now: Timestamp,
}

impl Unpacking<'_> {
    fn one(&self, letter: Letter, body: Body) -> Result<Arrival, Refusal> {
        fits(&letter, &body)?;
        let (id, now) = self.door.names.next(self.now, &self.door.env);
        Ok(self.known(letter.into_event(self.route, id, now, body)))
    }

    /// By its key and its type.
    fn known(&self, mut event: Event) -> Arrival {
        let arriving = Arriving::of(&event);
        let (key, event_type) = (self.route.reading.dedup.key(&arriving), self.type_of(&arriving));
        (event.dedup_key, event.event_type) = (key, event_type);
        self.arrival(event)
    }

    fn several(
        &self,
        mut letter: Letter,
        parts: Parts,
        place: &mut Place,
    ) -> Result<Vec<Arrival>, Refusal> {
        // The bodies share the request's bytes; everything else is there once for each.
        if !place.grow(parts.bodies.len() * letter.event_bytes(&Body::default())) {
            return Err(Refusal::Crowded);
        }
        if let Some(content_type) = parts.content_type {
            letter.content_type = Some(content_type.to_owned());
        }
        let mut arrivals = Vec::with_capacity(parts.bodies.len());
        for (index, body) in parts.bodies.into_iter().enumerate() {
            fits(&letter, &body)?;
            let (id, now) = self.door.names.next(self.now, &self.door.env);
            let mut event = letter.clone().into_event(self.route, id, now, body);
            let arriving = Arriving::of(&event);
            let key = self.route.reading.dedup.key_of_part(&arriving, index);
            let event_type = self.type_of(&arriving);
            (event.dedup_key, event.event_type) = (key, event_type);
            arrivals.push(self.arrival(event));
        }
        Ok(arrivals)
    }

    fn type_of(&self, arriving: &Arriving<'_>) -> Option<String> {
        self.route.reading.event_type.as_ref()?.text(arriving)
    }

    fn arrival(&self, event: Event) -> Arrival {
        arrival(self.door, self.route, event, self.now)
    }
}

/// With the claim to its key, if it has one.
pub(super) fn arrival(door: &Door, route: &Route, event: Event, now: Timestamp) -> Arrival {
    let claim = event.dedup_key.clone().map(|key| Claim {
        key,
        seen_at: now,
        expires_at: now + door.settings.remember,
        source: Some(ledger_source(&route.source.provider).into_owned()),
        notes: None,
        event_id: Some(event.id),
        state: None,
        fencing_token: None,
        lease_until: None,
    });
    Arrival { event, claim, items: Vec::new() }
}

/// The store would refuse it as well, but could not say why.
fn fits(letter: &Letter, body: &Body) -> Result<(), Refusal> {
    match letter.event_bytes(body) <= limits::EVENT_BYTES_MAX {
        true => Ok(()),
        false => Err(Refusal::DoesNotFit),
    }
}
