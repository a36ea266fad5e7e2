//! The threads themselves, and the one that watches them.

use std::collections::HashMap;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use ferryhook_core::transform::{Fault, Transform, TransformError};
use ferryhook_core::{Connection, Env, Id};
use tokio::sync::oneshot;

use super::Answer;
use super::limits::{
    LOOK_EVERY, NICENESS, OVERDUE, STUCK_MAX, STUCK_QUICK_MAX, THREAD_STACK_BYTES,
};
use super::line::{Line, Turn};
use super::rests::Rests;

pub(super) struct Job {
    pub(super) transform: Arc<Transform>,
    pub(super) work: Box<dyn FnOnce() -> Answer + Send>,
    pub(super) reply: oneshot::Sender<Answer>,
}

impl fmt::Debug for Job {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Job")
    }
}

#[derive(Debug)]
pub(super) struct Threads {
    wanted: usize,
    env: Env,
    state: Mutex<State>,
    /// Rung when there is something to do, and when it is time to go.
    bell: Condvar,
    /// The same for the watcher.
    watch_bell: Condvar,
}

#[derive(Debug)]
struct State {
    line: Line<Job>,
    running: HashMap<u64, Running>,
    next_ticket: u64,
    /// Threads that work or wait, and those that were given up and may still come back.
    alive: usize,
    stuck: usize,
    /// Those among them that were lost to connections not known as quick.
    stuck_unproven: usize,
    is_watched: bool,
    rests: Rests,
    is_stopping: bool,
}

/// What a thread is doing. Whoever takes it out of the map answers.
#[derive(Debug)]
struct Running {
    turn: Turn,
    transform: Arc<Transform>,
    reply: oneshot::Sender<Answer>,
    since: Duration,
}

impl Threads {
    pub(super) fn new(wanted: usize, env: Env) -> Self {
        let state = State {
            line: Line::new(),
            running: HashMap::new(),
            next_ticket: 0,
            alive: 0,
            stuck: 0,
            stuck_unproven: 0,
            is_watched: false,
            rests: Rests::default(),
            is_stopping: false,
        };
        Self {
            wanted,
            env,
            state: Mutex::new(state),
            bell: Condvar::new(),
            watch_bell: Condvar::new(),
        }
    }

    /// Puts a job in line, or says why not.
    pub(super) fn take(
        self: &Arc<Self>,
        connection: Id<Connection>,
        job: Job,
    ) -> Result<(), Fault> {
        let mut state = self.lock();
        if state.is_stopping {
            return Err(Fault::Stopping);
        }
        if state.rests.is_resting(connection, &job.transform, self.env.elapsed()) {
            return Err(Fault::Resting);
        }
        if self.unproven_max(&state) == 0 && !state.line.is_quick(connection) {
            return Err(Fault::Busy);
        }
        self.start(&mut state);
        if state.alive == 0 || !state.line.enter(connection, job) {
            return Err(Fault::Busy);
        }
        drop(state);
        self.bell.notify_one();
        Ok(())
    }

    pub(super) fn stop(&self) {
        let mut state = self.lock();
        state.is_stopping = true;
        let waiting = state.line.clear();
        drop(state);
        self.bell.notify_all();
        self.watch_bell.notify_all();
        waiting.into_iter().for_each(|job| drop(job.reply.send(Err(Fault::Stopping.into()))));
    }

    /// Threads that there are, or will be once they are needed.
    fn threads(&self, state: &State) -> usize {
        let most = self.wanted + STUCK_MAX + STUCK_QUICK_MAX;
        most.saturating_sub(state.stuck).min(self.wanted)
    }

    /// How many runs may be under way of connections that are not known as quick. If all of them
    /// were lost, there would still be a thread for the others.
    fn unproven_max(&self, state: &State) -> usize {
        let left = (self.wanted - 1 + STUCK_MAX).saturating_sub(state.stuck_unproven);
        left.min(self.threads(state).saturating_sub(1))
    }

    /// One more thread, unless there are enough or too many were lost already; and someone who watches them.
    fn start(self: &Arc<Self>, state: &mut State) {
        if state.alive >= self.threads(state) {
            return;
        }
        if !state.is_watched {
            let own = self.clone();
            state.is_watched = spawn("scripts-watch", move || own.watch());
        }
        let own = self.clone();
        if spawn("scripts", move || own.work()) {
            state.alive += 1;
        }
    }

