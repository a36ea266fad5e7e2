//! Where order counts.

use super::*;

#[test]
fn of_one_key_one_at_a_time_and_in_order() {
    let mut yard = Yard::new();
    let of = yard.ordered(None);
    let events: Vec<_> = (0..3).map(|_| yard.offer(of, Some("a"))).collect();
    let other = yard.offer(of, Some("b"));
    let keyless = yard.offer(of, None);
    let mut begun = yard.next_all();
    let sent: Vec<_> = begun.iter().map(Begun::event).collect();
    assert_eq!(sent, [events[0], other, keyless]);
    yard.end(begun.remove(0), Felt::Well);
    assert_eq!(yard.next().unwrap().event(), events[1]);
}

#[test]
fn those_behind_a_failure_wait_for_it() {
    let mut yard = Yard::new();
    let of = yard.ordered(None);
    let [first, second] = [(); 2].map(|()| yard.offer(of, Some("a")));
    let other = yard.offer(of, Some("b"));
    let mut begun = yard.next_all();
    yard.put_off(begun.remove(0), Duration::from_secs(30));
    assert_eq!(begun.remove(0).event(), other);
    yard.pass(Duration::from_secs(29));
    assert!(yard.next().is_none());
    assert_eq!(yard.lanes.wakes_at(), Some(yard.now.passed + Duration::from_secs(1)));
    yard.pass(Duration::from_secs(1));
    let again = yard.next().unwrap();
    assert_eq!(again.event(), first);
    yard.end(again, Felt::Well);
    assert_eq!(yard.next().unwrap().event(), second);
}

#[test]
fn one_that_failed_often_enough_is_passed_where_that_is_wanted() {
    let mut yard = Yard::new();
    let of = yard.ordered(Some(2));
    let [first, second] = [(); 2].map(|()| yard.offer(of, Some("a")));
    let begun = yard.next().unwrap();
    yard.put_off(begun, Duration::from_secs(10));
    assert!(yard.next().is_none(), "once is not enough");
    yard.pass(Duration::from_secs(10));
    let begun = yard.next().unwrap();
    assert_eq!(begun.event(), first);
    yard.put_off(begun, Duration::from_secs(10));
    assert_eq!(yard.next().unwrap().event(), second);
}

/// Whatever comes out of the store while newer events are in memory goes first.
#[test]
fn nothing_passes_what_is_known_to_be_in_the_queue() {
    let mut yard = Yard::new();
    let of = yard.ordered(None);
    let old = yard.stored(Some("a"));
    let new = yard.fresh(Some("a"));
    yard.lanes.offer(of, new.clone(), yard.now).unwrap();
    yard.lanes.noted(of, yard.now.wall, yard.now);
    let (id, from, _) = yard.read();
    assert_eq!(from, Timestamp::default());
    assert!(yard.next().is_none(), "not while it is being read");
    yard.lanes.loaded(id, vec![old.clone()], None, yard.now);
    let begun = yard.next().unwrap();
    assert_eq!(begun.event(), old.event);
    yard.end(begun, Felt::Well);
    assert_eq!(yard.next().unwrap().event(), new.event);
}

/// Two are turned away, and the second is stored first.
#[test]
fn nothing_passes_what_is_on_its_way_into_the_store() {
    let mut yard = Yard::new();
    let of = yard.ordered(None);
    yard.lanes.noted(of, yard.now.wall, yard.now);
    let (id, ..) = yard.read();
    let [first, second] = [(); 2].map(|()| yard.stored(Some("a")));
    for work in [&first, &second] {
        yard.lanes.offer(of, work.clone(), yard.now).unwrap_err();
    }
    yard.lanes.loaded(id, Vec::new(), None, yard.now);
    yard.lanes.spilled(id, second.event, second.due, second.since, yard.now);
    yard.read();
    yard.lanes.loaded(id, vec![second.clone()], None, yard.now);
    assert!(yard.next().is_none());
    yard.lanes.spilled(id, first.event, first.due, first.since, yard.now);
    let (_, from, _) = yard.read();
    assert_eq!(from, first.since);
    yard.lanes.loaded(id, vec![first.clone(), second], None, yard.now);
    assert_eq!(yard.next().unwrap().event(), first.event);
}

