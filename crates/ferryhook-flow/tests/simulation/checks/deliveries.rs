//! Deliveries: whoever wanted an event that was acknowledged has it, and the store says so.

use ferryhook_core::delivery::{Failure, State};
use ferryhook_core::{Delivery, Event, Id};
use ferryhook_store::Slice;

use crate::story::{Attempt, Heard, Known, Outcome, When};
use crate::world::World;

/// An event that some sender may rely on.
struct Promised {
    letter: usize,
    event: Id<Event>,
    asked: When,
}

pub(crate) async fn check(world: &World) {
    for promised in promised(world) {
        check_promise(world, &promised).await;
    }
    check_events(world).await;
    check_copies(world);
}

fn promised(world: &World) -> Vec<Promised> {
    let told = world.story.told();
    let mut promised = Vec::new();
    for (letter, of) in told.letters.iter().enumerate() {
        for request in &of.requests {
            let event = match request.heard {
                Some((_, Heard::Accepted { id })) => id,
                Some((_, Heard::Duplicate { first: Some(id) })) => id,
                _ => continue,
            };
            // A copy is as good as the first request of its letter.
            let asked = of.requests[0].asked;
            promised.push(Promised { letter, event, asked });
        }
    }
    promised
}

async fn check_promise(world: &World, promised: &Promised) {
    let Promised { letter, event, .. } = promised;
    let Some(stored) = world.operator.events().find(*event).await.unwrap() else {
        return world.story.violate(format_args!("{event} of letter {letter} is gone"));
    };
    let body = world.story.told().letters[*letter].body.clone();
    if stored.body.as_bytes() != &body {
        world.story.violate(format_args!("{event} is not what was sent"));
    }
    let event_type = world.story.told().letters[*letter].event_type;
    let source = world.story.told().letters[*letter].source;
    // Held for its source, or behind one that is parked: found before if it should not be.
    let held = stored.processed_at.is_none();
    for (way, of) in world.cast.ways.iter().enumerate() {
        let known = world.story.told().known[way];
        let wants = of.source == source && world.cast.wants(way, event_type);
        let found = world.operator.deliveries().find(*event, of.connection.id).await.unwrap();
        match found {
            Some(found) if wants => check_delivery(world, way, &found),
            Some(_) => world.story.violate(format_args!("connection {way} does not want {event}")),
            None if wants && !held && is_owed(known, promised) => {
                world.story.violate(format_args!("connection {way} never got {event}"));
            }
            None => {}
        }
    }
}

/// Whether the program knew the connection before the event came in. One that is deleted may be
/// so before anybody planned the event.
fn is_owed(known: Known, promised: &Promised) -> bool {
    known.since.is_some_and(|since| since < promised.asked) && known.deleted.is_none()
}

/// What the store says came of it is what the destination saw.
fn check_delivery(world: &World, way: usize, delivery: &Delivery) {
    let event = delivery.event_id;
    let told = world.story.told();
    let attempts = told.attempts.iter();
    let attempts: Vec<&Attempt> =
        attempts.filter(|one| one.event == event && one.connection == way).collect();
    let answered = |wanted: u16| {
        let is = |one: &&&Attempt| matches!(one.heard, Some((_, Outcome::Answered { status, .. })) if status == wanted);
        attempts.iter().find(is).is_some()
    };
    let all = world.cast.ways[way].schedule.len();
    let is_replayed = told.is_replayed(event);
    let replay = told.replays.iter().rfind(|replay| {
        let begun = replay.begun.as_ref();
        replay.event == event && begun.is_some_and(|begun| begun.contains(&delivery.connection_id))
    });
    // Of a replay the destination must have heard.
    let succeeded = attempts.iter().filter_map(|attempt| attempt.succeeded());
    let succeeded =
        succeeded.filter(|at| replay.is_none_or(|replay| replay.asked < *at)).count() > 0;
    let wrong = match delivery.state {
        State::Delivered { .. } => !succeeded,
        State::Failed { reason: Failure::Exhausted, .. } => {
            // An attempt that came too late to decide counts as well.
            let counted = usize::from(delivery.attempts - delivery.attempts_before);
            if is_replayed { counted > all } else { counted != all }
        }
        State::Failed { reason: Failure::Gone, .. } => !answered(410),
        State::Failed { .. } => true,
        State::Cancelled { .. } => told.known[way].deleted.is_none(),
        // Those that are open without a reason were found before.
        State::Waiting { .. } | State::Sending { .. } | State::Held { .. } => false,
    };
    let uncounted = told.crashes.is_empty() && attempts.len() != usize::from(delivery.attempts);
    // Whether a replay has begun whose answer was lost, the store knows and the story does not.
    let unsure = told.replays.iter().any(|replay| replay.event == event && replay.begun.is_none());
    let forgotten = told.crashes.is_empty()
        && !unsure
        && succeeded != matches!(delivery.state, State::Delivered { .. });
    let made = attempts.len();
    drop(told);
    if wrong || uncounted || forgotten {
        let Delivery { state, attempts, .. } = delivery;
        world.story.violate(format_args!(
            "{event} over connection {way}: {made} attempts were seen, the store has {attempts} and {state:?}"
        ));
    }
}

/// Every event in the store, acknowledged or not: where it stands follows from its deliveries,
/// and every attempt that counts has its row.
async fn check_events(world: &World) {
    for source in &world.cast.sources {
        let slice = Slice::default().limit(1000);
        let events = world.operator.events();
        let window = ferryhook_store::Window::ALWAYS;
        let events = events.list_by_source(source.id, window, slice).await.unwrap().rows;
        for event in events {
            let slice = Slice::default().limit(1000);
            let deliveries = world.operator.deliveries().list_by_event(event.id, slice).await;
            let deliveries = deliveries.unwrap().rows;
            let of = deliveries.iter().map(|row| &row.record);
            if event.processed_at.is_some() && event.status != Event::status_from(of.clone()) {
                let stands = event.status;
                world.story.violate(format_args!("{} is {stands}: {deliveries:?}", event.id));
            }
            let slice = Slice::default().limit(1000);
            let attempts = world.operator.attempts().list_by_event(event.id, slice).await;
            let rows = attempts.unwrap().rows.len();
            let counted = of.map(|delivery| usize::from(delivery.attempts)).sum::<usize>();
            if rows != counted {
                let id = event.id;
                world.story.violate(format_args!("{id} has {rows} attempts, {counted} count"));
            }
        }
    }
}

/// A letter that is recognised is one event, however often it was sent.
fn check_copies(world: &World) {
    let mut broken = Vec::new();
    let told = world.story.told();
    for (letter, of) in told.letters.iter().enumerate() {
        if !world.cast.recognises(of.source) {
            continue;
        }
        let mut events: Vec<_> = told
            .attempts
            .iter()
            .filter(|attempt| attempt.letter == letter)
            .map(|attempt| attempt.event)
            .collect();
        events.sort_unstable();
        events.dedup();
        if events.len() > 1 {
            broken.push((letter, events));
        }
    }
    drop(told);
    for (letter, events) in broken {
        world.story.violate(format_args!("letter {letter} was delivered as {events:?}"));
    }
}
