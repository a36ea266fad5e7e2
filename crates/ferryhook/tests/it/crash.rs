//! The whole server under SIGKILL: what was answered 200 arrives, whole and signed.
//!
//! Senders post numbered parcels, a receiver checks every delivery and refuses some, and the
//! server between them is killed again and again: at the very moment an answer was read, a little
//! later, and while it still recovers from the last time. `FERRYHOOK_TEST_KILLS` says how often,
//! `FERRYHOOK_TEST_SEED` repeats a run's decisions; what the threads make of them is up to the
//! machine.

mod lives;

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::time::Duration;

use ferryhook_core::event::Status;
use ferryhook_core::{Id, Source};
use ferryhook_store::{Slice, Window};

use crate::dice::Dice;
use crate::receiver::{Arrival, Reaction, Receiver};
use crate::sender::{Acknowledged, Senders};
use crate::storage::{DATA, look};
use crate::way::{self, SECRET, Way};
use lives::{Life, Log};

const KILLS: u64 = 30;
const SENDERS: u64 = 8;
/// Answers in one life of the server, at most.
const ANSWERS_MAX: u64 = 250;
/// How long after its start it may be killed while nobody has heard of it yet.
const EARLY_MICROS_MAX: u64 = 150_000;
const LATE_MICROS_MAX: u64 = 30_000;
/// Attempts at once, as the connection allows.
const CONCURRENCY: u16 = 8;
/// Of all that was accepted, the part that may come again: what was under way when a server was
/// killed, or was answered while the disk was busy and not written down yet.
const AGAIN_PERCENT_MAX: usize = 20;
/// What came later may be written down earlier, by this many.
const OVERTAKING_MAX: usize = 64;
/// A little more than the longest wait between two attempts.
const RETRY_WAIT: Duration = Duration::from_millis(1500);
const LOOKS_MAX: usize = 10;

#[test]
fn what_was_answered_200_arrives_whatever_is_killed() {
    let kills = std::env::var("FERRYHOOK_TEST_KILLS").ok().and_then(|text| text.parse().ok());
    let mut dice = Dice::of_this_run();
    let folder = tempfile::tempdir().unwrap();
    let _log = Log::of(folder.path());
    let receiver = Receiver::moody(SECRET, dice.next());
    let way = Way { concurrency: Some(CONCURRENCY), ..Way::to(receiver.address) };
    let source = way::lay(&folder.path().join(DATA), &way);
    let senders = Senders::start(&format!("/in/{source}"), SENDERS);

    let kills = kills.unwrap_or(KILLS);
    for _ in 0..kills {
        kill_once(folder.path(), &receiver, &senders, &mut dice);
    }
    let (acknowledged, complaints) = senders.finish();
    assert_eq!(complaints, [""; 0]);
    let mut last = Life::begin(folder.path()).greeted();
    let numbers: Vec<u64> = acknowledged.iter().map(|one| one.number).collect();
    receiver.wait_for(&numbers);
    let ids: Vec<&str> = acknowledged.iter().map(|one| one.event.as_str()).collect();
    for looks in 1.. {
        last.stop();
        receiver.end_life();
        // What a kill made it forget has to go once more, and may be refused at that.
        let open = undelivered(&folder.path().join(DATA), source, &ids);
        if open.is_empty() {
            break;
        }
        assert!(looks < LOOKS_MAX, "arrived and never settled: {open:?}");
        last = Life::begin(folder.path()).greeted();
        receiver.wait_until_quiet(RETRY_WAIT);
    }

    println!("{} acknowledged", acknowledged.len());
    assert_eq!(receiver.complaints(), [""; 0]);
    let arrivals = receiver.arrivals();
    only_the_last_come_again(&arrivals, kills);
    each_has_one_event(&acknowledged, &arrivals);
}

fn kill_once(folder: &Path, receiver: &Receiver, senders: &Senders, dice: &mut Dice) {
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

/// What was accepted comes again only if a kill caught it before it was written down that it was:
/// never within one life, nothing of a life that was stopped and not killed, and else only what
/// was accepted last.
fn only_the_last_come_again(arrivals: &BTreeMap<u64, Vec<Arrival>>, kills: u64) {
    let mut lives: BTreeMap<u64, Vec<(u64, bool)>> = BTreeMap::new();
    for (number, arrivals) in arrivals {
        for (at, one) in arrivals.iter().enumerate() {
            let again = arrivals.get(at + 1);
            if one.reaction != Reaction::Accept {
                continue;
            }
            let few = &arrivals[..arrivals.len().min(8)];
            let in_one_life = again.is_some_and(|again| again.life == one.life);
            assert!(!in_one_life, "parcel {number} came twice in one life: {few:?}");
            lives.entry(one.life).or_default().push((one.place, again.is_some()));
        }
    }
    let (mut all, mut again) = (0, 0);
    for (life, mut accepted) in lives {
        accepted.sort_unstable();
        let first = accepted.iter().position(|(_, again)| *again).unwrap_or(accepted.len());
        let last = &accepted[first..];
        let repeated = last.iter().filter(|(_, again)| *again).count();
        let kept = last.len() - repeated;
        (all, again) = (all + accepted.len(), again + repeated);
        println!("life {life}: {} accepted, {repeated} of them again", accepted.len());
        assert!(kept <= OVERTAKING_MAX, "life {life} forgot one before {kept} that it knew");
        assert!(life < kills || repeated == 0, "life {life} ended in peace and forgot {repeated}");
    }
    assert!(again * 100 <= all * AGAIN_PERCENT_MAX, "{again} of {all} came again");
}

/// A parcel that was asked for again under its key is still one event.
fn each_has_one_event(acknowledged: &[Acknowledged], arrivals: &BTreeMap<u64, Vec<Arrival>>) {
    for Acknowledged { number, event, stubborn } in acknowledged {
        let arrived = arrivals[number].iter().map(|arrival| &arrival.event);
        let events: BTreeSet<&String> = arrived.chain([event]).collect();
        assert_eq!(events.len(), 1, "parcel {number}, stubborn: {stubborn}");
    }
}

/// Those of the events that the store does not call delivered, with what it calls them instead.
fn undelivered(
    data: &Path,
    source: Id<Source>,
    events: &[&str],
) -> BTreeMap<String, Option<Status>> {
    let mut open: BTreeMap<_, _> = events.iter().map(|id| ((*id).to_owned(), None)).collect();
    look(data, async |store| {
        let mut slice = Slice::oldest_first().limit(500);
        loop {
            let events = store.events();
            let page = events.list_by_source(source, Window::ALWAYS, slice.clone()).await.unwrap();
            for event in page.rows {
                if event.status == Status::Delivered {
                    open.remove(event.id.as_str());
                } else if let Some(status) = open.get_mut(event.id.as_str()) {
                    *status = Some(event.status);
                }
            }
            let Some(next) = page.next else { return };
            slice = slice.after(Some(next));
        }
    });
    open
}
