//! `GET /v1/inbox`: what is in an inbox, without taking anything.
//!
//! A page costs what is on it, wherever in the list it is. What comes meanwhile neither moves nor
//! doubles what a cursor has still before it.

use std::pin::pin;
use std::time::Duration;

use axum::extract::State;
use ferryhook_core::event::Status;
use ferryhook_core::event_types::PATTERN_BYTES_MAX;
use ferryhook_core::inbox::Group;
use ferryhook_core::{Account, Delivery, Id, Timestamp, limits as bounds};
use ferryhook_store::repositories::Listing;
use ferryhook_store::{Order, Page, Slice, Stored, Window};
use futures_util::future::try_join_all;
use serde::{Deserialize, Serialize};
use tokio::time::sleep;
use utoipa::IntoParams;

use super::span::{Span, When};
use super::view::InboxItem;
use crate::call::{ApiResult, Asked, Listed};
use crate::caller::Caller;
use crate::limits;
use crate::page::{self, Sort};
use crate::problem::Problem;
use crate::router::App;

/// Where an item of the inbox can stand.
const STATUSES: [Status; 5] =
    [Status::Received, Status::Retrying, Status::Delivered, Status::Failed, Status::Filtered];

/// Which of the inbox are wanted.
#[derive(Debug, Clone, Serialize, Deserialize, IntoParams)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct InboxQuery {
    /// Only those of this type; also as `event_type`.
    #[serde(rename = "type", alias = "event_type")]
    event_type: Option<String>,
    /// Only those that stand here: `received`, `retrying`, `delivered`, `failed` or `filtered`.
    #[param(inline)]
    status: Option<Status>,
    /// Only those that came then or later; a time, or how long ago.
    #[param(inline)]
    since: Option<When>,
    /// Only those that came then or earlier.
    #[param(inline)]
    until: Option<When>,
    /// `desc` has the newest first.
    #[param(inline)]
    order: Option<Sort>,
    /// Whose inbox; `default` if nothing is said.
    #[param(min_length = 1, max_length = 64, pattern = "^[a-z0-9_-]+$")]
    group: Option<String>,
    /// If there is nothing: how long to wait for something, up to `20s`.
    #[param(inline)]
    #[serde(skip_serializing)]
    wait: Option<Span>,
    /// How many at once.
    #[param(minimum = 1, maximum = 100)]
    #[serde(skip_serializing)]
    limit: Option<u32>,
    #[serde(skip_serializing)]
    cursor: Option<String>,
}

/// `GET /v1/inbox`
pub async fn list(
    State(app): State<App>,
    caller: Caller,
    Asked(query): Asked<InboxQuery>,
) -> ApiResult<Listed<InboxItem>> {
    let group = super::group("group", query.group.as_deref())?;
    let cursors = app.cursors.of("inbox.list", caller.account(), &query);
    // How long ago something came is counted from the first page, or a cursor would be overtaken.
    let opened = cursors.open_with(query.cursor.as_deref())?;
    let (after, begun_at) = opened.unzip();
    let begun_at = begun_at.unwrap_or_else(|| app.env.now());
    let listing = query.listing(begun_at)?;
    let slice = page::slice(query.limit, after, query.order.unwrap_or_default())?;
    let most = bounds::INBOX_WAIT_MAX;
    let wait = Span::within(query.wait, "wait", Duration::ZERO, Duration::ZERO..=most)?;
    let wanted = Wanted { account: caller.account(), group, listing, slice };
    let mut found = match wait.is_zero() {
        true => wanted.look(&app).await?,
        false => wanted.wait_for(&app, wait).await?,
    };
    if let Some(pause) = wanted.is_early(&found, app.env.now()) {
        sleep(pause).await;
        found = wanted.look(&app).await?;
    }
    let Page { rows, next } = found;
    let data = shown(&app, &rows).await?;
    let cursor = next.map(|next| cursors.write_with(&next, &begun_at));
    Ok(Listed(page::Page { data, has_more: cursor.is_some(), cursor }))
}

/// A page as it was asked for.
struct Wanted {
    account: Id<Account>,
    group: Group,
    listing: Listing,
    slice: Slice,
}

