//! A place for tests to make the disk fail. In a server it does nothing.

use std::fmt;
use std::io;
use std::sync::Arc;

/// What is about to be asked of the disk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step {
    Create,
    /// Room for more in a file that there is already.
    Grow,
    Read,
    Write,
    Sync,
}

type Decide = dyn Fn(Step) -> io::Result<()> + Send + Sync;

#[derive(Clone, Default)]
pub struct Faults(Option<Arc<Decide>>);

impl Faults {
    pub fn new(decide: impl Fn(Step) -> io::Result<()> + Send + Sync + 'static) -> Self {
        Self(Some(Arc::new(decide)))
    }

    pub(super) fn check(&self, step: Step) -> io::Result<()> {
        self.0.as_ref().map_or(Ok(()), |decide| decide(step))
    }
}

impl fmt::Debug for Faults {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.0.is_some() { "Faults(some)" } else { "Faults(none)" })
    }
}
