//! The port to the data plane: what it does for those who ask through the API.
//!
//! Whoever calls has found what they speak of in their own account, and hands it over whole;
//! nothing here looks anything up by an id that somebody sent. What changes something is given
//! the store to write with, so that a line for the audit log can go in the same commit.

use std::net::IpAddr;

use ferryhook_core::explained::{Compared, Explained};
use ferryhook_core::operational::Operational;
use ferryhook_core::trigger::Posted;
use ferryhook_core::{
    Account, Attempt, Connection, Erasure, Event, Id, Rejection, Replay, Source, User,
};
use ferryhook_store::{Store, StoreError, Stored};
use futures_util::FutureExt;
use futures_util::future::BoxFuture;

use crate::problem::{Code, Problem};
use crate::replays::What;

/// What is asked of the data plane, on its way.
pub type Doing<'a, T> = BoxFuture<'a, Result<T, Refusal>>;

pub trait Works: Send + Sync {
    /// Whether what is ordered here is also carried out here. Elsewhere it waits in the store for
    /// whoever works on that.
    fn is_at_work(&self) -> bool;

    /// Somebody was let in to call the API; for whoever counts that. Must be quick.
    fn called(&self, _account: Id<Account>, _by: Id<User>) {}

    /// What a connection's rules make of an event. Has no effect.
    fn explain<'a>(&'a self, connection: &'a Connection, event: &'a Event) -> Doing<'a, Explained>;

    /// The same under two sets of rules.
    fn compare<'a>(
        &'a self,
        before: &'a Connection,
        after: &'a Connection,
        event: &'a Event,
    ) -> Doing<'a, Compared>;

    /// What the connection would send of the event; nothing where it would not. With `deliver` it
    /// is sent, once, and nothing about it is stored.
    fn rehearse<'a>(
        &'a self,
        connection: &'a Connection,
        event: &'a Event,
        deliver: bool,
    ) -> Doing<'a, Option<Rehearsed>>;

    /// Sends an event again: to these connections, or to all that want it when there are none.
    fn replay<'a>(
        &'a self,
        store: &'a Store,
        event: &'a Event,
        to: &'a [Id<Connection>],
    ) -> Doing<'a, Vec<(Id<Connection>, What)>>;

    /// Writes down a replay of many events, for whoever carries it out.
    fn begin_replay<'a>(&'a self, store: &'a Store, replay: &'a Replay) -> Doing<'a, ()>;

    /// Writes down an erasure, for whoever carries it out.
    fn begin_erasure<'a>(&'a self, store: &'a Store, erasure: &'a Erasure) -> Doing<'a, ()>;

    /// Lets a request in that was refused; its events.
    fn readmit<'a>(
        &'a self,
        store: &'a Store,
        rejection: Stored<Rejection>,
    ) -> Doing<'a, Vec<Id<Event>>>;

    /// Why its signature does not hold, as far as that can be told. `others` are other sources of
    /// the account, whose secrets may have been mixed up.
    fn diagnose<'a>(
        &'a self,
        rejection: &'a Rejection,
        others: &'a [Source],
    ) -> Doing<'a, Option<String>>;

    /// Takes in what an app has posted to this source; what became of each, in order.
    fn post(
        &self,
        source: Id<Source>,
        posted: Vec<Posted>,
        sender: Option<IpAddr>,
    ) -> Doing<'_, Vec<Result<Filed, Problem>>>;

    /// Processes an event once more that was given up.
    fn redrive<'a>(&'a self, store: &'a Store, event: &'a Event) -> Doing<'a, ()>;

    /// The hooks of an account have changed.
    fn hooks_changed(&self, account: Id<Account>) -> Doing<'_, ()>;

    /// Its event types were deleted, or declared otherwise.
    fn types_changed(&self, _account: Id<Account>) {}

    /// Says something to those who look after an account, and to its hooks.
    fn announce<'a>(&'a self, account: Id<Account>, said: &'a Operational) -> Doing<'a, ()>;
}

/// What became of an event that was posted.
#[derive(Debug, Clone)]
pub enum Filed {
    New(Box<Event>),
    /// It was here before. Nobody knows the first where that has been erased.
    Known(Option<Id<Event>>),
}

/// What a connection makes of an event, and what the destination said to it if it was sent.
#[derive(Debug, Clone)]
pub struct Rehearsed {
    /// In the shape in which it leaves.
    pub event: Event,
    pub attempt: Option<Attempt>,
}

