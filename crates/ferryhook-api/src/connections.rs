//! Connections: the ways from a source to its destinations.

mod change;
mod test;
mod view;
mod what_if;

use axum::extract::State;
use ferryhook_core::connection::{DestinationType, Status};
use ferryhook_core::id::{ConnectionId, SourceId};
use ferryhook_core::{Connection, Map, Secret, Source, limits as bounds};
use ferryhook_store::Stored;
use ferryhook_store::repositories::Edit;
use serde::{Deserialize, Serialize};
use serde_json::json;
use utoipa::{IntoParams, ToSchema};

use crate::apply;
use crate::call::{
    ApiResult, Asked, Condition, Created, Done, Found, In, Listed, MaybeSent, Sent, Tagged,
};
use crate::caller::Caller;
use crate::export;
use crate::manifest::{ConnectionSpec, Dialect, NOT_PAUSED, says_types};
use crate::owned;
use crate::page::{self, Sort};
use crate::problem::{Code, Problem};
use crate::router::App;
use crate::settings::{self, Patch, Written};
use crate::sources::{self, NewSecret, RotatedSecret};
use crate::visit::details;
use change::change;

pub use test::{Sample, TestOrder, Tested, test};
pub use view::{ConnectionView, InboxSettings, NewConnection};
pub use what_if::{
    EVENTS_MAX, EXAMPLES_MAX, Example, Extent, Place, RuleSettings, Tried, Verdicts, WhatIfOrder,
    try_rules, what_if,
};

/// How much of the list is wanted.
#[derive(Debug, Clone, Deserialize, IntoParams)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct ConnectionsQuery {
    /// How many at once.
    #[param(minimum = 1, maximum = 100)]
    limit: Option<u32>,
    cursor: Option<String>,
}

/// A connection that has just been made, with the secret that its requests are signed with. It is
/// not shown again.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct CreatedConnection {
    #[serde(flatten)]
    pub connection: ConnectionView,
    /// Of no use for an inbox, from which nothing is sent.
    #[schema(value_type = String)]
    pub signing_secret: Secret,
}

/// `POST /v1/sources/{id}/connections`
pub async fn create(
    State(app): State<App>,
    caller: Caller,
    In(id): In<SourceId>,
    Sent(body): Sent<Written<NewConnection>>,
) -> ApiResult<Created<CreatedConnection>> {
    let source = owned::source(&app, &caller, id).await?;
    let spec = read(&app, &source, &body.0)?;
    let connection = apply::wanted_connection(&spec, None, &source, &app.env);
    let _turn = app.turns.lock().await;
    let there = apply::connections_of(&app.store, source.id).await?.len();
    if there >= bounds::CONNECTIONS_PER_SOURCE_MAX {
        let said = format!("A source has at most {there} connections.");
        return Err(Problem::new(Code::Conflict, said));
    }
    let view = ConnectionView::from(&connection);
    let signing_secret = connection.signing_secret.clone();
    let deed = details(None::<&Map>, Some(&settings::logged(&view)));
    let id = connection.id;
    let store = caller.noting(&app, "connection_created", "connection", id.as_str(), deed);
    let edits = [Edit::CreateConnection(connection)];
    store.sources().edit(&edits).await?;
    sources::ring(&app, &edits);
    Ok(Created(CreatedConnection { connection: view, signing_secret }))
}

fn read(app: &App, source: &Source, body: &Map) -> ApiResult<ConnectionSpec> {
    let spec = ConnectionSpec::from_json(body, &app.guard).map_err(settings::problem)?;
    if !spec.rules.event_types.is_empty() && !says_types(source) {
        let said = "need an eventType of the source, such as body.type";
        return Err(Problem::invalid("/eventTypes", said));
    }
    Ok(spec)
}

/// `GET /v1/sources/{id}/connections`
pub async fn list(
    State(app): State<App>,
    caller: Caller,
    In(id): In<SourceId>,
    Asked(query): Asked<ConnectionsQuery>,
) -> ApiResult<Listed<ConnectionView>> {
    let source = owned::source(&app, &caller, id).await?;
    let cursors = app.cursors.of("connections.list", caller.account(), &source.id);
    let after = cursors.open(query.cursor.as_deref())?;
    let slice = page::slice(query.limit, after, Sort::Asc)?;
    let page = app.store.connections().list_by_source(source.id, slice).await?;
    Ok(Listed(cursors.page(page, |row| ConnectionView::from(&row.record))))
}

