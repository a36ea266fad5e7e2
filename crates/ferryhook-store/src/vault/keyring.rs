//! The keys that are at hand: the master keys, and those of owners that were unwrapped lately.

use std::collections::{HashMap, VecDeque};
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use ferryhook_core::limits::DATA_KEYS_IN_MEMORY_MAX;
use ferryhook_core::sealing::{DataCipher, MasterKey};

use super::MasterKeys;

pub(super) struct Keyring(Mutex<Keys>);

struct Keys {
    /// Wraps what is new.
    master: Arc<MasterKey>,
    /// Open what they wrapped.
    former: Vec<Arc<MasterKey>>,
    ciphers: HashMap<Arc<str>, Arc<DataCipher>>,
    /// In the order in which they came; the oldest goes when there are too many.
    order: VecDeque<Arc<str>>,
}

impl Keyring {
    pub(super) fn new(masters: MasterKeys) -> Self {
        Self(Mutex::new(Keys {
            master: Arc::new(masters.current),
            former: masters.former.into_iter().map(Arc::new).collect(),
            ciphers: HashMap::new(),
            order: VecDeque::new(),
        }))
    }

    pub(super) fn master(&self) -> Arc<MasterKey> {
        self.lock().master.clone()
    }

    pub(super) fn find_master(&self, id: &str) -> Option<Arc<MasterKey>> {
        self.lock().masters().find(|master| master.id() == id).cloned()
    }

    /// Of the master keys, for people.
    pub(super) fn names(&self) -> String {
        let keys = self.lock();
        keys.masters().map(|master| master.id()).collect::<Vec<_>>().join(", ")
    }

    pub(super) fn has_former(&self) -> bool {
        !self.lock().former.is_empty()
    }

    /// From now on this one wraps what is new.
    pub(super) fn change_master(&self, new: MasterKey) -> Arc<MasterKey> {
        let mut keys = self.lock();
        let was = std::mem::replace(&mut keys.master, Arc::new(new));
        keys.former.push(was);
        keys.master.clone()
    }

    /// Nothing needs the former ones any more.
    pub(super) fn forget_former(&self) {
        self.lock().former.clear();
    }

    pub(super) fn find(&self, owner: &str) -> Option<Arc<DataCipher>> {
        self.lock().ciphers.get(owner).cloned()
    }

    pub(super) fn keep(&self, owner: &str, cipher: Arc<DataCipher>) {
        let owner: Arc<str> = owner.into();
        let mut keys = self.lock();
        if keys.ciphers.insert(owner.clone(), cipher).is_some() {
            return;
        }
        keys.order.push_back(owner);
        if keys.order.len() > DATA_KEYS_IN_MEMORY_MAX
            && let Some(oldest) = keys.order.pop_front()
        {
            keys.ciphers.remove(&oldest);
        }
    }

    #[cfg(test)]
    pub(super) fn len(&self) -> usize {
        self.lock().ciphers.len()
    }

    fn lock(&self) -> MutexGuard<'_, Keys> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Keys {
    fn masters(&self) -> impl Iterator<Item = &Arc<MasterKey>> {
        std::iter::once(&self.master).chain(&self.former)
    }
}

impl fmt::Debug for Keyring {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Keyring").field("masters", &self.names()).finish_non_exhaustive()
    }
}
