//! Items that move on together: as many with one commit as fit into it, and those whose turn
//! another came before are told apart from the rest.

use std::collections::HashSet;

use ferryhook_core::delivery::{Consequence, Next};
use ferryhook_core::limits::{PAGE_MAX, batch};
use ferryhook_core::{Delivery, Event, Timestamp};
use ferryhook_store::repositories::{Moved, Stuck};
use ferryhook_store::{Slice, Store, StoreError, Stored};
use futures_util::future::try_join_all;

/// An item and where it goes.
#[derive(Debug)]
pub(super) struct Move {
    pub(super) was: Stored<Delivery>,
    pub(super) next: Next,
    pub(super) event: Stored<Event>,
    /// The others of its event, if where that stands may have to be told.
    beside: Option<Vec<Stored<Delivery>>>,
}

/// An item that has moved, as it is now.
#[derive(Debug)]
pub(super) struct Done {
    pub(super) now: Stored<Delivery>,
    pub(super) consequence: Consequence,
    /// As it was read.
    pub(super) event: Stored<Event>,
    /// Nothing was written of where the event stands.
    pub(super) event_stays: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kept {
    /// A crash may undo it.
    ForNow,
    ForGood,
}

impl Move {
    /// Where the event stands because of it is looked up if it can have changed.
    pub(super) async fn new(
        store: &Store,
        was: Stored<Delivery>,
        next: Next,
        event: Stored<Event>,
        siblings: Option<Vec<Stored<Delivery>>>,
    ) -> Result<Self, StoreError> {
        let now = &next.delivery;
        let same = was.inbox_status() == now.inbox_status()
            && was.retry_count() == now.retry_count()
            && was.is_settled() == now.is_settled();
        let beside = match siblings {
            _ if same => None,
            Some(siblings) => Some(siblings),
            None if is_alone(&was, &event) => Some(Vec::new()),
            None => Some(others(store, &was).await?),
        };
        Ok(Self { was, next, event, beside })
    }

    fn moved(&self, now: Timestamp) -> Moved<'_> {
        let next = &self.next.delivery;
        let beside: Vec<_> = self.beside.iter().flatten().collect();
        let event = self.beside.as_ref().map(|others| {
            let all = others.iter().map(|other| &other.record).chain([next]);
            let stood = self.event.standing();
            let stands = stood.with(all, now);
            (&self.event.record, stood, stands)
        });
        Moved { was: &self.was, now: next.clone(), event, beside }
    }
}

/// Whether it is all that its event came to. Whoever adds to that writes the event.
pub(super) fn is_alone(item: &Delivery, event: &Stored<Event>) -> bool {
    item.inbox.as_ref().is_some_and(|place| place.alone) && event.is_as_it_came()
}

async fn others(
    store: &Store,
    item: &Stored<Delivery>,
) -> Result<Vec<Stored<Delivery>>, StoreError> {
    let slice = Slice::default().limit(PAGE_MAX);
    let mut all = store.deliveries().list_by_event(item.event_id, slice).await?.rows;
    all.retain(|other| other.connection_id != item.connection_id);
    Ok(all)
}

/// Those that were done, in their order, and how many another came before.
pub(super) async fn carry_out(
    store: &Store,
    moves: Vec<Move>,
    now: Timestamp,
    kept: Kept,
) -> Result<(Vec<Done>, usize), StoreError> {
    let all = moves.len();
    let mut done = Vec::with_capacity(all);
    let mut rest = moves;
    while !rest.is_empty() {
        let (together, later) = split(rest, now);
        rest = later;
        done.append(&mut commit(store, together, now, kept).await?);
    }
    let refused = all - done.len();
    Ok((done, refused))
}

/// With one commit, as long as nothing has moved meanwhile.
async fn commit(
    store: &Store,
    mut together: Vec<Move>,
    now: Timestamp,
    kept: Kept,
) -> Result<Vec<Done>, StoreError> {
    let mut refusals = 0;
    while !together.is_empty() {
        let moved: Vec<_> = together.iter().map(|one| one.moved(now)).collect();
        let written = match kept {
            Kept::ForNow => store.inbox().lease(&moved).await,
            Kept::ForGood => store.inbox().settle(&moved).await,
        };
        match written {
            Ok(written) => return Ok(done(together, written)),
            Err(Stuck { place: Some(place), .. }) if place < together.len() => {
                together.remove(place);
                refusals += 1;
            }
            Err(Stuck { error, .. }) => return Err(error),
        }
        // A refusal names the first alone. Where there are two there are many.
        if refusals > 1 {
            together = unmoved(store, together).await?;
        }
    }
    Ok(Vec::new())
}

fn done(moves: Vec<Move>, written: Vec<Stored<Delivery>>) -> Vec<Done> {
    let done = moves.into_iter().zip(written).map(|(one, now)| Done {
        now,
        consequence: one.next.consequence,
        event: one.event,
        event_stays: one.beside.is_none(),
    });
    done.collect()
}

/// Those that are still as they were when they were read, with their events and all beside them.
async fn unmoved(store: &Store, moves: Vec<Move>) -> Result<Vec<Move>, StoreError> {
    let looks: Vec<_> = moves.iter().map(|one| event_stays(store, one)).collect();
    let stays = try_join_all(looks).await?;
    let stays = moves.into_iter().zip(stays);
    let moves: Vec<_> = stays.filter_map(|(one, stays)| stays.then_some(one)).collect();
    let slice = Slice::default().limit(PAGE_MAX);
    let deliveries = store.deliveries();
    let looks: Vec<_> =
        moves.iter().map(|one| deliveries.list_by_event(one.was.event_id, slice.clone())).collect();
    let found = try_join_all(looks).await?;
    let is_same = |was: &Stored<Delivery>, now: &[Stored<Delivery>]| {
        let same = |now: &&Stored<Delivery>| now.connection_id == was.connection_id;
        now.iter().find(same).is_some_and(|now| now.revision == was.revision)
    };
    let still = moves.into_iter().zip(found).filter(|(one, now)| {
        let mut beside = one.beside.iter().flatten().filter(|other| !other.is_settled());
        is_same(&one.was, &now.rows) && beside.all(|other| is_same(other, &now.rows))
    });
    Ok(still.map(|(one, _)| one).collect())
}

/// Whether its event is as it was, if that matters.
async fn event_stays(store: &Store, one: &Move) -> Result<bool, StoreError> {
    let was = &one.event;
    if one.beside.is_none() {
        return Ok(true);
    }
    let now = store.events().find_of(was.source_id, was.received_at, was.id).await?;
    Ok(now.is_some_and(|now| now.revision == was.revision))
}

/// As many as fit, each event once; and the others.
fn split(moves: Vec<Move>, now: Timestamp) -> (Vec<Move>, Vec<Move>) {
    let (mut together, mut later) = (Vec::with_capacity(moves.len()), Vec::new());
    let (mut actions, mut events) = (0, HashSet::new());
    for one in moves {
        let more = one.moved(now).actions();
        let fits = together.is_empty() || actions + more <= batch::ACTIONS_MAX;
        if fits && events.insert(one.was.event_id) {
            actions += more;
            together.push(one);
        } else {
            later.push(one);
        }
    }
    (together, later)
}
