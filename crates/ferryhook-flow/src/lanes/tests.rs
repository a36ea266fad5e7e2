//! Lanes from the outside: what is offered, what is asked for next, what came of it.

mod fairness;
mod keys;
mod order;
mod queue;
mod random;
mod rest;

use ferryhook_core::{Env, samples};

use super::*;

/// The lanes with a clock, ids and the hands of a courier.
pub(crate) struct Yard {
    env: Env,
    pub(crate) lanes: Lanes,
    now: Moment,
}

/// What was begun and has to be ended.
#[derive(Debug)]
pub(crate) struct Begun(LaneOf, Work);

impl Yard {
    pub(crate) fn new() -> Self {
        let env = Env::fixed("2026-01-01T00:00:00Z");
        let now = Moment { wall: env.now(), passed: Duration::from_secs(1000) };
        let mut lanes = Lanes::new();
        lanes.start(now);
        Self { env, lanes, now }
    }

    fn pass(&mut self, time: Duration) {
        self.now.passed += time;
        self.now.wall = self.now.wall + time;
    }

    fn lane(&self) -> LaneOf {
        LaneOf {
            id: LaneId { connection: Id::new(&self.env), lane: delivery::Lane::Live },
            account: Id::new(&self.env),
            source: Id::new(&self.env),
            terms: Terms { open: true, concurrency: 64, together: 64, ..Terms::default() },
        }
    }

    fn ordered(&self, skip_after: Option<u16>) -> LaneOf {
        let ordering = Some(Ordering { skip_after });
        let lane = self.lane();
        LaneOf { terms: Terms { ordering, ..lane.terms }, ..lane }
    }

    /// An event that comes now; each a millisecond after the last.
    fn fresh(&mut self, key: Option<&str>) -> Work {
        self.pass(Duration::from_millis(1));
        let event = Event { id: Id::at(self.now.wall, &self.env), ..samples::event() };
        let id = event.id;
        let parcel = Parcel::new(Stored { record: event, revision: 1 }, Vec::new());
        Work {
            piece: Piece::Fresh(Arc::new(parcel), 0),
            event: id,
            order_key: key.map(Arc::from),
            due: self.now.wall,
            since: self.now.wall,
            bytes: 1,
            failures: 0,
        }
    }

    /// The same as a page of the queue has it.
    fn stored(&mut self, key: Option<&str>) -> Work {
        let work = self.fresh(key);
        let delivery = Delivery { event_id: work.event, ..samples::delivery() };
        let piece = Piece::Stored(Box::new(Stored { record: delivery, revision: 1 }));
        Work { piece, bytes: 0, ..work }
    }

    fn offer(&mut self, of: LaneOf, key: Option<&str>) -> Id<Event> {
        let work = self.fresh(key);
        let id = work.event;
        self.lanes.offer(of, work, self.now).unwrap();
        id
    }

    /// Offers so many and forgets their names.
    fn fill(&mut self, of: LaneOf, count: usize) {
        for _ in 0..count {
            self.offer(of, None);
        }
    }

    fn next(&mut self) -> Option<Begun> {
        match self.lanes.next(self.now) {
            Some(Step::Send(of, work)) => Some(Begun(of, work)),
            Some(Step::Read(..)) => panic!("nothing should be read"),
            None => None,
        }
    }

    fn next_all(&mut self) -> Vec<Begun> {
        std::iter::from_fn(|| self.next()).collect()
    }

    fn read(&mut self) -> (LaneId, Timestamp, usize) {
        match self.lanes.next(self.now) {
            Some(Step::Read(id, from, limit)) => (id, from, limit),
            other => panic!("{other:?}"),
        }
    }

    fn end(&mut self, begun: Begun, felt: Felt) -> bool {
        let Begun(of, work) = begun;
        let rests = self.lanes.attempted(of.id, work.event, felt, self.now);
        self.lanes.settled(&of, work.event, work.order_key.as_deref(), None, self.now);
        rests
    }

    fn end_all(&mut self, begun: Vec<Begun>) {
        for one in begun {
            self.end(one, Felt::Well);
        }
    }

    /// It failed and is to be tried again after this time.
    fn put_off(&mut self, begun: Begun, wait: Duration) {
        let Begun(of, work) = begun;
        self.lanes.attempted(of.id, work.event, Felt::Nothing, self.now);
        let delivery = Delivery { event_id: work.event, ..samples::delivery() };
        let again = Work {
            piece: Piece::Stored(Box::new(Stored { record: delivery, revision: 2 })),
            due: self.now.wall + wait,
            failures: work.failures + 1,
            bytes: 0,
            ..work.clone()
        };
        let key = work.order_key.as_deref();
        self.lanes.settled(&of, work.event, key, Some(again), self.now);
    }
}

impl Begun {
    fn event(&self) -> Id<Event> {
        self.1.event
    }
}

#[test]
fn what_is_offered_is_sent_once_and_leaves_nothing_behind() {
    let mut yard = Yard::new();
    let of = yard.lane();
    let event = yard.offer(of, None);
    let begun = yard.next().unwrap();
    assert_eq!((begun.event(), yard.lanes.under_way()), (event, 1));
    assert!(yard.next().is_none());
    yard.end(begun, Felt::Well);
    assert_eq!(yard.lanes.under_way(), 0);
    assert_eq!(yard.lanes.bytes, 0);
    assert!(yard.lanes.lanes.is_empty() && yard.lanes.destinations.is_empty());
    assert!(yard.lanes.timers.is_empty() && yard.lanes.running.is_empty());
}

