//! Usage: what the account used, day by day, and how much of its plan is left this month.
//!
//! From the rows of days and the counts that plans are held by; no event is looked at.

use axum::extract::State;
use ferryhook_core::plan_count::Counted;
use ferryhook_core::rollup::{Interval, Scope};
use ferryhook_core::{Map, Timestamp, Usage, limits as bounds};
use ferryhook_store::Slice;
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use crate::analytics::{self, Span};
use crate::call::{ApiResult, Asked, Found, Listed};
use crate::caller::Caller;
use crate::page::{self, Sort};
use crate::problem::Problem;
use crate::router::App;

/// What an account used on one day (UTC).
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = UsageDay)]
pub struct UsageView {
    /// Such as `2026-01-31`.
    pub date: String,
    pub events: u64,
    pub api_calls: u64,
    /// Bytes of the bodies that came in.
    pub data_processed: u64,
    /// Bytes of the bodies that were kept when the day began, or came since.
    pub storage_used: u64,
    /// Requests that were refused.
    pub error_count: u64,
    pub sync_jobs: u64,
    /// People who called the API, themselves or with their keys.
    pub active_users: u64,
    /// Sources that took something in.
    pub active_sources: u64,
    /// By provider.
    #[schema(value_type = Object)]
    pub by_platform: Map,
    /// By user, as far as they are told apart.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Object>)]
    pub by_user: Option<Map>,
    /// Events of each hour.
    pub hourly_counts: Vec<u64>,
    pub updated_at: Timestamp,
}

impl From<Usage> for UsageView {
    fn from(usage: Usage) -> Self {
        Self {
            events: usage.events(),
            date: usage.day,
            api_calls: usage.api_calls,
            data_processed: usage.data_processed_bytes,
            storage_used: usage.storage_used_bytes,
            error_count: usage.error_count,
            sync_jobs: usage.sync_jobs,
            active_users: usage.active_users,
            active_sources: usage.active_sources,
            by_platform: usage.by_platform,
            by_user: usage.by_user,
            hourly_counts: usage.hourly_counts,
            updated_at: usage.updated_at,
        }
    }
}

/// Which days are wanted.
#[derive(Debug, Clone, Serialize, Deserialize, IntoParams)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct UsageQuery {
    /// The day of this moment and those after it.
    #[param(inline)]
    from: Option<Timestamp>,
    /// The day of this moment and those before it.
    #[param(inline)]
    to: Option<Timestamp>,
    /// How many at once.
    #[param(minimum = 1, maximum = 100)]
    #[serde(skip_serializing)]
    limit: Option<u32>,
    #[serde(skip_serializing)]
    cursor: Option<String>,
    /// Newest first unless it says otherwise.
    #[param(inline)]
    order: Option<Sort>,
}

/// `GET /v1/usage`
pub async fn list(
    State(app): State<App>,
    caller: Caller,
    Asked(query): Asked<UsageQuery>,
) -> ApiResult<Listed<UsageView>> {
    let account = caller.account();
    let cursors = app.cursors.of("usage.list", account, &query);
    let after = cursors.open(query.cursor.as_deref())?;
    let slice = page::slice(query.limit, after, query.order.unwrap_or_default())?;
    let first = query.from.unwrap_or_default().day();
    let last = query.to.unwrap_or(Timestamp::MAX).day();
    if first > last {
        return Err(Problem::invalid("from", "must not be later than to"));
    }
    let page = app.store.usage().list_days(account, &first, &last, slice).await?;
    Ok(Listed(cursors.page(page, |usage| usage.record.into())))
}

/// This month against what the plan has.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct PlanUsage {
    /// Absent where the account has none, and so no limits.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub plan_id: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub plan_name: Option<String>,
    /// The month begins, and the next one does (UTC).
    pub period_start: Timestamp,
    pub period_end: Timestamp,
    /// Taken in this month.
    pub events: Share,
    /// Calls of this API this month.
    pub api_calls: Share,
    /// Bodies of the events that are kept, in bytes.
    pub storage_bytes: Share,
    pub sources: Share,
    pub users: Share,
    pub webhooks: Share,
}

