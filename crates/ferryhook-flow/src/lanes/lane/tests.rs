use ferryhook_core::{Delivery, samples};
use ferryhook_store::Stored;

use super::super::Piece;
use super::*;

fn work(event: Id<Event>) -> Work {
    let delivery = Delivery { event_id: event, ..samples::delivery() };
    Work {
        piece: Piece::Stored(Box::new(Stored { record: delivery, revision: 1 })),
        event,
        order_key: None,
        due: Timestamp::default(),
        since: Timestamp::default(),
        bytes: 0,
        failures: 0,
    }
}

/// A page shows what was open when it was read. By the time it comes, some of it is settled.
#[test]
fn what_is_settled_while_a_page_is_read_is_not_sent_again() {
    let now = Moment { wall: Timestamp::from_seconds(60), passed: Duration::ZERO };
    let terms = Terms { open: true, concurrency: 8, together: 8, ..Terms::default() };
    let connection = samples::connection();
    let mut lane = Lane::new(connection.account_id, connection.source_id, terms);
    let [first, second] =
        ["evt_-OhqqeV-00000001", "evt_-OhqqeV-00000002"].map(|id| id.parse::<Id<Event>>().unwrap());
    lane.noted(now.wall, Timestamp::default());
    lane.read(now);
    lane.loaded(vec![work(first)], None, now.wall);
    assert!(lane.start(now).is_some_and(|work| work.event == first));

    lane.noted(now.wall, Timestamp::default());
    lane.read(now);
    lane.attempted(first, Felt::Well, now);
    lane.settled(first, None, None, now.wall);
    lane.loaded(vec![work(first), work(second)], None, now.wall);
    assert!(lane.start(now).is_some_and(|work| work.event == second));
    assert!(lane.start(now).is_none());

    // Opened again later, by a replay for example, it is new to the next page.
    lane.noted(now.wall, Timestamp::default());
    lane.read(now);
    lane.loaded(vec![work(first)], None, now.wall);
    assert!(lane.start(now).is_some_and(|work| work.event == first));
}

/// It was given up and keeps those behind it waiting; then somebody replays it.
#[test]
fn what_begins_again_keeps_its_place_until_it_is_read() {
    let now = Moment { wall: Timestamp::from_seconds(60), passed: Duration::ZERO };
    let ordering = Some(super::super::Ordering { skip_after: None });
    let terms = Terms { open: true, concurrency: 8, together: 8, ordering, ..Terms::default() };
    let connection = samples::connection();
    let mut lane = Lane::new(connection.account_id, connection.source_id, terms);
    let [first, second] =
        ["evt_-OhqqeV-00000001", "evt_-OhqqeV-00000002"].map(|id| id.parse::<Id<Event>>().unwrap());
    let of_key = |event, due, revision| {
        let delivery = Delivery { event_id: event, ..samples::delivery() };
        let piece = Piece::Stored(Box::new(Stored { record: delivery, revision }));
        Work { piece, order_key: Some("k".into()), due, ..work(event) }
    };
    let never = Timestamp::from_millis(i64::MAX);
    lane.noted(now.wall, Timestamp::default());
    lane.read(now);
    lane.loaded(vec![of_key(first, never, 3), of_key(second, now.wall, 1)], None, now.wall);
    assert!(lane.start(now).is_none());

    lane.renewed(first);
    lane.noted(now.wall, Timestamp::default());
    assert!(lane.start(now).is_none(), "nothing passes it");
    // A page that was read before it began again changes nothing.
    lane.read(now);
    lane.loaded(vec![of_key(first, never, 3), of_key(second, now.wall, 1)], None, now.wall);
    assert!(lane.start(now).is_none());
    lane.read(now);
    lane.loaded(vec![of_key(first, now.wall, 4), of_key(second, now.wall, 1)], None, now.wall);
    assert!(lane.start(now).is_some_and(|work| work.event == first));
    assert!(lane.start(now).is_none(), "and the other waits for what comes of it");
    lane.attempted(first, Felt::Well, now);
    lane.settled(first, Some("k"), None, now.wall);
    assert!(lane.start(now).is_some_and(|work| work.event == second));
}

/// Its outcome is stored, somebody replays it, and only then does the lane hear of the outcome.
#[test]
fn what_begins_again_while_it_is_settled_is_read_once_more() {
    let now = Moment { wall: Timestamp::from_seconds(60), passed: Duration::ZERO };
    let terms = Terms { open: true, concurrency: 8, together: 8, ..Terms::default() };
    let connection = samples::connection();
    let mut lane = Lane::new(connection.account_id, connection.source_id, terms);
    let event = "evt_-OhqqeV-00000001".parse().unwrap();
    lane.noted(now.wall, Timestamp::default());
    lane.read(now);
    lane.loaded(vec![work(event)], None, now.wall);
    assert!(lane.start(now).is_some());
    lane.attempted(event, Felt::Well, now);

    lane.renewed(event);
    lane.noted(now.wall, Timestamp::default());
    lane.read(now);
    lane.loaded(vec![work(event)], None, now.wall);
    assert_eq!(lane.ready(now, true), Ready::Idle, "it is still in hand");
    lane.settled(event, None, None, now.wall);
    assert_eq!(lane.ready(now, true), Ready::Read);
    lane.read(now);
    lane.loaded(vec![work(event)], None, now.wall);
    assert!(lane.start(now).is_some());
}
