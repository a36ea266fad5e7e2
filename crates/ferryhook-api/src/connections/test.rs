//! Trying a connection out: what it makes of a sample, or of an event that is stored.
//!
//! Nothing is stored or counted. Only where the caller says so is a request sent, signed like any
//! other and through the same guard; that it was is in the audit log.

use axum::extract::State;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use ferryhook_core::connection::DestinationType;
use ferryhook_core::event::{Origin, Status};
use ferryhook_core::explained::Explained;
use ferryhook_core::id::{ConnectionId, EventId};
use ferryhook_core::{Connection, Event, Headers, Id};
use serde::{Deserialize, Serialize};
use serde_json::Value as Json;
use utoipa::ToSchema;

use crate::call::{ApiResult, Found, In, MaybeSent};
use crate::caller::Caller;
use crate::events::{AttemptLine, HeaderLine};
use crate::owned;
use crate::problem::Problem;
use crate::router::App;

/// What the connection is tried with: an event that is stored, or a sample. A small JSON object,
/// where neither is given.
#[derive(Debug, Clone, Default, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct TestOrder {
    pub event_id: Option<EventId>,
    pub sample: Option<Sample>,
    /// Send it, once, to the real destination.
    #[serde(default)]
    pub deliver: bool,
}

/// An event that has not happened.
#[derive(Debug, Clone, Default, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Sample {
    /// Such as `order.paid`.
    pub event_type: Option<String>,
    /// `POST` if nothing is said.
    pub method: Option<String>,
    /// What followed the source's address.
    pub path: Option<String>,
    pub query: Option<String>,
    #[serde(default)]
    pub headers: Vec<HeaderLine>,
    /// JSON is sent as JSON, text as it is.
    pub body: Option<Json>,
}

/// What came of it.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = ConnectionTest)]
pub struct Tested {
    /// What the rules see in it.
    pub explained: Explained,
    /// What would be sent, if it is text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub body: Option<String>,
    /// The same, if it is not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub body_base64: Option<String>,
    /// How the destination answered, if it was asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub attempt: Option<AttemptLine>,
}

/// `POST /v1/connections/{id}/test`
pub async fn test(
    State(app): State<App>,
    caller: Caller,
    In(id): In<ConnectionId>,
    MaybeSent(order): MaybeSent<TestOrder>,
) -> ApiResult<Found<Tested>> {
    let connection = owned::connection(&app, &caller, id).await?;
    let TestOrder { event_id, sample, deliver } = order.unwrap_or_default();
    if deliver && connection.destination_type == DestinationType::Inbox {
        let said = "means nothing for an inbox, from which nothing is sent";
        return Err(Problem::invalid("/deliver", said));
    }
    let event = match (event_id, sample) {
        (Some(_), Some(_)) => {
            return Err(Problem::invalid("", "name either an eventId, or a sample"));
        }
        (Some(id), None) => {
            let unknown = |_| Problem::invalid("/eventId", "there is no such event");
            owned::event(&app, &caller, id).await.map_err(unknown)?.record
        }
        (None, sample) => sample.unwrap_or_default().into_event(&app, &connection),
    };
    match deliver {
        // Nothing that we keep changes, but a request leaves. Written down before it does.
        true => {
            let tried = event_id.map(|id| ("eventId".to_owned(), id.as_str().into()));
            let details = tried.into_iter().collect();
            let store =
                caller.noting(&app, "connection_tested", "connection", id.as_str(), details);
            store.activities().note(caller.account()).await?;
        }
        false => caller.nothing_changed(),
    }
    let explained = app.works.explain(&connection, &event).await?;
    let rehearsed = app.works.rehearse(&connection, &event, deliver).await?;
    let (body, attempt) = match &rehearsed {
        Some(rehearsed) => (Some(&rehearsed.event.body), rehearsed.attempt.as_ref()),
        None => (None, None),
    };
    let text = body.and_then(|body| body.as_text().map(str::to_owned));
    let bytes = body.filter(|_| text.is_none());
    Ok(Found(Tested {
        explained,
        body_base64: bytes.map(|body| STANDARD.encode(body.as_bytes())),
        body: text,
        attempt: attempt.map(AttemptLine::from),
    }))
}

impl Sample {
    fn into_event(self, app: &App, connection: &Connection) -> Event {
        let now = app.env.now();
        let (body, kind) = match self.body {
            None => (r#"{"test":true}"#.to_owned(), "application/json"),
            Some(Json::String(text)) => (text, "text/plain; charset=utf-8"),
            Some(json) => (json.to_string(), "application/json"),
        };
        let headers: Headers =
            self.headers.into_iter().map(|header| (header.name, header.value)).collect();
        let content_type = headers.find("content-type").unwrap_or(kind).to_owned();
        Event {
            id: Id::at(now, &app.env),
            source_id: connection.source_id,
            user_id: connection.user_id,
            account_id: connection.account_id,
            origin: Origin::Webhook,
            status: Status::Received,
            event_type: self.event_type,
            retry_count: 0,
            metadata: None,
            dedup_key: None,
            duplicate_count: 0,
            method: Some(self.method.unwrap_or_else(|| "POST".to_owned())),
            path: self.path,
            query: self.query,
            content_type: Some(content_type),
            source_ip: None,
            headers,
            body: body.into(),
            payload: None,
            received_at: now,
            occurred_at: None,
            processing_tries: 0,
            processing_error: None,
            pending_since: None,
            processed_at: None,
            delivered_at: None,
            expires_at: None,
        }
    }
}
