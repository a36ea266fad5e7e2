//! Turns: outcomes of one event are written one after the other.
//!
//! Where an event stands rests on all of its deliveries, so of two outcomes that are written at
//! once one is refused and has to look again. Of seventy that come together one gets through each
//! time, and the last would have been refused sixty-nine times. Here each waits for those before
//! it instead. It only saves work: what another process writes is found by the revisions.

use ferryhook_core::{Event, Id};
use tokio::sync::{Mutex, MutexGuard};

use crate::limits;

#[derive(Debug)]
pub(super) struct Turns(Box<[Mutex<()>]>);

impl Default for Turns {
    fn default() -> Self {
        Self((0..limits::TURNS).map(|_| Mutex::default()).collect())
    }
}

impl Turns {
    /// To be held until the outcome is written. Events that share a place wait for each other too.
    pub(super) async fn of(&self, event: Id<Event>) -> MutexGuard<'_, ()> {
        // No hasher with chance in it: a run has to be repeatable.
        let mix = |mixed: usize, byte| mixed.wrapping_mul(31).wrapping_add(usize::from(byte));
        let place = event.as_str().bytes().fold(0, mix) % self.0.len();
        self.0[place].lock().await
    }
}
