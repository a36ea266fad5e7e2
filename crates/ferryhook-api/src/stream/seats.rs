//! How many streams each account reads at a time, and all of them together; and their end.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use ferryhook_core::{Account, Id};
use tokio::sync::watch;

use crate::limits;

type Taken = Arc<Mutex<Counts>>;

#[derive(Debug, Default)]
struct Counts {
    all: usize,
    by_account: HashMap<Id<Account>, usize>,
}

#[derive(Debug, Clone, Default)]
pub struct Seats {
    taken: Taken,
    is_over: Arc<watch::Sender<bool>>,
}

/// Given back when it is dropped.
#[derive(Debug)]
pub(super) struct Seat {
    taken: Taken,
    account: Id<Account>,
}

/// Why there is none.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Full {
    ByAccount,
    ByAll,
}

impl Seats {
    /// Ends every stream: those who read would else keep their connections.
    pub fn close(&self) {
        self.is_over.send_replace(true);
    }

    pub(super) fn is_closed(&self) -> bool {
        *self.is_over.borrow()
    }

    /// Resolves when they are to end.
    pub(super) async fn closed(&self) {
        let _ = self.is_over.subscribe().wait_for(|over| *over).await;
    }

    pub(super) fn take(&self, account: Id<Account>) -> Result<Seat, Full> {
        let mut taken = self.taken.lock().unwrap_or_else(PoisonError::into_inner);
        let count = taken.by_account.get(&account).copied().unwrap_or(0);
        if count >= limits::STREAMS_PER_ACCOUNT_MAX {
            return Err(Full::ByAccount);
        }
        if taken.all >= limits::STREAMS_MAX {
            return Err(Full::ByAll);
        }
        taken.all += 1;
        taken.by_account.insert(account, count + 1);
        Ok(Seat { taken: self.taken.clone(), account })
    }
}

impl Drop for Seat {
    fn drop(&mut self) {
        let mut taken = self.taken.lock().unwrap_or_else(PoisonError::into_inner);
        taken.all -= 1;
        if let Some(count) = taken.by_account.get_mut(&self.account) {
            *count -= 1;
            if *count == 0 {
                taken.by_account.remove(&self.account);
            }
        }
    }
}
