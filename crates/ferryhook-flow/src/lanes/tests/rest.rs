//! A destination that keeps failing.

use super::*;

/// Fails until the destination rests.
fn open(yard: &mut Yard, of: LaneOf) {
    yard.fill(of, 100);
    let mut failures = 0;
    while let Some(begun) = yard.next() {
        failures += 1;
        if yard.end(begun, Felt::Badly) {
            break;
        }
    }
    assert_eq!(failures, limits::FAILURES_UNTIL_OPEN);
}

#[test]
fn it_rests_and_is_tried_with_one_before_it_gets_more() {
    let mut yard = Yard::new();
    let of = yard.lane();
    open(&mut yard, of);
    assert!(yard.next().is_none());
    assert_eq!(yard.lanes.wakes_at(), Some(yard.now.passed + limits::REST_FIRST));
    yard.pass(limits::REST_FIRST);
    let probe = yard.next().unwrap();
    assert!(yard.next().is_none(), "one is enough to see");
    yard.end(probe, Felt::Well);
    let mut widths = Vec::new();
    for _ in 0..4 {
        let begun = yard.next_all();
        widths.push(begun.len());
        yard.end_all(begun);
    }
    assert_eq!(widths, [1, 2, 4, 8]);
}

#[test]
fn a_probe_that_fails_prolongs_the_rest() {
    let mut yard = Yard::new();
    let of = yard.lane();
    open(&mut yard, of);
    yard.pass(limits::REST_FIRST);
    let probe = yard.next().unwrap();
    assert!(yard.end(probe, Felt::Badly));
    yard.pass(limits::REST_FIRST);
    assert!(yard.next().is_none());
    yard.pass(limits::REST_FIRST);
    assert!(yard.next().is_some());
}

/// Nothing that waits is lost, and what comes meanwhile waits with it.
#[test]
fn what_waits_is_sent_after_the_rest() {
    let mut yard = Yard::new();
    let of = yard.lane();
    open(&mut yard, of);
    let waiting = yard.lanes.waiting().0;
    yard.fill(of, 5);
    yard.pass(limits::REST_FIRST);
    let mut sent = 0;
    loop {
        let begun = yard.next_all();
        if begun.is_empty() {
            break;
        }
        sent += begun.len();
        yard.end_all(begun);
    }
    assert_eq!(sent, waiting + 5);
    assert!(yard.lanes.lanes.is_empty());
}

/// While it rests, one in sight is enough; in order it has to be the first.
#[test]
fn a_rest_does_not_keep_the_first_from_being_read() {
    let mut yard = Yard::new();
    let of = yard.ordered(None);
    let old = yard.stored(Some("a"));
    open(&mut yard, of);
    assert!(yard.lanes.waiting().0 > 0);
    yard.lanes.noted(of, yard.now.wall, yard.now);
    let (id, ..) = yard.read();
    yard.lanes.loaded(id, vec![old.clone()], None, yard.now);
    yard.pass(limits::REST_FIRST);
    assert_eq!(yard.next().unwrap().event(), old.event);
}

/// Nobody says how the probe ended, only that it is over.
#[test]
fn a_probe_that_came_to_nothing_is_followed_by_another() {
    let mut yard = Yard::new();
    let of = yard.lane();
    open(&mut yard, of);
    yard.pass(limits::REST_FIRST);
    let Begun(of, work) = yard.next().unwrap();
    assert!(yard.next().is_none());
    yard.lanes.settled(&of, work.event, None, None, yard.now);
    assert!(yard.next().is_some());
    assert!(yard.next().is_none(), "one at a time");
    assert_eq!(yard.lanes.under_way(), 1);
}
