//! One destination's lane: what waits for it in memory, what the store has beyond that, and how
//! much it is given at once.
//!
//! Two queues, served in turn: what has just arrived, and what was read from the store. Neither
//! starves the other. Where order counts there is only the second, in the order of the events, and
//! of keys that have to wait it has only the first few where there is much: see [`left_out`].
//!
//! [`left_out`]: super::left_out

use std::collections::{BTreeMap, HashMap, HashSet, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use ferryhook_core::quick::QuickSet;
use ferryhook_core::{Account, Event, Id, Source, Timestamp};

use super::backlog::Backlog;
use super::breaker::Breaker;
use super::left_out::LeftOut;
use super::pace::Pace;
use super::sight::{self, Sight};
use super::speed::Speed;
use super::width::Width;
use super::{Terms, Work};
use crate::limits;
use crate::moment::Moment;

#[derive(Debug)]
pub(super) struct Lane {
    pub(super) account: Id<Account>,
    pub(super) source: Id<Source>,
    terms: Terms,
    fresh: VecDeque<Work>,
    stored: VecDeque<Work>,
    fresh_is_next: bool,
    /// Every event that is in a queue, being sent, being settled or being stored: the store may
    /// have it, and it must not be read again.
    in_hand: QuickSet<Id<Event>>,
    /// Those of them that have begun again in the store, which is not known here yet.
    renewed: QuickSet<Id<Event>>,
    /// Turned away or put down and not yet in the store: what comes behind them must not pass them.
    spilling: BTreeMap<Id<Event>, Option<Arc<str>>>,
    /// Attempts that are not over.
    running: QuickSet<Id<Event>>,
    /// How many of them there are of each key: where no order counts, that may be several.
    running_keys: HashMap<Arc<str>, usize>,
    backlog: Backlog,
    left: LeftOut,
    /// The page that is read is for those that were left out, from there on.
    looks_back: Option<Timestamp>,
    width: Width,
    breaker: Breaker,
    pace: Pace,
    speed: Speed,
    pub(super) timer: Option<Duration>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Ready {
    Send,
    Read,
    /// Not before then.
    At(Duration),
    /// Not until something happens.
    Idle,
}

/// How a destination took an attempt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Felt {
    Well,
    Badly,
    /// Nothing was asked of it.
    Nothing,
}

impl Lane {
    pub(super) fn new(account: Id<Account>, source: Id<Source>, terms: Terms) -> Self {
        let mut pace = Pace::default();
        pace.set(terms.per_second);
        Self {
            account,
            source,
            terms,
            fresh: VecDeque::new(),
            stored: VecDeque::new(),
            fresh_is_next: true,
            in_hand: QuickSet::default(),
            renewed: QuickSet::default(),
            spilling: BTreeMap::new(),
            running: QuickSet::default(),
            running_keys: HashMap::new(),
            backlog: Backlog::new(),
            left: LeftOut::default(),
            looks_back: None,
            width: Width::new(),
            breaker: Breaker::new(),
            pace,
            speed: Speed::default(),
            timer: None,
        }
    }

    pub(super) fn set_terms(&mut self, terms: Terms) {
        let turns = terms.ordering.is_some() != self.terms.ordering.is_some();
        self.pace.set(terms.per_second);
        self.terms = terms;
        if turns {
            self.sort_anew();
        }
    }

    /// An order begins or ends. What the store has is read anew, now that it counts differently
    /// what is first there; what is only here waits in the other queue.
    fn sort_anew(&mut self) {
        let works: Vec<_> = self.fresh.drain(..).chain(self.stored.drain(..)).collect();
        for work in works {
            match self.terms.ordering {
                _ if !work.is_fresh() => self.put_back(&work),
                Some(_) => self.insert_in_order(work),
                None => self.fresh.push_back(work),
            }
        }
        self.left.clear();
        self.noted(Timestamp::default(), Timestamp::default());
    }

    pub(super) fn terms(&self) -> Terms {
        self.terms
    }

    pub(super) fn is_open(&self) -> bool {
        self.terms.open
    }

    pub(super) fn has(&self, event: Id<Event>) -> bool {
        self.in_hand.contains(&event)
    }

    /// Whether something that has just arrived may wait here. If not, it has to be stored, and
    /// [`Lane::noted`] told when it is.
    pub(super) fn offer(&mut self, work: Work, now: Moment) -> Result<(), Work> {
        let full = self.fresh.len() + self.stored.len() >= limits::FRESH_MAX;
        let in_order = self.terms.ordering.is_some();
        let behind = in_order && (!self.spilling.is_empty() || self.backlog.due.is_some());
        if !self.terms.open || full || behind || self.backlog.reading && in_order {
            return self.turn_away(work);
        }
        if in_order && self.keeps_out(&work, now.wall) {
            return self.turn_away(work);
        }
        self.in_hand.insert(work.event);
        match in_order {
            true => self.insert_in_order(work),
            false => self.fresh.push_back(work),
        }
        Ok(())
    }

    /// Of its key others wait already that are not in memory, or enough that are.
    fn keeps_out(&self, work: &Work, now: Timestamp) -> bool {
        let Some(key) = &work.order_key else { return false };
        if self.left.has(key) {
            return true;
        }
        if self.stored.len() < limits::ORDERED_IN_SIGHT {
            return false;
        }
        let of_key = |other: &&Work| other.order_key == work.order_key;
        let mut before = self.stored.iter().take(limits::ORDERED_IN_SIGHT).filter(of_key);
        let waits = |first: &Work| {
            first.due > now && sight::stands_before_others(first, self.terms.ordering)
        };
        before.next().is_some_and(waits) && before.count() + 1 >= limits::KEPT_OF_A_KEY
    }

    pub(super) fn turn_away(&mut self, work: Work) -> Result<(), Work> {
        self.defer(&work);
        Err(work)
    }

    pub(super) fn defer(&mut self, work: &Work) {
        self.spilling.insert(work.event, work.order_key.clone());
        self.in_hand.insert(work.event);
    }

    /// What was turned away or put down is in the store now.
    pub(super) fn spilled(&mut self, event: Id<Event>, due: Timestamp, since: Timestamp) {
        let key = self.spilling.remove(&event).flatten();
        self.let_go(event);
        // Behind others of its key that are left out, it is read with them.
        if !key.is_some_and(|key| self.left.hides(&key, since)) {
            self.noted(due, due.min(since)); // in order it lies where its event came
        }
    }

    /// The store has something for this lane that is due then and lies there in its queue, or
    /// behind that.
    pub(super) fn noted(&mut self, due: Timestamp, place: Timestamp) {
        self.backlog.noted(due, place);
    }

    /// What is known here of this delivery is out of date. If it waits it keeps its place, so that
    /// nothing passes it, until a page has it as it is now; if it is just being settled, the page
    /// after that has it.
    pub(super) fn renewed(&mut self, event: Id<Event>) {
        if self.in_hand.contains(&event) {
            self.renewed.insert(event);
        }
    }

    fn renew(&mut self, work: Work) {
        if !self.renewed.contains(&work.event) {
            return;
        }
        let mut waiting = self.stored.iter_mut();
        if let Some(known) = waiting.find(|known| known.event == work.event)
            && known.revision() < work.revision()
        {
            self.renewed.remove(&work.event);
            *known = work;
        }
    }

    /// `started` as soon as everything that an earlier run has left is in its lane or in its queue:
    /// before that nobody knows what is first.
    pub(super) fn ready(&self, now: Moment, started: bool) -> Ready {
        if !self.terms.open {
            return Ready::Idle;
        }
        let read = self.reads(now);
        if read.is_some_and(|at| at <= now.passed) {
            return Ready::Read;
        }
        let may_send = started || self.terms.ordering.is_none();
        let send = may_send.then(|| self.sends(now)).flatten();
        if send.is_some_and(|at| at <= now.passed) {
            return Ready::Send;
        }
        match (read, send) {
            (Some(a), Some(b)) => Ready::At(a.min(b)),
            (Some(at), None) | (None, Some(at)) => Ready::At(at),
            (None, None) => Ready::Idle,
        }
    }

    /// When the store should be asked for more.
    fn reads(&self, now: Moment) -> Option<Duration> {
        if self.backlog.reading {
            return None;
        }
        let due = self.backlog.due.map(|due| now.reaches(due));
        let in_order = self.terms.ordering.is_some();
        let in_sight = if in_order { limits::ORDERED_IN_SIGHT } else { limits::QUEUE_PAGE };
        // Where it rests, a few in sight are enough for the probe.
        let wanted = if self.breaker.is_closed() { in_sight / 2 } else { 1 };
        if !in_order {
            return due.filter(|_| self.stored.len() < wanted);
        }
        if !self.left.is_empty() {
            let sight = self.sight(now.wall);
            let may_read = sight.free < wanted
                && sight.kept < limits::ORDERED_KEPT_MAX
                && self.left.len() < limits::LEFT_OUT_MAX;
            let back = self.back_to(&sight).map(|_| now.reaches(self.left.not_before()));
            return match (back, due.filter(|_| may_read || self.is_behind())) {
                (Some(back), Some(due)) => Some(back.min(due)),
                (back, due) => back.or(due),
            };
        }
        let has_free = || sight::has_free(&self.stored, self.terms.ordering, now.wall, wanted);
        let has_enough = || {
            let is_full = || self.sight(now.wall).kept >= limits::ORDERED_KEPT_MAX;
            self.stored.len() >= wanted && (has_free() || is_full())
        };
        due.filter(|_| self.is_behind() || !has_enough())
    }

    /// What is first in memory may not be what is first at all.
    fn is_behind(&self) -> bool {
        self.stored.front().is_some_and(|first| !self.is_known(first))
    }

    fn sight(&self, now: Timestamp) -> Sight {
        Sight::of(&self.stored, self.terms.ordering, &self.left, now)
    }

    /// Where the first begins that was left out and could go on.
    fn back_to(&self, sight: &Sight) -> Option<Timestamp> {
        let is_wanted = |key: &str| !self.running_keys.contains_key(key) && !sight.has_next(key);
        self.left.first(is_wanted)
    }

    fn sends(&self, now: Moment) -> Option<Duration> {
        let most = self.width.get(self.terms.concurrency);
        let running = self.running.len();
        if running >= most || (!self.breaker.is_closed() && running > 0) {
            return None;
        }
        let due = self.first_due(now.wall)?;
        let allowed = self.breaker.opens(now.passed)?.max(self.pace.opens());
        Some(allowed.max(now.reaches(due)))
    }

    /// When the first thing in memory that nothing stands before is due.
    fn first_due(&self, now: Timestamp) -> Option<Timestamp> {
        if self.terms.ordering.is_none() {
            return (!self.fresh.is_empty() || !self.stored.is_empty()).then_some(now);
        }
        let mut first = None;
        self.pass_in_order(|_, work| {
            first = Some(first.map_or(work.due, |due: Timestamp| due.min(work.due)));
            work.due <= now
        });
        first
    }

    /// Whether nothing that came earlier can still be unread or on its way into the store. What was
    /// left out counts as read.
    fn is_known(&self, work: &Work) -> bool {
        let all_is_read = self.backlog.due.is_none() && !self.backlog.reading;
        let all_is_stored = self.spilling.keys().next().is_none_or(|first| work.event < *first);
        let meanwhile = self.backlog.meanwhile.is_none_or(|(_, place)| work.since < place);
        all_is_stored && meanwhile && (all_is_read || work.since <= self.backlog.known)
    }

    /// Shows each work that nothing stands before, until one is taken.
    fn pass_in_order(&self, mut take: impl FnMut(usize, &Work) -> bool) {
        let mut behind: HashSet<&str> = HashSet::new();
        let works = self.stored.iter().take_while(|work| self.is_known(work));
        for (place, work) in works.enumerate() {
            let key = work.order_key.as_deref();
            if key.is_some_and(|key| behind.contains(key) || self.running_keys.contains_key(key)) {
                continue;
            }
            if key.is_some_and(|key| self.left.hides(key, work.since)) {
                continue;
            }
            if take(place, work) {
                return;
            }
            if let Some(key) = key
                && sight::stands_before_others(work, self.terms.ordering)
            {
                behind.insert(key);
            }
        }
    }

    /// Takes what is to be sent next; [`Lane::ready`] has said that there is something.
    pub(super) fn start(&mut self, now: Moment) -> Option<Work> {
        let work = match self.terms.ordering {
            Some(_) => self.take_in_order(now.wall),
            None => self.take_in_turn(),
        }?;
        self.running.insert(work.event);
        self.breaker.started();
        self.pace.started(now.passed);
        if let Some(key) = &work.order_key {
            *self.running_keys.entry(key.clone()).or_default() += 1;
        }
        Some(work)
    }

    fn take_in_turn(&mut self) -> Option<Work> {
        let (first, second) = match self.fresh_is_next {
            true => (&mut self.fresh, &mut self.stored),
            false => (&mut self.stored, &mut self.fresh),
        };
        self.fresh_is_next = !self.fresh_is_next;
        first.pop_front().or_else(|| second.pop_front())
    }

    fn take_in_order(&mut self, now: Timestamp) -> Option<Work> {
        let mut found = None;
        self.pass_in_order(|place, work| {
            let due = work.due <= now;
            if due {
                found = Some(place);
            }
            due
        });
        self.stored.remove(found?)
    }

    fn insert_in_order(&mut self, work: Work) {
        let place = self.stored.partition_point(|other| other.event < work.event);
        self.stored.insert(place, work);
    }

    /// From where to read, and how many.
    pub(super) fn read(&mut self, now: Moment) -> (Timestamp, usize) {
        self.backlog.reading = true;
        let page = match self.terms.ordering {
            Some(_) => limits::ORDERED_IN_SIGHT,
            None => limits::QUEUE_PAGE,
        };
        self.looks_back = None;
        if !self.left.is_empty() && self.left.not_before() <= now.wall {
            self.looks_back = self.back_to(&self.sight(now.wall));
        }
        (self.looks_back.unwrap_or(self.backlog.from), page + self.in_hand.len())
    }

    /// A page came: what it has, and where the next begins with when its first is due.
    pub(super) fn loaded(
        &mut self,
        works: Vec<Work>,
        rest: Option<(Timestamp, Timestamp)>,
        now: Timestamp,
    ) {
        let gone = self.backlog.page_comes();
        let works = works.into_iter().filter(|work| !gone.contains(&work.event));
        match (self.terms.ordering, self.looks_back.take()) {
            (None, _) => works.for_each(|work| self.take_in(work, now)),
            (Some(_), None) => self.take_in_sight(works, now),
            (Some(_), Some(from)) => return self.look_back(from, works, rest, now),
        }
        self.backlog.read_to(rest);
        self.backlog.turn_back(now);
    }

    /// Of those that were left out, whatever may go on.
    fn look_back(
        &mut self,
        from: Timestamp,
        works: impl Iterator<Item = Work>,
        rest: Option<(Timestamp, Timestamp)>,
        now: Timestamp,
    ) {
        let sight = self.sight(now);
        let opened = self.left.open(from, |key| !sight.waits(key));
        // From there on nothing is known to be read, and it comes by itself.
        let end = self.backlog.due.map(|_| self.backlog.from);
        let is_before = |at: Timestamp| end.is_none_or(|end| at < end);
        self.take_in_sight(works.filter(|work| is_before(work.since)), now);
        // What is not due and has no key lies ahead of now, and nothing with a key does.
        let last = rest.map(|(last, _)| last).filter(|last| *last <= now && is_before(*last));
        if let Some(last) = last {
            self.left.close(opened, last);
        }
        self.backlog.looked_back();
    }

    /// In order: those that others of their key are in the way of are left out where there is much.
    fn take_in_sight(&mut self, works: impl Iterator<Item = Work>, now: Timestamp) {
        let mut sight = self.sight(now);
        for work in works {
            if self.is_here(&work) {
                self.renew(work);
            } else if sight.takes(&work, self.terms.ordering, &self.left, now) {
                self.in_hand.insert(work.event);
                self.insert_in_order(work);
            } else if let Some(key) = work.order_key {
                self.left.add(key, work.since);
            }
        }
    }

    fn take_in(&mut self, work: Work, now: Timestamp) {
        if self.is_here(&work) {
            self.renew(work);
        } else if work.due > now && !self.terms.is_gone {
            // What is not wanted any more need not wait for its time.
            self.backlog.pass_over(&work);
        } else {
            self.in_hand.insert(work.event);
            self.stored.push_back(work);
        }
    }

    fn is_here(&self, work: &Work) -> bool {
        self.in_hand.contains(&work.event)
    }

    /// The page could not be read.
    pub(super) fn unread(&mut self, again: Timestamp) {
        match self.looks_back.take() {
            Some(_) => {
                self.left.put_off(again);
                self.backlog.page_comes();
                self.backlog.looked_back();
            }
            None => self.backlog.unread(again),
        }
    }

    /// Another lane has begun something for the same destination.
    pub(super) fn keep_pace(&mut self, now: Moment) {
        self.pace.started(now.passed);
    }

    /// The attempt is over; tells whether the destination rests from now on. Nothing if it was over
    /// before.
    pub(super) fn attempted(&mut self, event: Id<Event>, felt: Felt, now: Moment) -> Option<bool> {
        if !self.running.remove(&event) {
            return None;
        }
        let rested = !self.breaker.is_closed();
        let rests = match felt {
            Felt::Well => {
                self.breaker.succeeded();
                match rested {
                    true => self.width.begin_again(),
                    false => self.width.succeeded(self.terms.concurrency),
                }
                false
            }
            Felt::Badly => {
                self.width.failed();
                self.breaker.failed(now.passed)
            }
            Felt::Nothing => {
                self.breaker.withdrawn(now.passed);
                false
            }
        };
        Some(rests)
    }

    /// What came of it is stored. In order, one that has to be tried again keeps its place.
    pub(super) fn settled(
        &mut self,
        event: Id<Event>,
        key: Option<&str>,
        again: Option<Work>,
        now: Timestamp,
    ) {
        self.leave_key(key);
        let renewed = self.renewed.remove(&event);
        match again {
            Some(work) if self.terms.ordering.is_some() && self.terms.open => {
                let waits = work.order_key.clone().filter(|_| work.due > now);
                self.insert_in_order(work);
                if let Some(key) = waits.filter(|_| self.stored.len() > limits::ORDERED_IN_SIGHT) {
                    self.keep_few(key);
                }
            }
            Some(work) if self.terms.open && work.order_key.is_some() => {
                self.let_go(event);
                self.backlog.pass_over(&work);
                self.backlog.turn_back(now);
            }
            Some(work) => self.put_back(&work),
            None => {
                self.let_go(event);
                if renewed {
                    self.noted(Timestamp::default(), Timestamp::default());
                }
            }
        }
    }

    /// It has to wait now, and there is much in memory.
    fn keep_few(&mut self, key: Arc<str>) {
        let of_key = |work: &Work| !work.is_fresh() && work.order_key.as_ref() == Some(&key);
        let few = self.stored.iter().filter(|work| of_key(work)).take(limits::KEPT_OF_A_KEY);
        let Some(last) = few.last().map(|last| last.event) else { return };
        let (out, kept) = self.stored.drain(..).partition(|work| of_key(work) && work.event > last);
        self.stored = kept;
        let out: VecDeque<Work> = out;
        for work in &out {
            self.let_go(work.event);
            self.renewed.remove(&work.event);
        }
        if let Some(first) = out.front() {
            self.left.add(key, first.since);
        }
    }

    fn leave_key(&mut self, key: Option<&str>) {
        let Some(key) = key else { return };
        if let Some(running) = self.running_keys.get_mut(key) {
            *running -= 1;
            if *running == 0 {
                self.running_keys.remove(key);
            }
        }
    }

    fn let_go(&mut self, event: Id<Event>) {
        self.in_hand.remove(&event);
        self.backlog.let_go(event);
    }

    /// Empties the memory, and gives back what is only here: nothing passes it until it is stored
    /// and [`Lane::spilled`] is told. The rest is in the store already.
    pub(super) fn put_down(&mut self) -> Vec<Work> {
        let works = self.fresh.drain(..).chain(self.stored.drain(..));
        let (fresh, stored): (Vec<_>, Vec<_>) = works.partition(Work::is_fresh);
        stored.iter().for_each(|work| self.put_back(work));
        self.spilling.extend(fresh.iter().map(|work| (work.event, work.order_key.clone())));
        if let Some(place) = self.left.clear() {
            self.noted(place, place);
        }
        fresh
    }

    /// The store has it, and memory no longer does.
    fn put_back(&mut self, work: &Work) {
        self.let_go(work.event);
        self.renewed.remove(&work.event);
        self.backlog.put_back(work, self.terms.ordering.is_some());
    }

    /// Nothing would be lost if it were made anew.
    pub(super) fn is_bare(&self, now: Moment) -> bool {
        self.in_hand.is_empty()
            && self.running.is_empty()
            && self.spilling.is_empty()
            && self.backlog.is_bare()
            && self.left.is_empty()
            && self.breaker.is_at_ease()
            && self.pace.opens() <= now.passed
    }

    /// Many wait that have just come, though the destination takes what it gets, and quickly. Where
    /// order counts they may wait for each other.
    pub(super) fn is_crowded(&self, now: Moment) -> bool {
        self.fresh.len() > limits::CROWDED
            && self.terms.ordering.is_none()
            && self.breaker.is_at_ease()
            && self.pace.is_free()
            && self.speed.is_quick(now.passed)
    }

    /// Those that have just come have become so few that whoever waits for room may go on.
    pub(super) fn has_just_room(&self) -> bool {
        self.fresh.len() == limits::CROWDED / 2
    }

    /// The destination took so long for an attempt.
    pub(super) fn took(&mut self, time: Duration, now: Moment) {
        self.speed.took(time, now.passed);
    }

    pub(super) fn waiting(&self) -> usize {
        self.fresh.len() + self.stored.len()
    }

    /// Since when the oldest of what waits has waited, as far as it is in sight.
    pub(super) fn oldest(&self) -> Option<Timestamp> {
        let in_memory = self.fresh.iter().chain(&self.stored).map(|work| work.since).min();
        match (in_memory, self.backlog.oldest()) {
            (Some(a), Some(b)) => Some(a.min(b)),
            (a, b) => a.or(b),
        }
    }
}

#[cfg(test)]
mod tests;
