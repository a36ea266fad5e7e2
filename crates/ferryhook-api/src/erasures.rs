//! Erasures: what is to be gone for good. Written down here and carried out by whoever works on the
//! store; one event is gone from sight before its caller is answered.
//!
//! Neither an answer nor the audit log ever says what was looked for, only where.

mod view;

use axum::extract::State;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use ferryhook_core::erasure::{BadErasure, What};
use ferryhook_core::id::{ErasureId, EventId, SourceId};
use ferryhook_core::{Erasure, Map, Timestamp};
use ferryhook_store::search::{self, CountError};
use serde::Deserialize;
use serde_json::Value;
use utoipa::{IntoParams, ToSchema};

use crate::apply::Changed;
use crate::call::{Accepted, ApiResult, Asked, Describes, Done, Found, In, Listed, Sent};
use crate::caller::Caller;
use crate::openapi::Sketch;
use crate::owned;
use crate::page::{self, Sort};
use crate::problem::Problem;
use crate::router::App;

pub use view::{Counted, ErasureJob, State as ErasureState, Subject};

/// What is to be erased: events by their ids, or everything that a filter means.
#[derive(Debug, Clone, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct NewErasure {
    /// These events,
    #[schema(max_items = 1000)]
    event_ids: Option<Vec<EventId>>,
    /// or the events and rejections that this filter, written like that of a connection, matches.
    #[serde(rename = "where")]
    filter: Option<Value>,
    /// With `where`: only of this source.
    source_id: Option<SourceId>,
    /// With `where`: only what came then or later.
    from: Option<Timestamp>,
    /// With `where`: only what came then or earlier. Never later than now.
    to: Option<Timestamp>,
    /// Only count, and do nothing.
    #[serde(default)]
    dry_run: bool,
}

/// 202 with the erasure; after a dry run 200, with the count.
#[derive(Debug, Clone)]
pub enum Begun {
    Job(Box<ErasureJob>),
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
        sketch.gives::<ErasureJob>(StatusCode::ACCEPTED, "Written down; it will be done.");
        sketch.gives::<Counted>(StatusCode::OK, "How many it would be; nothing was done.");
    }
}

/// How much of the list is wanted.
#[derive(Debug, Clone, Deserialize, IntoParams)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct ErasuresQuery {
    /// How many at once.
    #[param(minimum = 1, maximum = 100)]
    limit: Option<u32>,
    cursor: Option<String>,
}

/// `DELETE /v1/events/{id}`. Nobody can read it any more when this is answered; what is left of it
/// in files goes soon after.
pub async fn erase_event(
    State(app): State<App>,
    caller: Caller,
    In(id): In<EventId>,
) -> ApiResult<Done> {
    let event = owned::event(&app, &caller, id).await?;
    let what = What::events(vec![id]).map_err(not_valid)?;
    let erasure = Erasure::new(caller.account(), what, Some(caller.user()), &app.env);
    let mut details = Map::new();
    details.insert("erasureId".to_owned(), erasure.id.as_str().into());
    details.insert("sourceId".to_owned(), event.source_id.as_str().into());
    // First: should the rest fail, whoever carries it out does all of it.
    let store = caller.noting(&app, "event_erased", "event", id.as_str(), details);
    app.works.begin_erasure(&store, &erasure).await?;
    app.store.events().erase(&event).await?;
    (app.bell)(Changed { source: event.source_id, resumed: false, connections: Vec::new() });
    Ok(Done)
}

/// `POST /v1/erasures`
pub async fn create(
    State(app): State<App>,
    caller: Caller,
    Sent(order): Sent<NewErasure>,
) -> ApiResult<Begun> {
    let dry_run = order.dry_run;
    let what = meant(&app, &caller, order).await?;
    if dry_run {
        caller.nothing_changed();
        let count = search::count_erased(&app.store, caller.account(), &what, None).await;
        return Ok(Begun::Counted(count.map_err(uncounted)?.into()));
    }
    let erasure = Erasure::new(caller.account(), what, Some(caller.user()), &app.env);
    let job = ErasureJob::new(&erasure, !app.works.is_at_work());
    let details = crate::visit::details(None::<&ErasureJob>, Some(&job));
    let store = caller.noting(&app, "erasure_created", "erasure", erasure.id.as_str(), details);
    app.works.begin_erasure(&store, &erasure).await?;
    Ok(Begun::Job(Box::new(job)))
}

