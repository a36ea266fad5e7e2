//! Replay: brings an event to its destinations again, to all who want it or to those that are
//! named, also if they were made after it came.
//!
//! Asked for by people, and by the thousand by [`jobs`]. It writes down which deliveries begin and
//! tells their lanes; the courier carries them like any other, in lanes of their own, so that what
//! is new never waits for what is repeated. Nothing is sent from here.

mod error;
pub mod jobs;
mod targets;

use ferryhook_core::delivery::{Lane, State};
use ferryhook_core::event::Status;
use ferryhook_core::{Connection, Delivery, Env, Event, Id, Timestamp};
use ferryhook_store::repositories::Begun;
use ferryhook_store::{Slice, Store, Stored};
use serde::{Deserialize, Serialize};

use crate::courier::{Courier, lane_of};
use crate::lanes::LaneOf;
use crate::limits;
use crate::plan;
use crate::routes::{Routes, Way};

pub use error::ReplayError;
pub use jobs::OrderError;

/// What a replay came to, for each connection that was meant.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Replayed {
    pub event_id: Id<Event>,
    /// Goes out now.
    pub begun: Vec<Id<Connection>>,
    /// Goes out when the connection is resumed.
    pub held: Vec<Id<Connection>>,
    /// Was on its way already and is left alone.
    pub open: Vec<Id<Connection>>,
}

impl Replayed {
    /// Whether anything was done.
    pub fn is_any(&self) -> bool {
        !self.begun.is_empty() || !self.held.is_empty()
    }
}

impl Courier {
    /// Sends the event again: to these connections, or to all that want it. Durable when it
    /// returns.
    pub async fn replay(
        &self,
        event: Id<Event>,
        to: Option<&[Id<Connection>]>,
    ) -> Result<Replayed, ReplayError> {
        self.replay_with(&self.inner().store, event, to).await
    }

    /// The same, written with a store that may have something to add.
    pub async fn replay_with(
        &self,
        store: &Store,
        event: Id<Event>,
        to: Option<&[Id<Connection>]>,
    ) -> Result<Replayed, ReplayError> {
        let inner = self.inner();
        let now = || inner.now().wall;
        let tell = |drawn: &Drawn| {
            drawn.lanes.iter().for_each(|(of, due)| self.renewed(*of, event, *due));
            self.arrived(drawn.begun.iter().map(|begun| &begun.now));
        };
        begin(store, &inner.routes, &inner.env, event, to, now, tell).await
    }
}

/// The same where no courier runs. Whoever works on the store finds it there, at its start or with
/// the next sweep.
pub async fn leave(
    store: &Store,
    routes: &Routes,
    env: &Env,
    event: Id<Event>,
    to: Option<&[Id<Connection>]>,
) -> Result<Replayed, ReplayError> {
    begin(store, routes, env, event, to, || env.now(), |_: &Drawn| {}).await
}

/// Where something begins, when it is due, and its place in the queue.
type Lanes = Vec<(LaneOf, (Timestamp, Timestamp))>;

async fn begin(
    store: &Store,
    routes: &Routes,
    env: &Env,
    id: Id<Event>,
    to: Option<&[Id<Connection>]>,
    now: impl Fn() -> Timestamp,
    tell: impl Fn(&Drawn),
) -> Result<Replayed, ReplayError> {
    let mut event = store.events().find(id).await?.ok_or(ReplayError::Unknown(id))?;
    for _ in 0..limits::CONFLICT_TRIES_MAX {
        check(&event)?;
        let ways = targets::find(store, routes, &event, to).await?;
        let page = Slice::default().limit(ferryhook_core::limits::PAGE_MAX);
        let there = store.deliveries().list_by_event(id, page).await?.rows;
        let drawn = draw(&event, &there, &ways, now(), env);
        if drawn.begun.is_empty() {
            return Ok(drawn.replayed);
        }
        match drawn.write(store, &event, &there, now()).await {
            Ok(()) => {
                tell(&drawn);
                return Ok(drawn.replayed);
            }
            Err(error) if error.is_refused() => {}
            Err(error) => {
                // It may be written all the same, and then nobody else would look.
                tell(&drawn);
                return Err(error.into());
            }
        }
        // One of its deliveries has moved, or it has.
        let (source, at) = (event.source_id, event.received_at);
        let found = store.events().find_of(source, at, id).await?;
        event = found.ok_or(ReplayError::Unknown(id))?;
    }
    Err(ReplayError::Busy(id))
}

