//! The bounds of the threads that scripts run on.

use std::time::Duration;

/// Threads, however many processors there are.
pub const THREADS_MAX: usize = 16;

/// Runs that wait for a thread: of one connection, and of all together.
pub const WAITING_PER_CONNECTION_MAX: usize = 1024;
pub const WAITING_MAX: usize = 8192;

/// A run that takes more processor time than this is slow, and one that takes less than that is
/// quick; on a thread for quick ones it ends there, to begin anew on another.
pub const SLOW: Duration = Duration::from_millis(20);
pub const QUICK: Duration = Duration::from_millis(10);
/// Time on the wall after which another thread takes over from such a one: its run may be inside of
/// something that does not look at the clock.
pub const QUICK_OVERDUE: Duration = Duration::from_millis(250);
/// Quick runs in a row that make a connection a quick one: at first, and at most if it was slow
/// after all.
pub const QUICK_RUNS: u16 = 3;
pub const QUICK_RUNS_MAX: u16 = 768;
/// Connections whose pace is remembered.
pub const QUICK_MAX: usize = 65_536;
/// Runs of quick ones that wait when other threads begin to help.
pub const HELPED_FROM: usize = 8;

/// A run that takes longer than this is answered without it. By its own budget it would have
/// ended long before, unless it is inside of something that does not look at the clock, or the
/// machine is hopelessly busy.
pub const OVERDUE: Duration = Duration::from_secs(3);
/// How often somebody looks for those.
pub const LOOK_EVERY: Duration = Duration::from_millis(100);
/// Threads that may be lost to them, each of which is replaced: those for all connections, those for
/// quick ones, and to one connection, whatever it is changed to.
pub const STUCK_MAX: usize = 8;
pub const STUCK_QUICK_MAX: usize = 32;
pub const STUCK_PER_CONNECTION_MAX: usize = 2;
/// How long the scripts of such a connection are not run: twice as long each time, up to the most,
/// and from the beginning once it has behaved for as long as the most again.
pub const REST: Duration = Duration::from_secs(60);
pub const REST_MAX: Duration = Duration::from_secs(60 * 60);
/// How many connections are remembered for it.
pub const RESTING_MAX: usize = 1024;

/// Several times what a script may use of it.
pub const THREAD_STACK_BYTES: usize = 2 * 1024 * 1024;