async fn meant(app: &App, caller: &Caller, order: NewErasure) -> ApiResult<What> {
    let NewErasure { event_ids, filter, source_id, from, to, .. } = order;
    let is_bounded = source_id.is_some() || from.is_some() || to.is_some();
    let what = match (event_ids, filter) {
        (Some(_), None) if is_bounded => {
            return Err(Problem::invalid("/eventIds", "sourceId, from and to go with where"));
        }
        (Some(ids), None) => What::events(ids),
        (None, Some(filter)) => {
            if let Some(id) = source_id {
                let found = app.store.sources().find(id).await?;
                // One that is deleted has events too.
                if found.is_none_or(|found| found.account_id != caller.account()) {
                    return Err(Problem::invalid("/sourceId", "there is no such source"));
                }
            }
            What::subject(filter.to_string(), source_id, from, to, app.env.now())
        }
        _ => return Err(Problem::invalid("", "name either eventIds, or where")),
    };
    what.map_err(not_valid)
}

fn not_valid(error: BadErasure) -> Problem {
    match error {
        BadErasure::Ids(_) => Problem::invalid("/eventIds", error.to_string()),
        BadErasure::Window { .. } => Problem::invalid("/to", error.to_string()),
        BadErasure::Filter(bad) => Problem::invalid(format!("/where{}", bad.pointer), bad.message),
    }
}

fn uncounted(error: CountError) -> Problem {
    match error {
        CountError::Store(error) => error.into(),
        error => Problem::invalid("/where", error.to_string()),
    }
}

/// `GET /v1/erasures`
pub async fn list(
    State(app): State<App>,
    caller: Caller,
    Asked(query): Asked<ErasuresQuery>,
) -> ApiResult<Listed<ErasureJob>> {
    let cursors = app.cursors.of("erasures.list", caller.account(), &());
    let after = cursors.open(query.cursor.as_deref())?;
    let slice = page::slice(query.limit, after, Sort::Desc)?;
    let page = app.store.erasures().list_by_account(caller.account(), slice).await?;
    let waits = !app.works.is_at_work();
    Ok(Listed(cursors.page(page, |row| ErasureJob::new(&row, waits))))
}

/// `GET /v1/erasures/{id}`
pub async fn show(
    State(app): State<App>,
    caller: Caller,
    In(id): In<ErasureId>,
) -> ApiResult<Found<ErasureJob>> {
    let erasure = owned::erasure(&app, &caller, id).await?;
    Ok(Found(ErasureJob::new(&erasure, !app.works.is_at_work())))
}

/// `POST /v1/erasures/{id}/cancel`. What is erased stays so; one that is over stays as it is.
pub async fn cancel(
    State(app): State<App>,
    caller: Caller,
    In(id): In<ErasureId>,
) -> ApiResult<Found<ErasureJob>> {
    let waits = !app.works.is_at_work();
    let was = owned::erasure(&app, &caller, id).await?;
    if was.cancel(app.env.now()) == was.record {
        caller.nothing_changed();
        return Ok(Found(ErasureJob::new(&was, waits)));
    }
    let store = caller.noting(&app, "erasure_cancelled", "erasure", id.as_str(), Map::new());
    let cancelled = store.erasures().cancel(caller.account(), id).await?;
    let cancelled = cancelled.ok_or_else(Problem::not_found)?;
    if !store.has_noted() {
        caller.nothing_changed(); // it ended by itself in between
    }
    Ok(Found(ErasureJob::new(&cancelled, waits)))
}

#[cfg(test)]
mod tests;
