//! What clients of the API ask for, in the proportions of a dashboard that people look at and of
//! scripts that keep things in order: much is read, little is changed.

use std::collections::VecDeque;
use std::fmt;
use std::sync::{Mutex, MutexGuard, PoisonError};

use ferryhook_core::Env;
use serde::{Deserialize, Serialize};

use super::stock::{RARE_TYPE, Stock};

/// Cursors that are remembered; a list is followed from one page to the next.
const CURSORS_MAX: usize = 256;
/// Spreads the kinds over a hundred turns: no factor in common with it.
const STRIDE: u32 = 37;

/// A kind of request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Operation {
    WhoAmI,
    ListSources,
    GetSource,
    ListConnections,
    GetConnection,
    ListEventsOfSource,
    ListEvents,
    ListEventsFurther,
    ListEventsByStatus,
    ListEventsByType,
    GetEvent,
    GetBody,
    ListReplays,
    PatchConnection,
    CreateSource,
    DeleteSource,
    /// The floor.
    Health,
}

impl Operation {
    /// Each with its share of a hundred requests.
    pub const MIX: [(Self, u32); 16] = [
        (Self::WhoAmI, 5),
        (Self::ListSources, 6),
        (Self::GetSource, 12),
        (Self::ListConnections, 4),
        (Self::GetConnection, 6),
        (Self::ListEventsOfSource, 14),
        (Self::ListEvents, 8),
        (Self::ListEventsFurther, 6),
        (Self::ListEventsByStatus, 5),
        (Self::ListEventsByType, 5),
        (Self::GetEvent, 18),
        (Self::GetBody, 5),
        (Self::ListReplays, 2),
        (Self::PatchConnection, 2),
        (Self::CreateSource, 1),
        (Self::DeleteSource, 1),
    ];

    /// Every hundred turns have exactly the shares, in an order without a pattern to the eye.
    fn at(turn: u32) -> Self {
        let mut place = (turn % 100) * STRIDE % 100;
        for (operation, share) in Self::MIX {
            if place < share {
                return operation;
            }
            place -= share;
        }
        Self::WhoAmI
    }

    /// As the API names it, with what tells two of one name apart.
    pub const fn name(self) -> &'static str {
        match self {
            Self::WhoAmI => "whoami",
            Self::ListSources => "sources.list",
            Self::GetSource => "sources.get",
            Self::ListConnections => "connections.list",
            Self::GetConnection => "connections.get",
            Self::ListEventsOfSource => "events.listOfSource",
            Self::ListEvents => "events.list",
            Self::ListEventsFurther => "events.list, later pages",
            Self::ListEventsByStatus => "events.list, by status",
            Self::ListEventsByType => "events.list, by type",
            Self::GetEvent => "events.get",
            Self::GetBody => "events.body",
            Self::ListReplays => "replays.list",
            Self::PatchConnection => "connections.update",
            Self::CreateSource => "sources.create",
            Self::DeleteSource => "sources.delete",
            Self::Health => "healthz",
        }
    }

    /// Answered only when it is on disk.
    pub const fn is_write(self) -> bool {
        matches!(self, Self::PatchConnection | Self::CreateSource | Self::DeleteSource)
    }

    const fn expected(self) -> u16 {
        match self {
            Self::CreateSource => 201,
            Self::DeleteSource => 204,
            _ => 200,
        }
    }

    const fn is_list(self) -> bool {
        matches!(
            self,
            Self::ListSources
                | Self::ListConnections
                | Self::ListEventsOfSource
                | Self::ListEvents
                | Self::ListEventsFurther
                | Self::ListEventsByStatus
                | Self::ListEventsByType
                | Self::ListReplays
        )
    }
}

impl fmt::Display for Operation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl Serialize for Operation {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}

/// One request, ready to be sent.
#[derive(Debug)]
pub struct Ask {
    pub operation: Operation,
    pub request: String,
}

impl Ask {
    pub fn health() -> Self {
        let request = "GET /healthz HTTP/1.1\r\nhost: ferryhook\r\n\r\n".to_owned();
        Self { operation: Operation::Health, request }
    }

    /// Whether it was answered as it should be. What later requests need is remembered.
    pub fn check(&self, status: Option<u16>, body: &[u8], mix: &Mix) -> Result<(), String> {
        let expected = self.operation.expected();
        if status != Some(expected) {
            let status = status.map_or("no status".to_owned(), |status| status.to_string());
            let text: String = String::from_utf8_lossy(body).chars().take(200).collect();
            return Err(format!("answered {status} instead of {expected}: {text}"));
        }
        // A list that finds nothing is quick, and measures nothing.
        if self.operation.is_list() && !body.starts_with(br#"{"data":[{"#) {
            return Err("answered with an empty list".to_owned());
        }
        mix.learn(self.operation, body)
    }
}

