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
    let terms = Terms { open: true, concurrency: 8, ..Terms::default() };
    let connection = samples::connection();
    let mut lane = Lane::new(connection.account_id, connection.source_id, terms);
    let [first, second] =
        ["evt_-OhqqeV-00000001", "evt_-OhqqeV-00000002"].map(|id| id.parse::<Id<Event>>().unwrap());
    lane.noted(now.wall);
    lane.read();
    lane.loaded(vec![work(first)], None);
    assert!(lane.start(now).is_some_and(|work| work.event == first));

    lane.noted(now.wall);
    lane.read();
    lane.attempted(Felt::Well, now);
    lane.settled(first, None, None);
    lane.loaded(vec![work(first), work(second)], None);
    assert!(lane.start(now).is_some_and(|work| work.event == second));
    assert!(lane.start(now).is_none());

    // Opened again later, by a replay for example, it is new to the next page.
    lane.noted(now.wall);
    lane.read();
    lane.loaded(vec![work(first)], None);
    assert!(lane.start(now).is_some_and(|work| work.event == first));
}
