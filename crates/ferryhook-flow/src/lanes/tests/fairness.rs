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
