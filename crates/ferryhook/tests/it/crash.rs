//! The whole server under SIGKILL: what was answered 200 arrives, whole and signed.
//!
//! Senders post numbered parcels, a receiver checks every delivery and refuses some, and the
//! server between them is killed again and again: at the very moment an answer was read, a little
//! later, and while it still recovers from the last time. `FERRYHOOK_TEST_KILLS` says how often,
//! `FERRYHOOK_TEST_SEED` repeats a run's decisions; what the threads make of them is up to the
//! machine.

mod lives;

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use ferryhook_core::event::Status;
use ferryhook_store::Slice;
use ferryhook_store::repositories::Window;

use crate::dice::Dice;
use crate::receiver::{Arrival, Reaction, Receiver};
use crate::sender::{Acknowledged, Senders};
use crate::storage::{DATA, look};
use crate::way::{self, SECRET, Way};
use lives::{Life, Log};

const KILLS: u64 = 30;
const SENDERS: u64 = 8;
/// Answers in one life of the server, at most.
const ANSWERS_MAX: u64 = 400;
/// How long after its start it may be killed while nobody has heard of it yet.
const EARLY_MICROS_MAX: u64 = 150_000;
const LATE_MICROS_MAX: u64 = 30_000;
/// Attempts at once, as the connection allows.
const CONCURRENCY: u16 = 8;
/// A kill may also catch attempts that are over and whose outcome is on its way to the disk.
const SETTLING_MAX: usize = 64;

#[test]
fn what_was_answered_200_arrives_whatever_is_killed() {
    let kills = std::env::var("FERRYHOOK_TEST_KILLS").ok().and_then(|text| text.parse().ok());
    let mut dice = Dice::of_this_run();
    let folder = tempfile::tempdir().unwrap();
    let _log = Log::of(folder.path());
    let receiver = Receiver::moody(SECRET, dice.next());
    let way = Way { concurrency: Some(CONCURRENCY), ..Way::to(receiver.address) };
    let source = way::lay(&folder.path().join(DATA), way);
    let senders = Senders::start(&format!("/in/{source}"), SENDERS);

    for _ in 0..kills.unwrap_or(KILLS) {
        kill_once(folder.path(), &receiver, &senders, &mut dice);
    }
    let last = Life::begin(folder.path()).greeted();
    let (acknowledged, complaints) = senders.finish();
    assert_eq!(complaints, [""; 0]);
    let numbers: Vec<u64> = acknowledged.iter().map(|one| one.number).collect();
    receiver.wait_for(&numbers);
    last.stop();

    assert_eq!(receiver.complaints(), [""; 0]);
    let arrivals = receiver.arrivals();
    let repeats = repeats_by_life(&arrivals);
    println!("{} acknowledged; repeated by life: {repeats:?}", acknowledged.len());
    for (life, repeats) in repeats {
        let most = usize::from(CONCURRENCY) + SETTLING_MAX;
        assert!(repeats <= most, "{repeats} deliveries of life {life} were repeated");
    }
    each_has_one_event(&acknowledged, &arrivals);
    let ids: BTreeSet<String> = acknowledged.into_iter().map(|one| one.event).collect();
    each_is_stored_as_delivered(&folder.path().join(DATA), source, ids);
}

fn kill_once(folder: &std::path::Path, receiver: &Receiver, senders: &Senders, dice: &mut Dice) {
    let life = Life::begin(folder);
    if dice.roll(5) == 0 {
        // While it reads its log again, or does whatever it does before it greets.
        std::thread::sleep(Duration::from_micros(dice.roll(EARLY_MICROS_MAX)));
        life.kill();
    } else {
        let mut life = life.greeted();
        let kill = life.killer();
        let late = Duration::from_micros(match dice.roll(3) {
            0 => dice.roll(LATE_MICROS_MAX),
            _ => 0,
        });
        senders.open(life.address(), 1 + dice.roll(ANSWERS_MAX), move || {
            std::thread::sleep(late);
            kill();
        });
        life.wait_for_death();
        senders.close();
    }
    receiver.end_life();
}

/// How often something came again that was accepted before, by the life it was accepted in.
///
/// Within one life that never happens.
fn repeats_by_life(arrivals: &BTreeMap<u64, Vec<Arrival>>) -> BTreeMap<u64, usize> {
    let mut repeats = BTreeMap::new();
    for (number, arrivals) in arrivals {
        for (place, first) in arrivals.iter().enumerate() {
            let Some(again) = arrivals.get(place + 1) else { break };
            if first.reaction == Reaction::Accept {
                let few = &arrivals[..arrivals.len().min(8)];
                assert!(again.life > first.life, "parcel {number} came twice: {few:?}");
                *repeats.entry(first.life).or_default() += 1;
            }
        }
    }
    repeats
}

/// A parcel that was asked for again under its key is still one event.
fn each_has_one_event(acknowledged: &[Acknowledged], arrivals: &BTreeMap<u64, Vec<Arrival>>) {
    for Acknowledged { number, event, stubborn } in acknowledged {
        let arrived = arrivals[number].iter().map(|arrival| &arrival.event);
        let events: BTreeSet<&String> = arrived.chain([event]).collect();
        assert_eq!(events.len(), 1, "parcel {number}, stubborn: {stubborn}");
    }
}

/// What the receiver accepted, the server knows to be delivered.
fn each_is_stored_as_delivered(
    data: &std::path::Path,
    source: ferryhook_core::Id<ferryhook_core::Source>,
    mut ids: BTreeSet<String>,
) {
    look(data, async |store| {
        let mut after = None;
        loop {
            let slice = Slice::oldest_first().limit(500).after(after);
            let page = store.events().list_by_source(source, Window::ALWAYS, slice).await.unwrap();
            for event in page.rows {
                if ids.remove(event.id.as_str()) {
                    assert_eq!(event.status, Status::Delivered, "{}", event.id);
                }
            }
            after = page.next;
            if after.is_none() {
                break;
            }
        }
    });
    assert!(ids.is_empty(), "acknowledged and not in the store: {ids:?}");
}
