//! Memory and the queue in the store: what is read when, and what is put down.

use super::*;

const SOON: Duration = Duration::from_secs(5);

#[test]
fn a_queue_is_read_when_its_first_entry_is_due() {
    let mut yard = Yard::new();
    let of = yard.lane();
    let due = yard.now.wall + SOON;
    yard.lanes.noted(of, due, yard.now);
    assert!(yard.next().is_none());
    assert_eq!(yard.lanes.wakes_at(), Some(yard.now.passed + SOON));
    yard.pass(SOON);
    let (id, _, limit) = yard.read();
    assert_eq!((id, limit), (of.id, limits::QUEUE_PAGE));
    assert!(yard.next().is_none(), "one page at a time");
    yard.lanes.loaded(id, Vec::new(), None, yard.now);
    assert!(yard.lanes.lanes.is_empty(), "there was nothing");
}

#[test]
fn pages_follow_each_other_as_there_is_room() {
    let mut yard = Yard::new();
    let of = yard.lane();
    yard.lanes.noted(of, yard.now.wall, yard.now);
    let (id, ..) = yard.read();
    let page: Vec<_> = (0..limits::QUEUE_PAGE).map(|_| yard.stored(None)).collect();
    let last = page.last().unwrap().due;
    yard.lanes.loaded(id, page, Some((last, yard.now.wall)), yard.now);
    let mut sent = 0;
    loop {
        match yard.lanes.next(yard.now) {
            Some(Step::Send(of, work)) => {
                sent += 1;
                yard.end(Begun(of, work), Felt::Well);
            }
            Some(Step::Read(_, from, limit)) => {
                assert_eq!(from, last, "from where the last one ended");
                assert!(limit >= limits::QUEUE_PAGE);
                break;
            }
            None => panic!("half of a page is left at most"),
        }
    }
    assert_eq!(sent, limits::QUEUE_PAGE / 2 + 1);
}

#[test]
fn a_page_that_cannot_be_read_is_asked_for_again_later() {
    let mut yard = Yard::new();
    let of = yard.lane();
    yard.lanes.noted(of, yard.now.wall, yard.now);
    let (id, ..) = yard.read();
    yard.lanes.unread(id, yard.now.wall + SOON, yard.now);
    assert!(yard.next().is_none());
    yard.pass(SOON);
    yard.read();
}

#[test]
fn what_comes_into_the_queue_while_it_is_read_is_read_next() {
    let mut yard = Yard::new();
    let of = yard.lane();
    yard.lanes.noted(of, yard.now.wall, yard.now);
    let (id, ..) = yard.read();
    yard.lanes.noted(of, yard.now.wall, yard.now);
    yard.lanes.loaded(id, Vec::new(), None, yard.now);
    yard.read();
}

/// One that failed goes back into the queue, and is read from there when it is due.
#[test]
fn what_has_to_wait_does_not_wait_in_memory() {
    let mut yard = Yard::new();
    let of = yard.lane();
    yard.offer(of, None);
    let begun = yard.next().unwrap();
    yard.put_off(begun, SOON);
    assert_eq!((yard.lanes.waiting().0, yard.lanes.under_way()), (0, 0));
    yard.pass(SOON);
    let (_, from, _) = yard.read();
    assert_eq!(from, yard.now.wall);
}

#[test]
fn beyond_what_memory_holds_things_are_turned_away() {
    let mut yard = Yard::new();
    let of = yard.lane();
    yard.fill(of, limits::FRESH_MAX);
    let one_more = yard.fresh(None);
    let (event, since) = (one_more.event, one_more.since);
    yard.lanes.offer(of, one_more, yard.now).unwrap_err();
    yard.lanes.spilled(of.id, event, since, since, yard.now);
    assert!(matches!(yard.lanes.next(yard.now), Some(Step::Read(_, from, _)) if from == since));

    let large = Work { bytes: limits::FRESH_BYTES_MAX, ..yard.fresh(None) };
    let other = yard.lane();
    yard.lanes.offer(other, large, yard.now).unwrap_err();
}

#[test]
fn a_pause_puts_down_what_is_only_in_memory() {
    let mut yard = Yard::new();
    let of = yard.lane();
    yard.lanes.noted(of, yard.now.wall, yard.now);
    let (id, ..) = yard.read();
    let stored = yard.stored(None);
    yard.lanes.loaded(id, vec![stored], None, yard.now);
    let event = yard.offer(of, None);
    let closed = LaneOf { terms: Terms { open: false, ..of.terms }, ..of };
    let put_down = yard.lanes.changed(closed, yard.now);
    assert_eq!(put_down.iter().map(|work| work.event).collect::<Vec<_>>(), [event]);
    assert_eq!((yard.lanes.waiting().0, yard.lanes.bytes), (0, 0));
    assert!(yard.next().is_none());
    assert!(yard.lanes.is_closed(id));
    let new = yard.fresh(None);
    yard.lanes.offer(of, new, yard.now).unwrap_err();

    // Resumed before it is stored: a page that has it already does not bring it twice.
    yard.lanes.changed(of, yard.now);
    yard.read();
    let work = Work { event, ..yard.stored(None) };
    yard.lanes.loaded(id, vec![work.clone()], None, yard.now);
    assert!(yard.next().is_none());
    yard.lanes.spilled(id, event, work.due, work.since, yard.now);
    yard.read();
    yard.lanes.loaded(id, vec![work], None, yard.now);
    assert_eq!(yard.next().unwrap().event(), event);
}

/// Of a lane that is gone nobody knows anything any more.
#[test]
fn a_lane_that_was_forgotten_hears_nothing() {
    let mut yard = Yard::new();
    let of = yard.lane();
    yard.lanes.loaded(of.id, Vec::new(), None, yard.now);
    yard.lanes.unread(of.id, yard.now.wall, yard.now);
    let event = Id::at(yard.now.wall, &yard.env);
    assert!(!yard.lanes.attempted(of.id, event, Felt::Badly, yard.now));
    assert!(yard.lanes.changed(of, yard.now).is_empty());
    assert!(yard.lanes.account_of(of.id).is_none());
    assert!(yard.lanes.lanes.is_empty());
}
