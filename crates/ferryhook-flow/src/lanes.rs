//! Lanes: which delivery is attempted next.
//!
//! A plain state machine without a clock, a task or a store. The courier tells it what happened
//! and asks it for the next [`Step`]; a test can do the same. A lane per connection keeps one slow
//! destination from delaying another, [`turns`] shares the slots between accounts and sources.
//! Memory holds a window of each queue, the store holds all of it.

mod backlog;
mod breaker;
mod lane;
mod left_out;
mod pace;
mod share;
mod sight;
mod speed;
mod turns;
mod width;

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;
use std::time::Duration;

use ferryhook_core::quick::QuickMap;
use ferryhook_core::{Account, Connection, Delivery, Event, Id, Source, Timestamp, delivery};
use ferryhook_store::Stored;

pub(crate) use lane::Felt;
use lane::{Lane, Ready};
use pace::Pace;
use turns::Turns;

use crate::limits;
use crate::moment::Moment;
use crate::parcel::Parcel;

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct LaneId {
    pub(crate) connection: Id<Connection>,
    pub(crate) lane: delivery::Lane,
}

impl LaneId {
    /// The other lane of its connection.
    fn other(self) -> Self {
        let lane = match self.lane {
            delivery::Lane::Live => delivery::Lane::Replay,
            delivery::Lane::Replay => delivery::Lane::Live,
        };
        Self { lane, ..self }
    }
}

/// Where a lane belongs and what its connection asks for.
#[derive(Debug, Clone, Copy)]
pub(crate) struct LaneOf {
    pub(crate) id: LaneId,
    pub(crate) account: Id<Account>,
    pub(crate) source: Id<Source>,
    pub(crate) terms: Terms,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Terms {
    /// Not paused.
    pub(crate) open: bool,
    pub(crate) concurrency: usize,
    /// Of both lanes of the connection together.
    pub(crate) together: usize,
    pub(crate) per_second: Option<u32>,
    pub(crate) ordering: Option<Ordering>,
    /// Takes events of more than one source, as the way of a hook does.
    pub(crate) is_shared: bool,
    /// Deleted: whatever waits is looked at once more, to be cancelled.
    pub(crate) is_gone: bool,
}

/// Deliveries that agree in a key go out one after the other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Ordering {
    /// One that has failed this often no longer stands before the others.
    pub(crate) skip_after: Option<u16>,
}

/// One delivery that waits for its next attempt.
#[derive(Debug, Clone)]
pub(crate) struct Work {
    pub(crate) piece: Piece,
    pub(crate) event: Id<Event>,
    pub(crate) order_key: Option<Arc<str>>,
    /// Not before.
    pub(crate) due: Timestamp,
    /// When its event came.
    pub(crate) since: Timestamp,
    /// What it holds in memory.
    pub(crate) bytes: usize,
    pub(crate) failures: u16,
}

/// When that is due which goes on only when somebody says so.
pub(crate) const PARKED: Timestamp = Timestamp::from_millis(i64::MAX);

#[derive(Debug, Clone)]
pub(crate) enum Piece {
    /// Of an event that has just arrived: the delivery at this place of its plan.
    Fresh(Arc<Parcel>, usize),
    Stored(Box<Stored<Delivery>>),
}

impl Work {
    /// Whether its event has just arrived.
    pub(crate) fn is_fresh(&self) -> bool {
        matches!(self.piece, Piece::Fresh(..))
    }

    /// Waits for somebody's word and not for a time.
    fn is_parked(&self) -> bool {
        self.due >= PARKED
    }

    /// As the store counts its changes; nothing for what the store may not have yet.
    fn revision(&self) -> u64 {
        match &self.piece {
            Piece::Fresh(..) => 0,
            Piece::Stored(delivery) => delivery.revision,
        }
    }
}

#[derive(Debug)]
pub(crate) enum Step {
    Send(LaneOf, Work),
    /// Read a page of the queue, from there on.
    Read(LaneId, Timestamp, usize),
}

/// What the lanes of one connection share.
#[derive(Debug, Default)]
struct Destination {
    running: usize,
    /// Those whose outcome is not stored yet as well.
    slots: usize,
    /// Of what is sent in the end: the store may take its time after an attempt has begun.
    pace: Pace,
}

