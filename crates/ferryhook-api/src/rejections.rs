//! Rejections: what was refused at the door of a source, and letting it in after all.

mod view;

use axum::extract::State;
use ferryhook_core::id::{RejectionId, SourceId};
use ferryhook_core::rejection::Cause;
use ferryhook_core::{Account, Id, Map, Rejection, Source, limits as bounds};
use ferryhook_store::{Cursor, Page as Rows, Record, Slice, Store, StoreError, Stored, Window};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use crate::call::{ApiResult, Asked, Found, In, Listed, Sent};
use crate::caller::Caller;
use crate::page::{self, Sort};
use crate::problem::Problem;
use crate::router::App;
use crate::works::{Refusal, Works};
use crate::{limits, owned};

pub use view::{Readmitted, RejectionLine, RejectionStory};

/// Rejections that are looked at in one step.
const STEP: usize = 200;

/// Which rejections are wanted.
#[derive(Debug, Clone, Serialize, Deserialize, IntoParams)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct RejectionsQuery {
    /// Only those that were refused for this.
    #[param(inline)]
    cause: Option<Cause>,
    /// How many at once.
    #[param(minimum = 1, maximum = 100)]
    #[serde(skip_serializing)]
    limit: Option<u32>,
    #[serde(skip_serializing)]
    cursor: Option<String>,
}

/// Which rejections are let in: these, or the newest with a cause.
#[derive(Debug, Clone, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ReadmitOrder {
    /// At most 200.
    #[schema(max_items = 200)]
    rejection_ids: Option<Vec<RejectionId>>,
    /// Where none are named: all that were refused for this, 200 at a time.
    cause: Option<Cause>,
}

/// `GET /v1/sources/{id}/rejections`
pub async fn list(
    State(app): State<App>,
    caller: Caller,
    In(id): In<SourceId>,
    Asked(query): Asked<RejectionsQuery>,
) -> ApiResult<Listed<RejectionLine>> {
    let source = owned::source(&app, &caller, id).await?;
    let cursors = app.cursors.of("rejections.list", caller.account(), &(source.id, &query));
    let after = cursors.open(query.cursor.as_deref())?;
    let slice = page::slice(query.limit, after, Sort::Desc)?;
    let found = find(&app.store, source.id, query.cause, slice, limits::LOOKED_AT_MAX).await?;
    Ok(Listed(cursors.page(found, |one| RejectionLine::from(&one.record))))
}

/// A page of those with this cause; it may be short and still have a next one.
pub async fn find(
    store: &Store,
    source: Id<Source>,
    cause: Option<Cause>,
    slice: Slice,
    looked_at_max: usize,
) -> Result<Rows<Stored<Rejection>>, StoreError> {
    let limit = slice.limit;
    let (mut rows, mut looked_at) = (Vec::new(), 0);
    let mut next = Some(slice.limit(if cause.is_some() { STEP } else { limit }));
    while let Some(slice) = next.take() {
        let rejections = store.rejections();
        let page = rejections.list_by_source(source, Window::ALWAYS, slice.clone()).await?;
        looked_at += page.rows.len().max(1);
        let wanted = |one: &Stored<Rejection>| cause.is_none_or(|cause| one.cause == cause);
        rows.extend(page.rows.into_iter().filter(wanted));
        if rows.len() > limit {
            rows.truncate(limit);
            let next = rows.last().map(|last| Cursor { key: last.key(), entry: None });
            return Ok(Rows { rows, next });
        }
        if rows.len() == limit || looked_at >= looked_at_max {
            return Ok(Rows { rows, next: page.next });
        }
        next = page.next.map(|after| slice.after(Some(after)));
    }
    Ok(Rows { rows, next: None })
}

/// `GET /v1/sources/{id}/rejections/{rejectionId}`
pub async fn show(
    State(app): State<App>,
    caller: Caller,
    In((source, id)): In<(SourceId, RejectionId)>,
) -> ApiResult<Found<RejectionStory>> {
    let source = owned::source(&app, &caller, source).await?;
    let rejection = owned::rejection(&app, &source, id).await?;
    let sources = sources_of(&app.store, caller.account()).await?;
    let story = tell(&*app.works, &rejection, &sources).await?;
    Ok(Found(story))
}

/// With what its signature lacks, where that can be told.
pub async fn tell(
    works: &dyn Works,
    rejection: &Rejection,
    sources: &[Source],
) -> Result<RejectionStory, Refusal> {
    let mut line = RejectionLine::from(rejection);
    line.detail = works.diagnose(rejection, sources).await?.or(line.detail);
    Ok(RejectionStory::new(rejection, line))
}

/// Whose secrets may have been mixed up with the source's.
pub async fn sources_of(store: &Store, account: Id<Account>) -> Result<Vec<Source>, StoreError> {
    let slice = Slice::default().limit(bounds::PAGE_MAX);
    let page = store.sources().list_by_account(account, slice).await?;
    Ok(page.rows.into_iter().map(|row| row.record).collect())
}

/// `POST /v1/sources/{id}/rejections/readmit`
pub async fn readmit(
    State(app): State<App>,
    caller: Caller,
    In(id): In<SourceId>,
    Sent(order): Sent<ReadmitOrder>,
) -> ApiResult<Found<Readmitted>> {
    let source = owned::source(&app, &caller, id).await?;
    let most = limits::READMITTED_MAX;
    let (rejections, has_more) = match (order.rejection_ids, order.cause) {
        (Some(ids), None) if (1..=most).contains(&ids.len()) => {
            let mut named = Vec::with_capacity(ids.len());
            for (place, id) in ids.into_iter().enumerate() {
                let unknown = |_| {
                    let said = "this source has no such rejection";
                    Problem::invalid(format!("/rejectionIds/{place}"), said)
                };
                named.push(owned::rejection(&app, &source, id).await.map_err(unknown)?);
            }
            (named, false)
        }
        (Some(_), None) => {
            let said = format!("must name 1 to {most} rejections");
            return Err(Problem::invalid("/rejectionIds", said));
        }
        (None, Some(cause)) => {
            let slice = Slice::newest_first().limit(most);
            let found = find(&app.store, source.id, Some(cause), slice, limits::LOOKED_AT_MAX);
            let found = found.await?;
            (found.rows, found.next.is_some())
        }
        _ => return Err(Problem::invalid("", "name either rejectionIds, or a cause")),
    };
    let mut details = Map::new();
    details.insert("rejections".to_owned(), rejections.len().into());
    let id = source.id;
    let store = caller.noting(&app, "rejections_readmitted", "source", id.as_str(), details);
    let told = let_in(&store, &*app.works, rejections).await;
    Ok(Found(Readmitted { has_more, ..told }))
}

/// In the order they came.
pub async fn let_in(
    store: &Store,
    works: &dyn Works,
    mut rejections: Vec<Stored<Rejection>>,
) -> Readmitted {
    rejections.sort_by_key(|one| (one.rejected_at, one.id));
    let mut told = Readmitted::default();
    for rejection in rejections {
        match works.readmit(store, rejection).await {
            Ok(events) => told.events.extend(events),
            Err(error) => told.refused.push(error.to_string()),
        }
    }
    told
}

#[cfg(test)]
pub(crate) mod tests;
