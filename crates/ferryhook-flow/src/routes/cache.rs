//! The maps behind [`Routes`](super::Routes): many small locks, each held for one lookup.

use std::collections::HashMap;
use std::hash::{BuildHasher, RandomState};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;

use ferryhook_core::quick::QuickMap;
use ferryhook_core::{Account, Id, Source};

use super::{Route, limits};

const SHARDS: usize = 64;
/// How many are looked at to find one that may go.
const SAMPLE: usize = 8;

#[derive(Debug)]
pub(super) struct Cache {
    /// Random, because strangers choose the ids that are looked up.
    hasher: RandomState,
    shards: [RwLock<Shard>; SHARDS],
}

#[derive(Debug, Default)]
struct Shard {
    routes: QuickMap<Id<Source>, Kept>,
    /// Until when an id is known to name nothing. Strangers choose these.
    unknown: HashMap<Id<Source>, Duration>,
}

#[derive(Debug)]
struct Kept {
    route: Arc<Route>,
    loaded_at: Duration,
    /// In seconds; what was not asked for lately goes first.
    asked_at: AtomicU64,
    /// Kept only to be compared with what is loaded next.
    forgotten: bool,
}

pub(super) enum Found {
    /// Good as it is, also if it is nothing.
    Fresh(Option<Arc<Route>>),
    /// To be used now and renewed beside.
    Stale(Arc<Route>),
    Nothing,
}

impl Default for Cache {
    fn default() -> Self {
        let shards = std::array::from_fn(|_| RwLock::default());
        Self { hasher: RandomState::new(), shards }
    }
}

impl Cache {
    pub(super) fn find(&self, id: Id<Source>, now: Duration) -> Found {
        let shard = self.shard(id).read().unwrap_or_else(PoisonError::into_inner);
        let Some(kept) = shard.routes.get(&id).filter(|kept| !kept.forgotten) else {
            return match shard.unknown.get(&id) {
                Some(until) if now < *until => Found::Fresh(None),
                _ => Found::Nothing,
            };
        };
        // Looked at first: a busy source would else have this line written by every core.
        if kept.asked_at.load(Ordering::Relaxed) != now.as_secs() {
            kept.asked_at.store(now.as_secs(), Ordering::Relaxed);
        }
        match now.saturating_sub(kept.loaded_at) {
            age if age < limits::FRESH_FOR => Found::Fresh(Some(kept.route.clone())),
            age if age < limits::STALE_FOR => Found::Stale(kept.route.clone()),
            _ => Found::Nothing,
        }
    }

    /// What is there, however old.
    pub(super) fn peek(&self, id: Id<Source>) -> Option<Arc<Route>> {
        let shard = self.shard(id).read().unwrap_or_else(PoisonError::into_inner);
        shard.routes.get(&id).map(|kept| kept.route.clone())
    }

    pub(super) fn keep(&self, id: Id<Source>, route: Option<Arc<Route>>, now: Duration) {
        let mut shard = self.shard(id).write().unwrap_or_else(PoisonError::into_inner);
        let Some(route) = route else {
            shard.routes.remove(&id);
            if shard.unknown.len() >= limits::UNKNOWN_MAX / SHARDS {
                shard.unknown.clear();
            }
            shard.unknown.insert(id, now + limits::UNKNOWN_FOR);
            return;
        };
        shard.unknown.remove(&id);
        if shard.routes.len() >= limits::ROUTES_MAX / SHARDS && !shard.routes.contains_key(&id) {
            shard.make_room();
        }
        let asked_at = AtomicU64::new(now.as_secs());
        shard.routes.insert(id, Kept { route, loaded_at: now, asked_at, forgotten: false });
    }

    pub(super) fn forget(&self, id: Id<Source>) {
        let mut shard = self.shard(id).write().unwrap_or_else(PoisonError::into_inner);
        shard.unknown.remove(&id);
        if let Some(kept) = shard.routes.get_mut(&id) {
            kept.forgotten = true;
        }
    }

    pub(super) fn forget_of(&self, account: Id<Account>) {
        for shard in &self.shards {
            let mut shard = shard.write().unwrap_or_else(PoisonError::into_inner);
            let routes = shard.routes.values_mut();
            let theirs = routes.filter(|kept| kept.route.source.account_id == account);
            theirs.for_each(|kept| kept.forgotten = true);
        }
    }

    pub(super) fn forget_all(&self) {
        for shard in &self.shards {
            let mut shard = shard.write().unwrap_or_else(PoisonError::into_inner);
            shard.unknown.clear();
            shard.routes.values_mut().for_each(|kept| kept.forgotten = true);
        }
    }

    #[cfg(test)]
    pub(super) fn len(&self) -> usize {
        self.shards.iter().map(|shard| shard.read().unwrap().routes.len()).sum()
    }

    #[cfg(test)]
    pub(super) fn unknown(&self) -> usize {
        self.shards.iter().map(|shard| shard.read().unwrap().unknown.len()).sum()
    }

    fn shard(&self, id: Id<Source>) -> &RwLock<Shard> {
        &self.shards[self.hasher.hash_one(id) as usize % SHARDS]
    }
}

impl Shard {
    /// Of a few, which chance picked, the one that was not asked for the longest.
    fn make_room(&mut self) {
        let some = self.routes.iter().take(SAMPLE);
        let oldest =
            some.min_by_key(|(_, kept)| (!kept.forgotten, kept.asked_at.load(Ordering::Relaxed)));
        if let Some(id) = oldest.map(|(id, _)| *id) {
            self.routes.remove(&id);
        }
    }
}
