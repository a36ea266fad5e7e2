//! What an ordered lane has in sight: how much of it may go on, and which keys have to wait.

use std::collections::{HashMap, HashSet, VecDeque};
use std::sync::Arc;

use ferryhook_core::Timestamp;

use super::left_out::LeftOut;
use super::{Ordering, Work};
use crate::limits;

#[derive(Debug, Default)]
pub(super) struct Sight {
    /// Those that no failure stands before.
    pub(super) free: usize,
    /// Those that the store has as well.
    pub(super) kept: usize,
    keys: HashMap<Arc<str>, Seen>,
}

#[derive(Debug, Default)]
struct Seen {
    count: usize,
    /// Its first waits for its time.
    waits: bool,
    /// Nothing of it that comes before is left out.
    has_next: bool,
}

impl Sight {
    pub(super) fn of(
        works: &VecDeque<Work>,
        ordering: Option<Ordering>,
        left: &LeftOut,
        now: Timestamp,
    ) -> Self {
        let mut sight = Self::default();
        for work in works {
            sight.add(work, ordering, left, now);
        }
        sight
    }

    fn add(&mut self, work: &Work, ordering: Option<Ordering>, left: &LeftOut, now: Timestamp) {
        self.kept += usize::from(!work.is_fresh());
        let Some(key) = &work.order_key else {
            self.free += usize::from(work.due <= now);
            return;
        };
        let seen = self.keys.entry(key.clone()).or_default();
        seen.count += 1;
        if left.hides(key, work.since) {
            return;
        }
        seen.has_next = true;
        match work.due <= now {
            true => self.free += usize::from(!seen.waits),
            false => seen.waits |= stands_before_others(work, ordering),
        }
    }

    /// Whether there is room for this one, which the store has as well; if so it is in sight now.
    pub(super) fn takes(
        &mut self,
        work: &Work,
        ordering: Option<Ordering>,
        left: &LeftOut,
        now: Timestamp,
    ) -> bool {
        if let Some(key) = &work.order_key {
            let seen = self.keys.get(key);
            let has_few = seen.is_some_and(|seen| seen.count >= limits::KEPT_OF_A_KEY);
            let waits = seen.is_some_and(|seen| seen.waits) && self.is_narrow();
            let is_full = self.kept >= limits::ORDERED_KEPT_MAX;
            if left.has(key) || has_few && (waits || is_full) {
                return false;
            }
        }
        self.add(work, ordering, left, now);
        true
    }

    /// So much is in memory that what has to wait should not be.
    fn is_narrow(&self) -> bool {
        self.kept >= limits::ORDERED_IN_SIGHT / 2
    }

    pub(super) fn waits(&self, key: &str) -> bool {
        self.keys.get(key).is_some_and(|seen| seen.waits)
    }

    pub(super) fn has_next(&self, key: &str) -> bool {
        self.keys.get(key).is_some_and(|seen| seen.has_next)
    }
}

/// Whether so many may go on, looking no further than that takes.
pub(super) fn has_free(
    works: &VecDeque<Work>,
    ordering: Option<Ordering>,
    now: Timestamp,
    wanted: usize,
) -> bool {
    let (mut free, mut waiting) = (0, HashSet::new());
    for work in works {
        let key = work.order_key.as_deref();
        if key.is_some_and(|key| !waiting.is_empty() && waiting.contains(key)) {
            continue;
        }
        match (work.due <= now, key) {
            (true, _) => free += 1,
            (false, Some(key)) if stands_before_others(work, ordering) => {
                waiting.insert(key);
            }
            (false, _) => {}
        }
        if free >= wanted {
            return true;
        }
    }
    false
}

/// Whether those behind it have to wait for it.
pub(super) fn stands_before_others(work: &Work, ordering: Option<Ordering>) -> bool {
    let skip_after = ordering.and_then(|ordering| ordering.skip_after);
    skip_after.is_none_or(|after| work.failures < after)
}