#[derive(Debug)]
pub(crate) struct Lanes {
    lanes: QuickMap<LaneId, Lane>,
    destinations: QuickMap<Id<Connection>, Destination>,
    turns: Turns,
    timers: BTreeSet<(Duration, LaneId)>,
    slots: usize,
    running: QuickMap<Id<Account>, usize>,
    /// Bytes of events that wait in memory.
    bytes: usize,
    started: bool,
    stopped: bool,
}

impl Lanes {
    pub(crate) fn new() -> Self {
        Self {
            lanes: QuickMap::default(),
            destinations: QuickMap::default(),
            turns: Turns::default(),
            timers: BTreeSet::new(),
            slots: limits::SLOTS_MAX,
            running: QuickMap::default(),
            bytes: 0,
            started: false,
            stopped: false,
        }
    }

    /// Something has just arrived. Given back when it has to be stored first; then
    /// [`Lanes::spilled`] is owed.
    pub(crate) fn offer(&mut self, of: LaneOf, work: Work, now: Moment) -> Result<(), Work> {
        let (bytes, full) = (work.bytes, self.bytes + work.bytes > limits::FRESH_BYTES_MAX);
        let lane = self.lane(of);
        // A lane that is not full may still have to turn away what would not fit into memory.
        let offered = if full { lane.turn_away(work) } else { lane.offer(work, now) };
        if offered.is_ok() {
            self.bytes += bytes;
            self.poke(of.id, now);
        }
        offered
    }

    /// Something will be due later and is about to be stored; [`Lanes::spilled`] is owed.
    pub(crate) fn defer(&mut self, of: LaneOf, work: &Work) {
        self.lane(of).defer(work);
    }

    /// The delivery of this event, which came `since`, is in the store now and due then.
    pub(crate) fn spilled(
        &mut self,
        id: LaneId,
        event: Id<Event>,
        due: Timestamp,
        since: Timestamp,
        now: Moment,
    ) {
        if let Some(lane) = self.lanes.get_mut(&id) {
            lane.spilled(event, due, since);
            self.poke(id, now);
        }
    }

    /// The store may have something for this lane then, wherever in its queue.
    pub(crate) fn noted(&mut self, of: LaneOf, due: Timestamp, now: Moment) {
        self.lane(of).noted(due, Timestamp::default());
        self.poke(of.id, now);
    }

    /// The same, of a delivery that the lane may know as it was before.
    pub(crate) fn renewed(
        &mut self,
        of: LaneOf,
        event: Id<Event>,
        (due, place): (Timestamp, Timestamp),
        now: Moment,
    ) {
        let lane = self.lane(of);
        lane.renewed(event);
        lane.noted(due, place);
        self.poke(of.id, now);
    }

    pub(crate) fn is_crowded(&self, id: LaneId, now: Moment) -> bool {
        self.lanes.get(&id).is_some_and(|lane| lane.is_crowded(now))
    }

    pub(crate) fn has_just_room(&self, id: LaneId) -> bool {
        self.lanes.get(&id).is_some_and(Lane::has_just_room)
    }

    /// Whether anything of this event waits, is sent or is being stored. To know its source saves
    /// time.
    pub(crate) fn has(&self, event: Id<Event>, of: Option<Id<Source>>) -> bool {
        let mut lanes = self.lanes.values();
        let may =
            |lane: &Lane| lane.terms().is_shared || of.is_none_or(|source| lane.source == source);
        lanes.any(|lane| may(lane) && lane.has(event))
    }

    pub(crate) fn is_closed(&self, id: LaneId) -> bool {
        self.lanes.get(&id).is_some_and(|lane| !lane.is_open())
    }

    pub(crate) fn account_of(&self, id: LaneId) -> Option<Id<Account>> {
        self.lanes.get(&id).map(|lane| lane.account)
    }

    /// The connection has changed. What was only in memory and may not be sent now is given back;
    /// [`Lanes::spilled`] is owed for each.
    pub(crate) fn changed(&mut self, of: LaneOf, now: Moment) -> Vec<Work> {
        let Some(lane) = self.lanes.get_mut(&of.id) else { return Vec::new() };
        lane.set_terms(of.terms);
        let to = self.destinations.entry(of.id.connection).or_default();
        to.pace.set(of.terms.per_second);
        let put_down = if lane.is_open() { Vec::new() } else { lane.put_down() };
        self.bytes = self.bytes.saturating_sub(put_down.iter().map(|work| work.bytes).sum());
        self.poke(of.id, now);
        put_down
    }

