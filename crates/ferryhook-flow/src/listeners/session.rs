//! One session: what it was asked, whether that was read, and who reads.
//!
//! An errand waits here until somebody reads it, and its time runs from then on. So the courier
//! has no more under way than the lanes of the session's connections let through, everything else
//! waits in its queue, and a listener that is away for a moment costs no attempt.

use std::collections::BTreeMap;
use std::ops::Bound;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use ferryhook_core::CliSession;
use ferryhook_core::cli_session::{Ended, Errand, Report};
use ferryhook_core::limits::CLI_REQUESTS_MAX;
use tokio::sync::{Notify, oneshot};
use tokio::time::timeout;

use super::Reader;
use crate::limits;

#[derive(Debug)]
pub(crate) struct Session {
    pub(crate) of: CliSession,
    state: Mutex<State>,
    /// Something is different; whoever waits looks again.
    bell: Notify,
}

#[derive(Debug)]
struct State {
    /// The last number that was given out.
    numbered: u64,
    open: BTreeMap<u64, Open>,
    /// Readers are counted: the last one reads, those before it are replaced.
    readers: u64,
    is_read: bool,
    ended: Option<Ended>,
}

/// An errand that nobody has answered.
#[derive(Debug)]
struct Open {
    errand: Errand,
    /// Told which reader has it, the first time.
    read: Option<oneshot::Sender<u64>>,
    answer: oneshot::Sender<Report>,
}

/// Why an errand has no answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Unheard {
    /// The session is over, or has no room: nobody has tried.
    Gone,
    /// Somebody has it, and says nothing.
    Late,
}

/// What there is for a reader.
pub(super) enum Next {
    Errand(Box<Errand>),
    End(Ended),
    Nothing,
}

impl Session {
    pub(super) fn new(of: CliSession) -> Self {
        let state =
            State { numbered: 0, open: BTreeMap::new(), readers: 0, is_read: false, ended: None };
        Self { of, state: Mutex::new(state), bell: Notify::new() }
    }

    /// Has it done, and brings back what came of it. The errand gets its number here.
    pub(crate) async fn ask(&self, errand: Errand) -> Result<Report, Unheard> {
        let within = errand.timeout + limits::LISTENER_MARGIN;
        let (read, was_read) = oneshot::channel();
        let (answer, answered) = oneshot::channel();
        let number = self.put(errand, read, answer).ok_or(Unheard::Gone)?;
        // Whatever ends this, the listener need not hear of it any more.
        let _taken_back = TakenBack { session: self, number };
        let reader = was_read.await.map_err(|_| Unheard::Gone)?;
        match timeout(within, answered).await {
            Ok(Ok(report)) => Ok(report),
            Ok(Err(_)) => Err(Unheard::Gone),
            Err(_) => {
                // A listener that lives reports also what took too long.
                self.leave(reader);
                Err(Unheard::Late)
            }
        }
    }

    fn put(
        &self,
        mut errand: Errand,
        read: oneshot::Sender<u64>,
        answer: oneshot::Sender<Report>,
    ) -> Option<u64> {
        let mut state = self.state();
        if state.ended.is_some() || state.open.len() >= CLI_REQUESTS_MAX {
            return None;
        }
        state.numbered += 1;
        let number = state.numbered;
        errand.number = number;
        state.open.insert(number, Open { errand, read: Some(read), answer });
        drop(state);
        self.bell.notify_waiters();
        Some(number)
    }

    /// Whether somebody waited for it.
    pub(crate) fn answer(&self, report: Report) -> bool {
        let open = self.state().open.remove(&report.number);
        open.is_some_and(|open| open.answer.send(report).is_ok())
    }

    /// Reads from behind this errand on, instead of whoever read before.
    pub(crate) fn read(self: &Arc<Self>, after: u64) -> Reader {
        let mut state = self.state();
        state.readers += 1;
        state.is_read = true;
        let own = state.readers;
        drop(state);
        self.bell.notify_waiters();
        Reader::new(self.clone(), own, after)
    }

    pub(super) fn next(&self, reader: u64, after: u64) -> Next {
        let mut state = self.state();
        if let Some(why) = state.ended {
            return Next::End(why);
        }
        if state.readers != reader || !state.is_read {
            return Next::End(Ended::Replaced);
        }
        let Some((_, open)) =
            state.open.range_mut((Bound::Excluded(after), Bound::Unbounded)).next()
        else {
            return Next::Nothing;
        };
        if let Some(read) = open.read.take() {
            let _ = read.send(reader);
        }
        Next::Errand(Box::new(open.errand.clone()))
    }

    /// Nobody reads any more, unless that is already another.
    pub(super) fn leave(&self, reader: u64) {
        let mut state = self.state();
        if state.readers == reader && state.is_read {
            state.is_read = false;
            drop(state);
            self.bell.notify_waiters();
        }
    }

    pub(super) fn end(&self, why: Ended) {
        let mut state = self.state();
        state.ended.get_or_insert(why);
        state.open.clear(); // who waits is told by that
        drop(state);
        self.bell.notify_waiters();
    }

    /// When it is over: somebody has ended it, or nobody has read it for so long.
    pub(crate) async fn is_over(&self, grace: Duration) {
        loop {
            let changed = self.changed();
            let (ended, is_read) = {
                let state = self.state();
                (state.ended.is_some(), state.is_read)
            };
            if ended {
                return;
            }
            match is_read {
                true => changed.await,
                false => {
                    if timeout(grace, self.until_read()).await.is_err() {
                        return;
                    }
                }
            }
        }
    }

    async fn until_read(&self) {
        loop {
            let changed = self.changed();
            {
                let state = self.state();
                if state.is_read || state.ended.is_some() {
                    return;
                }
            }
            changed.await;
        }
    }

    /// Resolves with the first change from now on.
    pub(super) fn changed(&self) -> impl Future<Output = ()> + Send {
        let mut rung = Box::pin(self.bell.notified());
        rung.as_mut().enable(); // before the look, so that nothing falls in between
        rung
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Takes an errand back when whoever asked no longer waits.
struct TakenBack<'a> {
    session: &'a Session,
    number: u64,
}

impl Drop for TakenBack<'_> {
    fn drop(&mut self) {
        self.session.state().open.remove(&self.number);
    }
}
