//! How long the runs of each connection take: which of them are quick.
//!
//! A connection that nobody knows has to show it a few times. One that was quick and then was not
//! has to show it for longer, twice as long each time: else it could be slow every now and then at
//! the expense of those that never are.

use std::collections::HashMap;
use std::time::Duration;

use ferryhook_core::{Connection, Id};

use crate::scripts::limits::{QUICK, QUICK_MAX, QUICK_RUNS, QUICK_RUNS_MAX, SLOW};

#[derive(Debug, Default)]
pub(super) struct Paces(HashMap<Id<Connection>, Pace>);

#[derive(Debug)]
struct Pace {
    /// In a row that were quick, and how many of them are needed.
    runs: u16,
    needed: u16,
}

impl Paces {
    pub(super) fn is_quick(&self, connection: Id<Connection>) -> bool {
        self.0.get(&connection).is_some_and(|pace| pace.runs >= pace.needed)
    }

    pub(super) fn note(&mut self, connection: Id<Connection>, took: Duration) {
        if self.0.len() >= QUICK_MAX && !self.0.contains_key(&connection) {
            self.0.clear();
        }
        let new = Pace { runs: 0, needed: QUICK_RUNS };
        let pace = self.0.entry(connection).or_insert(new);
        if took > SLOW {
            if pace.runs >= pace.needed {
                pace.needed = pace.needed.saturating_mul(2).min(QUICK_RUNS_MAX);
            }
            pace.runs = 0;
        } else if took < QUICK {
            pace.runs = pace.runs.saturating_add(1);
        }
    }
}