/// Behind one that is not due and has no key, the queue has others that are read all the same.
#[test]
fn an_entry_that_is_due_later_hides_none_that_comes_after() {
    let mut yard = Yard::new();
    let of = yard.ordered(None);
    yard.lanes.noted(of, yard.now.wall, yard.now);
    let (id, ..) = yard.read();
    let later = yard.now.wall + Duration::from_secs(60);
    yard.lanes.loaded(id, Vec::new(), Some((later, later)), yard.now);
    let work = yard.stored(Some("a"));
    yard.lanes.offer(of, work.clone(), yard.now).unwrap_err();
    yard.lanes.spilled(id, work.event, work.due, work.since, yard.now);
    let (_, from, _) = yard.read();
    assert!(from <= work.since);
}

/// What an earlier run has left may be older than anything in sight.
#[test]
fn before_the_start_those_that_keep_an_order_wait() {
    let mut yard = Yard::new();
    yard.lanes = Lanes::new();
    let (of, plain) = (yard.ordered(None), yard.lane());
    let event = yard.offer(of, Some("a"));
    let other = yard.offer(plain, None);
    let begun = yard.next_all();
    assert_eq!(begun.iter().map(Begun::event).collect::<Vec<_>>(), [other]);
    yard.lanes.start(yard.now);
    assert_eq!(yard.next().unwrap().event(), event);
}

impl Yard {
    /// Begins and ends whatever may go; a queue that is read has these, and gives each once.
    fn let_all_go(&mut self, mut queue: Vec<Work>) -> Vec<Id<Event>> {
        let mut sent = Vec::new();
        for _ in 0..1000 {
            match self.lanes.next(self.now) {
                Some(Step::Send(of, work)) => {
                    sent.push(work.event);
                    queue.retain(|other| other.event != work.event);
                    self.end(Begun(of, work), Felt::Well);
                }
                Some(Step::Read(id, from, _)) => {
                    let page = queue.iter().filter(|work| work.since >= from).cloned().collect();
                    self.lanes.loaded(id, page, None, self.now);
                }
                None => return sent,
            }
        }
        panic!("it goes round in circles");
    }
}

#[test]
fn what_waits_in_memory_goes_on_when_an_order_begins_or_ends() {
    let mut yard = Yard::new();
    let (plain, ordered) = (yard.lane(), yard.ordered(None));
    for (before, after) in [(plain.terms, ordered.terms), (ordered.terms, plain.terms)] {
        let of = LaneOf { terms: before, ..yard.lane() };
        yard.fill(of, 20);
        let begun = yard.next_all();
        let of = LaneOf { terms: after, ..of };
        assert!(yard.lanes.changed(of, yard.now).is_empty(), "nothing need be stored for it");
        yard.end_all(begun);
        assert_eq!(yard.let_all_go(Vec::new()).len(), 20 - limits::CONCURRENCY_FIRST);
        assert!(yard.lanes.lanes.is_empty());
    }
}

/// One waits for its next attempt, one is parked, and those behind them need not wait any more.
#[test]
fn when_an_order_ends_nothing_is_sent_before_it_is_due() {
    let mut yard = Yard::new();
    let of = yard.ordered(None);
    let wait = Duration::from_secs(60);
    let retried = Work { due: yard.now.wall + wait, ..yard.stored(Some("a")) };
    let parked = Work { due: Timestamp::from_millis(i64::MAX), ..yard.stored(Some("b")) };
    let behind = [yard.stored(Some("a")), yard.stored(Some("b"))];
    let mut queue = vec![retried.clone(), parked];
    queue.extend(behind.clone());
    yard.lanes.noted(of, yard.now.wall, yard.now);
    assert!(yard.let_all_go(queue.clone()).is_empty());

    let of = LaneOf { terms: Terms { ordering: None, ..of.terms }, ..of };
    yard.lanes.changed(of, yard.now);
    assert_eq!(yard.let_all_go(queue.clone()), behind.map(|work| work.event));
    queue.truncate(2);
    yard.pass(wait - Duration::from_secs(1));
    assert!(yard.let_all_go(queue.clone()).is_empty());
    yard.pass(Duration::from_secs(2));
    assert_eq!(yard.let_all_go(queue.clone()), [retried.event]);
    assert!(yard.let_all_go(queue).is_empty());
}
