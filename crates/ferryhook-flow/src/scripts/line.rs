//! Who waits, and whose turn it is: one after the other over connections.
//!
//! A connection has at most all threads but one at a time. So have all those together whose last
//! runs were not quick, or that nobody knows yet, and of these one leaves another to the rest:
//! whatever some do, there is a thread for the others.

use std::collections::{HashMap, VecDeque};
use std::time::Duration;

use ferryhook_core::{Connection, Id};

use super::limits::{QUICK_MAX, QUICK_RUNS, SLOW, WAITING_MAX, WAITING_PER_CONNECTION_MAX};

#[derive(Debug)]
pub(super) struct Line<J> {
    lanes: HashMap<Id<Connection>, Lane<J>>,
    /// Those that have something waiting, each once.
    turns: VecDeque<Id<Connection>>,
    waiting: usize,
    /// Runs in a row that were quick.
    quick: HashMap<Id<Connection>, u8>,
    unproven_running: usize,
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
    pub(super) was_quick: bool,
}

impl<J> Line<J> {
    pub(super) fn new() -> Self {
        Self {
            lanes: HashMap::new(),
            turns: VecDeque::new(),
            waiting: 0,
            quick: HashMap::new(),
            unproven_running: 0,
        }
    }

    /// Whether its last runs were.
    pub(super) fn is_quick(&self, connection: Id<Connection>) -> bool {
        self.quick.get(&connection).is_some_and(|runs| *runs >= QUICK_RUNS)
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

    /// The next one that may go, given that there are so many threads, and that so many runs of
    /// those that are not known as quick may be under way.
    pub(super) fn next(&mut self, threads: usize, unproven_max: usize) -> Option<(Turn, J)> {
        let most = threads.saturating_sub(1).max(1);
        let most_unproven = threads.saturating_sub(2).max(1);
        let is_full = self.unproven_running >= unproven_max;
        for _ in 0..self.turns.len() {
            let connection = self.turns.pop_front()?;
            let was_quick = self.is_quick(connection);
            let Some(lane) = self.lanes.get_mut(&connection) else { continue };
            let may_go = match was_quick {
                true => lane.running < most,
                false => lane.running < most_unproven && !is_full,
            };
            if !may_go {
                self.turns.push_back(connection);
                continue;
            }
            let Some(job) = lane.waiting.pop_front() else { continue };
            lane.running += 1;
            self.waiting -= 1;
            self.unproven_running += usize::from(!was_quick);
            if !lane.waiting.is_empty() {
                self.turns.push_back(connection);
            }
            return Some((Turn { connection, was_quick }, job));
        }
        None
    }

    /// Takes note of how long it took, unless that says nothing about the connection.
    pub(super) fn finish(&mut self, turn: &Turn, took: Option<Duration>) {
        self.unproven_running -= usize::from(!turn.was_quick);
        match took {
            Some(took) if took > SLOW => {
                self.quick.remove(&turn.connection);
            }
            Some(took) if took < SLOW / 2 => {
                if self.quick.len() >= QUICK_MAX && !self.quick.contains_key(&turn.connection) {
                    self.quick.clear();
                }
                let runs = self.quick.entry(turn.connection).or_default();
                *runs = runs.saturating_add(1);
            }
            _ => {}
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
        self.clear_if(|_| true)
    }

    /// Everyone who waits and is not known as quick.
    pub(super) fn clear_unproven(&mut self) -> Vec<J> {
        let quick = std::mem::take(&mut self.quick);
        let is_quick = |id: &Id<Connection>| quick.get(id).is_some_and(|runs| *runs >= QUICK_RUNS);
        let jobs = self.clear_if(|connection| !is_quick(connection));
        self.quick = quick;
        jobs
    }

    fn clear_if(&mut self, is_meant: impl Fn(&Id<Connection>) -> bool) -> Vec<J> {
        self.turns.retain(|connection| !is_meant(connection));
        let lanes = self.lanes.iter_mut().filter(|(connection, _)| is_meant(connection));
        let jobs: Vec<J> = lanes.flat_map(|(_, lane)| lane.waiting.drain(..)).collect();
        self.waiting -= jobs.len();
        self.lanes.retain(|_, lane| lane.running > 0 || !lane.waiting.is_empty());
        jobs
    }
}
