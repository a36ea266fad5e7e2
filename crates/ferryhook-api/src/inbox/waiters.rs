//! Requests that wait for something to come: how many of each account may.
//!
//! Each of them keeps a connection. One account's must not take all there are.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use ferryhook_core::{Account, Id};

use crate::limits;
use crate::problem::Problem;

/// Cheap to clone: clones count together.
#[derive(Debug, Clone, Default)]
pub struct Waiters(Arc<Mutex<HashMap<Id<Account>, usize>>>);

/// Given back when it is dropped.
#[derive(Debug)]
pub(super) struct Waiting {
    waiters: Waiters,
    account: Id<Account>,
}

impl Waiters {
    pub(super) fn enter(&self, account: Id<Account>) -> Result<Waiting, Problem> {
        let most = limits::INBOX_WAITING_MAX;
        let mut counts = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let count = counts.entry(account).or_default();
        if *count >= most {
            let said = format!("{most} requests of this account wait already.");
            return Err(Problem::too_fast(said, 1));
        }
        *count += 1;
        Ok(Waiting { waiters: self.clone(), account })
    }
}

impl Drop for Waiting {
    fn drop(&mut self) {
        let mut counts = self.waiters.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(count) = counts.get_mut(&self.account) {
            *count -= 1;
            if *count == 0 {
                counts.remove(&self.account);
            }
        }
    }
}
