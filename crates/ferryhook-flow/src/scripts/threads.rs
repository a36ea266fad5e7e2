//! The threads themselves, and the one that watches them.
//!
//! Some are for connections whose runs are quick, and run at the priority of everything else. Who
//! overstays there begins anew on one of the other threads, which stand back behind all else.

use std::collections::HashMap;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use ferryhook_core::transform::{Fault, Transform, TransformError};
use ferryhook_core::{Connection, Env, Id};
use rustix::time::{ClockId, clock_gettime};
use tokio::sync::oneshot;

use super::Answer;
use super::limits::{LOOK_EVERY, OVERDUE, QUICK, QUICK_OVERDUE, STUCK_MAX, STUCK_QUICK_MAX};
use super::line::{For, Line, Room, Turn};
use super::rests::Rests;
use crate::priority::Thread;

mod starter;

use starter::Starter;

pub(super) struct Job {
    pub(super) transform: Arc<Transform>,
    pub(super) work: Work,
    pub(super) reply: oneshot::Sender<Answer>,
}

/// Given the processor time it may take. May be done more than once, and comes to the same.
pub(super) type Work = Arc<dyn Fn(Duration) -> Answer + Send + Sync>;

impl fmt::Debug for Job {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Job")
    }
}

#[derive(Debug)]
pub(super) struct Threads {
    env: Env,
    starter: Starter,
    state: Mutex<State>,
    /// Rung when there is something to do, and when it is time to go.
    quick_bell: Condvar,
    other_bell: Condvar,
    /// The same for the watcher.
    watch_bell: Condvar,
}

#[derive(Debug)]
struct State {
    line: Line<Job>,
    running: HashMap<u64, Running>,
    next_ticket: u64,
    quick: Crew,
    others: Crew,
    is_watched: bool,
    rests: Rests,
    is_stopping: bool,
}

/// The threads of one kind.
#[derive(Debug)]
struct Crew {
    wanted: usize,
    /// How many may be lost and are replaced.
    spare: usize,
    /// Those that work or wait, and those that were given up and may still come back.
    alive: usize,
    stuck: usize,
}

impl Crew {
    fn new(wanted: usize, spare: usize) -> Self {
        Self { wanted, spare, alive: 0, stuck: 0 }
    }

    /// Threads that there are, or will be once they are needed.
    fn most(&self) -> usize {
        (self.wanted + self.spare).saturating_sub(self.stuck).min(self.wanted)
    }
}

/// What a thread is doing. Whoever takes it out of the map answers.
#[derive(Debug)]
struct Running {
    turn: Turn,
    job: Job,
    since: Duration,
    thread: Thread,
    /// It takes so long that another thread works in place of this one.
    is_replaced: bool,
}

impl State {
    fn room(&self) -> Room {
        // Should one of those for the quick ones be missing, the others help.
        Room { quick: self.quick.alive, others: self.others.most() }
    }

    fn crew(&mut self, kind: For) -> &mut Crew {
        match kind {
            For::Quick => &mut self.quick,
            For::Others => &mut self.others,
        }
    }
}

