//! The only door to time and randomness.
//!
//! Everything that needs the clock, a random byte or a new id is handed an [`Env`]. A server has
//! [`Env::system`]; a test has [`Env::fixed`], whose clock moves only when told to and whose
//! randomness is a function of its seed. `clippy.toml` refuses the other doors.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};

use crate::Timestamp;

/// Tells the time. `now` may jump (people set clocks); `elapsed` never goes back.
pub trait Clock: Send + Sync {
    fn now(&self) -> Timestamp;
    /// Time since some fixed moment in the life of this clock.
    fn elapsed(&self) -> Duration;
}

/// Makes random bytes, good enough for secrets in a server and repeatable in a test.
pub trait Entropy: Send + Sync {
    fn fill(&self, bytes: &mut [u8]);
}

#[derive(Clone)]
pub struct Env {
    clock: Arc<dyn Clock>,
    entropy: Arc<dyn Entropy>,
}

impl Env {
    pub fn new(clock: Arc<dyn Clock>, entropy: Arc<dyn Entropy>) -> Self {
        Self { clock, entropy }
    }

    /// The machine's clock and the operating system's randomness.
    pub fn system() -> Self {
        Self::new(Arc::new(SystemClock::start()), Arc::new(SystemEntropy))
    }

    /// A clock that stands at `start` and repeatable randomness.
    ///
    /// # Panics
    /// When `start` is not an RFC 3339 time: it is written in the test.
    pub fn fixed(start: &str) -> Self {
        Self::manual(start).0
    }

    /// Like [`Env::fixed`], with the hand that moves the clock.
    ///
    /// # Panics
    /// When `start` is not an RFC 3339 time.
    pub fn manual(start: &str) -> (Self, Arc<ManualClock>) {
        let start = start.parse().unwrap_or_else(|error| panic!("{error}"));
        let clock = Arc::new(ManualClock::new(start));
        let env = Self::new(clock.clone(), Arc::new(SeededEntropy::new(0)));
        (env, clock)
    }

    pub fn now(&self) -> Timestamp {
        self.clock.now()
    }

    pub fn elapsed(&self) -> Duration {
        self.clock.elapsed()
    }

    pub fn fill(&self, bytes: &mut [u8]) {
        self.entropy.fill(bytes);
    }

    /// A number from 0 (included) to 1 (excluded), for jitter.
    pub fn fraction(&self) -> f64 {
        let mut bytes = [0u8; 8];
        self.fill(&mut bytes);
        (u64::from_le_bytes(bytes) >> 11) as f64 / (1u64 << 53) as f64
    }
}

impl fmt::Debug for Env {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Env").field("now", &self.now()).finish_non_exhaustive()
    }
}

struct SystemClock {
    started: std::time::Instant,
}

impl SystemClock {
    #[expect(clippy::disallowed_methods, reason = "this is the door")]
    fn start() -> Self {
        Self { started: std::time::Instant::now() }
    }
}

impl Clock for SystemClock {
    #[expect(clippy::disallowed_methods, reason = "this is the door")]
    fn now(&self) -> Timestamp {
        let since =
            std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
        Timestamp::default() + since
    }

    fn elapsed(&self) -> Duration {
        self.started.elapsed()
    }
}

struct SystemEntropy;

impl Entropy for SystemEntropy {
    #[expect(clippy::disallowed_methods, reason = "this is the door")]
    fn fill(&self, bytes: &mut [u8]) {
        rand::rng().fill_bytes(bytes);
    }
}

/// A clock for tests and simulations: it stands still until it is moved.
#[derive(Debug)]
pub struct ManualClock {
    state: Mutex<(Timestamp, Duration)>,
}

impl ManualClock {
    pub fn new(start: Timestamp) -> Self {
        Self { state: Mutex::new((start, Duration::ZERO)) }
    }

    pub fn advance(&self, by: Duration) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.0 = state.0 + by;
        state.1 += by;
    }

    /// Sets the wall clock, also backwards; elapsed time goes on as it was.
    pub fn jump_to(&self, now: Timestamp) {
        self.state.lock().unwrap_or_else(PoisonError::into_inner).0 = now;
    }
}

impl Clock for ManualClock {
    fn now(&self) -> Timestamp {
        self.state.lock().unwrap_or_else(PoisonError::into_inner).0
    }

    fn elapsed(&self) -> Duration {
        self.state.lock().unwrap_or_else(PoisonError::into_inner).1
    }
}

/// Randomness that a seed decides.
#[derive(Debug)]
pub struct SeededEntropy(Mutex<StdRng>);

impl SeededEntropy {
    pub fn new(seed: u64) -> Self {
        Self(Mutex::new(StdRng::seed_from_u64(seed)))
    }
}

impl Entropy for SeededEntropy {
    fn fill(&self, bytes: &mut [u8]) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).fill_bytes(bytes);
    }
}

#[cfg(test)]
mod tests;
