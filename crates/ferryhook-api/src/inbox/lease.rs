//! `POST /v1/inbox/lease`: events to work on, for a while and for nobody else.
//!
//! A call that is repeated leases others: there is no `Idempotency-Key` here, and what a lost answer
//! had leased comes back by itself.

use std::time::Duration;

use axum::extract::State;
use ferryhook_core::event_types::EventTypes;
use ferryhook_core::inbox::{Leased, Wanted};
use ferryhook_core::limits as bounds;
use serde::Deserialize;
use utoipa::ToSchema;

use super::span::Span;
use super::view::{LeasedItem, Leases};
use crate::call::{ApiResult, Found, MaybeSent};
use crate::caller::Caller;
use crate::limits;
use crate::problem::Problem;
use crate::router::App;

/// How many, of which kind, and for how long.
#[derive(Debug, Clone, Default, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct LeaseOrder {
    /// At most so many; 1 if nothing is said.
    #[schema(minimum = 1, maximum = 100)]
    count: Option<u16>,
    /// After that others may have them, unless somebody has replied; `30s` if nothing is said, up
    /// to `12h`.
    #[schema(inline)]
    visibility: Option<Span>,
    /// Only events of these types, with wildcards such as `order.*`; all if nothing is said.
    #[serde(default)]
    #[schema(max_items = 100)]
    types: Vec<String>,
    /// Whose inbox; `default` if nothing is said.
    #[schema(min_length = 1, max_length = 64, pattern = "^[a-z0-9_-]+$")]
    group: Option<String>,
    /// How long to wait for the first one if there is none, up to `20s`.
    #[schema(inline)]
    wait: Option<Span>,
}

/// `POST /v1/inbox/lease`
pub async fn lease(
    State(app): State<App>,
    caller: Caller,
    MaybeSent(order): MaybeSent<LeaseOrder>,
) -> ApiResult<Found<Leases>> {
    let wanted = order.unwrap_or_default().wanted()?;
    caller.not_for_the_log();
    let waits = !wanted.wait.is_zero();
    let _waiting = waits.then(|| app.waiters.enter(caller.account())).transpose()?;
    let leased = wait_for(&app, &caller, wanted.clone()).await?;
    let item = |one: &Leased| LeasedItem::new(one, &wanted.group);
    Ok(Found(Leases { data: leased.iter().map(item).collect() }))
}

/// Asks again and again for as long as it may wait, so that a server that is to stop need not wait
/// for it.
async fn wait_for(app: &App, caller: &Caller, wanted: Wanted) -> ApiResult<Vec<Leased>> {
    let mut rest = wanted.wait;
    loop {
        let wait = rest.min(limits::INBOX_LOOK_EVERY);
        let step = Wanted { wait, ..wanted.clone() };
        let leased = app.fetching.lease(caller.account(), &step).await?;
        rest = rest.saturating_sub(wait);
        if !leased.is_empty() || rest.is_zero() || app.readiness.is_draining() {
            return Ok(leased);
        }
    }
}

impl LeaseOrder {
    fn wanted(self) -> ApiResult<Wanted> {
        let count = usize::from(self.count.unwrap_or(1));
        let most = bounds::INBOX_ITEMS_MAX;
        if !(1..=most).contains(&count) {
            return Err(Problem::invalid("/count", format!("must be between 1 and {most}")));
        }
        EventTypes::compile(&self.types)
            .map_err(|error| Problem::invalid("/types", error.to_string()))?;
        let most = bounds::INBOX_WAIT_MAX;
        Ok(Wanted {
            group: super::group("/group", self.group.as_deref())?,
            count,
            visibility: visibility(self.visibility)?,
            types: self.types,
            wait: Span::within(self.wait, "/wait", Duration::ZERO, Duration::ZERO..=most)?,
        })
    }
}

/// How long a lease is to be.
pub(super) fn visibility(asked: Option<Span>) -> ApiResult<Duration> {
    let allowed = bounds::INBOX_VISIBILITY_MIN..=bounds::INBOX_VISIBILITY_MAX;
    Span::within(asked, "/visibility", bounds::INBOX_VISIBILITY_DEFAULT, allowed)
}
