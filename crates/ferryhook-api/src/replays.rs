//! Replays: one event once more, or many; how many it would be, how far it is, stop it.

mod view;

use axum::extract::State;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use ferryhook_core::id::{ConnectionId, EventId, ReplayId};
use ferryhook_core::replay::{BadSelection, Selection};
use ferryhook_core::{Connection, Event, Id, Map, Replay, Source, connection, limits as bounds};
use ferryhook_store::search::{self, CountError};
use ferryhook_store::{Store, Stored};
use serde::Deserialize;
use utoipa::{IntoParams, ToSchema};

use crate::call::{Accepted, ApiResult, Asked, Describes, Found, In, Listed, MaybeSent, Sent};
use crate::caller::Caller;
use crate::openapi::Sketch;
use crate::page::{self, Sort};
use crate::problem::{Code, Problem};
use crate::router::App;
use crate::works::{Refusal, Works};
use crate::{names, owned};

pub use view::{Counted, Filtered, ReplayJob, ReplayLine, ReplayTold, State as ReplayState, What};

/// Where one event goes again.
#[derive(Debug, Clone, Default, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ReplayOne {
    /// Only to these; to all that want it when there are none.
    #[serde(default)]
    #[schema(max_items = 98)]
    connection_ids: Vec<ConnectionId>,
}

/// Which events go again, and where.
#[derive(Debug, Clone, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ReplayMany {
    /// These events,
    #[schema(max_items = 10000)]
    event_ids: Option<Vec<EventId>>,
    /// or those that this lets through; `{}` means all.
    filter: Option<Filtered>,
    /// Only to these; to all that want the event when there are none.
    #[serde(default)]
    #[schema(max_items = 98)]
    connection_ids: Vec<ConnectionId>,
    /// Events, however many deliveries each comes to; 100 if nothing is said.
    #[schema(minimum = 1, maximum = 1000)]
    rate_per_second: Option<u32>,
    /// Only count, and do nothing.
    #[serde(default)]
    dry_run: bool,
}

/// 202 with the job; after a dry run 200, with the count.
#[derive(Debug, Clone)]
pub enum Begun {
    Job(Box<ReplayJob>),
    Counted(Counted),
}

impl IntoResponse for Begun {
    fn into_response(self) -> Response {
        match self {
            Self::Job(job) => Accepted(job).into_response(),
            Self::Counted(count) => Found(count).into_response(),
        }
    }
}

impl Describes for Begun {
    fn describe(sketch: &mut Sketch) {
        sketch.gives::<ReplayJob>(StatusCode::ACCEPTED, "Written down; it will be done.");
        sketch.gives::<Counted>(StatusCode::OK, "How many it would be; nothing was done.");
    }
}

/// How much of the list is wanted.
#[derive(Debug, Clone, Deserialize, IntoParams)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct ReplaysQuery {
    /// How many at once.
    #[param(minimum = 1, maximum = 100)]
    limit: Option<u32>,
    cursor: Option<String>,
}

/// `POST /v1/events/{id}/replay`
pub async fn replay_one(
    State(app): State<App>,
    caller: Caller,
    In(id): In<EventId>,
    MaybeSent(order): MaybeSent<ReplayOne>,
) -> ApiResult<Accepted<ReplayTold>> {
    let event = owned::event(&app, &caller, id).await?;
    let to = order.unwrap_or_default().connection_ids;
    require_connections(&app, &caller, Some(event.source_id), &to).await?;
    let mut details = Map::new();
    if !to.is_empty() {
        details.insert("connectionIds".to_owned(), serde_json::json!(to));
    }
    let store = caller.noting(&app, "event_replayed", "event", id.as_str(), details);
    Ok(Accepted(again(&store, &*app.works, &event, &to).await?))
}

/// One event once more, and what came of it.
pub async fn again(
    store: &Store,
    works: &dyn Works,
    event: &Event,
    to: &[Id<Connection>],
) -> Result<ReplayTold, Refusal> {
    let told = works.replay(store, event, to).await?;
    let ids = told.iter().map(|(id, _)| (event.source_id, *id));
    let called = names::of_connections(store, ids).await?;
    let line =
        |(id, what)| ReplayLine { connection_id: id, connection: called.get(&id).cloned(), what };
    Ok(ReplayTold {
        event_id: event.id,
        connections: told.into_iter().map(line).collect(),
        waits_for_server: !works.is_at_work(),
    })
}

