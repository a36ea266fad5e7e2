//! Who waits, and whose turn it is: one after the other over connections.
//!
//! There are two lines. Connections whose last runs were quick wait in one and have threads of
//! their own; all others, those included that nobody knows yet, wait in the other. So a quick one
//! never stands behind a slow one. Of the threads that are left to the others one connection has at
//! most all but one; with what they do not need they help the quick ones, when many of those wait.

mod pace;

use std::collections::{HashMap, VecDeque};
use std::time::Duration;

use ferryhook_core::{Connection, Id};

use super::limits::{HELPED_FROM, WAITING_MAX, WAITING_PER_CONNECTION_MAX};
use pace::Paces;

#[derive(Debug)]
pub(super) struct Line<J> {
    lanes: HashMap<Id<Connection>, Lane<J>>,
    /// Those that have something waiting, each once and in one of them.
    quick_turns: VecDeque<Id<Connection>>,
    other_turns: VecDeque<Id<Connection>>,
    waiting: usize,
    quick_waiting: usize,
    paces: Paces,
    /// Runs under way on threads that are not for the quick ones: of others, and of quick ones.
    others_running: usize,
    helped_running: usize,
}

#[derive(Debug)]
struct Lane<J> {
    waiting: VecDeque<J>,
    running: usize,
    /// In which of the two lines it stands.
    is_quick: bool,
}

/// Whom a thread is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum For {
    Quick,
    Others,
}

/// How many threads there are for quick ones, and for the others, or will be once they are needed.
#[derive(Debug, Clone, Copy)]
pub(super) struct Room {
    pub(super) quick: usize,
    pub(super) others: usize,
}

/// One run that has begun. Given back when it is over.
#[derive(Debug)]
pub(super) struct Turn {
    pub(super) connection: Id<Connection>,
    pub(super) on: For,
    was_quick: bool,
}

impl<J> Line<J> {
    pub(super) fn new() -> Self {
        Self {
            lanes: HashMap::new(),
            quick_turns: VecDeque::new(),
            other_turns: VecDeque::new(),
            waiting: 0,
            quick_waiting: 0,
            paces: Paces::default(),
            others_running: 0,
            helped_running: 0,
        }
    }

    /// Whether its last runs were.
    pub(super) fn is_quick(&self, connection: Id<Connection>) -> bool {
        self.paces.is_quick(connection)
    }

    /// Whether so many quick ones wait that their own threads are not enough.
    pub(super) fn needs_help(&self, room: Room) -> bool {
        self.quick_waiting >= HELPED_FROM || (room.quick == 0 && self.quick_waiting > 0)
    }

    /// `false` when there is no room.
    pub(super) fn enter(&mut self, connection: Id<Connection>, job: J) -> bool {
        if self.waiting >= WAITING_MAX {
            return false;
        }
        let lane = self.lane(connection);
        if lane.waiting.len() >= WAITING_PER_CONNECTION_MAX {
            return false;
        }
        lane.waiting.push_back(job);
        self.entered(connection);
        true
    }

    /// The next one for a thread of this kind.
    pub(super) fn next(&mut self, on: For, room: Room) -> Option<(Turn, J)> {
        if on == For::Quick {
            return self.next_quick(on, room);
        }
        if let Some(next) = self.next_other(room) {
            return Some(next);
        }
        // One stays free for the others, unless the quick ones have nobody else.
        let may_help = room.quick == 0 || self.helped_running + 1 < room.others;
        match may_help && self.needs_help(room) {
            true => self.next_quick(on, room),
            false => None,
        }
    }

    fn next_quick(&mut self, on: For, room: Room) -> Option<(Turn, J)> {
        let most = (room.quick + room.others).saturating_sub(1).max(1);
        let place = self
            .quick_turns
            .iter()
            .position(|id| self.lanes.get(id).is_some_and(|lane| lane.running < most))?;
        let connection = self.quick_turns.remove(place)?;
        self.begin(connection, on)
    }

    fn next_other(&mut self, room: Room) -> Option<(Turn, J)> {
        if self.others_running >= room.others {
            return None;
        }
        let most = room.others.saturating_sub(1).max(1);
        let place = self
            .other_turns
            .iter()
            .position(|id| self.lanes.get(id).is_some_and(|lane| lane.running < most))?;
        let connection = self.other_turns.remove(place)?;
        self.begin(connection, For::Others)
    }

