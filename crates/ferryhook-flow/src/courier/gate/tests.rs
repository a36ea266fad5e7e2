use ferryhook_core::samples;

use super::*;

fn event(source: usize, number: usize) -> Stored<Event> {
    let event = Event {
        id: format!("evt_-OhqqeV-0000000{number}").parse().unwrap(),
        source_id: source_id(source),
        ..samples::event()
    };
    Stored { record: event, revision: 1 }
}

fn source_id(source: usize) -> Id<Source> {
    format!("src_000000000000000{source}").parse().unwrap()
}

/// Takes all that may go in, and tells which.
fn let_in(gate: &mut Gate, behind: Behind) -> Vec<usize> {
    let mut entered = Vec::new();
    while let Some(event) = gate.next(behind) {
        entered.push(usize::from(event.id.as_str().as_bytes()[19] - b'0'));
    }
    entered
}

#[test]
fn at_the_start_it_is_closed_for_everyone() {
    let mut gate = Gate::default();
    assert!(!gate.is_open(source_id(1)));
    gate.waiting.extend([event(1, 1), event(2, 2), event(1, 3)]);
    assert_eq!(let_in(&mut gate, Behind::TheStart), [1, 2, 3]);
    assert!(gate.is_open(source_id(1)) && gate.is_open(source_id(2)));
}

#[test]
fn a_release_closes_it_for_its_source_alone() {
    let mut gate = Gate { has_started: true, ..Gate::default() };
    gate.releasing.insert(source_id(1), 1);
    assert!(!gate.is_open(source_id(1)) && gate.is_open(source_id(2)));
    gate.waiting.extend([event(1, 3), event(1, 5)]);
    // An older one that was held goes first, a younger one behind those that wait.
    assert_eq!(let_in(&mut gate, Behind::Earlier(source_id(1), event(1, 2).id)), [0; 0]);
    assert_eq!(let_in(&mut gate, Behind::Earlier(source_id(1), event(1, 4).id)), [3]);
    assert!(!gate.is_open(source_id(1)));
    assert_eq!(let_in(&mut gate, Behind::Release(source_id(1))), [5]);
    assert!(gate.is_open(source_id(1)));
}

#[test]
fn it_opens_with_the_last_of_several_releases() {
    let mut gate = Gate { has_started: true, ..Gate::default() };
    gate.releasing.insert(source_id(1), 2);
    gate.waiting.push_back(event(1, 1));
    assert_eq!(let_in(&mut gate, Behind::Release(source_id(1))), [1]);
    assert!(!gate.is_open(source_id(1)));
    assert_eq!(let_in(&mut gate, Behind::Release(source_id(1))), [0; 0]);
    assert!(gate.is_open(source_id(1)));
}

#[test]
fn the_start_leaves_those_who_wait_for_a_release() {
    let mut gate = Gate::default();
    gate.releasing.insert(source_id(1), 1);
    gate.waiting.extend([event(1, 1), event(2, 2)]);
    assert_eq!(let_in(&mut gate, Behind::TheStart), [2]);
    assert!(!gate.is_open(source_id(1)));
    assert_eq!(let_in(&mut gate, Behind::Release(source_id(1))), [1]);
}
