//! The brake: how fast somebody may guess.
//!
//! Three at once. Whoever is guessed at (an address, a user's code) has a few tries, and then each
//! further one has to wait for twice as long as the one before. Where guesses come from (an
//! address of the network) has so many in a quarter of an hour, and the whole server so many in a
//! minute. Each try counts from its start, so that many at once are no way around; one that turns
//! out right is taken back.
//!
//! In this process and within bounds: it works without any other server, and a flood of names
//! makes it forget others, never grow. What it forgets costs a guesser's patience, not a secret.

use std::collections::HashMap;
use std::hash::{BuildHasher, RandomState};
use std::net::IpAddr;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use ferryhook_core::Env;
use ferryhook_core::sliding::{Full, Window};

use crate::problem::Problem;

/// Tries that cost no waiting.
const FREE_TRIES: u32 = 5;
const WAIT_MAX: Duration = Duration::from_secs(15 * 60);
/// After so long without a try all is forgotten.
const FORGOTTEN_AFTER: Duration = Duration::from_secs(60 * 60);

const FROM_ONE_ADDRESS: (u64, Duration) = (60, Duration::from_secs(15 * 60));
const IN_ALL: (u64, Duration) = (1_200, Duration::from_secs(60));

/// The longest stretch that anything is counted over.
const PACE_MAX: Duration = Duration::from_secs(24 * 60 * 60);

/// How many are remembered of either kind.
const REMEMBERED_MAX: usize = 50_000;
/// How many are looked at to find one to forget.
const LOOKED_AT: usize = 8;

/// What is tried. Tries of one sort say nothing about another.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Sort {
    Password,
    Code,
    /// A letter that somebody else will get.
    Letter,
    SignUp,
    Ticket,
}

#[derive(Debug)]
pub(crate) struct Brake {
    env: Env,
    hasher: RandomState,
    subjects: Mutex<HashMap<u64, Tries>>,
    addresses: Mutex<HashMap<u64, Window>>,
    paces: Mutex<HashMap<u64, Window>>,
    all: Mutex<Window>,
}

#[derive(Debug, Clone, Copy)]
struct Tries {
    wrong: u32,
    last: Duration,
}

/// A try under way, which counts as a wrong one until it is said to be right.
#[derive(Debug)]
#[must_use]
pub(crate) struct Try<'a> {
    brake: &'a Brake,
    subject: u64,
    address: Option<u64>,
}

impl Brake {
    pub(crate) fn new(env: Env) -> Self {
        Self {
            env,
            hasher: RandomState::new(),
            subjects: Mutex::default(),
            addresses: Mutex::default(),
            paces: Mutex::default(),
            all: Mutex::default(),
        }
    }