/// How much of something there is.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = PlanShare)]
pub struct Share {
    pub used: u64,
    /// Absent where there is no limit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<u64>,
}

/// `GET /v1/billing/usage`
pub async fn show(State(app): State<App>, caller: Caller) -> ApiResult<Found<PlanUsage>> {
    Ok(Found(of_month(&app, &caller).await?))
}

pub(crate) async fn of_month(app: &App, caller: &Caller) -> ApiResult<PlanUsage> {
    let (now, account) = (app.env.now(), caller.account());
    let plan = app.store.plan_counts().plan_of(account).await?.map(|plan| plan.record);
    let limits = plan.as_ref().map(|plan| plan.limits.clone()).unwrap_or_default();
    let retention = plan.as_ref().and_then(|plan| plan.limits.data_retention_days);
    let days = retention.unwrap_or(u32::MAX).clamp(31, DAYS_KEPT);
    let span = Span::last(Interval::Day, days, now);
    let counts = analytics::counts(app, Scope::Account(account), span).await?;
    let month = Month::of(now);
    let of_month = analytics::sum(counts.range(month.begins_at..).map(|(_, counts)| counts));
    let kept = retention.map_or(i64::MIN, |days| now.as_millis() - i64::from(days) * DAY_MS);
    let kept = Interval::Day.begin(Timestamp::from_millis(kept.max(0)));
    let stored = analytics::sum(counts.range(kept..).map(|(_, counts)| counts));
    let counted = async |counted| {
        let counts = app.store.plan_counts();
        counts.standing(account, counted, caller.owner()).await
    };
    let share = |used, limit: Option<u32>| Share { used, limit: limit.map(u64::from) };
    Ok(PlanUsage {
        plan_id: plan.as_ref().map(|plan| plan.id.clone()),
        plan_name: plan.map(|plan| plan.name),
        period_start: month.begins_at,
        period_end: month.ends_at,
        events: Share { used: of_month.events, limit: limits.events_per_month },
        api_calls: Share {
            used: api_calls(app, caller, now).await?,
            limit: limits.api_calls_per_month,
        },
        storage_bytes: Share {
            used: stored.bytes,
            limit: limits.storage_gb.map(|gb| gb.saturating_mul(GB)),
        },
        sources: share(counted(Counted::Sources).await?, limits.sources),
        users: share(counted(Counted::Users).await?, limits.users),
        webhooks: share(counted(Counted::Webhooks).await?, limits.webhooks),
    })
}

const DAY_MS: i64 = 24 * 60 * 60 * 1000;
const GB: u64 = 1_000_000_000;
#[expect(clippy::cast_possible_truncation, reason = "a few hundred")]
const DAYS_KEPT: u32 = (bounds::ROLLUP_DAYS_KEPT.as_secs() / (24 * 60 * 60)) as u32;

struct Month {
    begins_at: Timestamp,
    ends_at: Timestamp,
}

impl Month {
    fn of(now: Timestamp) -> Self {
        let begins_at = format!("{}-01T00:00:00Z", now.month()).parse();
        Self { begins_at: begins_at.unwrap_or(now), ends_at: now.next_month() }
    }
}

/// Of the month, from its days.
async fn api_calls(app: &App, caller: &Caller, now: Timestamp) -> ApiResult<u64> {
    let month = now.month();
    let (first, last) = (format!("{month}-01"), format!("{month}-31"));
    let mut slice = Slice::default().limit(31);
    let mut calls = 0u64;
    loop {
        let usage = app.store.usage();
        let page = usage.list_days(caller.account(), &first, &last, slice.clone()).await?;
        let of_page = page.rows.iter().map(|day| day.api_calls);
        calls = of_page.fold(calls, u64::saturating_add);
        let Some(next) = page.next else { return Ok(calls) };
        slice = slice.after(Some(next));
    }
}

#[cfg(test)]
mod tests;
