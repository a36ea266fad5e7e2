//! Where order counts, a key that has to wait keeps no other from going on, however much there is
//! of it.

use std::collections::BTreeMap;

use proptest::prelude::*;

use super::*;

/// A queue in the store as the courier reads it, and how often it was.
struct Shelf {
    of: LaneOf,
    works: BTreeMap<Id<Event>, Work>,
    reads: usize,
}

impl Shelf {
    fn new(yard: &mut Yard) -> Self {
        let of = yard.ordered(None);
        yard.lanes.noted(of, yard.now.wall, yard.now);
        Self { of, works: BTreeMap::new(), reads: 0 }
    }

    fn put(&mut self, yard: &mut Yard, key: &str) -> Id<Event> {
        let work = yard.stored(Some(key));
        let event = work.event;
        self.works.insert(event, work);
        event
    }

    /// Comes now, and is stored first if the lane wants that.
    fn arrives(&mut self, yard: &mut Yard, key: &str) -> Id<Event> {
        let work = yard.fresh(Some(key));
        let (event, due, since) = (work.event, work.due, work.since);
        if let Err(work) = yard.lanes.offer(self.of, work, yard.now) {
            self.works.insert(event, stored(work));
            yard.lanes.spilled(self.of.id, event, due, since, yard.now);
        }
        event
    }

    fn page(
        &self,
        from: Timestamp,
        limit: usize,
        now: Timestamp,
    ) -> (Vec<Work>, Option<(Timestamp, Timestamp)>) {
        let limit = limit.min(1000);
        let mut rows = self.works.values().filter(|work| work.since >= from);
        let page: Vec<_> = rows.by_ref().take(limit).cloned().collect();
        let rest = rows.next().and(page.last()).map(|last| (last.since, now));
        (page, rest)
    }

    /// Begins whatever may begin; each fails and waits, or is done.
    fn go_on(&mut self, yard: &mut Yard, mut fails: impl FnMut(&Work) -> bool) -> Vec<Id<Event>> {
        let mut sent = Vec::new();
        loop {
            match yard.lanes.next(yard.now) {
                None => return sent,
                Some(Step::Read(id, from, limit)) => {
                    self.reads += 1;
                    assert!(self.reads < 10_000, "it goes round in circles");
                    let (page, rest) = self.page(from, limit, yard.now.wall);
                    yard.lanes.loaded(id, page, rest, yard.now);
                }
                Some(Step::Send(of, work)) => {
                    sent.push(work.event);
                    if fails(&work) {
                        let due = yard.now.wall + WAIT;
                        let again =
                            stored(Work { due, failures: work.failures + 1, ..work.clone() });
                        self.works.insert(work.event, again);
                        yard.put_off(Begun(of, work), WAIT);
                    } else {
                        self.works.remove(&work.event);
                        yard.end(Begun(of, work), Felt::Well);
                    }
                }
            }
            let waiting = yard.lanes.waiting().0;
            assert!(waiting <= MEMORY_MAX, "{waiting} are in memory");
        }
    }
}

const WAIT: Duration = Duration::from_secs(3600);
/// Of what was read, and of what has just come.
const MEMORY_MAX: usize = 3 * 1024;

fn stored(work: Work) -> Work {
    let delivery = Delivery { event_id: work.event, ..samples::delivery() };
    let piece = Piece::Stored(Box::new(Stored { record: delivery, revision: 1 }));
    Work { piece, bytes: 0, ..work }
}

#[test]
fn one_key_that_fails_does_not_hide_the_others() {
    let mut yard = Yard::new();
    let mut shelf = Shelf::new(&mut yard);
    let bad: Vec<_> = (0..5000).map(|_| shelf.put(&mut yard, "bad")).collect();
    let good: Vec<_> = (0..50).map(|n| shelf.put(&mut yard, &format!("good{n}"))).collect();
    let mut fails = true;
    let sent = shelf.go_on(&mut yard, |work| work.event == bad[0] && std::mem::take(&mut fails));
    assert_eq!(sent, [&bad[..1], &good[..]].concat());
    assert!(shelf.reads < 60, "{} pages", shelf.reads);
    // What comes later goes on as well, and nothing passes the one that failed.
    let late = shelf.arrives(&mut yard, "late");
    shelf.arrives(&mut yard, "bad");
    assert_eq!(shelf.go_on(&mut yard, |_| false), [late]);

    yard.pass(WAIT);
    let before = shelf.reads;
    let sent = shelf.go_on(&mut yard, |_| false);
    assert_eq!(sent[..bad.len()], bad);
    assert_eq!(sent.len(), bad.len() + 1);
    assert!(shelf.reads - before < 120, "{} pages", shelf.reads - before);
    assert!(shelf.works.is_empty());
    assert!(yard.lanes.lanes.is_empty());
}

/// Far more than memory holds comes for a key that waits.
#[test]
fn what_comes_behind_a_failure_does_not_fill_the_lane() {
    let mut yard = Yard::new();
    let mut shelf = Shelf::new(&mut yard);
    shelf.go_on(&mut yard, |_| false);
    let first = shelf.arrives(&mut yard, "bad");
    assert_eq!(shelf.go_on(&mut yard, |_| true), [first]);
    let mut bad = vec![first];
    for n in 0..2000 {
        bad.push(shelf.arrives(&mut yard, "bad"));
        let good = shelf.arrives(&mut yard, &format!("good{}", n % 7));
        assert_eq!(shelf.go_on(&mut yard, |_| false), [good]);
    }
    assert!(shelf.reads < 2500, "{} pages", shelf.reads);
    yard.pass(WAIT);
    assert_eq!(shelf.go_on(&mut yard, |_| false), bad);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(12))]

    /// Whichever keys fail how often: all of each goes out in order.
    #[test]
    fn each_key_goes_out_in_order(
        keys in 1usize..300,
        picks in prop::collection::vec((any::<u16>(), 0u8..100), 1..3000),
        failing in 0u8..60,
    ) {
        let mut yard = Yard::new();
        let mut shelf = Shelf::new(&mut yard);
        let mut wanted: BTreeMap<String, Vec<Id<Event>>> = BTreeMap::new();
        let mut failures = BTreeMap::new();
        for (pick, luck) in &picks {
            // Some keys have much, most have little.
            let key = format!("{}", usize::from(*pick) % (1 + usize::from(*luck) % keys));
            let event = shelf.put(&mut yard, &key);
            wanted.entry(key).or_default().push(event);
            failures.insert(event, u16::from(*luck < failing) * (u16::from(*luck) % 3));
        }
        let mut went: BTreeMap<String, Vec<Id<Event>>> = BTreeMap::new();
        for _ in 0..3000 {
            let left = &failures;
            shelf.go_on(&mut yard, |work| {
                let fails = work.failures < left[&work.event];
                if !fails {
                    let key = work.order_key.as_deref().unwrap();
                    went.entry(key.to_owned()).or_default().push(work.event);
                }
                fails
            });
            if shelf.works.is_empty() {
                break;
            }
            yard.pass(WAIT);
        }
        prop_assert_eq!(went, wanted);
        prop_assert!(yard.lanes.lanes.is_empty());
    }
}
