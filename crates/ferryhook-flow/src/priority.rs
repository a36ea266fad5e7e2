//! Which threads let others go first.
//!
//! Deliveries that have waited in the store, and scripts that are not quick, have what is left of
//! the processors: whoever sends an event must not wait for those. Where the system refuses it they
//! are equals, as they are on systems other than Linux.

#[cfg(target_os = "linux")]
pub use linux::Thread;
#[cfg(not(target_os = "linux"))]
pub use other::Thread;

#[cfg(target_os = "linux")]
mod linux {
    use rustix::process::{Pid, getpriority_process, setpriority_process};
    use rustix::thread::gettid;

    use crate::limits::{NICENESS, NICENESS_MAX};

    #[derive(Debug, Clone, Copy)]
    pub struct Thread(Pid);

    impl Thread {
        pub fn own() -> Self {
            Self(gettid())
        }

        /// For good: to go back takes rights that a server should not have. So do the threads that
        /// it starts from then on.
        pub fn stand_back(self) {
            // There it is about threads, although it is called a process.
            let own = getpriority_process(Some(self.0)).unwrap_or_default();
            let _ = setpriority_process(Some(self.0), (own + NICENESS).min(NICENESS_MAX));
        }
    }
}

#[cfg(not(target_os = "linux"))]
mod other {
    #[derive(Debug, Clone, Copy)]
    pub struct Thread;

    impl Thread {
        pub fn own() -> Self {
            Self
        }

        pub fn stand_back(self) {}
    }
}
