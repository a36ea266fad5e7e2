//! The bounds of the threads that scripts run on.

use std::time::Duration;

/// Threads, however many processors there are.
pub const THREADS_MAX: usize = 16;

/// Runs that wait for a thread: of one connection, and of all together.
pub const WAITING_PER_CONNECTION_MAX: usize = 1024;
pub const WAITING_MAX: usize = 8192;

/// A run that takes longer than this, in time on the wall, is not quick. One thread is always left
/// to connections whose last runs were: so many of them, in half of the time.
pub const SLOW: Duration = Duration::from_millis(20);
pub const QUICK_RUNS: u8 = 3;
/// Connections that are remembered for being quick.
pub const QUICK_MAX: usize = 65_536;

/// A run that takes longer than this is answered without it. By its own budget it would have
/// ended long before, unless it is inside of something that does not look at the clock, or the
/// machine is hopelessly busy.
pub const OVERDUE: Duration = Duration::from_secs(3);
/// How often somebody looks for those.
pub const LOOK_EVERY: Duration = Duration::from_millis(100);
/// Threads that may be lost to them, each of which is replaced: to connections that were not known
/// as quick, to those that were, and to one of them, whatever it is changed to.
pub const STUCK_MAX: usize = 8;
pub const STUCK_QUICK_MAX: usize = 32;
pub const STUCK_PER_CONNECTION_MAX: usize = 2;
/// How long the scripts of such a connection are not run: twice as long each time, up to the most,
/// and from the beginning once it has behaved for as long as the most again.
pub const REST: Duration = Duration::from_secs(60);
pub const REST_MAX: Duration = Duration::from_secs(60 * 60);
/// How many connections are remembered for it.
pub const RESTING_MAX: usize = 1024;

/// How far the threads stand back behind those that take events in and send them out.
pub const NICENESS: i32 = 10;

/// Several times what a script may use of it.
pub const THREAD_STACK_BYTES: usize = 2 * 1024 * 1024;
