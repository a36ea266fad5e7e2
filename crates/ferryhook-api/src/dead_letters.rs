//! What was given up: events that could not be processed, and deliveries that failed.

mod failures;

use axum::extract::State;
use ferryhook_core::event::Status;
use ferryhook_core::id::EventId;
use ferryhook_core::replay::Filter;
use ferryhook_core::{Account, Event, Id, Map};
use ferryhook_store::{Page as Rows, Slice, Store};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use crate::call::{ApiResult, Asked, Found, Listed, Sent};
use crate::caller::Caller;
use crate::events::list::{self, ListError, Only, Wanted};
use crate::events::{DeliveryLine, EventLine};
use crate::page::{self, Page, Sort};
use crate::problem::Problem;
use crate::router::App;
use crate::works::Works;
use crate::{limits, owned};

pub use failures::{SUSPECTS, failures, shown};

/// How much of the list is wanted.
#[derive(Debug, Clone, Deserialize, IntoParams)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct GivenUpQuery {
    /// How many at once.
    #[param(minimum = 1, maximum = 100)]
    limit: Option<u32>,
    cursor: Option<String>,
}

/// Which dead letters are driven again: these, or all of them.
#[derive(Debug, Clone, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct RedriveOrder {
    /// At most 1000.
    #[serde(default)]
    #[schema(max_items = 1000)]
    event_ids: Option<Vec<EventId>>,
    /// `true`, where no events are named.
    #[serde(default)]
    all: bool,
}

/// What came of driving them again.
#[derive(Debug, Clone, Default, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Redriven {
    pub redriven: usize,
    /// What was said of those that were not.
    pub refused: Vec<String>,
    /// There are more; ask again.
    pub has_more: bool,
    /// Nobody is there to process them before a server starts.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub waits_for_server: bool,
}

/// `GET /v1/dead-letters`
pub async fn list(
    State(app): State<App>,
    caller: Caller,
    Asked(query): Asked<GivenUpQuery>,
) -> ApiResult<Listed<EventLine>> {
    let cursors = app.cursors.of("dead_letters.list", caller.account(), &());
    let after = cursors.open(query.cursor.as_deref())?;
    let slice = page::slice(query.limit, after, Sort::Desc)?;
    let found = find(&app.store, caller.account(), slice, limits::LOOKED_AT_MAX).await?;
    let (data, next) = list::shown(&app.store, found).await?;
    let cursor = next.map(|next| cursors.write(&next));
    Ok(Listed(Page { data, has_more: cursor.is_some(), cursor }))
}

/// Newest first, if the slice says so.
pub async fn find(
    store: &Store,
    account: Id<Account>,
    slice: Slice,
    looked_at_max: usize,
) -> Result<Rows<Event>, ListError> {
    let filter = Filter { status: Some(Status::Failed), ..Filter::default() };
    let wanted = Wanted { filter, only: Only::DeadLetters, slice, looked_at_max };
    list::find(store, account, &wanted).await
}

/// `GET /v1/failures`
pub async fn list_failures(
    State(app): State<App>,
    caller: Caller,
    Asked(query): Asked<GivenUpQuery>,
) -> ApiResult<Listed<DeliveryLine>> {
    let cursors = app.cursors.of("failures.list", caller.account(), &());
    let after = cursors.open(query.cursor.as_deref())?;
    let slice = page::slice(query.limit, after, Sort::Desc)?;
    let store = &app.store;
    let (failed, next) =
        failures(store, caller.account(), &SUSPECTS, slice, limits::LOOKED_AT_MAX).await?;
    let data = shown(store, &failed).await?;
    let cursor = next.map(|next| cursors.write(&next));
    Ok(Listed(Page { data, has_more: cursor.is_some(), cursor }))
}

/// `POST /v1/dead-letters/redrive`
pub async fn redrive(
    State(app): State<App>,
    caller: Caller,
    Sent(order): Sent<RedriveOrder>,
) -> ApiResult<Found<Redriven>> {
    let most = limits::REDRIVEN_MAX;
    let (events, has_more) = match (order.event_ids, order.all) {
        (Some(ids), false) if (1..=most).contains(&ids.len()) => {
            let mut events = Vec::with_capacity(ids.len());
            for (place, id) in ids.into_iter().enumerate() {
                let event = owned::event(&app, &caller, id).await;
                let unknown =
                    |_| Problem::invalid(format!("/eventIds/{place}"), "there is no such event");
                events.push(event.map_err(unknown)?.record);
            }
            (events, false)
        }
        (Some(_), false) => {
            return Err(Problem::invalid("/eventIds", format!("must name 1 to {most} events")));
        }
        (None, true) => {
            let slice = Slice::newest_first().limit(most);
            let looked_at_max = limits::LOOKED_AT_MAX;
            let found = find(&app.store, caller.account(), slice, looked_at_max).await?;
            (found.rows, found.next.is_some())
        }
        _ => {
            let said = "name either eventIds, or all: true";
            return Err(Problem::invalid("", said));
        }
    };
    let mut details = Map::new();
    details.insert("events".to_owned(), events.len().into());
    let account = caller.account();
    let store = caller.noting(&app, "dead_letters_redriven", "account", account.as_str(), details);
    let told = drive_again(&store, &*app.works, &events).await;
    Ok(Found(Redriven { has_more, ..told }))
}

pub async fn drive_again(store: &Store, works: &dyn Works, events: &[Event]) -> Redriven {
    let mut told = Redriven { waits_for_server: !works.is_at_work(), ..Redriven::default() };
    for event in events {
        match works.redrive(store, event).await {
            Ok(()) => told.redriven += 1,
            Err(error) if told.refused.len() < limits::REASONS_MAX => {
                told.refused.push(error.to_string());
            }
            Err(_) => {}
        }
    }
    told
}

#[cfg(test)]
mod tests;