/// `POST /v1/events/replay`
pub async fn replay_many(
    State(app): State<App>,
    caller: Caller,
    Sent(order): Sent<ReplayMany>,
) -> ApiResult<Begun> {
    let source = order.filter.as_ref().and_then(|filter| filter.source_id);
    if let Some(id) = source {
        let unknown = |_| Problem::invalid("/filter/sourceId", "there is no such source");
        owned::source(&app, &caller, id).await.map_err(unknown)?;
    }
    let selection = match (order.event_ids, order.filter) {
        (Some(ids), None) => Selection::ids(ids),
        (None, Some(filter)) => Selection::filter(filter.into(), app.env.now()),
        _ => return Err(Problem::invalid("", "name either eventIds, or a filter")),
    };
    let selection = selection.map_err(|error| not_valid(&error))?;
    require_connections(&app, &caller, source, &order.connection_ids).await?;
    if order.dry_run {
        caller.nothing_changed();
        let count = search::count(&app.store, caller.account(), &selection, None).await;
        return Ok(Begun::Counted(count.map_err(uncounted)?.into()));
    }
    let rate = order.rate_per_second.unwrap_or(bounds::REPLAY_RATE_DEFAULT);
    let replay = Replay::new(caller.account(), selection, order.connection_ids, rate, &app.env);
    let replay = replay.map_err(|error| not_valid(&error))?;
    let job = ReplayJob::new(&replay, !app.works.is_at_work());
    let details = crate::visit::details(None::<&ReplayJob>, Some(&job));
    let store = caller.noting(&app, "replay_created", "replay", replay.id.as_str(), details);
    app.works.begin_replay(&store, &replay).await?;
    Ok(Begun::Job(Box::new(job)))
}

/// Those that are named must be the caller's, and of this source where one is meant.
async fn require_connections(
    app: &App,
    caller: &Caller,
    source: Option<Id<Source>>,
    ids: &[Id<Connection>],
) -> ApiResult<()> {
    if ids.len() > bounds::REPLAY_CONNECTIONS_MAX {
        return Err(not_valid(&BadSelection::Connections(ids.len())));
    }
    for (place, id) in ids.iter().enumerate() {
        let found = app.store.connections().find(*id).await?;
        let is_meant = |found: &Stored<Connection>| {
            found.account_id == caller.account()
                && found.status != connection::Status::Deleted
                && source.is_none_or(|source| found.source_id == source)
        };
        if !found.is_some_and(|found| is_meant(&found)) {
            let said = "there is no such connection for these events";
            return Err(Problem::invalid(format!("/connectionIds/{place}"), said));
        }
    }
    Ok(())
}

fn not_valid(error: &BadSelection) -> Problem {
    let pointer = match error {
        BadSelection::Ids(_) => "/eventIds",
        BadSelection::Connections(_) => "/connectionIds",
        BadSelection::Rate(_) => "/ratePerSecond",
        BadSelection::Window { .. } => "/filter/to",
        BadSelection::EventType(_) => "/filter/eventType",
    };
    Problem::invalid(pointer, error.to_string())
}

fn uncounted(error: CountError) -> Problem {
    match error {
        CountError::Pattern(error) => Problem::invalid("/filter/eventType", error.to_string()),
        CountError::Filter(error) => Problem::invalid("/filter", error.to_string()),
        CountError::Store(error) => error.into(),
    }
}

/// `GET /v1/replays`
pub async fn list(
    State(app): State<App>,
    caller: Caller,
    Asked(query): Asked<ReplaysQuery>,
) -> ApiResult<Listed<ReplayJob>> {
    let cursors = app.cursors.of("replays.list", caller.account(), &());
    let after = cursors.open(query.cursor.as_deref())?;
    let slice = page::slice(query.limit, after, Sort::Desc)?;
    let page = app.store.replays().list_by_account(caller.account(), slice).await?;
    let waits = !app.works.is_at_work();
    Ok(Listed(cursors.page(page, |row| ReplayJob::new(&row, waits))))
}

/// `GET /v1/replays/{id}`
pub async fn show(
    State(app): State<App>,
    caller: Caller,
    In(id): In<ReplayId>,
) -> ApiResult<Found<ReplayJob>> {
    let replay = owned::replay(&app, &caller, id).await?;
    Ok(Found(ReplayJob::new(&replay, !app.works.is_at_work())))
}

/// `POST /v1/replays/{id}/cancel`. One that is over stays as it is.
pub async fn cancel(
    State(app): State<App>,
    caller: Caller,
    In(id): In<ReplayId>,
) -> ApiResult<Found<ReplayJob>> {
    let was = owned::replay(&app, &caller, id).await?;
    if !was.is_running() {
        caller.nothing_changed();
        return Ok(Found(ReplayJob::new(&was, false)));
    }
    let store = caller.noting(&app, "replay_cancelled", "replay", id.as_str(), Map::new());
    let cancelled = store.replays().cancel(caller.account(), id).await?;
    let cancelled = cancelled.ok_or_else(|| Problem::new(Code::NotFound, "It is gone."))?;
    Ok(Found(ReplayJob::new(&cancelled, false)))
}

#[cfg(test)]
mod tests;