    /// Whoever may not go yet stays in front; whoever has gone stands at the end again.
    fn begin(&mut self, connection: Id<Connection>, on: For) -> Option<(Turn, J)> {
        let lane = self.lanes.get_mut(&connection)?;
        let job = lane.waiting.pop_front()?;
        lane.running += 1;
        let (was_quick, has_more) = (lane.is_quick, !lane.waiting.is_empty());
        self.waiting -= 1;
        self.quick_waiting -= usize::from(was_quick);
        match (on, was_quick) {
            (For::Others, false) => self.others_running += 1,
            (For::Others, true) => self.helped_running += 1,
            (For::Quick, _) => {}
        }
        if has_more {
            self.turns(was_quick).push_back(connection);
        }
        Some((Turn { connection, on, was_quick }, job))
    }

    /// Takes note of how long it was at work, unless that says nothing about the connection.
    pub(super) fn finish(&mut self, turn: &Turn, took: Option<Duration>) {
        match (turn.on, turn.was_quick) {
            (For::Others, false) => self.others_running -= 1,
            (For::Others, true) => self.helped_running -= 1,
            (For::Quick, _) => {}
        }
        if let Some(took) = took {
            self.paces.note(turn.connection, took);
        }
        if let Some(lane) = self.lanes.get_mut(&turn.connection) {
            lane.running -= 1;
            if lane.running == 0 && lane.waiting.is_empty() {
                self.lanes.remove(&turn.connection);
            }
        }
        self.change_lines(turn.connection);
    }

    /// It took longer than a quick one may, and goes back, before those of its connection that
    /// have not begun yet.
    pub(super) fn put_back(&mut self, turn: &Turn, job: J) {
        self.finish(turn, Some(Duration::MAX));
        self.lane(turn.connection).waiting.push_front(job);
        self.entered(turn.connection);
    }

    /// Everyone who waits, sent away.
    pub(super) fn clear(&mut self) -> Vec<J> {
        let mut jobs = self.clear_others();
        jobs.extend(self.clear_line(true));
        jobs
    }

    /// Everyone who waits and is not known as quick.
    pub(super) fn clear_others(&mut self) -> Vec<J> {
        self.clear_line(false)
    }

    fn clear_line(&mut self, is_quick: bool) -> Vec<J> {
        self.turns(is_quick).clear();
        let lanes = self.lanes.values_mut().filter(|lane| lane.is_quick == is_quick);
        let jobs: Vec<J> = lanes.flat_map(|lane| lane.waiting.drain(..)).collect();
        self.waiting -= jobs.len();
        self.quick_waiting -= if is_quick { jobs.len() } else { 0 };
        self.lanes.retain(|_, lane| lane.running > 0 || !lane.waiting.is_empty());
        jobs
    }

    fn lane(&mut self, connection: Id<Connection>) -> &mut Lane<J> {
        let is_quick = self.paces.is_quick(connection);
        let new = || Lane { waiting: VecDeque::new(), running: 0, is_quick };
        self.lanes.entry(connection).or_insert_with(new)
    }

    /// One more of its jobs waits.
    fn entered(&mut self, connection: Id<Connection>) {
        let Some(lane) = self.lanes.get(&connection) else { return };
        let (is_quick, is_first) = (lane.is_quick, lane.waiting.len() == 1);
        self.waiting += 1;
        self.quick_waiting += usize::from(is_quick);
        if is_first {
            self.turns(is_quick).push_back(connection);
        }
    }

    /// To the line where it belongs by now, with all that waits.
    fn change_lines(&mut self, connection: Id<Connection>) {
        let is_quick = self.paces.is_quick(connection);
        let Some(lane) = self.lanes.get_mut(&connection) else { return };
        if lane.is_quick == is_quick {
            return;
        }
        lane.is_quick = is_quick;
        let waiting = lane.waiting.len();
        if waiting == 0 {
            return;
        }
        match is_quick {
            true => self.quick_waiting += waiting,
            false => self.quick_waiting -= waiting,
        }
        self.turns(!is_quick).retain(|other| *other != connection);
        self.turns(is_quick).push_back(connection);
    }

    fn turns(&mut self, is_quick: bool) -> &mut VecDeque<Id<Connection>> {
        match is_quick {
            true => &mut self.quick_turns,
            false => &mut self.other_turns,
        }
    }
}

#[cfg(test)]
mod tests;