    /// Lets one try begin, or says how long to wait.
    pub(crate) fn begin(
        &self,
        sort: Sort,
        subject: &str,
        from: Option<IpAddr>,
    ) -> Result<Try<'_>, Problem> {
        let now = self.env.elapsed();
        let subject = self.hasher.hash_one((sort, subject.trim().to_lowercase()));
        let address = from.map(|address| self.hasher.hash_one(network(address)));
        self.check(subject, now)?;
        if let Some(address) = address {
            let mut windows = lock(&self.addresses);
            let (limit, length) = FROM_ONE_ADDRESS;
            make_room(&mut windows, address, |window| window.is_quiet(length, now));
            let taken = windows.entry(address).or_default().take(limit, length, now);
            taken.map_err(|full| too_fast(&full))?;
        }
        let (limit, length) = IN_ALL;
        lock(&self.all).take(limit, length, now).map_err(|full| too_fast(&full))?;
        let mut subjects = lock(&self.subjects);
        make_room(&mut subjects, subject, |tries| is_forgotten(tries, now));
        let tries = subjects.entry(subject).or_insert(Tries { wrong: 0, last: now });
        if is_forgotten(tries, now) {
            tries.wrong = 0;
        }
        *tries = Tries { wrong: tries.wrong.saturating_add(1), last: now };
        Ok(Try { brake: self, subject, address })
    }

    /// For what is no guess and still must not be done without end: so many within so long, each
    /// for one subject. `what` is told.
    pub(crate) fn pace(
        &self,
        what: &str,
        subject: &str,
        bounds: &[(u64, Duration)],
    ) -> Result<(), Problem> {
        let now = self.env.elapsed();
        let mut paces = lock(&self.paces);
        for (limit, length) in bounds {
            let key = self.hasher.hash_one((what, subject, length));
            make_room(&mut paces, key, |window| window.is_quiet(PACE_MAX, now));
            let taken = paces.entry(key).or_default().take(*limit, *length, now);
            taken.map_err(|full| {
                let said = format!("Too many {what}. Retry-After says when to go on.");
                Problem::too_fast(said, full.wait_seconds)
            })?;
        }
        Ok(())
    }

    /// The same for where a request comes from.
    pub(crate) fn pace_from(
        &self,
        what: &str,
        from: Option<IpAddr>,
        bound: (u64, Duration),
    ) -> Result<(), Problem> {
        let Some(address) = from else { return Ok(()) };
        self.pace(what, &format!("{:?}", network(address)), &[bound])
    }

    fn check(&self, subject: u64, now: Duration) -> Result<(), Problem> {
        let subjects = lock(&self.subjects);
        let Some(tries) = subjects.get(&subject) else { return Ok(()) };
        let left = (tries.last + pause(tries.wrong)).saturating_sub(now);
        match left.is_zero() || is_forgotten(tries, now) {
            true => Ok(()),
            false => Err(waits(left.as_secs().max(1))),
        }
    }
}

impl Try<'_> {
    /// It was right: whoever it was about has all their tries again.
    pub(crate) fn was_right(self) {
        lock(&self.brake.subjects).remove(&self.subject);
        self.did_not_count();
    }

    /// It was no guess, and nothing follows from it for where it came from.
    pub(crate) fn did_not_count(self) {
        if let Some(address) = self.address
            && let Some(window) = lock(&self.brake.addresses).get_mut(&address)
        {
            window.give_back();
        }
        lock(&self.brake.all).give_back();
    }
}

/// After this many wrong ones.
fn pause(wrong: u32) -> Duration {
    match wrong.checked_sub(FREE_TRIES) {
        None => Duration::ZERO,
        Some(over) => Duration::from_secs(1u64 << over.min(20)).min(WAIT_MAX),
    }
}

fn is_forgotten(tries: &Tries, now: Duration) -> bool {
    now.saturating_sub(tries.last) >= FORGOTTEN_AFTER
}

/// Who has one address of IPv6 has the other ones of its network too.
fn network(address: IpAddr) -> [u8; 8] {
    match address.to_canonical() {
        IpAddr::V4(address) => {
            let [a, b, c, d] = address.octets();
            [0, 0, 0, 4, a, b, c, d]
        }
        IpAddr::V6(address) => {
            let [a, b, c, d, e, f, g, h, ..] = address.octets();
            [a, b, c, d, e, f, g, h]
        }
    }
}

/// For one that is not there yet. Looks at a few, so that a flood does not make it slow.
fn make_room<T>(remembered: &mut HashMap<u64, T>, key: u64, is_over: impl Fn(&T) -> bool) {
    if remembered.len() < REMEMBERED_MAX || remembered.contains_key(&key) {
        return;
    }
    let few = || remembered.iter().take(LOOKED_AT);
    let over = few().find(|(_, value)| is_over(value)).or_else(|| few().next());
    if let Some(key) = over.map(|(key, _)| *key) {
        remembered.remove(&key);
    }
}

fn too_fast(full: &Full) -> Problem {
    waits(full.wait_seconds)
}

fn waits(seconds: u64) -> Problem {
    Problem::too_fast("Too many tries. Retry-After says when to go on.", seconds)
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests;
