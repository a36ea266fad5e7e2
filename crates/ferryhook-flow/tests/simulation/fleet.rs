//! The destinations: each in a mood that changes, and each remembering who came.

use std::future::pending;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use bytes::Bytes;
use ferryhook_core::outgoing::{ATTEMPT, EVENT_ID};
use ferryhook_net::client::{Outbound, Outgoing, Reply, Timing, Unsent, Why};
use futures_util::future::BoxFuture;
use hyper::HeaderMap;
use hyper::header::{HeaderValue, RETRY_AFTER};

use crate::cast::Cast;
use crate::chance::Chance;
use crate::story::{Outcome, Story};

pub(crate) struct Fleet {
    chance: Chance,
    story: Story,
    docks: Mutex<Vec<Dock>>,
    crashed: Box<dyn Fn() -> bool + Send + Sync>,
}

#[derive(Debug, Clone)]
struct Dock {
    mood: Mood,
    /// Requests that it has at the moment, and at most.
    busy: usize,
    most: usize,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mood {
    Well,
    Slow,
    /// Takes the request and never says anything.
    Hanging,
    Failing,
    /// Asks to come again later.
    Busy,
    Gone,
    /// The connection breaks before the answer.
    Cutting,
    /// Another one each time.
    Flapping,
    /// Works that many times more, then fails.
    Dying(u8),
}

const FLAPPING: [Mood; 7] =
    [Mood::Well, Mood::Well, Mood::Slow, Mood::Failing, Mood::Hanging, Mood::Busy, Mood::Cutting];

/// What a destination does with one request.
struct Deed {
    after: Duration,
    outcome: Outcome,
}

impl Fleet {
    pub(crate) fn new(
        cast: &Cast,
        chance: Chance,
        story: Story,
        crashed: impl Fn() -> bool + Send + Sync + 'static,
    ) -> Self {
        let docks = cast.ways.iter().map(|way| Dock {
            mood: Mood::any(&chance),
            busy: 0,
            most: way.connection.concurrency_max.map_or(usize::MAX, usize::from),
        });
        let docks = Mutex::new(docks.collect());
        Self { chance, story, docks, crashed: Box::new(crashed) }
    }

    pub(crate) fn change(&self, dock: usize, mood: Mood) {
        self.story.tell(format_args!("connection {dock} is {mood:?}"));
        self.docks()[dock].mood = mood;
    }

    pub(crate) fn heal(&self) {
        self.docks().iter_mut().for_each(|dock| dock.mood = Mood::Well);
    }

    fn docks(&self) -> MutexGuard<'_, Vec<Dock>> {
        self.docks.lock().unwrap_or_else(PoisonError::into_inner)
    }

    async fn receive(&self, outgoing: Outgoing) -> Result<Reply, Unsent> {
        if (self.crashed)() {
            return pending().await;
        }
        let url = outgoing.target.url();
        let dock: usize =
            url.trim_start_matches("https://d").split('.').next().unwrap().parse().unwrap();
        let attempt = self.enter(dock, &outgoing);
        let _busy = self.occupy(dock);
        let deed = self.decide(dock);
        if deed.after >= outgoing.timeout {
            tokio::time::sleep(outgoing.timeout).await;
            self.story.answer(attempt, Outcome::Unanswered);
            return Err(unsent(Why::Timeout));
        }
        tokio::time::sleep(deed.after).await;
        if (self.crashed)() {
            return pending().await;
        }
        self.story.answer(attempt, deed.outcome);
        match deed.outcome {
            Outcome::Unanswered => Err(unsent(Why::Broken)),
            Outcome::Answered { status, retry_after } => {
                let mut headers = HeaderMap::new();
                if let Some(seconds) = retry_after {
                    headers.insert(RETRY_AFTER, HeaderValue::from(seconds));
                }
                Ok(Reply { status, headers, body: Bytes::new(), timing: Timing::default() })
            }
        }
    }

    /// Notes the request, and looks whether it is what a sender said.
    fn enter(&self, dock: usize, outgoing: &Outgoing) -> usize {
        let header = |name: &str| outgoing.headers[name].to_str().unwrap();
        let (event, number) = (header(EVENT_ID).parse().unwrap(), header(ATTEMPT).parse().unwrap());
        let body: serde_json::Value = serde_json::from_slice(&outgoing.body).unwrap_or_default();
        let letter = body["n"].as_u64().map_or(usize::MAX, |n| n as usize);
        let known = self.story.told().letters.get(letter).map(|letter| letter.body.clone());
        if known.as_ref() != Some(&outgoing.body) {
            self.story.violate(format_args!("connection {dock} got what nobody sent: {body}"));
        }
        self.story.send(dock, letter, event, number)
    }

    fn occupy(&self, dock: usize) -> Occupied<'_> {
        let mut docks = self.docks();
        docks[dock].busy += 1;
        let Dock { busy, most, .. } = docks[dock];
        drop(docks);
        if busy > most {
            self.story.violate(format_args!("connection {dock} has {busy} at once, not {most}"));
        }
        Occupied(self, dock)
    }

    fn decide(&self, dock: usize) -> Deed {
        let mood = match &mut self.docks()[dock].mood {
            Mood::Dying(0) => Mood::Failing,
            Mood::Dying(left) => {
                *left -= 1;
                Mood::Well
            }
            Mood::Flapping => *self.chance.pick(&FLAPPING),
            mood => *mood,
        };
        self.deed(mood)
    }

    fn deed(&self, mood: Mood) -> Deed {
        let chance = &self.chance;
        let plain = |status| Outcome::Answered { status, retry_after: None };
        let (after, outcome) = match mood {
            Mood::Slow => (chance.millis(300..6000), plain(200)),
            Mood::Hanging => (Duration::MAX, Outcome::Unanswered),
            Mood::Failing => (chance.millis(0..100), plain(*chance.pick(&[500, 503, 404, 302]))),
            Mood::Busy => {
                let retry_after = Some(chance.of(1..8));
                (chance.millis(0..20), Outcome::Answered { status: 429, retry_after })
            }
            Mood::Gone => (chance.millis(0..20), plain(410)),
            Mood::Cutting => (chance.millis(0..900), Outcome::Unanswered),
            Mood::Well | Mood::Flapping | Mood::Dying(_) => (chance.millis(0..40), plain(200)),
        };
        Deed { after, outcome }
    }
}

impl Mood {
    pub(crate) fn any(chance: &Chance) -> Self {
        match chance.of(0..100) {
            0..40 => Self::Well,
            40..55 => Self::Flapping,
            55..65 => Self::Slow,
            65..75 => Self::Failing,
            75..82 => Self::Busy,
            82..88 => Self::Hanging,
            88..93 => Self::Cutting,
            93..98 => Self::Dying(chance.of(1..6) as u8),
            _ => Self::Gone,
        }
    }
}

/// A place at a destination, free again when the request is over or was given up.
struct Occupied<'a>(&'a Fleet, usize);

impl Drop for Occupied<'_> {
    fn drop(&mut self) {
        self.0.docks()[self.1].busy -= 1;
    }
}

fn unsent(why: Why) -> Unsent {
    Unsent { why, message: "no answer".to_owned(), timing: Timing::default() }
}

impl Outbound for Fleet {
    fn send(&self, outgoing: Outgoing) -> BoxFuture<'_, Result<Reply, Unsent>> {
        Box::pin(self.receive(outgoing))
    }
}
