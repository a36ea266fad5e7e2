//! What a hook would get: the last events of a type, or one that never happened. Tools ask for this
//! while somebody sets them up, to show which fields there are.

use axum::extract::State;
use ferryhook_core::event_types::EventTypes;
use ferryhook_core::id::EventId;
use ferryhook_core::operational::{TYPES, is_operational};
use ferryhook_core::{Event, Timestamp};
use ferryhook_store::{Slice, Window};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use utoipa::{IntoParams, ToSchema};

use crate::call::{ApiResult, Asked, Listed};
use crate::caller::Caller;
use crate::limits;
use crate::page::Page;
use crate::problem::Problem;
use crate::router::App;

/// Which events are asked about.
#[derive(Debug, Clone, Deserialize, IntoParams)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct SamplesQuery {
    /// A type or a pattern, as a hook would name it.
    event: String,
}

/// One that happened, or could.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct HookSample {
    pub event_type: String,
    /// Absent where it never happened.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub event_id: Option<EventId>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub received_at: Option<Timestamp>,
    /// The body that is sent; as text where it is no JSON.
    #[schema(value_type = Object)]
    pub body: Value,
}

/// `GET /v1/hooks/samples`
pub async fn list(
    State(app): State<App>,
    caller: Caller,
    Asked(query): Asked<SamplesQuery>,
) -> ApiResult<Listed<HookSample>> {
    let types = EventTypes::compile(std::slice::from_ref(&query.event));
    let types = types.map_err(|bad| Problem::invalid("event", bad.to_string()))?;
    let slice = Slice::newest_first().limit(limits::PAGE_MAX);
    let (account, events) = (caller.account(), app.store.events());
    let page = match query.event.contains('*') {
        true => events.list_by_account(account, Window::ALWAYS, slice).await?,
        false => events.list_by_type(account, &query.event, Window::ALWAYS, slice).await?,
    };
    // An event of the account that is called like one of Ferryhook's does not go to the same hook.
    let of_ours = is_operational(&query.event);
    let own = ferryhook_core::Source::own_id(account);
    let is_meant = |event: &&Event| {
        types.wants(event.event_type.as_deref()) && (!of_ours || event.source_id == own)
    };
    let events = page.rows.iter().map(|row| &row.record).filter(is_meant);
    let mut samples: Vec<_> = events.take(limits::SAMPLES_MAX).map(HookSample::of).collect();
    if samples.is_empty() {
        let known = TYPES.iter().filter(|known| types.wants(Some(known.name)));
        let now = app.env.now();
        samples.extend(known.take(limits::SAMPLES_MAX).map(|known| HookSample {
            event_type: known.name.to_owned(),
            event_id: None,
            received_at: None,
            body: known.sample().body(account, now),
        }));
    }
    if samples.is_empty() {
        let body = json!({ "type": query.event, "data": {} });
        let event_type = query.event;
        samples.push(HookSample { event_type, event_id: None, received_at: None, body });
    }
    Ok(Listed(Page::whole(samples)))
}

impl HookSample {
    fn of(event: &Event) -> Self {
        let written = event.with_body();
        let event = written.as_ref().unwrap_or(event);
        let bytes = event.body.as_bytes();
        let as_text = || String::from_utf8_lossy(bytes).into_owned().into();
        Self {
            event_type: event.event_type.clone().unwrap_or_default(),
            event_id: Some(event.id),
            received_at: Some(event.received_at),
            body: serde_json::from_slice(bytes).unwrap_or_else(|_| as_text()),
        }
    }
}