impl Threads {
    /// A third of them, and at least one, are for those that are quick.
    pub(super) fn new(wanted: usize, env: Env) -> Self {
        let quick = (wanted / 3).max(1);
        let state = State {
            line: Line::new(),
            running: HashMap::new(),
            next_ticket: 0,
            quick: Crew::new(quick, STUCK_QUICK_MAX),
            others: Crew::new((wanted - quick).max(1), STUCK_MAX),
            is_watched: false,
            rests: Rests::default(),
            is_stopping: false,
        };
        Self {
            env,
            starter: Starter::new(),
            state: Mutex::new(state),
            quick_bell: Condvar::new(),
            other_bell: Condvar::new(),
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
        let is_quick = state.line.is_quick(connection);
        if state.others.most() == 0 && !is_quick {
            return Err(Fault::Busy);
        }
        // Also where it is not needed yet: a connection may prove quick while its jobs wait.
        self.start(&mut state, For::Quick);
        if !is_quick {
            self.start(&mut state, For::Others);
        }
        if state.quick.alive + state.others.alive == 0 || !state.line.enter(connection, job) {
            return Err(Fault::Busy);
        }
        let room = state.room();
        let needs_help = is_quick && state.line.needs_help(room);
        if needs_help {
            self.start(&mut state, For::Others);
        }
        drop(state);
        if is_quick {
            self.quick_bell.notify_one();
        }
        if !is_quick || needs_help {
            self.other_bell.notify_one();
        }
        Ok(())
    }

    pub(super) fn stop(&self) {
        let mut state = self.lock();
        state.is_stopping = true;
        let waiting = state.line.clear();
        drop(state);
        self.ring_all();
        self.watch_bell.notify_all();
        waiting.into_iter().for_each(|job| drop(job.reply.send(Err(Fault::Stopping.into()))));
    }

    /// One more thread, unless there are enough or too many were lost already; and someone who
    /// watches them.
    fn start(self: &Arc<Self>, state: &mut State, kind: For) {
        if state.crew(kind).alive >= state.crew(kind).most() {
            return;
        }
        if !state.is_watched {
            let own = self.clone();
            state.is_watched = self.starter.start("scripts-watch", move || own.watch());
        }
        let own = self.clone();
        let name = match kind {
            For::Quick => "scripts-quick",
            For::Others => "scripts",
        };
        if self.starter.start(name, move || own.work(kind)) {
            state.crew(kind).alive += 1;
        }
    }

    fn work(self: Arc<Self>, kind: For) {
        let thread = Thread::own();
        let (bell, most) = match kind {
            For::Quick => (&self.quick_bell, QUICK),
            For::Others => (&self.other_bell, Duration::MAX),
        };
        if kind == For::Others {
            thread.stand_back();
        }
        let mut state = self.lock();
        loop {
            if state.is_stopping {
                state.crew(kind).alive -= 1;
                return;
            }
            let room = state.room();
            let Some((turn, job)) = state.line.next(kind, room) else {
                state = bell.wait(state).unwrap_or_else(PoisonError::into_inner);
                continue;
            };
            if job.reply.is_closed() {
                // Nobody waits for it any more.
                state.line.finish(&turn, None);
                continue;
            }
            let (ticket, since) = (state.next_ticket, self.env.elapsed());
            let (connection, work) = (turn.connection, job.work.clone());
            state.next_ticket += 1;
            if state.running.is_empty() {
                self.watch_bell.notify_one();
            }
            state.running.insert(ticket, Running { turn, job, since, thread, is_replaced: false });
            drop(state);

            let before = spent();
            // A panic is a mistake of ours; the thread and those behind it go on.
            let answer = catch_unwind(AssertUnwindSafe(|| work(most))).unwrap_or_else(|_| {
                tracing::error!("a transform panicked");
                Err(TransformError::from(Fault::Broken))
            });
            drop(work);
            let took = spent().saturating_sub(before);

            state = self.lock();
            let was_replaced = match state.running.remove(&ticket) {
                Some(run) => {
                    let was_replaced = run.is_replaced;
                    match kind == For::Quick && is_overstayed(&answer) {
                        true => self.put_back(&mut state, run),
                        false => self.finish(&mut state, run, answer, took),
                    }
                    was_replaced
                }
                // Given up meanwhile, and answered for.
                None => {
                    state.rests.give_back(connection);
                    true
                }
            };
            if was_replaced {
                state.crew(kind).stuck -= 1;
                // Others may go again; whoever came in its place may stay. One that was made to
                // stand back cannot undo that, and is not for the quick ones any more.
                self.ring_all();
                if kind == For::Quick || state.others.alive >= state.others.wanted {
                    return;
                }
                state.others.alive += 1;
            }
        }
    }

    fn finish(&self, state: &mut State, run: Running, answer: Answer, took: Duration) {
        let is_known = state.rests.remembers(run.turn.connection, self.env.elapsed());
        state.line.finish(&run.turn, (!is_known).then_some(took));
        // Nobody may be listening any more.
        let _ = run.job.reply.send(answer);
        // Room for one that had to let others go first, or that has changed the line.
        self.other_bell.notify_one();
        self.quick_bell.notify_one();
    }

    /// To those who have the time for it.
    fn put_back(&self, state: &mut State, run: Running) {
        if state.is_stopping || state.others.most() == 0 {
            let fault = if state.is_stopping { Fault::Stopping } else { Fault::Busy };
            state.line.finish(&run.turn, Some(Duration::MAX));
            let _ = run.job.reply.send(Err(fault.into()));
            return;
        }
        state.line.put_back(&run.turn, run.job);
        self.other_bell.notify_one();
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

    /// Replaces threads that quick ones have waited for too long. Gives up what is overdue: answers
    /// for it, replaces its thread if that is not done, lets its connection rest.
    fn look(self: &Arc<Self>, state: &mut State) {
        let now = self.env.elapsed();
        let late = |run: &Running, most: Duration| now.saturating_sub(run.since) > most;
        let is_late = |run: &Running| {
            let most = if run.turn.on == For::Quick { QUICK_OVERDUE } else { OVERDUE };
            late(run, most) && !run.is_replaced
        };
        let mut lost = Vec::new();
        for run in state.running.values_mut().filter(|run| is_late(run)) {
            run.is_replaced = true;
            lost.push(run.turn.on);
        }
        for kind in lost {
            state.crew(kind).alive -= 1;
            state.crew(kind).stuck += 1;
            self.start(state, kind);
        }
        let overdue = state.running.iter().filter(|(_, run)| late(run, OVERDUE));
        let overdue: Vec<u64> = overdue.map(|(ticket, _)| *ticket).collect();
        for ticket in overdue {
            let Some(run) = state.running.remove(&ticket) else { continue };
            let Running { turn, job, thread, .. } = run;
            tracing::warn!(connection.id = %turn.connection, "a script does not end; its thread was given up");
            thread.stand_back();
            state.line.finish(&turn, Some(OVERDUE));
            state.rests.begin(turn.connection, job.transform, now);
            let _ = job.reply.send(Err(Fault::Overdue(OVERDUE).into()));
        }
        // Those that nobody is left for.
        let left_over = match (state.quick.alive + state.others.alive, state.others.most()) {
            (0, _) => state.line.clear(),
            (_, 0) => state.line.clear_others(),
            _ => Vec::new(),
        };
        for job in left_over {
            let _ = job.reply.send(Err(Fault::Busy.into()));
        }
        // Whoever held back because of those that are gone now may go.
        self.ring_all();
    }

    fn ring_all(&self) {
        self.quick_bell.notify_all();
        self.other_bell.notify_all();
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
    pub(super) fn begun(&self) -> u64 {
        self.lock().next_ticket
    }

    /// Threads that are there, and those that are lost.
    #[cfg(test)]
    pub(super) fn counts(&self) -> (usize, usize) {
        let state = self.lock();
        (state.quick.alive + state.others.alive, state.quick.stuck + state.others.stuck)
    }
}

/// Its time on a thread for quick ones was over.
fn is_overstayed(answer: &Answer) -> bool {
    matches!(answer, Err(TransformError { fault: Fault::Time(_), .. }))
}

/// Processor time of this thread: whether a run is quick has nothing to do with how busy the
/// machine is.
pub(super) fn spent() -> Duration {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    let seconds = u64::try_from(time.tv_sec).unwrap_or_default();
    Duration::new(seconds, u32::try_from(time.tv_nsec).unwrap_or_default())
}