#[test]
fn at_first_a_destination_gets_a_few_at_once_and_more_with_every_success() {
    let mut yard = Yard::new();
    let of = yard.lane();
    yard.fill(of, 200);
    let mut widths = Vec::new();
    for _ in 0..5 {
        let begun = yard.next_all();
        widths.push(begun.len());
        yard.end_all(begun);
    }
    assert_eq!(widths, [8, 16, 32, 64, 64], "and never more than the connection allows");
}

#[test]
fn its_two_lanes_together_have_what_the_connection_allows() {
    let mut yard = Yard::new();
    let live = yard.lane();
    let live = LaneOf { terms: Terms { concurrency: 3, together: 3, ..live.terms }, ..live };
    let replay = LaneOf { id: live.id.other(), ..live };
    yard.fill(live, 5);
    yard.fill(replay, 5);
    let begun = yard.next_all();
    assert_eq!(begun.len(), 3);
    let mut lanes: Vec<_> = begun.iter().map(|Begun(of, _)| of.id.lane).collect();
    lanes.dedup();
    assert!(lanes.len() > 1, "they take turns");
    yard.end_all(begun);
    assert_eq!(yard.next_all().len(), 3);
}

#[test]
fn a_rate_counts_for_both_lanes_and_for_what_is_sent() {
    let mut yard = Yard::new();
    let live = yard.lane();
    let live = LaneOf { terms: Terms { per_second: Some(10), ..live.terms }, ..live };
    let replay = LaneOf { id: live.id.other(), ..live };
    yard.fill(live, 20);
    yard.fill(replay, 20);
    let start = yard.now;
    let mut begun = 0;
    while yard.now.passed < start.passed + Duration::from_secs(1) {
        for one in yard.next_all() {
            begun += 1;
            yard.end(one, Felt::Well);
        }
        yard.pass(Duration::from_millis(1));
    }
    assert!((9..=12).contains(&begun), "{begun} in a second");
    // However it came about that several are ready at once.
    let at: Vec<_> = (0..3).map(|_| yard.lanes.reserve(live.id, yard.now)).collect();
    assert_eq!(at[1] - at[0], Duration::from_millis(100));
    assert_eq!(yard.lanes.reserve(replay.id, yard.now) - at[2], Duration::from_millis(100));
}

#[test]
fn slots_are_finite_and_one_account_cannot_have_them_all() {
    let mut yard = Yard::new();
    let greedy = yard.lane();
    for _ in 0..40 {
        let of = yard.lane();
        let terms = Terms { concurrency: 512, together: 512, ..of.terms };
        let of = LaneOf { account: greedy.account, terms, ..of };
        yard.fill(of, 300);
    }
    let mut begun = Vec::new();
    loop {
        let more = yard.next_all();
        if more.is_empty() {
            break;
        }
        // A destination that answers is given more, though what came of it is not stored yet.
        for one in &more {
            yard.lanes.attempted(one.0.id, one.1.event, Felt::Well, yard.now);
        }
        begun.extend(more);
    }
    let share = limits::SLOTS_MAX * 3 / 4;
    assert!((share - 100..=share).contains(&begun.len()), "{}", begun.len());
    let other = yard.lane();
    yard.fill(other, 3);
    assert_eq!(yard.next_all().len(), 3);
    for Begun(of, work) in begun {
        yard.lanes.settled(&of, work.event, None, None, yard.now);
    }
    assert!(yard.next().is_some());
}

#[test]
fn nothing_begins_once_it_is_stopped() {
    let mut yard = Yard::new();
    let of = yard.lane();
    yard.fill(of, 2);
    yard.lanes.stop();
    assert!(yard.next().is_none());
}

/// Lets everything in a lane go to a destination that takes this long, and tells how many were
/// waiting whenever there was room again.
fn rooms(took: Duration) -> (bool, Vec<usize>) {
    let mut yard = Yard::new();
    let lane = yard.lane();
    yard.fill(lane, 200);
    let mut rooms = Vec::new();
    let mut was_crowded = false;
    loop {
        let mut begun = Vec::new();
        while let Some(one) = yard.next() {
            begun.push(one);
            if yard.lanes.has_just_room(lane.id) {
                rooms.push(yard.lanes.waiting().0);
            }
        }
        if begun.is_empty() {
            return (was_crowded, rooms);
        }
        was_crowded |= yard.lanes.is_crowded(lane.id, yard.now);
        yard.pass(took);
        for one in begun {
            yard.lanes.took(lane.id, took, yard.now);
            yard.end(one, Felt::Well);
            was_crowded |= yard.lanes.is_crowded(lane.id, yard.now);
        }
    }
}

#[test]
fn a_quick_destination_is_crowded_until_half_have_gone_and_a_slow_one_never_is() {
    let half = limits::CROWDED / 2;
    assert_eq!(rooms(Duration::from_millis(2)), (true, vec![half]));
    assert_eq!(rooms(Duration::from_millis(500)), (false, vec![half]));
}
