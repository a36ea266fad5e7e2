//! Who is served when there is not enough for all.

use super::*;

/// One has a thousand waiting, the other comes later with ten.
#[test]
fn who_has_much_does_not_delay_who_has_little() {
    let mut yard = Yard::new();
    let (large, small) = (yard.lane(), yard.lane());
    yard.fill(large, limits::FRESH_MAX);
    yard.fill(small, 4);
    let begun = yard.next_all();
    let place = |of: LaneOf| begun.iter().rposition(|one| one.0.id == of.id);
    assert!(place(small).unwrap() < 2 * limits::CONCURRENCY_FIRST + 4);
}

/// A destination that hangs holds its own few slots and no other's.
#[test]
fn a_slow_destination_delays_nobody() {
    let mut yard = Yard::new();
    let (slow, fast) = (yard.lane(), yard.lane());
    let fast = LaneOf { account: slow.account, source: slow.source, ..fast };
    yard.fill(slow, 100);
    let hanging = yard.next_all();
    assert_eq!(hanging.len(), limits::CONCURRENCY_FIRST);
    for _ in 0..50 {
        let event = yard.offer(fast, None);
        let begun = yard.next().unwrap();
        assert_eq!(begun.event(), event);
        yard.end(begun, Felt::Well);
    }
}

/// What was read from the queue and what has just come are served in turn.
#[test]
fn neither_what_is_new_nor_what_is_old_starves() {
    let mut yard = Yard::new();
    let of = yard.lane();
    let of = LaneOf { terms: Terms { concurrency: 1, together: 1, ..of.terms }, ..of };
    yard.lanes.noted(of, yard.now.wall, yard.now);
    let (id, ..) = yard.read();
    let old: Vec<_> = (0..6).map(|_| yard.stored(None)).collect();
    let old_ones: Vec<_> = old.iter().map(|work| work.event).collect();
    yard.lanes.loaded(id, old, None, yard.now);
    yard.fill(of, 6);
    let mut turns = Vec::new();
    while let Some(begun) = yard.next() {
        turns.push(old_ones.contains(&begun.event()));
        yard.end(begun, Felt::Well);
    }
    assert_eq!(turns.len(), 12);
    assert!(turns.windows(2).all(|pair| pair[0] != pair[1]), "{turns:?}");
}

/// Lanes of one account that take a thousand at once each, with so much waiting that they will.
fn greedy(yard: &mut Yard, lanes: usize) -> Vec<LaneOf> {
    let account = Id::new(&yard.env);
    let greedy = |yard: &Yard| {
        let of = yard.lane();
        let terms = Terms { concurrency: 1000, together: 1000, ..of.terms };
        LaneOf { account, terms, ..of }
    };
    let lanes: Vec<_> = (0..lanes).map(|_| greedy(yard)).collect();
    for of in &lanes {
        yard.fill(*of, 3500);
    }
    lanes
}

/// All are answered until they have as much at once as they may: each success makes room for two.
fn widen(yard: &mut Yard) {
    for _ in 0..8 {
        let begun = yard.next_all();
        yard.end_all(begun);
    }
}

/// All that may begin has begun and been answered, and its outcome is not stored yet.
fn hold(yard: &mut Yard) -> Vec<Begun> {
    widen(yard);
    let mut held = Vec::new();
    loop {
        let begun = yard.next_all();
        if begun.is_empty() {
            return held;
        }
        for Begun(of, work) in &begun {
            yard.lanes.attempted(of.id, work.event, Felt::Nothing, yard.now);
        }
        held.extend(begun);
    }
}

/// Whatever others hold, with answers that are good and slow.
#[test]
fn who_comes_new_has_a_slot_at_once() {
    for (accounts, lanes) in [(1, 1), (1, 2), (2, 1), (3, 2), (10, 1)] {
        let mut yard = Yard::new();
        let all: Vec<_> = (0..accounts).flat_map(|_| greedy(&mut yard, lanes)).collect();
        let held = hold(&mut yard);
        let newcomer = yard.lane();
        yard.offer(newcomer, None);
        let begun = yard.next().expect("an account that has nothing");
        assert_eq!(begun.0.id, newcomer.id);
        let sibling = LaneOf { account: all[0].account, ..yard.lane() };
        yard.offer(sibling, None);
        let begun = yard.next().expect("a connection that has nothing");
        assert_eq!(begun.0.id, sibling.id, "{accounts} times {lanes} have {}", held.len());
    }
}

/// One account on a machine with nothing else to do.
#[test]
fn who_is_alone_has_what_its_connections_allow() {
    let mut yard = Yard::new();
    greedy(&mut yard, 1);
    widen(&mut yard);
    assert_eq!(yard.next_all().len(), 1000);
}

/// As many connections at their default width as it takes to fill all that one account may have.
#[test]
fn slow_connections_leave_room_for_others_of_their_account() {
    let mut yard = Yard::new();
    let account = Id::new(&yard.env);
    for _ in 0..24 {
        let of = LaneOf { account, ..yard.lane() };
        yard.fill(of, 600);
    }
    let held = hold(&mut yard);
    assert!(held.len() > 1400, "{}", held.len());
    let newcomer = LaneOf { account, ..yard.lane() };
    yard.offer(newcomer, None);
    assert_eq!(yard.next().unwrap().0.id, newcomer.id);
}
