//! State that many requests touch at once, behind many small locks.

use std::hash::{BuildHasher, Hash};
use std::sync::{Mutex, MutexGuard, PoisonError};

use ferryhook_core::quick::RandomState;

pub(crate) const SHARDS: usize = 16;

/// A `T` for each sixteenth of the keys. Locks are held for a lookup, never across an await.
#[derive(Debug)]
pub(crate) struct Shards<T> {
    hasher: RandomState,
    shards: [Mutex<T>; SHARDS],
}

impl<T: Default> Default for Shards<T> {
    fn default() -> Self {
        Self { hasher: RandomState::default(), shards: std::array::from_fn(|_| Mutex::default()) }
    }
}

impl<T> Shards<T> {
    pub(crate) fn of(&self, key: impl Hash) -> MutexGuard<'_, T> {
        let place = self.hasher.hash_one(key) as usize % SHARDS;
        self.shards[place].lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// One after the other, each locked for as long as it is looked at.
    pub(crate) fn each(&self) -> impl Iterator<Item = MutexGuard<'_, T>> {
        self.shards.iter().map(|shard| shard.lock().unwrap_or_else(PoisonError::into_inner))
    }
}
