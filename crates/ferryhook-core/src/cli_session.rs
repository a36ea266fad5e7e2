//! A session of `ferryhook listen`: somebody who wants a source's events on their own machine.
//!
//! For its time it has a connection of its own for each of its sources, an ordinary one but for
//! its destination: what is due is not sent to an address but told to whoever listens, as an
//! [`Errand`], and what they say came of it, a [`Report`], is the answer. The session itself lives
//! in the memory of one server and is never stored; its connections carry its name, and until when
//! that server is known to be there.

use std::time::Duration;

use serde_json::json;

use crate::connection::{DestinationType, Status};
use crate::id::Identified;
use crate::{Account, Body, Connection, Event, Headers, Id, Map, Source, Timestamp, User};

const SESSION: &str = "sessionId";
const UNTIL: &str = "listensUntil";

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CliSession {
    pub id: Id<CliSession>,
    pub account_id: Id<Account>,
    /// Who made it: nobody else reads or answers it.
    pub user_id: Id<User>,
    /// Where in the local app events go. Begins with a slash, and ends with one only if that is all
    /// of it.
    pub path: String,
    pub connections: Vec<(Id<Source>, Id<Connection>)>,
}

impl Identified for CliSession {
    const PREFIX: &'static str = "lsn_";
}

/// One request that whoever listens is asked to make.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Errand {
    /// Counts up within the session.
    pub number: u64,
    pub event_id: Id<Event>,
    pub event_type: Option<String>,
    pub source_id: Id<Source>,
    pub connection_id: Id<Connection>,
    pub attempt: u16,
    pub method: String,
    /// With the query, if there is one.
    pub path: String,
    /// All that is to be sent, signatures included.
    pub headers: Headers,
    pub body: Body,
    pub timeout: Duration,
}

/// What came of an errand.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Report {
    pub number: u64,
    pub latency: Duration,
    pub result: Result<Answered, String>,
}

/// What the local app said.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answered {
    pub status: u16,
    pub headers: Headers,
    /// Its beginning, as text.
    pub body: String,
}

/// What whoever listens is told.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Told {
    Errand(Box<Errand>),
    /// The last word.
    End(Ended),
}

/// Why a session, or the reading of it, is over.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ended {
    /// Somebody closed it.
    Closed,
    /// Nobody has listened for too long.
    Silent,
    /// The server stops.
    Stopping,
    /// Somebody else reads it now, or this reader said nothing for too long.
    Replaced,
}

impl CliSession {
    /// The path and query under which the local app gets an event: behind the session's own path,
    /// what the sender wrote behind the address of the source.
    pub fn path_of(&self, event: &Event) -> String {
        let behind = event.path.as_deref().unwrap_or_default().trim_start_matches('/');
        let mut path = match (self.path.trim_end_matches('/'), behind) {
            ("", "") => "/".to_owned(),
            (own, "") => own.to_owned(),
            (own, behind) => format!("{own}/{behind}"),
        };
        if let Some(query) = event.query.as_deref().filter(|query| !query.is_empty()) {
            path.push('?');
            path.push_str(query);
        }
        path
    }

    /// What its connections say about their destination.
    pub fn destination(&self, until: Timestamp) -> Map {
        let fields = [(SESSION, json!(self.id)), (UNTIL, json!(until.as_millis()))];
        fields.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
    }
}

impl Connection {
    /// Whether it belongs to a session of `ferryhook listen`.
    pub fn is_listened_to(&self) -> bool {
        self.destination_type == DestinationType::Cli
    }

    /// Until when the server that has the session is known to be there. After that the connection
    /// is a leftover.
    pub fn listens_until(&self) -> Option<Timestamp> {
        let config = self.destination_config.as_ref().filter(|_| self.is_listened_to())?;
        config.get(UNTIL)?.as_i64().map(Timestamp::from_millis)
    }

    /// The same, with its session known to be there until then.
    pub fn listening_until(&self, until: Timestamp) -> Self {
        let mut config = self.destination_config.clone().unwrap_or_default();
        config.insert(UNTIL.to_owned(), json!(until.as_millis()));
        Self { destination_config: Some(config), ..self.clone() }
    }

    /// Its session is over.
    pub fn hung_up(&self, now: Timestamp) -> Self {
        Self { status: Status::Deleted, updated_at: now, ..self.clone() }
    }
}

#[cfg(test)]
mod tests;
