//! One destination's lane: what waits for it in memory, what the store has beyond that, and how
//! much it is given at once.
//!
//! Two queues, served in turn: what has just arrived, and what was read from the store. Neither
//! starves the other. Where order counts there is only the second, in the order of the events.

use std::collections::{BTreeSet, HashMap, HashSet, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use ferryhook_core::quick::QuickSet;
use ferryhook_core::{Account, Event, Id, Source, Timestamp};

use super::backlog::Backlog;
use super::breaker::Breaker;
use super::pace::Pace;
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
    spilling: BTreeSet<Id<Event>>,
    /// Attempts that are not over.
    running: QuickSet<Id<Event>>,
    /// How many of them there are of each key: where no order counts, that may be several.
    running_keys: HashMap<Arc<str>, usize>,
    backlog: Backlog,
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
            spilling: BTreeSet::new(),
            running: QuickSet::default(),
            running_keys: HashMap::new(),
            backlog: Backlog::new(),
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
    pub(super) fn offer(&mut self, work: Work) -> Result<(), Work> {
        let full = self.fresh.len() + self.stored.len() >= limits::FRESH_MAX;
        let in_order = self.terms.ordering.is_some();
        let behind = in_order && (!self.spilling.is_empty() || self.backlog.due.is_some());
        if !self.terms.open || full || behind || self.backlog.reading && in_order {
            return self.turn_away(work);
        }
        self.in_hand.insert(work.event);
        match in_order {
            true => self.insert_in_order(work),
            false => self.fresh.push_back(work),
        }
        Ok(())
    }

    pub(super) fn turn_away(&mut self, work: Work) -> Result<(), Work> {
        self.defer(work.event);
        Err(work)
    }

    pub(super) fn defer(&mut self, event: Id<Event>) {
        self.spilling.insert(event);
        self.in_hand.insert(event);
    }

    /// What was turned away or put down is in the store now.
    pub(super) fn spilled(&mut self, event: Id<Event>, due: Timestamp, since: Timestamp) {
        self.spilling.remove(&event);
        self.let_go(event);
        self.noted(due, due.min(since)); // in order it lies where its event came
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
        let in_sight = match self.terms.ordering {
            Some(_) => limits::ORDERED_IN_SIGHT,
            None => limits::QUEUE_PAGE,
        };
        // Where it rests, a few in sight are enough for the probe.
        let wanted = if self.breaker.is_closed() { in_sight / 2 } else { 1 };
        let in_order = self.terms.ordering.is_some();
        let is_behind = in_order && self.stored.front().is_some_and(|first| !self.is_next(first));
        if self.backlog.reading || (self.stored.len() >= wanted && !is_behind) {
            return None;
        }
        self.backlog.due.map(|due| now.reaches(due))
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

    /// Whether nothing that came earlier can still be unread or on its way into the store.
    fn is_next(&self, work: &Work) -> bool {
        let all_is_read = self.backlog.due.is_none() && !self.backlog.reading;
        let all_is_stored = self.spilling.first().is_none_or(|first| work.event < *first);
        let meanwhile = self.backlog.meanwhile.is_none_or(|(_, place)| work.since < place);
        all_is_stored && meanwhile && (all_is_read || work.since <= self.backlog.known)
    }

    /// Shows each work that nothing stands before, until one is taken.
    fn pass_in_order(&self, mut take: impl FnMut(usize, &Work) -> bool) {
        let skip_after = self.terms.ordering.and_then(|ordering| ordering.skip_after);
        let mut behind: HashSet<&str> = HashSet::new();
        let works = self.stored.iter().take_while(|work| self.is_next(work));
        for (place, work) in works.enumerate() {
            let key = work.order_key.as_deref();
            if key.is_some_and(|key| behind.contains(key) || self.running_keys.contains_key(key)) {
                continue;
            }
            if take(place, work) {
                return;
            }
            if let Some(key) = key
                && skip_after.is_none_or(|after| work.failures < after)
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
    pub(super) fn read(&mut self) -> (Timestamp, usize) {
        self.backlog.reading = true;
        let page = match self.terms.ordering {
            Some(_) => limits::ORDERED_IN_SIGHT,
            None => limits::QUEUE_PAGE,
        };
        (self.backlog.from, page + self.in_hand.len())
    }

    /// A page came: what it has, and where the next begins with when its first is due.
    pub(super) fn loaded(
        &mut self,
        works: Vec<Work>,
        rest: Option<(Timestamp, Timestamp)>,
        now: Timestamp,
    ) {
        let gone = self.backlog.page_comes();
        for work in works {
            if !gone.contains(&work.event) {
                self.take_in(work, now);
            }
        }
        self.backlog.read_to(rest);
        self.backlog.turn_back(now);
    }

    fn take_in(&mut self, work: Work, now: Timestamp) {
        if self.in_hand.contains(&work.event) {
            if self.renewed.contains(&work.event) {
                self.renew(work);
            }
            return;
        }
        let in_order = self.terms.ordering.is_some();
        // What is not wanted any more need not wait for its time.
        if !in_order && work.due > now && !self.terms.is_gone {
            self.backlog.pass_over(&work);
            return;
        }
        self.in_hand.insert(work.event);
        match in_order {
            true => self.insert_in_order(work),
            false => self.stored.push_back(work),
        }
    }

    /// The page could not be read.
    pub(super) fn unread(&mut self, again: Timestamp) {
        self.backlog.unread(again);
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
                self.insert_in_order(work);
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
        self.spilling.extend(fresh.iter().map(|work| work.event));
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
