//! Hooks: where to call when something happens, in Ferryhook itself or among the account's own
//! events. What a tool such as Zapier, Make or n8n subscribes with.
//!
//! Calling is left to the data plane, to which a hook is one more way.

pub mod samples;
pub mod view;

use std::collections::BTreeMap;

use axum::extract::State;
use ferryhook_core::event_types::EventTypes;
use ferryhook_core::id::HookId;
use ferryhook_core::retry::Policy;
use ferryhook_core::secret::Previous;
use ferryhook_core::{Headers, Hook, Id, Map, Secret, limits, outgoing};
use ferryhook_store::repositories::RoomError;
use ferryhook_store::{Store, Stored};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::IntoParams;

use crate::call::{ApiResult, Asked, Condition, Created, Done, Found, In, Listed, Sent, Tagged};
use crate::caller::Caller;
use crate::owned;
use crate::page::{self, Sort};
use crate::problem::{Code, Problem};
use crate::router::App;
use crate::settings::REDACTED;
use crate::sources::RotatedSecret;
use crate::visit;

pub use view::{HookChange, HookView, NewHook};

/// How often a change is tried that another's came before: calls are counted on the same row.
const TRIES_MAX: usize = 8;

#[derive(Debug, Clone, Serialize, Deserialize, IntoParams)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct HooksQuery {
    /// How many at once.
    #[param(minimum = 1, maximum = 100)]
    #[serde(skip_serializing)]
    limit: Option<u32>,
    #[serde(skip_serializing)]
    cursor: Option<String>,
}

/// `POST /v1/hooks`
pub async fn create(
    State(app): State<App>,
    caller: Caller,
    Sent(body): Sent<NewHook>,
) -> ApiResult<Created<HookView>> {
    let now = app.env.now();
    let hook = Hook {
        id: Id::new(&app.env),
        account_id: caller.account(),
        url: checked_url(&app, body.url)?,
        events: checked_events(body.events)?,
        is_active: body.is_active.unwrap_or(true),
        status_reason: None,
        secret: Secret::generate(&app.env),
        previous_secrets: Vec::new(),
        headers: checked_headers(body.headers, None)?,
        retry_policy: checked_policy(body.retry_policy)?.unwrap_or_default(),
        last_response_code: None,
        last_called_at: None,
        failure_count: 0,
        created_at: now,
        updated_at: now,
    };
    let view = HookView::of(&hook);
    let details = visit::details(None::<&HookView>, Some(&view));
    let store = caller.noting(&app, "hook_created", "hook", hook.id.as_str(), details);
    create_within(&app, &caller, &store, &hook).await?;
    app.works.hooks_changed(caller.account()).await?;
    Ok(Created(HookView { secret: Some(hook.secret.expose().to_owned()), ..view }))
}

/// `GET /v1/hooks`: those that are turned off first.
pub async fn list(
    State(app): State<App>,
    caller: Caller,
    Asked(query): Asked<HooksQuery>,
) -> ApiResult<Listed<HookView>> {
    let list = app.cursors.of("hooks.list", caller.account(), &query);
    let after = list.open(query.cursor.as_deref())?;
    let slice = page::slice(query.limit, after, Sort::Asc)?;
    let page = app.store.hooks().list_by_account(caller.account(), slice).await?;
    Ok(Listed(list.page(page, |hook| HookView::of(&hook))))
}

/// `GET /v1/hooks/{id}`
pub async fn show(
    State(app): State<App>,
    caller: Caller,
    In(id): In<HookId>,
) -> ApiResult<Tagged<HookView>> {
    let hook = owned::hook(&app, &caller, id).await?;
    Ok(HookView::of(&hook).tagged())
}

/// `PATCH /v1/hooks/{id}`
pub async fn update(
    State(app): State<App>,
    caller: Caller,
    In(id): In<HookId>,
    condition: Condition,
    Sent(body): Sent<HookChange>,
) -> ApiResult<Tagged<HookView>> {
    let url = body.url.map(|url| checked_url(&app, url)).transpose()?;
    let events = body.events.map(checked_events).transpose()?;
    let policy = checked_policy(body.retry_policy)?;
    let turn = |was: &Hook| {
        let mut now = was.clone();
        now.url = url.clone().unwrap_or(now.url);
        now.events = events.clone().unwrap_or(now.events);
        now.retry_policy = policy.clone().unwrap_or(now.retry_policy);
        if body.headers.is_some() {
            now.headers = checked_headers(body.headers.clone(), was.headers.as_ref())?;
        }
        let is_active = body.is_active.unwrap_or(now.is_active);
        if is_active != now.is_active {
            // It said why nobody asked for that; now somebody has.
            (now.is_active, now.status_reason, now.failure_count) = (is_active, None, 0);
        }
        Ok(now)
    };
    let now = change(&app, &caller, id, &condition, "hook_updated", turn).await?;
    Ok(HookView::of(&now).tagged())
}

/// `POST /v1/hooks/{id}/rotate-secret`
pub async fn rotate_secret(
    State(app): State<App>,
    caller: Caller,
    In(id): In<HookId>,
) -> ApiResult<Found<RotatedSecret>> {
    let secret = Secret::generate(&app.env);
    let turn = |was: &Hook| {
        let replaced = was.secret.clone();
        let previous = Previous::after_rotation(replaced, &was.previous_secrets, app.env.now());
        Ok(Hook { secret: secret.clone(), previous_secrets: previous, ..was.clone() })
    };
    let always = Condition::default();
    let now = change(&app, &caller, id, &always, "hook_secret_rotated", turn).await?;
    Ok(Found(RotatedSecret::new(secret, &now.previous_secrets)))
}

