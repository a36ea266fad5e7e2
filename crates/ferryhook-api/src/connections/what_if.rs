//! What other rules would have done with the events that a connection's source brought last.

use axum::extract::State;
use ferryhook_core::connection::PipelineOrder;
use ferryhook_core::event::Status;
use ferryhook_core::explained::{Compared, Verdict};
use ferryhook_core::id::{ConnectionId, EventId};
use ferryhook_core::replay::{Filter, Position};
use ferryhook_core::{Connection, Map, Timestamp};
use ferryhook_store::{Search, Store};
use serde::{Deserialize, Serialize};
use serde_json::Value as Json;
use utoipa::ToSchema;

use crate::call::{ApiResult, Found, In, Sent};
use crate::caller::Caller;
use crate::manifest::Rules;
use crate::owned;
use crate::problem::Problem;
use crate::router::App;
use crate::settings;
use crate::works::{Refusal, Works};

/// Events looked at in one answer; whoever wants more asks again. A script may take its time with
/// each of them.
pub const EVENTS_MAX: usize = 100;
pub const EXAMPLES_MAX: usize = 20;

/// What other rules would do.
#[derive(Debug, Clone, Default, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = WhatIf)]
pub struct Tried {
    pub looked_at: usize,
    /// Events that would be delivered and are not, or the other way, or end for another reason.
    pub verdict_changed: usize,
    /// Events of which something else would be sent.
    pub content_changed: usize,
    pub before: Verdicts,
    pub after: Verdicts,
    pub examples: Vec<Example>,
    /// There are older events behind this one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next: Option<Place>,
}

/// Behind this event there are older ones.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schema(as = EventPlace)]
pub struct Place {
    pub received_at: Timestamp,
    pub event_id: EventId,
}

impl From<Position> for Place {
    fn from(position: Position) -> Self {
        Self { received_at: position.received_at, event_id: position.event_id }
    }
}

impl From<Place> for Position {
    fn from(place: Place) -> Self {
        Self { received_at: place.received_at, event_id: place.event_id }
    }
}

/// How many events meet which end.
#[derive(Debug, Clone, Copy, Default, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = VerdictCounts)]
pub struct Verdicts {
    pub delivered: usize,
    pub other_type: usize,
    pub filtered: usize,
    pub dropped: usize,
    pub failed: usize,
}

impl Verdicts {
    pub fn count(&mut self, verdict: &Verdict) {
        *match verdict {
            Verdict::Delivered => &mut self.delivered,
            Verdict::OtherType => &mut self.other_type,
            Verdict::Filtered => &mut self.filtered,
            Verdict::Dropped { .. } => &mut self.dropped,
            Verdict::Failed { .. } => &mut self.failed,
        } += 1;
    }
}

/// One event that differs.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = WhatIfExample)]
pub struct Example {
    pub event_id: EventId,
    pub received_at: Timestamp,
    #[serde(flatten)]
    pub compared: Compared,
}

/// Other rules, and how many events they are tried on.
#[derive(Debug, Clone, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct WhatIfOrder {
    /// `eventTypes`, `filters`, `transform` and `pipelineOrder`, as a connection has them. What is
    /// left out is as if the connection did not have it.
    #[schema(value_type = RuleSettings)]
    rules: Map,
    /// The newest; 100 at most, which it is if nothing is said.
    #[schema(minimum = 1, maximum = 100)]
    last: Option<u32>,
    /// How many of those that differ are shown; 20 at most.
    #[schema(maximum = 20)]
    examples: Option<u32>,
    /// The `next` of the answer before.
    after: Option<Place>,
}

/// The rules of a connection.
#[derive(Debug, Clone, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[expect(dead_code, reason = "it only describes; the readers of the manifest take it apart")]
pub struct RuleSettings {
    event_types: Option<Vec<String>>,
    filters: Option<Json>,
    transform: Option<Json>,
    pipeline_order: Option<PipelineOrder>,
}

/// `POST /v1/connections/{id}/what-if`
pub async fn try_rules(
    State(app): State<App>,
    caller: Caller,
    In(id): In<ConnectionId>,
    Sent(order): Sent<WhatIfOrder>,
) -> ApiResult<Found<Tried>> {
    let connection = owned::connection(&app, &caller, id).await?;
    let rules = Rules::from_json(&order.rules, &app.guard).map_err(|complaints| {
        settings::problem(complaints.into_iter().map(|one| one.under("/rules")).collect())
    })?;
    let bounded = |pointer, asked: Option<u32>, least: usize, most: usize| {
        let count = asked.map_or(most, |count| count as usize);
        match (least..=most).contains(&count) {
            true => Ok(count),
            false => Err(Problem::invalid(pointer, format!("must be {least} to {most}"))),
        }
    };
    let extent = Extent {
        events: bounded("/last", order.last, 1, EVENTS_MAX)?,
        examples: bounded("/examples", order.examples, 0, EXAMPLES_MAX)?,
        after: order.after,
    };
    caller.nothing_changed();
    let tried = what_if(&app.store, &*app.works, &connection, &rules, extent).await?;
    Ok(Found(tried))
}

/// How much is looked at, and from where on.
#[derive(Debug, Clone, Copy)]
pub struct Extent {
    pub events: usize,
    pub examples: usize,
    pub after: Option<Place>,
}

pub async fn what_if(
    store: &Store,
    works: &dyn Works,
    connection: &Connection,
    rules: &Rules,
    extent: Extent,
) -> Result<Tried, Refusal> {
    let filter = Filter { source_id: Some(connection.source_id), ..Filter::default() };
    let search = Search::newest_first(connection.account_id, &filter);
    let search = search.map_err(|error| Refusal::Invalid(error.to_string()))?;
    let mut search = search.after(extent.after.map(Position::from));
    let changed = rules.given_to(connection.clone());
    let mut tried = Tried { next: extent.after, ..Tried::default() };
    let (limit, examples) = (extent.events.min(EVENTS_MAX), extent.examples.min(EXAMPLES_MAX));
    let mut seen = 0;
    while seen < limit && !search.is_over() {
        let found = search.look(store, limit - seen).await?;
        seen += found.looked_at.max(1);
        for event in &found.events {
            tried.next = Some(Position::of(event).into());
            if event.status == Status::SignatureFailed {
                continue; // it goes nowhere, whatever the rules
            }
            let compared = works.compare(connection, &changed, event).await?;
            tried.note(&compared);
            if compared.differs() && tried.examples.len() < examples {
                let (event_id, received_at) = (event.id, event.received_at);
                tried.examples.push(Example { event_id, received_at, compared });
            }
        }
    }
    if search.is_over() {
        tried.next = None;
    }
    Ok(tried)
}

impl Tried {
    fn note(&mut self, compared: &Compared) {
        self.looked_at += 1;
        self.verdict_changed += usize::from(compared.changes_verdict());
        self.content_changed += usize::from(compared.changes_content());
        self.before.count(&compared.before);
        self.after.count(&compared.after);
    }
}