/// `GET /v1/connections/{id}`
pub async fn show(
    State(app): State<App>,
    caller: Caller,
    In(id): In<ConnectionId>,
) -> ApiResult<Tagged<ConnectionView>> {
    let connection = owned::connection(&app, &caller, id).await?;
    Ok(ConnectionView::from(&connection.record).tagged())
}

/// `PATCH /v1/connections/{id}`
pub async fn update(
    State(app): State<App>,
    caller: Caller,
    In(id): In<ConnectionId>,
    condition: Condition,
    Sent(patch): Sent<Patch<NewConnection>>,
) -> ApiResult<Tagged<ConnectionView>> {
    let event_type = "connection_updated";
    let now = change(&app, &caller, id, &condition, event_type, |source, was| {
        patched(&app, source, was, &patch)
    });
    Ok(ConnectionView::from(&now.await?).tagged())
}

/// The settings as they are, with the patch, read once more as a whole.
fn patched(
    app: &App,
    source: &Source,
    was: &Stored<Connection>,
    patch: &Patch<NewConnection>,
) -> ApiResult<Connection> {
    if was.is_listened_to() {
        let said = "It belongs to somebody who runs `ferryhook listen`, and goes with that.";
        return Err(Problem::new(Code::Conflict, said));
    }
    let plain = |_: &str, secret: &Secret| secret.expose().into();
    let settings = export::connection_fields(was, Dialect::Api, &|_, value| value.into(), &plain);
    let spec = read(app, source, &patch.applied_to(settings))?;
    if spec.destination.sort() != was.destination_type {
        let said = "stays what it is; make another connection and delete this one";
        return Err(Problem::invalid("/destinationType", said));
    }
    Ok(apply::wanted_connection(&spec, Some(&was.record), source, &app.env))
}

/// `DELETE /v1/connections/{id}`. What waits for it is not sent any more.
pub async fn delete(
    State(app): State<App>,
    caller: Caller,
    In(id): In<ConnectionId>,
    condition: Condition,
) -> ApiResult<Done> {
    let turn = |_: &Source, was: &Stored<Connection>| Ok(standing(&app, was, Status::Deleted));
    change(&app, &caller, id, &condition, "connection_deleted", turn).await?;
    Ok(Done)
}

/// `POST /v1/connections/{id}/pause`. What is meant for it is held.
pub async fn pause(
    State(app): State<App>,
    caller: Caller,
    In(id): In<ConnectionId>,
    condition: Condition,
) -> ApiResult<Tagged<ConnectionView>> {
    let turn = |_: &Source, was: &Stored<Connection>| match was.destination_type {
        DestinationType::Inbox => Err(Problem::invalid("", NOT_PAUSED)),
        _ => Ok(standing(&app, was, Status::Paused)),
    };
    let now = change(&app, &caller, id, &condition, "connection_paused", turn).await?;
    Ok(ConnectionView::from(&now).tagged())
}

/// `POST /v1/connections/{id}/resume`. What was held goes on its way.
pub async fn resume(
    State(app): State<App>,
    caller: Caller,
    In(id): In<ConnectionId>,
    condition: Condition,
) -> ApiResult<Tagged<ConnectionView>> {
    let turn = |_: &Source, was: &Stored<Connection>| Ok(standing(&app, was, Status::Active));
    let now = change(&app, &caller, id, &condition, "connection_resumed", turn).await?;
    Ok(ConnectionView::from(&now).tagged())
}

fn standing(app: &App, was: &Connection, status: Status) -> Connection {
    match was.status == status {
        true => was.clone(),
        // It said why nobody asked for the status; now somebody has.
        false => {
            Connection { status, status_reason: None, updated_at: app.env.now(), ..was.clone() }
        }
    }
}

/// `POST /v1/connections/{id}/rotate-secret`
pub async fn rotate_secret(
    State(app): State<App>,
    caller: Caller,
    In(id): In<ConnectionId>,
    MaybeSent(body): MaybeSent<NewSecret>,
) -> ApiResult<Found<RotatedSecret>> {
    let given = body.unwrap_or_default().signing_secret.map(Secret::new);
    let secret = given.unwrap_or_else(|| Secret::generate(&app.env));
    let patch = [("signingSecret".to_owned(), json!(secret.expose()))];
    let patch = Patch::of(patch.into_iter().collect());
    let (always, event_type) = (Condition::default(), "connection_secret_rotated");
    let now = change(&app, &caller, id, &always, event_type, |source, was| {
        patched(&app, source, was, &patch)
    });
    Ok(Found(RotatedSecret::new(secret, &now.await?.previous_secrets)))
}

#[cfg(test)]
mod tests;
