//! Whatever happens in whatever order: nothing is lost, nothing is begun twice, no limit is
//! exceeded and every slot is given back.

use std::collections::BTreeMap;

use proptest::prelude::*;

use super::*;

#[derive(Debug, Clone, Copy)]
enum Act {
    Offer {
        lane: usize,
        key: Option<u8>,
    },
    Begin,
    End {
        which: usize,
        felt: u8,
        again: bool,
    },
    Pass {
        ms: u64,
    },
    Pause {
        lane: usize,
    },
    Resume {
        lane: usize,
    },
    /// An order begins or ends.
    Turn {
        lane: usize,
    },
    Answer {
        which: usize,
        fails: bool,
    },
}

fn act() -> impl Strategy<Value = Act> {
    prop_oneof![
        4 => (0usize..4, prop::option::weighted(0.8, 0u8..3)).prop_map(|(lane, key)| Act::Offer { lane, key }),
        5 => Just(Act::Begin),
        4 => (any::<usize>(), 0u8..4, prop::bool::weighted(0.3)).prop_map(|(which, felt, again)| Act::End { which, felt, again }),
        2 => (0u64..3000).prop_map(|ms| Act::Pass { ms }),
        1 => (0usize..4).prop_map(|lane| Act::Pause { lane }),
        2 => (0usize..4).prop_map(|lane| Act::Resume { lane }),
        1 => (0usize..4).prop_map(|lane| Act::Turn { lane }),
        4 => (any::<usize>(), prop::bool::weighted(0.1)).prop_map(|(which, fails)| Act::Answer { which, fails }),
    ]
}

/// Of a page: where the next begins, and when it is due.
type Rest = Option<(Timestamp, Timestamp)>;

/// The lanes with a store that answers when it is told to.
struct Model {
    yard: Yard,
    ofs: Vec<LaneOf>,
    /// What each queue has.
    queues: Vec<BTreeMap<Id<Event>, Work>>,
    open: Vec<bool>,
    /// Not written yet.
    spilling: Vec<(usize, Work)>,
    /// Pages that were read and have not come yet.
    pages: Vec<(usize, Vec<Work>, Rest)>,
    begun: Vec<(usize, Begun)>,
    offered: usize,
    done: usize,
}

impl Model {
    fn new() -> Self {
        let yard = Yard::new();
        let plain = yard.lane();
        let narrow = yard.lane();
        let narrow =
            LaneOf { terms: Terms { concurrency: 2, together: 2, ..narrow.terms }, ..narrow };
        let ofs = vec![plain, narrow, yard.ordered(None), yard.ordered(Some(1))];
        Self {
            yard,
            queues: vec![BTreeMap::new(); ofs.len()],
            open: vec![true; ofs.len()],
            ofs,
            spilling: Vec::new(),
            pages: Vec::new(),
            begun: Vec::new(),
            offered: 0,
            done: 0,
        }
    }

    fn of(&self, lane: usize, open: bool) -> LaneOf {
        let of = self.ofs[lane];
        LaneOf { terms: Terms { open, ..of.terms }, ..of }
    }

    fn act(&mut self, act: Act) -> Result<(), TestCaseError> {
        match act {
            Act::Offer { lane, key } => self.offer(lane, key),
            Act::Begin => self.begin()?,
            Act::End { which, felt, again } => self.end(which, felt, again),
            Act::Pass { ms } => self.yard.pass(Duration::from_millis(ms)),
            Act::Pause { lane } => self.change(lane, false),
            Act::Resume { lane } => self.change(lane, true),
            Act::Turn { lane } => self.turn(lane),
            Act::Answer { which, fails } => self.answer(which, fails),
        }
        Ok(())
    }

    fn offer(&mut self, lane: usize, key: Option<u8>) {
        let key = key.map(|key| key.to_string());
        let work = self.yard.fresh(key.as_deref());
        self.offered += 1;
        let of = self.of(lane, self.open[lane]);
        let offered = self.yard.lanes.offer(of, work, self.yard.now);
        if let Err(work) = offered {
            self.spilling.push((lane, work));
        }
    }

    fn begin(&mut self) -> Result<(), TestCaseError> {
        let now = self.yard.now;
        match self.yard.lanes.next(now) {
            None => {}
            Some(Step::Read(id, from, limit)) => {
                let lane = self.ofs.iter().position(|of| of.id == id).unwrap();
                let (page, rest) = self.page(lane, from, limit);
                self.pages.push((lane, page, rest));
            }
            Some(Step::Send(of, work)) => {
                let lane = self.ofs.iter().position(|other| other.id == of.id).unwrap();
                prop_assert!(self.open[lane], "it is paused");
                let same = |one: &(usize, Begun)| one.0 == lane && one.1.event() == work.event;
                prop_assert!(!self.begun.iter().any(same), "it is under way");
                prop_assert!(work.due <= now.wall, "it is not due");
                let running = self.begun.iter().filter(|one| one.0 == lane);
                prop_assert!(running.clone().count() < of.terms.concurrency);
                let same_key = |one: &(usize, Begun)| one.1.1.order_key == work.order_key;
                let in_order = of.terms.ordering.is_some() && work.order_key.is_some();
                prop_assert!(!in_order || !running.clone().any(same_key), "one of a key at a time");
                self.begun.push((lane, Begun(of, work)));
            }
        }
        Ok(())
    }

