//! Events: which there are, what became of one, and why.

mod explanation;
pub mod list;
pub mod post;
mod story;
mod text;
mod view;

use axum::extract::State;
use ferryhook_core::event::Status;
use ferryhook_core::id::{EventId, SourceId};
use ferryhook_core::replay::Filter;
use ferryhook_core::{Timestamp, limits as bounds};
use serde::{Deserialize, Serialize};
use utoipa::IntoParams;

use crate::call::{ApiResult, Asked, Found, In, Listed, Raw};
use crate::caller::Caller;
use crate::page::{self, Page, Sort};
use crate::problem::Problem;
use crate::router::App;
use crate::{limits, owned};
use list::{ListError, Only, Wanted};

pub use explanation::{Explanation, Ledger, LedgerVerdict, explain};
pub use story::tell;
pub use text::Text;
pub use view::{AttemptLine, DeliveryLine, DeliveryState, EventLine, EventStory, HeaderLine};

/// Which events of a list are wanted.
#[derive(Debug, Clone, Serialize, Deserialize, IntoParams)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct EventsQuery {
    /// Only those that stand here.
    #[param(inline)]
    status: Option<Status>,
    /// Only those of this type; `order.*` means all that begin with `order.`.
    #[serde(rename = "type")]
    event_type: Option<String>,
    /// Only those that came then or later.
    #[param(inline)]
    from: Option<Timestamp>,
    /// Only those that came then or earlier.
    #[param(inline)]
    to: Option<Timestamp>,
    /// Only those that have this text in their body or their headers, in any case.
    #[param(max_length = 200)]
    q: Option<String>,
    /// `desc` has the newest first.
    #[param(inline)]
    order: Option<Sort>,
    /// How many at once.
    #[param(minimum = 1, maximum = 100)]
    #[serde(skip_serializing)]
    limit: Option<u32>,
    #[serde(skip_serializing)]
    cursor: Option<String>,
}

/// Whether the body is shown with the event.
#[derive(Debug, Clone, Deserialize, IntoParams)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct EventQuery {
    /// `false` leaves the body out. One that is larger than 256 KiB is left out in any case.
    body: Option<bool>,
}

/// `GET /v1/events`
pub async fn list_all(
    State(app): State<App>,
    caller: Caller,
    Asked(query): Asked<EventsQuery>,
) -> ApiResult<Listed<EventLine>> {
    list(&app, &caller, None, query).await
}

/// `GET /v1/sources/{id}/events`
pub async fn list_of_source(
    State(app): State<App>,
    caller: Caller,
    In(id): In<SourceId>,
    Asked(query): Asked<EventsQuery>,
) -> ApiResult<Listed<EventLine>> {
    let source = owned::source(&app, &caller, id).await?;
    list(&app, &caller, Some(source.id), query).await
}

async fn list(
    app: &App,
    caller: &Caller,
    source_id: Option<SourceId>,
    query: EventsQuery,
) -> ApiResult<Listed<EventLine>> {
    let cursors = app.cursors.of("events.list", caller.account(), &(source_id, &query));
    let after = cursors.open(query.cursor.as_deref())?;
    let only = match &query.q {
        Some(text) if text.chars().count() > limits::SEARCH_CHARACTERS_MAX => {
            let max = limits::SEARCH_CHARACTERS_MAX;
            return Err(Problem::invalid("q", format!("must have at most {max} characters")));
        }
        Some(text) if !text.is_empty() => Only::Having(Text::new(text)),
        _ => Only::Everything,
    };
    if let (Some(from), Some(to)) = (query.from, query.to)
        && from > to
    {
        return Err(Problem::invalid("to", "must not lie before from"));
    }
    let wanted = Wanted {
        filter: Filter {
            source_id,
            status: query.status,
            event_type: query.event_type,
            from: query.from,
            to: query.to,
        },
        only,
        slice: page::slice(query.limit, after, query.order.unwrap_or_default())?,
        looked_at_max: limits::LOOKED_AT_MAX,
    };
    let found = list::find(&app.store, caller.account(), &wanted).await?;
    let (data, next) = list::shown(&app.store, found).await?;
    let cursor = next.map(|next| cursors.write(&next));
    Ok(Listed(Page { data, has_more: cursor.is_some(), cursor }))
}

impl From<ListError> for Problem {
    fn from(error: ListError) -> Self {
        match error {
            ListError::Type(error) => Self::invalid("type", error.to_string()),
            ListError::Store(error) => error.into(),
        }
    }
}

/// `GET /v1/events/{id}`
pub async fn show(
    State(app): State<App>,
    caller: Caller,
    In(id): In<EventId>,
    Asked(query): Asked<EventQuery>,
) -> ApiResult<Found<EventStory>> {
    let event = owned::event(&app, &caller, id).await?;
    let body_bytes_max = if query.body == Some(false) { 0 } else { bounds::BODY_BYTES_DEFAULT };
    Ok(Found(tell(&app.store, &event, body_bytes_max).await?))
}

/// `GET /v1/events/{id}/body`
pub async fn download(
    State(app): State<App>,
    caller: Caller,
    In(id): In<EventId>,
) -> ApiResult<Raw> {
    let event = owned::event(&app, &caller, id).await?.record;
    let event = event.with_body().unwrap_or(event);
    let content_type = harmless(event.content_type.as_deref());
    let bytes = event.body.into_bytes();
    Ok(Raw { file_name: id.to_string(), content_type: content_type.to_owned(), bytes })
}

/// The media type, if it is one that no browser runs.
fn harmless(content_type: Option<&str>) -> &'static str {
    const HARMLESS: [&str; 5] = [
        "application/json",
        "application/x-ndjson",
        "application/x-www-form-urlencoded",
        "text/csv",
        "text/plain",
    ];
    let essence = content_type.and_then(|text| text.split(';').next()).unwrap_or_default().trim();
    let known = HARMLESS.into_iter().find(|harmless| essence.eq_ignore_ascii_case(harmless));
    known.unwrap_or("application/octet-stream")
}

/// `GET /v1/events/{id}/explain`
pub async fn show_explanation(
    State(app): State<App>,
    caller: Caller,
    In(id): In<EventId>,
) -> ApiResult<Found<Explanation>> {
    let event = owned::event(&app, &caller, id).await?;
    Ok(Found(explain(&app.store, &*app.works, &event).await?))
}

#[cfg(test)]
pub(crate) mod tests;