    fn work(self: Arc<Self>) {
        give_way();
        let mut state = self.lock();
        loop {
            if state.is_stopping {
                state.alive -= 1;
                return;
            }
            let (threads, unproven_max) = (self.threads(&state), self.unproven_max(&state));
            let Some((turn, job)) = state.line.next(threads, unproven_max) else {
                state = self.bell.wait(state).unwrap_or_else(PoisonError::into_inner);
                continue;
            };
            if job.reply.is_closed() {
                // Nobody waits for it any more.
                state.line.finish(&turn, None);
                continue;
            }
            let Job { transform, work, reply } = job;
            let (ticket, since) = (state.next_ticket, self.env.elapsed());
            let (connection, was_quick) = (turn.connection, turn.was_quick);
            state.next_ticket += 1;
            if state.running.is_empty() {
                self.watch_bell.notify_one();
            }
            state.running.insert(ticket, Running { turn, transform, reply, since });
            drop(state);

            // A panic is a mistake of ours; the thread and those behind it go on.
            let answer = catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|_| {
                tracing::error!("a transform panicked");
                Err(TransformError::from(Fault::Broken))
            });

            state = self.lock();
            match state.running.remove(&ticket) {
                Some(run) => {
                    let now = self.env.elapsed();
                    let took = now.saturating_sub(run.since);
                    let is_known = state.rests.remembers(connection, now);
                    state.line.finish(&run.turn, (!is_known).then_some(took));
                    // Nobody may be listening any more.
                    let _ = run.reply.send(answer);
                    // Room for one that had to let others go first.
                    self.bell.notify_one();
                }
                // Given up meanwhile, and answered for. Whoever came in its place may stay.
                None => {
                    state.stuck -= 1;
                    state.stuck_unproven -= usize::from(!was_quick);
                    state.rests.give_back(connection);
                    // Others may go again.
                    self.bell.notify_all();
                    if state.alive >= self.wanted {
                        return;
                    }
                    state.alive += 1;
                }
            }
        }
    }

    fn watch(self: Arc<Self>) {
        let mut state = self.lock();
        while !state.is_stopping {
            state = match state.running.is_empty() {
                true => self.watch_bell.wait(state).unwrap_or_else(PoisonError::into_inner),
                false => {
                    let waited = self.watch_bell.wait_timeout(state, LOOK_EVERY);
                    waited.unwrap_or_else(PoisonError::into_inner).0
                }
            };
            self.look(&mut state);
        }
    }

    /// Gives up what is overdue: answers for it, replaces its thread, lets its connection rest.
    fn look(self: &Arc<Self>, state: &mut State) {
        let now = self.env.elapsed();
        let is_overdue = |run: &Running| now.saturating_sub(run.since) > OVERDUE;
        let overdue = state.running.iter().filter(|(_, run)| is_overdue(run));
        let overdue: Vec<u64> = overdue.map(|(ticket, _)| *ticket).collect();
        for ticket in overdue {
            let Some(run) = state.running.remove(&ticket) else { continue };
            tracing::warn!(connection.id = %run.turn.connection, "a script does not end; its thread was given up");
            state.line.finish(&run.turn, Some(OVERDUE));
            state.rests.begin(run.turn.connection, run.transform, now);
            state.alive -= 1;
            state.stuck += 1;
            state.stuck_unproven += usize::from(!run.turn.was_quick);
            self.start(state);
            let _ = run.reply.send(Err(Fault::Overdue(OVERDUE).into()));
        }
        // Those that nobody is left for.
        let left_over = match (state.alive, self.unproven_max(state)) {
            (0, _) => state.line.clear(),
            (_, 0) => state.line.clear_unproven(),
            _ => Vec::new(),
        };
        for job in left_over {
            let _ = job.reply.send(Err(Fault::Busy.into()));
        }
        // Whoever held back because of those that are gone now may go.
        self.bell.notify_all();
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What the watcher does by itself every now and then.
    #[cfg(test)]
    pub(super) fn look_now(self: &Arc<Self>) {
        self.look(&mut self.lock());
    }

    #[cfg(test)]
    pub(super) fn counts(&self) -> (usize, usize) {
        let state = self.lock();
        (state.alive, state.stuck)
    }
}

/// Whether it could be started.
/// Scripts have what is left of the processors: an event that needs none must not wait for those
/// that do. Where this is refused they are equals, as they are on other systems.
#[cfg(target_os = "linux")]
fn give_way() {
    // There it is about the thread that asks.
    let _ = rustix::process::setpriority_process(None, NICENESS);
}

#[cfg(not(target_os = "linux"))]
fn give_way() {}

fn spawn(name: &str, work: impl FnOnce() + Send + 'static) -> bool {
    let builder = thread::Builder::new().name(name.to_owned()).stack_size(THREAD_STACK_BYTES);
    let started = builder.spawn(work);
    if let Err(error) = &started {
        tracing::error!(%error, "a thread for scripts cannot be started");
    }
    started.is_ok()
}
