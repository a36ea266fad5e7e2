//! How long a run has been at work.
//!
//! Counted in processor time of its own thread: a script does not fail because the machine was
//! busy with something else.

use std::cell::Cell;
use std::rc::Rc;
use std::time::Duration;

use rustix::time::{ClockId, clock_gettime};

use crate::transform::limits::{SCRIPT_TIME, SCRIPT_TIME_PER_MIB};

#[derive(Debug, Clone)]
pub(super) struct Watch {
    until: Duration,
    allowed: Duration,
    expired: Rc<Cell<bool>>,
}

impl Watch {
    pub(super) fn start(body_bytes: usize, most: Duration) -> Self {
        let mib = u32::try_from(body_bytes >> 20).unwrap_or(u32::MAX);
        let allowed = SCRIPT_TIME + SCRIPT_TIME_PER_MIB.saturating_mul(mib);
        let allowed = allowed.min(most);
        Self { until: spent() + allowed, allowed, expired: Rc::default() }
    }

    /// Looks at the clock. Once the time is over it stays over.
    pub(super) fn is_over(&self) -> bool {
        if !self.expired.get() && spent() > self.until {
            self.expired.set(true);
        }
        self.expired.get()
    }

    /// Whether somebody looked when it was over.
    pub(super) fn was_over(&self) -> bool {
        self.expired.get()
    }

    pub(super) fn allowed(&self) -> Duration {
        self.allowed
    }
}

fn spent() -> Duration {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    let seconds = u64::try_from(time.tv_sec).unwrap_or_default();
    Duration::new(seconds, u32::try_from(time.tv_nsec).unwrap_or_default())
}
