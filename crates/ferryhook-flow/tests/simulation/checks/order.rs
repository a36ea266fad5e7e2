//! Order: of two events with one key, the one that was acknowledged before the other was sent goes
//! first, and the other waits until it has arrived or was given up.

use std::collections::BTreeMap;

use ferryhook_core::connection::OrderingPolicy;
use ferryhook_core::{Event, Id};

use crate::story::{Attempt, Heard, Letter, When};
use crate::world::World;

/// An event that was acknowledged.
struct Accepted {
    event: Id<Event>,
    asked: When,
    heard: When,
}

/// Which connection got what in which line before which event.
type Broken = (usize, usize, Id<Event>);

pub(crate) fn check(world: &World) {
    let mut broken = Vec::new();
    for (way, of) in world.cast.ways.iter().enumerate() {
        if of.connection.ordering_policy != Some(OrderingPolicy::Block) {
            continue;
        }
        let told = world.story.told();
        // Of a life before, others may still have what is pending: it is left to them for a while.
        if told.known[way].reordered || world.temper.shared && told.lives.len() > 1 {
            continue;
        }
        let mut keys: BTreeMap<&str, Vec<Accepted>> = BTreeMap::new();
        for letter in told.letters.iter().filter(|letter| letter.source == of.source) {
            if let Some(key) = &letter.key {
                keys.entry(key).or_default().extend(accepted(letter));
            }
        }
        // What came before the connection is planned for it only where a crash has it planned anew.
        let Some(since) = told.known[way].since else { continue };
        let counts = |one: &Accepted| since < one.asked && !told.is_replayed(one.event);
        keys.values_mut().for_each(|events| events.retain(counts));
        let attempts: Vec<_> = told.attempts.iter().filter(|one| one.connection == way).collect();
        for events in keys.values() {
            for one in events {
                for other in events.iter().filter(|other| one.heard < other.asked) {
                    broken.extend(compare(&attempts, of.schedule.len(), one, other));
                }
            }
        }
    }
    for (way, line, before) in broken {
        world.story.violate(format_args!("line {line}: connection {way} gets it before {before}"));
    }
}

/// The other is not sent before the one has arrived or was given up. After a crash that took the
/// latter back it may arrive all the same.
fn compare(
    attempts: &[&Attempt],
    tries: usize,
    one: &Accepted,
    other: &Accepted,
) -> Option<Broken> {
    let of = |event: Id<Event>| attempts.iter().filter(move |attempt| attempt.event == event);
    let arrived = of(one.event).find_map(|attempt| attempt.succeeded())?;
    let sent = of(other.event).find(|attempt| attempt.sent < arrived)?;
    let given_up = |attempt: &&Attempt| {
        let last = usize::from(attempt.number) == tries;
        attempt.heard.is_some_and(|(heard, _)| last && heard < sent.sent)
    };
    let given_up = of(one.event).any(given_up);
    (!given_up).then_some((sent.connection, sent.sent.line, one.event))
}

fn accepted(letter: &Letter) -> impl Iterator<Item = Accepted> {
    letter.requests.iter().filter_map(|request| match request.heard {
        Some((heard, Heard::Accepted { id })) => {
            Some(Accepted { event: id, asked: request.asked, heard })
        }
        _ => None,
    })
}