    /// As the courier reads it: with a key by when its event came, without one by when it is due
    /// and only what is.
    fn page(&self, lane: usize, from: Timestamp, limit: usize) -> (Vec<Work>, Rest) {
        let now = self.yard.now.wall;
        let place = |work: &Work| if work.order_key.is_some() { work.since } else { work.due };
        let queue = self.queues[lane].values().filter(|work| place(work) >= from);
        let mut page: Vec<_> = queue.cloned().collect();
        page.sort_by_key(|work| (place(work), work.event));
        let is_due = |work: &Work| work.order_key.is_some() || work.due <= now;
        let due = page.iter().position(|work| !is_due(work)).unwrap_or(page.len());
        let rest = match page.get(due) {
            Some(first) if due < limit => Some((first.due, first.due)),
            _ if page.len() > limit => Some((place(&page[limit - 1]), now)),
            _ => None,
        };
        page.truncate(due.min(limit));
        (page, rest)
    }

    fn end(&mut self, which: usize, felt: u8, again: bool) {
        if self.begun.is_empty() {
            return;
        }
        let (lane, Begun(of, work)) = self.begun.remove(which % self.begun.len());
        let now = self.yard.now;
        let felt = [Felt::Well, Felt::Well, Felt::Badly, Felt::Nothing][usize::from(felt)];
        self.yard.lanes.attempted(of.id, work.event, felt, now);
        let key = work.order_key.clone();
        self.queues[lane].remove(&work.event);
        let delivery = Delivery { event_id: work.event, ..samples::delivery() };
        let event = work.event;
        let next = Work {
            piece: Piece::Stored(Box::new(Stored { record: delivery, revision: 2 })),
            due: now.wall + Duration::from_millis(700),
            failures: work.failures + 1,
            bytes: 0,
            ..work
        };
        match again {
            true => drop(self.queues[lane].insert(event, next.clone())),
            false => self.done += 1,
        }
        let next = again.then_some(next);
        self.yard.lanes.settled(&of, event, key.as_deref(), next, now);
    }

    fn change(&mut self, lane: usize, open: bool) {
        let of = self.of(lane, open);
        self.open[lane] = open;
        let put_down = self.yard.lanes.changed(of, self.yard.now);
        self.spilling.extend(put_down.into_iter().map(|work| (lane, work)));
        if open {
            self.yard.lanes.noted(of, self.yard.now.wall, self.yard.now);
        }
    }

    fn turn(&mut self, lane: usize) {
        let terms = &mut self.ofs[lane].terms;
        terms.ordering = match terms.ordering {
            Some(_) => None,
            None => Some(Ordering { skip_after: None }),
        };
        self.change(lane, self.open[lane]);
    }

    /// The store gets round to one of the things it was asked for.
    fn answer(&mut self, which: usize, fails: bool) {
        let now = self.yard.now;
        let count = self.spilling.len() + self.pages.len();
        if count == 0 {
            return;
        }
        let which = which % count;
        if which >= self.spilling.len() {
            let (lane, page, rest) = self.pages.remove(which - self.spilling.len());
            let id = self.ofs[lane].id;
            match fails {
                true => self.yard.lanes.unread(id, now.wall + Duration::from_secs(1), now),
                false => self.yard.lanes.loaded(id, page, rest, now),
            }
            return;
        }
        let (lane, work) = self.spilling.remove(which);
        let delivery = Delivery { event_id: work.event, ..samples::delivery() };
        let piece = Piece::Stored(Box::new(Stored { record: delivery, revision: 1 }));
        let stored = Work { piece, bytes: 0, ..work };
        let (event, due, since) = (stored.event, stored.due, stored.since);
        self.queues[lane].insert(event, stored);
        self.yard.lanes.spilled(self.ofs[lane].id, event, due, since, now);
    }

    /// Everything works and time passes, until nothing is left to do.
    fn come_to_rest(&mut self) -> Result<(), TestCaseError> {
        (0..self.ofs.len()).for_each(|lane| self.change(lane, true));
        for _ in 0..10_000 {
            self.begin()?;
            self.answer(0, false);
            self.end(0, 0, false);
            if self.done == self.offered {
                break;
            }
            self.yard.pass(Duration::from_millis(50));
        }
        while !self.pages.is_empty() || !self.spilling.is_empty() {
            self.answer(0, false);
        }
        Ok(())
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn nothing_is_lost(acts in prop::collection::vec(act(), 0..120)) {
        let mut model = Model::new();
        for act in acts {
            model.act(act)?;
        }
        model.come_to_rest()?;
        prop_assert_eq!(model.done, model.offered);
        let Lanes { slots, bytes, running, destinations, .. } = &model.yard.lanes;
        prop_assert_eq!((*slots, *bytes), (limits::SLOTS_MAX, 0));
        prop_assert!(running.is_empty());
        prop_assert!(destinations.values().all(|to| to.running == 0));
    }
}