impl Wanted {
    /// Looks again whenever something has come, until there is something to show.
    async fn wait_for(&self, app: &App, wait: Duration) -> ApiResult<Page<Stored<Delivery>>> {
        let _waiting = app.waiters.enter(self.account)?;
        let mut over = pin!(sleep(wait));
        loop {
            // Before the look, so that nothing falls in between.
            let arrival = app.fetching.arrival(self.account, &self.group);
            let found = self.look(app).await?;
            if !found.rows.is_empty() || found.next.is_some() || app.readiness.is_draining() {
                return Ok(found);
            }
            tokio::select! {
                () = over.as_mut() => return Ok(found),
                // What comes together is looked at together.
                () = arrival => sleep(limits::INBOX_GATHER).await,
                // Something may stand differently without having come, and a server may be to stop.
                () = sleep(limits::INBOX_LOOK_EVERY) => {}
            }
        }
    }

    /// What came at the same moment may not be written yet. A page that goes on behind such a
    /// moment has to wait until it is, or its cursor would skip some of it.
    fn is_early(&self, found: &Page<Stored<Delivery>>, now: Timestamp) -> Option<Duration> {
        let goes_on = self.slice.order == Order::Ascending && found.next.is_some();
        let last = found.rows.last().filter(|_| goes_on)?;
        let age = now.saturating_since(last.inbox.as_ref()?.received_at);
        limits::INBOX_WRITTEN_WITHIN.checked_sub(age).filter(|rest| !rest.is_zero())
    }

    /// Where a type and a status are asked for, what lies between is passed over, up to a point.
    async fn look(&self, app: &App) -> ApiResult<Page<Stored<Delivery>>> {
        let limit = self.slice.limit;
        let inbox = app.store.inbox();
        let mut found = Page { rows: Vec::new(), next: self.slice.after.clone() };
        for _ in 0..limits::INBOX_LOOKS_MAX {
            let rest = limit - found.rows.len();
            let slice = self.slice.clone().limit(rest).after(found.next);
            let page = inbox.list(self.account, &self.group, &self.listing, slice).await?;
            found.rows.extend(page.rows);
            found.next = page.next;
            if found.next.is_none() || found.rows.len() >= limit {
                break;
            }
        }
        Ok(found)
    }
}

/// With what they carry. One whose event is gone is left out.
async fn shown(app: &App, rows: &[Stored<Delivery>]) -> ApiResult<Vec<InboxItem>> {
    let events = app.store.events();
    let look = |item: &Stored<Delivery>| {
        let came = item.inbox.as_ref().map(|place| place.received_at);
        let at = came.unwrap_or(item.created_at);
        events.find_of(item.source_id, at, item.event_id)
    };
    let now = app.env.now();
    let mut all = Vec::with_capacity(rows.len());
    // A few at a time: what is too large for a list is read all the same.
    for few in rows.chunks(limits::INBOX_READ_AT_ONCE) {
        let found = try_join_all(few.iter().map(look)).await?;
        let each = few.iter().zip(&found);
        all.extend(
            each.filter_map(|(item, event)| Some(InboxItem::new(item, event.as_ref()?, now))),
        );
    }
    Ok(all)
}

impl InboxQuery {
    fn listing(&self, now: Timestamp) -> ApiResult<Listing> {
        if let Some(status) = self.status.filter(|status| !STATUSES.contains(status)) {
            let known = STATUSES.map(Status::as_str).join(", ");
            let said = format!("in an inbox it is one of {known}, not {status}");
            return Err(Problem::invalid("status", said));
        }
        if let Some(event_type) = &self.event_type {
            require_type(event_type)?;
        }
        let moment = |when: Option<When>| when.map(|when| when.seen_from(now));
        let (from, to) = (moment(self.since), moment(self.until));
        if from.is_some_and(|from| to.is_some_and(|to| from > to)) {
            return Err(Problem::invalid("until", "must not lie before since"));
        }
        Ok(Listing {
            status: self.status,
            event_type: self.event_type.clone(),
            window: Window { from, to },
        })
    }
}

fn require_type(event_type: &str) -> ApiResult<()> {
    let most = PATTERN_BYTES_MAX;
    let is_plain = !event_type.contains(char::is_control) && !event_type.contains('*');
    match is_plain && (1..=most).contains(&event_type.len()) {
        true => Ok(()),
        false => {
            let said = format!("must be one whole type of up to {most} bytes, such as order.paid");
            Err(Problem::invalid("type", said))
        }
    }
}
