//! Errands: what a request sets off and does not wait for, so that how long it takes tells
//! nothing. Each has an owner, and there are only so many at once.

use std::sync::Arc;

use ferryhook_net::Tasks;
use tokio::sync::Semaphore;

use crate::problem::{Code, Problem};

const AT_ONCE: usize = 64;

#[derive(Debug)]
pub(crate) struct Errands {
    tasks: Tasks,
    room: Arc<Semaphore>,
}

impl Errands {
    pub(crate) fn new(tasks: Tasks) -> Self {
        Self { tasks, room: Arc::new(Semaphore::new(AT_ONCE)) }
    }

    /// Runs beside the caller. What goes wrong is logged: there is nobody left to tell.
    pub(crate) fn run(
        &self,
        name: &'static str,
        work: impl Future<Output = Result<(), Problem>> + Send + 'static,
    ) -> Result<(), Problem> {
        let room = self.room.clone().try_acquire_owned();
        let room = room.map_err(|_| Problem::new(Code::Unavailable, "Too busy. Ask again."))?;
        self.tasks.spawn(name, async move {
            if let Err(problem) = work.await {
                tracing::warn!(errand = name, code = problem.code().as_str(), "an errand failed");
            }
            drop(room);
        });
        Ok(())
    }
}
