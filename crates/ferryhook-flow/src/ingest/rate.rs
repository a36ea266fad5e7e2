//! Rate: how many events a source may send in a minute, whichever minute one looks at.
//!
//! In process and of constant cost: a flood must not find its limit in a store.

use std::collections::HashMap;
use std::time::Duration;

use ferryhook_core::sliding::Window;
use ferryhook_core::{Id, Source};

use super::limits;
use crate::shards::{SHARDS, Shards};

/// What one who is over the limit is told.
pub(super) use ferryhook_core::sliding::Full as Standing;

pub(super) const WINDOW: Duration = Duration::from_secs(60);

#[derive(Debug, Default)]
pub(super) struct Rates(Shards<HashMap<Id<Source>, Window>>);

impl Rates {
    /// Takes one request in, unless the source has had its share.
    pub(super) fn take(&self, id: Id<Source>, limit: u64, now: Duration) -> Result<(), Standing> {
        let mut windows = self.0.of(id);
        if windows.len() >= limits::WINDOWS_MAX / SHARDS && !windows.contains_key(&id) {
            make_room(&mut windows, now);
        }
        windows.entry(id).or_default().take(limit, WINDOW, now)
    }

    /// A request has turned out to hold this many more.
    pub(super) fn add(&self, id: Id<Source>, more: u64) {
        if let Some(window) = self.0.of(id).get_mut(&id) {
            window.add(more);
        }
    }
}

/// Lets go of those that have been quiet, and of some other if all are busy.
fn make_room(windows: &mut HashMap<Id<Source>, Window>, now: Duration) {
    let quiet = windows.iter().find(|(_, window)| window.is_quiet(WINDOW, now));
    match quiet.or_else(|| windows.iter().next()).map(|(id, _)| *id) {
        Some(id) => drop(windows.remove(&id)),
        None => unreachable!("it is full"),
    }
}

#[cfg(test)]
mod tests;
