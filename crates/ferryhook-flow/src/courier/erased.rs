//! Events that are gone from the store while something of them still waits in memory: told by
//! whoever erases, and asked before every attempt. What is read from the store finds out by itself.

use ferryhook_core::{Event, Id, Source};

use super::{Inner, lock};
use crate::limits;

impl Inner {
    /// Begins no attempt with this event any more, whatever of it is in memory. What is under way
    /// is finished, and leaves no trace.
    pub(crate) fn forget(&self, event: Id<Event>, of: Option<Id<Source>>) {
        let lanes = self.lanes();
        let taken = lock(&self.taken);
        if !taken.contains(&event) && !lanes.lanes.has(event, of) {
            return;
        }
        let mut erased = lock(&self.erased);
        if erased.len() >= limits::ERASED_REMEMBERED {
            erased.retain(|event| taken.contains(event) || lanes.lanes.has(*event, None));
        }
        erased.insert(event);
    }

    pub(super) fn is_erased(&self, event: Id<Event>) -> bool {
        lock(&self.erased).contains(&event)
    }
}
