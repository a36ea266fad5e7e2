//! Who waits, and whose turn it is: one after the other over connections.
//!
//! A connection has at most all threads but one at a time, and so have those together that are
//! known to be slow: whatever some do, there is a thread for the others.

use std::collections::{HashMap, HashSet, VecDeque};
use std::time::Duration;

use ferryhook_core::{Connection, Id};

use super::limits::{SLOW, SLOW_MAX, WAITING_MAX, WAITING_PER_CONNECTION_MAX};

#[derive(Debug)]
pub(super) struct Line<J> {
    lanes: HashMap<Id<Connection>, Lane<J>>,
    /// Those that have something waiting, each once.
    turns: VecDeque<Id<Connection>>,
    waiting: usize,
    slow: HashSet<Id<Connection>>,
    slow_running: usize,
}

#[derive(Debug)]
struct Lane<J> {
    waiting: VecDeque<J>,
    running: usize,
}

/// One run that has begun. Given back when it is over.
#[derive(Debug)]
pub(super) struct Turn {
    pub(super) connection: Id<Connection>,
    was_slow: bool,
}

impl<J> Line<J> {
    pub(super) fn new() -> Self {
        Self {
            lanes: HashMap::new(),
            turns: VecDeque::new(),
            waiting: 0,
            slow: HashSet::new(),
            slow_running: 0,
        }
    }

    /// `false` when there is no room.
    pub(super) fn enter(&mut self, connection: Id<Connection>, job: J) -> bool {
        if self.waiting >= WAITING_MAX {
            return false;
        }
        let lane = self.lanes.entry(connection);
        let lane = lane.or_insert_with(|| Lane { waiting: VecDeque::new(), running: 0 });
        if lane.waiting.len() >= WAITING_PER_CONNECTION_MAX {
            return false;
        }
        if lane.waiting.is_empty() {
            self.turns.push_back(connection);
        }
        lane.waiting.push_back(job);
        self.waiting += 1;
        true
    }

    /// The next one that may go, given that there are so many threads.
    pub(super) fn next(&mut self, threads: usize) -> Option<(Turn, J)> {
        let most = threads.saturating_sub(1).max(1);
        for _ in 0..self.turns.len() {
            let connection = self.turns.pop_front()?;
            let was_slow = self.slow.contains(&connection);
            let Some(lane) = self.lanes.get_mut(&connection) else { continue };
            if lane.running >= most || was_slow && self.slow_running >= most {
                self.turns.push_back(connection);
                continue;
            }
            let Some(job) = lane.waiting.pop_front() else { continue };
            lane.running += 1;
            self.waiting -= 1;
            self.slow_running += usize::from(was_slow);
            if !lane.waiting.is_empty() {
                self.turns.push_back(connection);
            }
            return Some((Turn { connection, was_slow }, job));
        }
        None
    }

    pub(super) fn finish(&mut self, turn: &Turn, took: Duration) {
        self.slow_running -= usize::from(turn.was_slow);
        if took > SLOW {
            if self.slow.len() >= SLOW_MAX {
                self.slow.clear();
            }
            self.slow.insert(turn.connection);
        } else if took < SLOW / 2 {
            self.slow.remove(&turn.connection);
        }
        if let Some(lane) = self.lanes.get_mut(&turn.connection) {
            lane.running -= 1;
            if lane.running == 0 && lane.waiting.is_empty() {
                self.lanes.remove(&turn.connection);
            }
        }
    }

    /// Everyone who waits, sent away.
    pub(super) fn clear(&mut self) -> Vec<J> {
        self.turns.clear();
        self.waiting = 0;
        self.lanes.values_mut().flat_map(|lane| lane.waiting.drain(..)).collect()
    }
}
