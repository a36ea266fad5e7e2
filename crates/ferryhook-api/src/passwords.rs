//! Passwords: what counts as one, and how it is kept and compared.
//!
//! bcrypt of cost 12, a quarter of a second on purpose. So it runs beside the server's own
//! threads, on half of the processors at most, and only so many may wait for their turn: a flood
//! of logins is told to come back and slows down nothing else. Whoever asks for a user that does
//! not exist waits for as long as everybody else.

mod common;

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use ferryhook_core::{Env, Secret};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::problem::{Code, Problem};

const COST: u32 = 12;
pub const CHARACTERS_MIN: usize = 8;
/// bcrypt reads no further, and what it does not read must not look like part of a password.
pub const BYTES_MAX: usize = 72;
/// How many may wait for a turn.
const WAITING_MAX: usize = 64;

/// Of a password that nobody has, to be compared with for somebody who does not exist.
const NOBODYS: &str = "$2b$12$abcdefghijklmnopqrstuuUew0zIvH2kQdWAQ7.VijjErS6Xmx2rO";

/// Cheap to clone: clones share the turns.
#[derive(Clone)]
pub struct Passwords {
    env: Env,
    cost: u32,
    turns: Arc<Semaphore>,
    room: Arc<Semaphore>,
    /// How often bcrypt has run. It is what takes time, and so what could tell something.
    work: Arc<AtomicU64>,
}

/// Too many want to have something hashed.
#[derive(Debug, thiserror::Error)]
#[error("too many passwords are being checked")]
pub struct Busy;

impl From<Busy> for Problem {
    fn from(_: Busy) -> Self {
        Self::new(Code::Unavailable, "Too many are signing in at this moment. Ask again.")
    }
}

impl Passwords {
    pub fn new(env: Env) -> Self {
        Self::of_cost(env, COST)
    }

    /// For tests of what is around a password.
    #[cfg(test)]
    pub(crate) fn cheap(env: Env) -> Self {
        Self::of_cost(env, 4)
    }

    fn of_cost(env: Env, cost: u32) -> Self {
        let processors = std::thread::available_parallelism().map_or(1, usize::from);
        Self::with(env, cost, (processors / 2).max(1))
    }

    fn with(env: Env, cost: u32, turns: usize) -> Self {
        let (room, turns) = (Semaphore::new(turns + WAITING_MAX), Semaphore::new(turns));
        Self { env, cost, turns: Arc::new(turns), room: Arc::new(room), work: Arc::default() }
    }

    /// What is kept of it.
    pub async fn hash(&self, password: &str) -> Result<Secret, Problem> {
        let mut salt = [0u8; 16];
        self.env.fill(&mut salt);
        let (password, cost) = (Secret::new(password), self.cost);
        let hashed = self.run(move || bcrypt::hash_with_salt(password.expose(), cost, salt));
        let hashed = hashed.await?.map_err(|error| {
            tracing::error!(%error, "a password cannot be hashed");
            Problem::internal()
        })?;
        Ok(Secret::new(hashed.to_string()))
    }

    /// Whether it is the one that was kept. With nothing kept it takes as long, and is not.
    pub async fn is_right(&self, password: &str, kept: Option<&Secret>) -> Result<bool, Busy> {
        let against = kept.map_or(NOBODYS, Secret::expose).to_owned();
        let password = Secret::new(password);
        let verified = self.run(move || bcrypt::verify(password.expose(), &against)).await?;
        Ok(kept.is_some()
            && verified.unwrap_or_else(|error| {
                tracing::error!(%error, "a kept password cannot be read");
                false
            }))
    }

    #[cfg(test)]
    pub(crate) fn work_done(&self) -> u64 {
        self.work.load(Ordering::Relaxed)
    }

    async fn run<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, Busy> {
        let room = self.room.clone().try_acquire_owned().map_err(|_| Busy)?;
        let turn = self.turns.clone().acquire_owned().await.map_err(|_| Busy)?;
        // Whoever hangs up meanwhile does not give their turn to another: the thread is busy.
        let held: (OwnedSemaphorePermit, OwnedSemaphorePermit) = (room, turn);
        self.work.fetch_add(1, Ordering::Relaxed);
        let done = tokio::task::spawn_blocking(move || {
            let done = work();
            drop(held);
            done
        });
        done.await.map_err(|_| Busy)
    }
}

impl fmt::Debug for Passwords {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Passwords").field("free", &self.turns.available_permits()).finish()
    }
}

/// Whether a new password will do, for somebody with this address. No rules of composition: length
/// is what helps, and what everybody tries first does not.
pub fn check(password: &str, email: &str, pointer: &str) -> Result<(), Problem> {
    let wrong = |message: String| Err(Problem::invalid(pointer, message));
    if password.chars().count() < CHARACTERS_MIN {
        return wrong(format!("a password has at least {CHARACTERS_MIN} characters"));
    }
    if password.len() > BYTES_MAX {
        return wrong(format!(
            "a password has at most {BYTES_MAX} bytes, which is {BYTES_MAX} plain letters; \
             accents, other scripts and emoji take two to four each"
        ));
    }
    if password.contains('\0') {
        return wrong("a password cannot contain the character NUL".to_owned());
    }
    let lower = password.to_lowercase();
    let email = email.trim().to_lowercase();
    let name = email.split('@').next().unwrap_or_default();
    if common::is_common(&lower) || lower == email || lower == name {
        return wrong("this password is among the first that anybody would try".to_owned());
    }
    Ok(())
}

#[cfg(test)]
mod tests;
