//! What is said about a session, and what passes between it and whoever listens.

use std::time::Duration;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use ferryhook_core::cli_session::{Answered, Ended, Errand, Report};
use ferryhook_core::id::{CliSessionId, ConnectionId, EventId, SourceId};
use ferryhook_core::limits::{RESPONSE_CHARACTERS_KEPT, TIMEOUT_MS_MAX};
use ferryhook_core::{Headers, Secret};
use serde::{Deserialize, Serialize};
use serde_json::Value as Json;
use utoipa::ToSchema;

use crate::call::ApiResult;
use crate::events::HeaderLine;
use crate::limits;
use crate::problem::Problem;

/// Whose events are wanted, and where they will go.
#[derive(Debug, Clone, Default, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct NewCliSession {
    /// Without it, all sources of the account.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source_id: Option<SourceId>,
    /// The URL that the client will send them to. The server never does; it is what attempts are
    /// shown with.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub forward_to: Option<String>,
    /// Goes before the path that the sender wrote behind the source's address.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// Like the filters of a connection.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub filters: Option<Json>,
    /// What requests are signed with; a new one if nothing is said. A client whose session was lost
    /// may want to keep the one it had.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>)]
    pub signing_secret: Option<Secret>,
}

/// A session that has just been made. It ends when nobody reads it for half a minute.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = CliSession)]
pub struct CliSessionView {
    pub session_id: CliSessionId,
    pub sources: Vec<ListenedSource>,
    /// Shown this once.
    #[schema(value_type = String)]
    pub signing_secret: Secret,
}

/// A source of a session, and the connection that it has for the time of the session.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ListenedSource {
    pub source_id: SourceId,
    pub name: String,
    pub ingest_url: String,
    pub connection_id: ConnectionId,
}

/// What whoever listens is told: under the name `request` what they are to do, and under `end`, as
/// the last word, why there will be no more.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
#[serde(untagged)]
pub enum CliMessage {
    Request(Box<CliRequest>),
    End(CliEnd),
}

/// One request to be made.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct CliRequest {
    /// For the result. Counts up within the session.
    pub id: u64,
    pub event_id: EventId,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub event_type: Option<String>,
    pub source_id: SourceId,
    pub connection_id: ConnectionId,
    /// Which attempt this is; the first is 1.
    pub attempt: u16,
    pub method: String,
    /// With the query, if there is one.
    pub path: String,
    /// All that is to be sent, signatures included.
    pub headers: Vec<HeaderLine>,
    /// If it is text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub body: Option<String>,
    /// If it is not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub body_base64: Option<String>,
    /// After this long without an answer the attempt has failed.
    pub timeout_ms: u64,
}

impl CliRequest {
    /// Nothing where it cannot be read.
    pub fn bytes(&self) -> Option<Vec<u8>> {
        match (&self.body, &self.body_base64) {
            (Some(text), _) => Some(text.clone().into_bytes()),
            (None, Some(text)) => STANDARD.decode(text).ok(),
            (None, None) => Some(Vec::new()),
        }
    }
}

impl From<Errand> for CliRequest {
    fn from(errand: Errand) -> Self {
        let text = errand.body.as_text().map(str::to_owned);
        Self {
            id: errand.number,
            event_id: errand.event_id,
            event_type: errand.event_type,
            source_id: errand.source_id,
            connection_id: errand.connection_id,
            attempt: errand.attempt,
            method: errand.method,
            path: errand.path,
            headers: HeaderLine::all(&errand.headers),
            body_base64: text.is_none().then(|| STANDARD.encode(errand.body.as_bytes())),
            body: text,
            timeout_ms: u64::try_from(errand.timeout.as_millis()).unwrap_or(u64::MAX),
        }
    }
}

#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct CliEnd {
    pub reason: CliEnded,
}

/// After `replaced` the session may still be read; after the others it is gone.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum CliEnded {
    /// Somebody ended it.
    Closed,
    /// Nobody has read it for too long.
    Silent,
    /// The server stops.
    Stopping,
    /// Somebody else reads it, or this reader has left requests unanswered.
    Replaced,
}

impl From<Ended> for CliEnded {
    fn from(ended: Ended) -> Self {
        match ended {
            Ended::Closed => Self::Closed,
            Ended::Silent => Self::Silent,
            Ended::Stopping => Self::Stopping,
            Ended::Replaced => Self::Replaced,
        }
    }
}

/// What came of some requests.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct CliResults {
    #[schema(max_items = 100)]
    pub results: Vec<CliResult>,
}

/// What came of one: an answer, or an error.
#[derive(Debug, Clone, Default, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct CliResult {
    pub id: u64,
    /// How long it took.
    #[serde(default)]
    pub latency_ms: u32,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(minimum = 100, maximum = 599)]
    pub status: Option<u16>,
    /// Of the answer; `retry-after` counts.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub headers: Vec<HeaderLine>,
    /// The beginning of the answer's body.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub body: Option<String>,
    /// Why there is no answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}

/// What was done with results.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct CliReported {
    /// Those that somebody waited for. The others came too late, or were reported before.
    pub accepted: usize,
}

impl CliResults {
    pub(super) fn reports(self) -> ApiResult<Vec<Report>> {
        let most = limits::CLI_RESULTS_MAX;
        if self.results.len() > most {
            return Err(Problem::invalid("/results", format!("at most {most} at once")));
        }
        let results = self.results.into_iter().enumerate();
        results.map(|(place, result)| result.report(place)).collect()
    }
}

impl CliResult {
    fn report(self, place: usize) -> ApiResult<Report> {
        let at = |field: &str| format!("/results/{place}/{field}");
        let kept = |text: String| text.chars().take(RESPONSE_CHARACTERS_KEPT).collect::<String>();
        let result = match (self.status, self.error) {
            (Some(status @ 100..=599), None) => {
                let headers = self.headers.into_iter().take(limits::CLI_HEADERS_MAX);
                let headers: Headers = headers.map(|line| (line.name, line.value)).collect();
                Ok(Answered { status, headers, body: kept(self.body.unwrap_or_default()) })
            }
            (Some(_), None) => {
                return Err(Problem::invalid(at("status"), "must be from 100 to 599"));
            }
            (None, Some(error)) if !error.is_empty() => Err(kept(error)),
            _ => return Err(Problem::invalid(at("status"), "say either a status, or an error")),
        };
        let latency = Duration::from_millis(self.latency_ms.min(TIMEOUT_MS_MAX).into());
        Ok(Report { number: self.id, latency, result })
    }
}
