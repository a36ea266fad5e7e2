//! The story of a run: what was asked of the program, what it answered, what it sent where, and
//! when. Everything that [`checks`](crate::checks) judges later, in the order it happened.

use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use bytes::Bytes;
use ferryhook_core::env::Clock;
use ferryhook_core::{Connection, Event, Id};

use crate::clock::Time;

/// No story of this size of world has nearly as many.
const LINES_MAX: usize = 30_000;

/// Clones tell the same story.
#[derive(Clone)]
pub(crate) struct Story {
    time: Arc<Time>,
    told: Arc<Mutex<Told>>,
}

#[derive(Debug, Default)]
pub(crate) struct Told {
    /// What happened, a line each; the number of a line is its place in time.
    pub(crate) lines: Vec<String>,
    pub(crate) letters: Vec<Letter>,
    pub(crate) attempts: Vec<Attempt>,
    pub(crate) lives: Vec<When>,
    pub(crate) crashes: Vec<When>,
    pub(crate) replays: Vec<Replay>,
    /// Changes that were made and never confirmed, by the text of the event they concern.
    pub(crate) unconfirmed: Vec<(When, String)>,
    /// Of each connection: since when the program knows it, and when it was deleted.
    pub(crate) known: Vec<Known>,
    pub(crate) pauses: Vec<Pause>,
    pub(crate) violations: Vec<String>,
}

/// A place in the story, and what the clock said.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct When {
    pub(crate) line: usize,
    pub(crate) at: Duration,
}

/// One thing that a sender has to say, however often it says it.
#[derive(Debug, Clone)]
pub(crate) struct Letter {
    pub(crate) source: usize,
    pub(crate) key: Option<String>,
    pub(crate) event_type: &'static str,
    pub(crate) body: Bytes,
    pub(crate) requests: Vec<Request>,
}

#[derive(Debug, Clone)]
pub(crate) struct Request {
    pub(crate) asked: When,
    /// None as long as nobody knows, be it for ever.
    pub(crate) heard: Option<(When, Heard)>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Heard {
    Accepted { id: Id<Event> },
    Duplicate { first: Option<Id<Event>> },
    Refused { status: u16 },
}

impl Heard {
    pub(crate) fn accepted(self) -> Option<Id<Event>> {
        match self {
            Self::Accepted { id } => Some(id),
            Self::Duplicate { .. } | Self::Refused { .. } => None,
        }
    }
}

/// One request that reached a destination.
#[derive(Debug, Clone)]
pub(crate) struct Attempt {
    pub(crate) connection: usize,
    pub(crate) letter: usize,
    pub(crate) event: Id<Event>,
    pub(crate) number: u16,
    pub(crate) sent: When,
    pub(crate) heard: Option<(When, Outcome)>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Outcome {
    Answered { status: u16, retry_after: Option<u64> },
    Unanswered,
}

#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Known {
    pub(crate) exists: bool,
    pub(crate) since: Option<When>,
    pub(crate) deleted: Option<When>,
    /// How often its state was changed.
    pub(crate) changes: usize,
    /// It has kept an order for a part of the time.
    pub(crate) reordered: bool,
}

/// Somebody wanted an event to be sent again.
#[derive(Debug, Clone)]
pub(crate) struct Replay {
    pub(crate) asked: When,
    pub(crate) event: Id<Event>,
    /// To whom, and when that was told. Without it nobody knows: the answer may be what was lost.
    pub(crate) begun: Option<Vec<Id<Connection>>>,
    pub(crate) told: Option<When>,
}

/// A time in which a connection was paused and the program knew.
#[derive(Debug, Clone)]
pub(crate) struct Pause {
    pub(crate) connection: usize,
    pub(crate) from: When,
    pub(crate) to: Option<When>,
}

impl Attempt {
    /// When the program heard that the destination has it.
    pub(crate) fn succeeded(&self) -> Option<When> {
        match self.heard {
            Some((when, Outcome::Answered { status: 200..=299, .. })) => Some(when),
            _ => None,
        }
    }
}

impl Told {
    /// Whether anybody has ever asked for it again.
    pub(crate) fn is_replayed(&self, event: Id<Event>) -> bool {
        self.replays.iter().any(|replay| replay.event == event)
    }
}

impl Story {
    pub(crate) fn new(time: Arc<Time>) -> Self {
        Self { time, told: Arc::default() }
    }

    pub(crate) fn told(&self) -> MutexGuard<'_, Told> {
        self.told.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn tell(&self, what: fmt::Arguments<'_>) -> When {
        let at = self.time.elapsed();
        let mut told = self.told();
        told.lines.push(format!("{:>9.3} {what}", at.as_secs_f64()));
        When { line: told.lines.len(), at }
    }

