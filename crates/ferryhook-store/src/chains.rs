//! Whose turn it is to write the next line of an audit log.
//!
//! The head of a log decides: a line whose head was read too early is refused and tried again.
//! Within one process the writers of an account wait for each other instead, so that nobody is
//! refused in vain; other accounts do not wait.

use ferryhook_core::{Account, Id};
use tokio::sync::{Mutex, MutexGuard};
use xxhash_rust::xxh3::xxh3_64;

/// More than accounts that are managed at the same moment; two that share one only wait.
const COUNT: usize = 256;

#[derive(Debug)]
pub(crate) struct Chains([Mutex<()>; COUNT]);

impl Default for Chains {
    fn default() -> Self {
        Self(std::array::from_fn(|_| Mutex::default()))
    }
}

impl Chains {
    /// Held until the line is written.
    pub(crate) async fn turn(&self, account: Id<Account>) -> MutexGuard<'_, ()> {
        let place = xxh3_64(account.as_str().as_bytes()) as usize % COUNT;
        self.0[place].lock().await
    }
}