/// Knows what is there to be asked for.
#[derive(Debug)]
pub struct Mix {
    stock: Stock,
    env: Env,
    /// Where lists of events go on.
    cursors: Mutex<VecDeque<String>>,
    /// Sources that were made on the way, and are to be deleted.
    made: Mutex<Vec<String>>,
}

#[derive(Deserialize)]
struct Paged {
    cursor: Option<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Made {
    source_id: String,
}

impl Mix {
    pub fn of(stock: Stock, env: Env) -> Self {
        Self { stock, env, cursors: Mutex::default(), made: Mutex::default() }
    }

    /// The request whose turn it is.
    pub fn ask(&self, turn: u32) -> Ask {
        use Operation::*;
        let Stock { sources, connections, events, .. } = &self.stock;
        let get = |operation, path: String| self.request(turn, operation, "GET", &path, "");
        match Operation::at(turn) {
            Health => Ask::health(),
            WhoAmI => get(WhoAmI, "/v1/whoami".to_owned()),
            ListSources => get(ListSources, "/v1/sources".to_owned()),
            GetSource => get(GetSource, format!("/v1/sources/{}", self.any(sources))),
            ListConnections => {
                get(ListConnections, format!("/v1/sources/{}/connections", self.any(sources)))
            }
            GetConnection => {
                get(GetConnection, format!("/v1/connections/{}", self.any(connections)))
            }
            ListEventsOfSource => {
                get(ListEventsOfSource, format!("/v1/sources/{}/events", self.any(sources)))
            }
            ListEvents => get(ListEvents, "/v1/events".to_owned()),
            ListEventsFurther => match lock(&self.cursors).pop_front() {
                Some(cursor) => get(ListEventsFurther, format!("/v1/events?cursor={cursor}")),
                None => get(ListEvents, "/v1/events".to_owned()),
            },
            ListEventsByStatus => get(ListEventsByStatus, "/v1/events?status=failed".to_owned()),
            ListEventsByType => get(ListEventsByType, format!("/v1/events?type={RARE_TYPE}")),
            GetEvent => get(GetEvent, format!("/v1/events/{}", self.any(events))),
            GetBody => get(GetBody, format!("/v1/events/{}/body", self.any(events))),
            ListReplays => get(ListReplays, "/v1/replays".to_owned()),
            PatchConnection => {
                let path = format!("/v1/connections/{}", self.any(connections));
                // Another one each time, or nothing would be written.
                let body = format!(r#"{{"timeoutMs":{}}}"#, 1_000 + turn % 29_000);
                self.request(turn, PatchConnection, "PATCH", &path, &body)
            }
            CreateSource => self.create(turn),
            DeleteSource => match lock(&self.made).pop() {
                Some(id) => {
                    self.request(turn, DeleteSource, "DELETE", &format!("/v1/sources/{id}"), "")
                }
                None => self.create(turn),
            },
        }
    }

    fn create(&self, turn: u32) -> Ask {
        let body = format!(r#"{{"name":"Made in turn {turn}","provider":"github"}}"#);
        self.request(turn, Operation::CreateSource, "POST", "/v1/sources", &body)
    }

    fn request(
        &self,
        turn: u32,
        operation: Operation,
        method: &str,
        path: &str,
        body: &str,
    ) -> Ask {
        let key = &self.stock.keys[turn as usize % self.stock.keys.len()];
        let content = match body.len() {
            0 => String::new(),
            length => {
                format!("content-type: application/json\r\ncontent-length: {length}\r\n")
            }
        };
        let request = format!(
            "{method} {path} HTTP/1.1\r\nhost: ferryhook\r\nuser-agent: ferryhook-bench\r\n\
             authorization: Bearer {}\r\n{content}\r\n{body}",
            key.expose()
        );
        Ask { operation, request }
    }

    fn learn(&self, operation: Operation, body: &[u8]) -> Result<(), String> {
        let strange = |error: serde_json::Error| format!("answered with strange JSON: {error}");
        match operation {
            Operation::ListEvents | Operation::ListEventsFurther => {
                let paged: Paged = serde_json::from_slice(body).map_err(strange)?;
                let mut cursors = lock(&self.cursors);
                cursors.extend(paged.cursor);
                if cursors.len() > CURSORS_MAX {
                    cursors.pop_front();
                }
            }
            Operation::CreateSource => {
                let made: Made = serde_json::from_slice(body).map_err(strange)?;
                lock(&self.made).push(made.source_id);
            }
            _ => {}
        }
        Ok(())
    }

    fn any<'a, T>(&self, things: &'a [T]) -> &'a T {
        let place = (self.env.fraction() * things.len() as f64) as usize;
        &things[place.min(things.len() - 1)]
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests;