    /// Something goes round in circles.
    pub(crate) fn is_endless(&self) -> bool {
        self.told().lines.len() > LINES_MAX
    }

    pub(crate) fn violate(&self, what: fmt::Arguments<'_>) {
        let line = self.tell(format_args!("VIOLATION {what}"));
        self.told().violations.push(format!("line {}: {what}", line.line));
    }

    /// Gives the letter's number.
    pub(crate) fn write(&self, make: impl FnOnce(usize) -> Letter) -> usize {
        let mut told = self.told();
        let number = told.letters.len();
        let letter = make(number);
        told.letters.push(letter);
        number
    }

    /// Gives the request's place among those of its letter.
    pub(crate) fn ask(&self, letter: usize) -> usize {
        let asked = self.tell(format_args!("letter {letter} is sent"));
        let mut told = self.told();
        let requests = &mut told.letters[letter].requests;
        requests.push(Request { asked, heard: None });
        requests.len() - 1
    }

    pub(crate) fn hear(&self, letter: usize, request: usize, heard: Heard) {
        let when = self.tell(format_args!("letter {letter}: {heard:?}"));
        self.told().letters[letter].requests[request].heard = Some((when, heard));
    }

    pub(crate) fn send(
        &self,
        connection: usize,
        letter: usize,
        event: Id<Event>,
        number: u16,
    ) -> usize {
        let sent = self.tell(format_args!("connection {connection} gets {letter} ({number})"));
        let mut told = self.told();
        told.attempts.push(Attempt { connection, letter, event, number, sent, heard: None });
        told.attempts.len() - 1
    }

    pub(crate) fn answer(&self, attempt: usize, outcome: Outcome) {
        let Attempt { connection, letter, .. } = self.told().attempts[attempt].clone();
        let when = self.tell(format_args!("connection {connection} on {letter}: {outcome:?}"));
        self.told().attempts[attempt].heard = Some((when, outcome));
    }

    pub(crate) fn crash(&self, lost: usize) {
        let when = self.tell(format_args!("crash, {lost} commits are lost"));
        self.told().crashes.push(when);
    }

    /// Gives the number of the replay.
    pub(crate) fn replay(&self, event: Id<Event>) -> usize {
        let asked = self.tell(format_args!("{event} is to be replayed"));
        let mut told = self.told();
        told.replays.push(Replay { asked, event, begun: None, told: None });
        told.replays.len() - 1
    }

    pub(crate) fn replayed(&self, replay: usize, begun: Vec<Id<Connection>>) {
        let when = self.tell(format_args!("replay {replay} has begun for {begun:?}"));
        let replay = &mut self.told().replays[replay];
        (replay.begun, replay.told) = (Some(begun), Some(when));
    }

    pub(crate) fn begin(&self) {
        let when = self.tell(format_args!("a life begins"));
        self.told().lives.push(when);
    }

    pub(crate) fn furnish(&self, exist: &[bool]) {
        let known = exist.iter().map(|exists| Known { exists: *exists, ..Known::default() });
        self.told().known = known.collect();
    }

    pub(crate) fn make(&self, connection: usize) {
        self.tell(format_args!("connection {connection} is made"));
        self.told().known[connection].exists = true;
    }

    /// From now on, unless it did before.
    pub(crate) fn know(&self, connection: usize) {
        if !self.told().known[connection].exists {
            return;
        }
        let when = self.tell(format_args!("connection {connection} is known"));
        self.told().known[connection].since.get_or_insert(when);
    }

    pub(crate) fn delete(&self, connection: usize) {
        let when = self.tell(format_args!("connection {connection} is deleted"));
        self.told().known[connection].deleted = Some(when);
    }

    pub(crate) fn reorder(&self, connection: usize) {
        self.tell(format_args!("connection {connection} begins or ceases to keep an order"));
        self.told().known[connection].reordered = true;
    }

    /// Its state is about to change; a pause ends with that. Tells which change it is.
    pub(crate) fn change(&self, connection: usize, to: impl fmt::Debug) -> usize {
        let when = self.tell(format_args!("connection {connection} will be {to:?}"));
        let mut told = self.told();
        let open = told.pauses.iter_mut().filter(|pause| pause.connection == connection);
        open.filter(|pause| pause.to.is_none()).for_each(|pause| pause.to = Some(when));
        told.known[connection].changes += 1;
        told.known[connection].changes
    }

    /// The program has understood that it is paused, unless it has changed again since.
    pub(crate) fn pause(&self, connection: usize, change: usize) {
        if self.told().known[connection].changes == change {
            let from = self.tell(format_args!("connection {connection} is known to be paused"));
            self.told().pauses.push(Pause { connection, from, to: None });
        }
    }
}

impl fmt::Debug for Story {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Story").finish_non_exhaustive()
    }
}