/// Whether it may go out at all.
fn check(event: &Event) -> Result<(), ReplayError> {
    let never_planned = event.processed_at.is_none();
    match event.status {
        _ if event.pending_since.is_some() => Err(ReplayError::Pending(event.id)),
        // Planning only some of it now would keep the rest from being planned later.
        Status::Held if never_planned => Err(ReplayError::SourcePaused(event.id)),
        Status::SignatureFailed => Err(ReplayError::Unverified(event.id)),
        _ => Ok(()),
    }
}

/// What is to be done, before it is.
struct Drawn {
    replayed: Replayed,
    begun: Vec<Begun>,
    lanes: Lanes,
}

fn draw(
    event: &Event,
    there: &[Stored<Delivery>],
    ways: &[std::sync::Arc<Way>],
    now: Timestamp,
    env: &Env,
) -> Drawn {
    let replayed =
        Replayed { event_id: event.id, begun: Vec::new(), held: Vec::new(), open: Vec::new() };
    let mut drawn = Drawn { replayed, begun: Vec::new(), lanes: Vec::new() };
    for way in ways {
        let id = way.connection.id;
        let was = there.iter().find(|one| is_it(one, way));
        let is_begun = |begun: &Begun| is_it(&begun.now, way);
        if drawn.begun.iter().any(is_begun) {
            continue; // two ways into one inbox
        }
        let Some(next) = again(event, was.map(|was| &was.record), way, now, env) else {
            drawn.replayed.open.push(id);
            continue;
        };
        match next.state {
            State::Held { .. } => drawn.replayed.held.push(id),
            _ => drawn.replayed.begun.push(id),
        }
        if next.inbox.is_some() {
            drawn.begun.push(Begun { was: was.cloned(), now: next });
            continue;
        }
        let in_order = next.order_key.as_ref().and_then(|_| event.id.made_at());
        drawn.lanes.push((lane_of(way, next.lane), (now, in_order.unwrap_or(now))));
        drawn.begun.push(Begun { was: was.cloned(), now: next });
    }
    drawn
}

/// Whether this is the delivery over that way. Those who share an inbox have an event once,
/// whichever way it came.
fn is_it(delivery: &Delivery, way: &Way) -> bool {
    let group = delivery.inbox.as_ref().map(|place| &place.group);
    let same_inbox = group.is_some() && group == way.inbox().map(|settings| &settings.group);
    delivery.connection_id == way.connection.id || same_inbox
}

/// The delivery as it begins; `None` if it is on its way.
fn again(
    event: &Event,
    was: Option<&Delivery>,
    way: &Way,
    now: Timestamp,
    env: &Env,
) -> Option<Delivery> {
    let begins = match was {
        Some(was) => {
            let again = was.replay(now);
            if again == *was {
                return None;
            }
            // As the connection orders its events today.
            Delivery { order_key: way.order_key(event), ..again }
        }
        None => Delivery {
            lane: Lane::Replay,
            state: State::Waiting { next_attempt_at: now },
            ..plan::delivery(event, way, now, env)
        },
    };
    Some(match way.hold() {
        Some(reason) => begins.hold(reason, now),
        None => begins,
    })
}

impl Drawn {
    async fn write(
        &self,
        store: &Store,
        event: &Stored<Event>,
        there: &[Stored<Delivery>],
        now: Timestamp,
    ) -> Result<(), ferryhook_store::StoreError> {
        let stay = |one: &&Stored<Delivery>| {
            !self.begun.iter().any(|begun| begun.now.connection_id == one.connection_id)
        };
        let others = there.iter().filter(stay);
        let begun = self.begun.iter().map(|begun| &begun.now);
        let all = others.clone().map(|other| &other.record).chain(begun);
        let stands = event.record.standing().with(all, now);
        // What is settled stays so, unless it is replayed, which then writes the event as well.
        let beside: Vec<_> = others.filter(|other| !other.is_settled()).collect();
        store.deliveries().replay(event, stands, &self.begun, &beside).await?;
        Ok(())
    }
}

#[cfg(test)]
mod tests;