    /// The lanes of these sources, or all of them.
    pub(crate) fn of_source(&self, source: Option<Id<Source>>) -> Vec<(LaneId, Id<Source>)> {
        let mine = |lane: &Lane| source.is_none_or(|source| lane.source == source);
        self.lanes.iter().filter(|(_, l)| mine(l)).map(|(id, l)| (*id, l.source)).collect()
    }

    /// The lanes of an account's hooks.
    pub(crate) fn of_hooks(&self, account: Id<Account>) -> Vec<(LaneId, Id<Source>)> {
        let mine = |lane: &Lane| lane.account == account && lane.terms().is_shared;
        self.lanes.iter().filter(|(_, l)| mine(l)).map(|(id, l)| (*id, l.source)).collect()
    }

    pub(crate) fn next(&mut self, now: Moment) -> Option<Step> {
        self.tick(now);
        let mut passed = 0;
        while !self.stopped && self.slots > 0 && passed < self.turns.accounts() {
            let account = self.turns.account()?;
            let running = self.running.get(&account).copied().unwrap_or(0);
            let room = share::may_yet_take(running, self.slots);
            if room == 0 {
                self.turns.pass_account();
                passed += 1;
                continue;
            }
            let id = self.turns.lane()?;
            let Some(lane) = self.lanes.get_mut(&id) else {
                self.turns.leave();
                continue;
            };
            match lane.ready(now, self.started) {
                Ready::Read => {
                    let (from, limit) = lane.read(now);
                    return Some(Step::Read(id, from, limit));
                }
                Ready::Send => {
                    let to = self.destinations.entry(id.connection).or_default();
                    // One that holds too many is asked again when one of its own is over.
                    let full =
                        to.running >= lane.terms().together || !share::may_take(to.slots, room);
                    let Some(work) = (!full).then(|| lane.start(now)).flatten() else {
                        self.turns.leave();
                        continue;
                    };
                    to.running += 1;
                    to.slots += 1;
                    let of = LaneOf { id, account, source: lane.source, terms: lane.terms() };
                    self.turns.served(work.bytes);
                    self.slots -= 1;
                    self.bytes = self.bytes.saturating_sub(work.bytes);
                    *self.running.entry(account).or_default() += 1;
                    if let Some(other) = self.lanes.get_mut(&id.other()) {
                        other.keep_pace(now);
                    }
                    return Some(Step::Send(of, work));
                }
                Ready::At(at) => {
                    self.turns.leave();
                    self.set_timer(id, at);
                }
                Ready::Idle => self.turns.leave(),
            }
        }
        None
    }

    /// When to ask again if nothing happens until then.
    pub(crate) fn wakes_at(&self) -> Option<Duration> {
        self.timers.first().map(|(at, _)| *at)
    }

    pub(crate) fn loaded(
        &mut self,
        id: LaneId,
        works: Vec<Work>,
        rest: Option<(Timestamp, Timestamp)>,
        now: Moment,
    ) {
        if let Some(lane) = self.lanes.get_mut(&id) {
            lane.loaded(works, rest, now.wall);
            self.poke(id, now);
            self.tidy(id, now);
        }
    }

    pub(crate) fn unread(&mut self, id: LaneId, again: Timestamp, now: Moment) {
        if let Some(lane) = self.lanes.get_mut(&id) {
            lane.unread(again);
            self.poke(id, now);
        }
    }

    /// When something that was begun may be sent: mostly now.
    pub(crate) fn reserve(&mut self, id: LaneId, now: Moment) -> Duration {
        let Some(to) = self.destinations.get_mut(&id.connection) else { return now.passed };
        to.pace.reserve(now.passed)
    }

    /// An attempt was answered, or was not, after so long.
    pub(crate) fn took(&mut self, id: LaneId, time: Duration, now: Moment) {
        if let Some(lane) = self.lanes.get_mut(&id) {
            lane.took(time, now);
        }
    }

    /// The attempt with this event is over, its outcome not yet stored; tells whether the
    /// destination rests from now on.
    pub(crate) fn attempted(
        &mut self,
        id: LaneId,
        event: Id<Event>,
        felt: Felt,
        now: Moment,
    ) -> bool {
        let Some(lane) = self.lanes.get_mut(&id) else { return false };
        let Some(rests) = lane.attempted(event, felt, now) else { return false };
        if let Some(to) = self.destinations.get_mut(&id.connection) {
            to.running = to.running.saturating_sub(1);
        }
        // The other first: where there is room for one, they take turns.
        self.poke(id.other(), now);
        self.poke(id, now);
        rests
    }