/// `DELETE /v1/hooks/{id}`. What waits for it is not sent any more.
pub async fn delete(
    State(app): State<App>,
    caller: Caller,
    In(id): In<HookId>,
    condition: Condition,
) -> ApiResult<Done> {
    let mut tries = 1;
    loop {
        let was = owned::hook(&app, &caller, id).await?;
        let view = HookView::of(&was);
        condition.allows(&view.tag())?;
        let details = visit::details(Some(&view), None::<&HookView>);
        let store = caller.noting(&app, "hook_deleted", "hook", id.as_str(), details);
        match store.hooks().delete(&was).await {
            Err(error) if error.is_refused() && tries < TRIES_MAX => tries += 1,
            Err(error) => return Err(error.into()),
            Ok(()) => break,
        }
    }
    app.works.hooks_changed(caller.account()).await?;
    Ok(Done)
}

async fn change(
    app: &App,
    caller: &Caller,
    id: HookId,
    condition: &Condition,
    event_type: &str,
    turn: impl Fn(&Hook) -> Result<Hook, Problem>,
) -> ApiResult<Stored<Hook>> {
    let mut tries = 1;
    loop {
        let was = owned::hook(app, caller, id).await?;
        let before = HookView::of(&was);
        condition.allows(&before.tag())?;
        let now = turn(&was)?;
        if now == was.record {
            caller.nothing_changed();
            return Ok(was);
        }
        let now = Hook { updated_at: app.env.now(), ..now };
        let details = visit::details(Some(&before), Some(&HookView::of(&now)));
        let store = caller.noting(app, event_type, "hook", id.as_str(), details);
        match store.hooks().replace(&was, now).await {
            Err(error) if error.is_refused() && tries < TRIES_MAX => tries += 1,
            Err(error) => return Err(error.into()),
            Ok(now) => {
                app.works.hooks_changed(caller.account()).await?;
                return Ok(now);
            }
        }
    }
}

/// As many as the plan allows, and never more than fit beside the connections of a source.
async fn create_within(
    app: &App,
    caller: &Caller,
    store: &Store,
    hook: &Hook,
) -> Result<(), Problem> {
    let plan = app.store.plan_counts().plan_of(caller.account()).await?;
    let allowed = plan.and_then(|plan| plan.limits.webhooks).unwrap_or(u32::MAX);
    let most = allowed.min(limits::HOOKS_PER_ACCOUNT_MAX);
    match store.hooks().create_within(hook, Some(most)).await {
        Ok(()) => Ok(()),
        Err(RoomError::Store(error)) => Err(error.into()),
        Err(RoomError::Full { most }) => {
            let said = format!("The plan allows {most} hooks; delete one that nobody needs.");
            Err(Problem::new(Code::PlanLimitReached, said))
        }
    }
}

/// As far as that goes without asking DNS; each call looks again.
fn checked_url(app: &App, url: String) -> Result<String, Problem> {
    if url.len() > limits::URL_BYTES_MAX {
        let most = limits::URL_BYTES_MAX;
        return Err(Problem::invalid("/url", format!("may have at most {most} bytes")));
    }
    match app.guard.target(&url) {
        Ok(_) => Ok(url),
        Err(refusal) => Err(Problem::invalid("/url", refusal.to_string())),
    }
}

fn checked_events(events: Vec<String>) -> Result<Vec<String>, Problem> {
    if events.is_empty() {
        let said = "name at least one pattern, such as delivery.failed or order.*";
        return Err(Problem::invalid("/events", said));
    }
    match EventTypes::compile(&events) {
        Ok(_) => Ok(events),
        Err(bad) => Err(Problem::invalid("/events", bad.to_string())),
    }
}

fn checked_policy(policy: Option<Map>) -> Result<Option<Map>, Problem> {
    let Some(policy) = policy else { return Ok(None) };
    match Policy::parse(&Value::Object(policy.clone()).to_string()) {
        Ok(_) => Ok(Some(policy)),
        Err(bad) => Err(Problem::invalid("/retryPolicy", bad.to_string())),
    }
}

type HeaderMap = BTreeMap<String, String>;

fn checked_headers(
    headers: Option<HeaderMap>,
    before: Option<&HeaderMap>,
) -> Result<Option<HeaderMap>, Problem> {
    let mut kept = HeaderMap::new();
    for (name, value) in headers.unwrap_or_default() {
        let value = match before.and_then(|before| before.get(&name)) {
            Some(before) if value == REDACTED => before.clone(),
            _ => value,
        };
        if let Err(bad) = outgoing::check_custom(&name, &value) {
            return Err(Problem::invalid(format!("/headers/{name}"), bad.to_string()));
        }
        kept.insert(name, value);
    }
    let all = kept.iter().map(|(name, value)| (name.clone(), value.clone()));
    if let Err(bad) = outgoing::check_all_custom(&all.collect::<Headers>()) {
        return Err(Problem::invalid("/headers", bad.to_string()));
    }
    Ok(Some(kept).filter(|kept| !kept.is_empty()))
}

#[cfg(test)]
mod tests;