/// Why something was not done, in words for whoever asked.
#[derive(Debug, thiserror::Error)]
pub enum Refusal {
    #[error("{0}")]
    NotFound(String),
    /// What was asked for makes no sense.
    #[error("{0}")]
    Invalid(String),
    /// As things stand it cannot be done.
    #[error("{0}")]
    Conflict(String),
    /// Nobody is here who could do it.
    #[error("{0}")]
    Unavailable(String),
    /// In words that are a problem's already.
    #[error("{}", .0.detail())]
    Declined(Problem),
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl From<Refusal> for Problem {
    fn from(refusal: Refusal) -> Self {
        match refusal {
            Refusal::NotFound(_) => Self::not_found(),
            Refusal::Invalid(reason) => Self::new(Code::Validation, sentence(&reason)),
            Refusal::Conflict(reason) => Self::new(Code::Conflict, sentence(&reason)),
            Refusal::Unavailable(reason) => Self::new(Code::Unavailable, sentence(&reason)),
            Refusal::Declined(problem) => problem,
            Refusal::Store(error) => error.into(),
        }
    }
}

/// The words of an error, as they stand in a problem.
pub(crate) fn sentence(words: &str) -> String {
    let mut rest = words.chars();
    let first = rest.next().map(|first| first.to_ascii_uppercase());
    first.into_iter().chain(rest).chain(['.']).collect()
}

/// Where no data plane runs: an API on its own answers what the store can tell, and says so where
/// that is not enough.
#[derive(Debug, Clone, Copy)]
pub struct Nobody;

impl Nobody {
    pub(crate) fn answer<T: Send + 'static>() -> Doing<'static, T> {
        let reason = "this server only answers questions; ask one that also delivers".to_owned();
        async { Err(Refusal::Unavailable(reason)) }.boxed()
    }
}

impl Works for Nobody {
    fn is_at_work(&self) -> bool {
        false
    }

    fn post(
        &self,
        _: Id<Source>,
        _: Vec<Posted>,
        _: Option<IpAddr>,
    ) -> Doing<'_, Vec<Result<Filed, Problem>>> {
        Self::answer()
    }

    fn explain<'a>(&'a self, _: &'a Connection, _: &'a Event) -> Doing<'a, Explained> {
        Self::answer()
    }

    fn compare<'a>(
        &'a self,
        _: &'a Connection,
        _: &'a Connection,
        _: &'a Event,
    ) -> Doing<'a, Compared> {
        Self::answer()
    }

    fn rehearse<'a>(
        &'a self,
        _: &'a Connection,
        _: &'a Event,
        _: bool,
    ) -> Doing<'a, Option<Rehearsed>> {
        Self::answer()
    }

    fn replay<'a>(
        &'a self,
        _: &'a Store,
        _: &'a Event,
        _: &'a [Id<Connection>],
    ) -> Doing<'a, Vec<(Id<Connection>, What)>> {
        Self::answer()
    }

    /// Whoever works on the store finds it there.
    fn begin_replay<'a>(&'a self, store: &'a Store, replay: &'a Replay) -> Doing<'a, ()> {
        async move { Ok(store.replays().create(replay).await?) }.boxed()
    }

    fn begin_erasure<'a>(&'a self, store: &'a Store, erasure: &'a Erasure) -> Doing<'a, ()> {
        async move { Ok(store.erasures().create(erasure).await?) }.boxed()
    }

    fn readmit<'a>(&'a self, _: &'a Store, _: Stored<Rejection>) -> Doing<'a, Vec<Id<Event>>> {
        Self::answer()
    }

    fn diagnose<'a>(&'a self, _: &'a Rejection, _: &'a [Source]) -> Doing<'a, Option<String>> {
        async { Ok(None) }.boxed()
    }

    fn redrive<'a>(&'a self, _: &'a Store, _: &'a Event) -> Doing<'a, ()> {
        Self::answer()
    }

    /// Whoever delivers finds out by themselves, within a minute.
    fn hooks_changed(&self, _: Id<Account>) -> Doing<'_, ()> {
        async { Ok(()) }.boxed()
    }

    fn announce<'a>(&'a self, _: Id<Account>, _: &'a Operational) -> Doing<'a, ()> {
        async { Ok(()) }.boxed()
    }
}
