//! Which threads let others go first.
//!
//! Scripts that are not quick have what is left of the processors: an event that needs none of them
//! must not wait for those that do. Where the system refuses it they are equals, as they are on
//! systems other than Linux.

#[cfg(target_os = "linux")]
pub(super) use linux::Thread;
#[cfg(not(target_os = "linux"))]
pub(super) use other::Thread;

#[cfg(target_os = "linux")]
mod linux {
    use rustix::process::{Pid, setpriority_process};
    use rustix::thread::gettid;

    use crate::scripts::limits::NICENESS;

    #[derive(Debug, Clone, Copy)]
    pub(in super::super) struct Thread(Pid);

    impl Thread {
        pub(in super::super) fn own() -> Self {
            Self(gettid())
        }

        /// For good: to go back takes rights that a server should not have.
        pub(in super::super) fn stand_back(self) {
            // There it is about threads, although it is called a process.
            let _ = setpriority_process(Some(self.0), NICENESS);
        }
    }
}

#[cfg(not(target_os = "linux"))]
mod other {
    #[derive(Debug, Clone, Copy)]
    pub(in super::super) struct Thread;

    impl Thread {
        pub(in super::super) fn own() -> Self {
            Self
        }

        pub(in super::super) fn stand_back(self) {}
    }
}