    /// Its outcome is stored. `again` is the delivery if it needs another attempt. An attempt that
    /// nobody has said the end of has ended too.
    pub(crate) fn settled(
        &mut self,
        of: &LaneOf,
        event: Id<Event>,
        order_key: Option<&str>,
        again: Option<Work>,
        now: Moment,
    ) {
        self.attempted(of.id, event, Felt::Nothing, now);
        self.slots += 1;
        if let Some(running) = self.running.get_mut(&of.account) {
            *running -= 1;
            if *running == 0 {
                self.running.remove(&of.account);
            }
        }
        if let Some(to) = self.destinations.get_mut(&of.id.connection) {
            to.slots = to.slots.saturating_sub(1);
        }
        self.poke(of.id.other(), now);
        if let Some(lane) = self.lanes.get_mut(&of.id) {
            lane.settled(event, order_key, again, now.wall);
            self.poke(of.id, now);
            self.tidy(of.id, now);
        }
    }

    /// Everything that an earlier run has left is in its lane or noted: those that keep an order
    /// may begin.
    pub(crate) fn start(&mut self, now: Moment) {
        self.started = true;
        let mut all: Vec<_> = self.lanes.keys().copied().collect();
        all.sort_unstable();
        all.into_iter().for_each(|id| self.poke(id, now));
    }

    pub(crate) fn under_way(&self) -> usize {
        limits::SLOTS_MAX - self.slots
    }

    pub(crate) fn stop(&mut self) {
        self.stopped = true;
    }

    /// Deliveries that wait in memory, and since when the oldest has, by account.
    pub(crate) fn waiting(&self) -> (usize, HashMap<Id<Account>, Timestamp>) {
        let mut oldest = HashMap::new();
        for lane in self.lanes.values() {
            if let Some(since) = lane.oldest() {
                let known = oldest.entry(lane.account).or_insert(since);
                *known = since.min(*known);
            }
        }
        (self.lanes.values().map(Lane::waiting).sum(), oldest)
    }

    fn lane(&mut self, of: LaneOf) -> &mut Lane {
        let destinations = &mut self.destinations;
        self.lanes.entry(of.id).or_insert_with(|| {
            destinations.entry(of.id.connection).or_default().pace.set(of.terms.per_second);
            Lane::new(of.account, of.source, of.terms)
        })
    }

    fn poke(&mut self, id: LaneId, now: Moment) {
        let Some(lane) = self.lanes.get(&id) else { return };
        match lane.ready(now, self.started) {
            Ready::Send | Ready::Read => self.turns.enter(lane.account, lane.source, id),
            Ready::At(at) => self.set_timer(id, at),
            Ready::Idle => {}
        }
    }

    fn set_timer(&mut self, id: LaneId, at: Duration) {
        let Some(lane) = self.lanes.get_mut(&id) else { return };
        match lane.timer {
            Some(before) if before <= at => return,
            Some(before) => {
                self.timers.remove(&(before, id));
            }
            None => {}
        }
        lane.timer = Some(at);
        self.timers.insert((at, id));
    }

    fn tick(&mut self, now: Moment) {
        while let Some((at, id)) = self.timers.first().copied().filter(|(at, _)| *at <= now.passed)
        {
            self.timers.remove(&(at, id));
            if let Some(lane) = self.lanes.get_mut(&id) {
                lane.timer = None;
            }
            self.poke(id, now);
        }
    }

    /// A lane that nothing is known of need not be remembered, nor a destination without a lane.
    fn tidy(&mut self, id: LaneId, now: Moment) {
        if self.lanes.get(&id).is_some_and(|lane| lane.is_bare(now))
            && let Some(lane) = self.lanes.remove(&id)
            && let Some(at) = lane.timer
        {
            self.timers.remove(&(at, id));
        }
        let has_lane = self.lanes.contains_key(&id) || self.lanes.contains_key(&id.other());
        let is_bare =
            |to: &Destination| to.running == 0 && to.slots == 0 && to.pace.opens() <= now.passed;
        if !has_lane && self.destinations.get(&id.connection).is_some_and(is_bare) {
            self.destinations.remove(&id.connection);
        }
    }
}

#[cfg(test)]
mod tests;
