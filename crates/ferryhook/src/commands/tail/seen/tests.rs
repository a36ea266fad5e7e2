use ferryhook_core::Env;

use super::*;

/// One that came so many seconds after the start of time.
fn event(id: &Id<Event>, seconds: i64, status: Status) -> EventLine {
    EventLine {
        event_id: *id,
        source_id: "src_0000000000000000".parse().unwrap(),
        source: None,
        status,
        event_type: None,
        received_at: Timestamp::from_seconds(seconds),
        body_bytes: 0,
        retry_count: 0,
        duplicate_count: 0,
        processing_error: None,
    }
}

fn ids(count: usize) -> Vec<Id<Event>> {
    let env = Env::fixed("2026-01-01T00:00:00Z");
    (0..count).map(|_| Id::new(&env)).collect()
}

fn shown(seen: &mut Seen, events: Vec<EventLine>) -> Vec<Id<Event>> {
    seen.fresh(Page::whole(events)).into_iter().map(|event| event.event_id).collect()
}

#[test]
fn an_event_that_turns_up_late_is_shown_and_none_twice() {
    let ids = ids(3);
    let mut seen = Seen::from(Timestamp::from_seconds(100), None);
    let one = |id: &Id<Event>, at| event(id, at, Status::Delivered);
    assert_eq!(shown(&mut seen, vec![one(&ids[0], 101), one(&ids[2], 103)]), [ids[0], ids[2]]);
    assert!(seen.begins_at() <= Some(Timestamp::from_seconds(102)), "it looks back");
    let again = vec![one(&ids[0], 101), one(&ids[1], 102), one(&ids[2], 103)];
    assert_eq!(shown(&mut seen, again), [ids[1]]);
}

#[test]
fn one_that_is_under_way_is_waited_for_but_not_for_ever() {
    let ids = ids(2);
    let mut seen = Seen::everything(None);
    let both = |first| vec![event(&ids[0], 1, first), event(&ids[1], 2, Status::Delivered)];
    assert_eq!(shown(&mut seen, both(Status::Processing)), []);
    assert_eq!(shown(&mut seen, both(Status::Delivered)), ids);

    let mut seen = Seen::everything(None);
    for _ in 0..HELD_BACK {
        assert_eq!(shown(&mut seen, both(Status::Received)), []);
    }
    assert_eq!(shown(&mut seen, both(Status::Received)), ids);
}

#[test]
fn what_fails_long_after_it_came_is_still_looked_for() {
    let ids = ids(2);
    let start = Timestamp::from_seconds(100);
    let mut seen = Seen::from(start, Some(Status::Failed));
    assert_eq!(shown(&mut seen, vec![event(&ids[1], 90_000, Status::Failed)]), [ids[1]]);
    assert_eq!(seen.begins_at(), Some(start));
    let late = vec![event(&ids[0], 101, Status::Failed), event(&ids[1], 90_000, Status::Failed)];
    assert_eq!(shown(&mut seen, late), [ids[0]]);
}

/// More than one look takes in, all within the time that is looked back.
#[test]
fn a_crowd_does_not_hold_it_up() {
    let ids = ids(3);
    let mut seen = Seen::everything(None);
    let one = |at: usize| event(&ids[at], 10, Status::Delivered);
    let full = Page { data: vec![one(0), one(1)], has_more: true, cursor: None };
    assert_eq!(seen.fresh(full).len(), 2);
    assert_eq!(seen.begins_at(), Some(Timestamp::from_seconds(10)), "from where it ended");
    assert_eq!(shown(&mut seen, vec![one(0), one(1), one(2)]), [ids[2]]);
    assert_eq!(seen.begins_at(), Some(Timestamp::from_seconds(5)), "and back again");
    assert_eq!(shown(&mut seen, vec![one(0), one(1), one(2)]), []);
}
