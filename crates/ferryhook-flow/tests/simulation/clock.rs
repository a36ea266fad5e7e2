//! The clock of a world. It runs with tokio's paused time and stands still between two lives of
//! the program, each of which has a runtime of its own.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use ferryhook_core::Timestamp;
use ferryhook_core::env::Clock;
use tokio::time::Instant;

pub(crate) const START: Timestamp = Timestamp::from_seconds(1_767_225_600);

#[derive(Debug, Default)]
pub(crate) struct Time(Mutex<Life>);

#[derive(Debug, Default)]
struct Life {
    before: Duration,
    began: Option<Instant>,
}

impl Time {
    /// Inside the runtime of the life that begins.
    #[expect(clippy::disallowed_methods, reason = "this is the door")]
    pub(crate) fn begin(&self) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).began = Some(Instant::now());
    }

    /// Inside the same runtime. Nobody starts again in no time.
    pub(crate) fn end(&self) {
        let passed = self.elapsed() + Duration::from_millis(200);
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) =
            Life { before: passed, began: None };
    }
}

impl Clock for Time {
    fn now(&self) -> Timestamp {
        START + self.elapsed()
    }

    fn elapsed(&self) -> Duration {
        let life = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        life.before + life.began.map(|began| began.elapsed()).unwrap_or_default()
    }
}
