//! The overview: one page about the account's last day, week or month.

use axum::extract::State;
use ferryhook_core::id::SourceId;
use ferryhook_core::rollup::{Interval, Scope};
use ferryhook_core::{Source, Timestamp, limits as bounds};
use ferryhook_store::{Slice, Stored};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use super::{Figures, Point, Series, Span, counts, series, sum};
use crate::call::{ApiResult, Asked, Found};
use crate::caller::Caller;
use crate::limits;
use crate::router::App;
use crate::usage::{self, PlanUsage};

/// Which stretch of time is wanted.
#[derive(Debug, Clone, Copy, Default, Serialize, Deserialize, IntoParams)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct OverviewQuery {
    /// The last 24 hours, unless it says otherwise.
    #[param(inline)]
    period: Option<Period>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, ToSchema)]
#[schema(as = AnalyticsPeriod)]
pub enum Period {
    #[default]
    #[serde(rename = "24h")]
    Day,
    #[serde(rename = "7d")]
    Week,
    #[serde(rename = "30d")]
    Month,
}

impl Period {
    /// A day by its hours, the others by their days. The hour or day that is not over counts.
    fn span(self, now: Timestamp) -> Span {
        match self {
            Self::Day => Span::last(Interval::Hour, 24, now),
            Self::Week => Span::last(Interval::Day, 7, now),
            Self::Month => Span::last(Interval::Day, 30, now),
        }
    }
}

/// How the account is doing.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = AnalyticsOverview)]
pub struct Overview {
    #[schema(inline)]
    pub period: Period,
    #[schema(inline)]
    pub interval: Interval,
    pub from: Timestamp,
    pub to: Timestamp,
    pub totals: Figures,
    /// By hour for a day, by day for the others.
    pub points: Vec<Point>,
    /// Those that took in the most, the busiest first.
    pub top_sources: Vec<TopSource>,
    /// This month against what the plan has.
    pub usage: PlanUsage,
}

/// A source and what it took in.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct TopSource {
    pub source_id: SourceId,
    pub name: String,
    pub provider: String,
    pub totals: Figures,
}

/// `GET /v1/analytics/overview`
pub async fn overview(
    State(app): State<App>,
    caller: Caller,
    Asked(query): Asked<OverviewQuery>,
) -> ApiResult<Found<Overview>> {
    let period = query.period.unwrap_or_default();
    let span = period.span(app.env.now());
    let whole = series(&app, Scope::Account(caller.account()), span).await?;
    let Series { interval, from, to, totals, points } = whole;
    let top_sources = top_sources(&app, &caller, span).await?;
    let usage = usage::of_month(&app, &caller).await?;
    Ok(Found(Overview { period, interval, from, to, totals, points, top_sources, usage }))
}

/// Of those that took something in since then. Where there are very many, only those are compared
/// that have taken in the most in all their time.
async fn top_sources(app: &App, caller: &Caller, span: Span) -> ApiResult<Vec<TopSource>> {
    let mut busy = Vec::new();
    for source in active(app, caller, span.from).await? {
        let figures = sum(counts(app, Scope::Source(source.id), span).await?.values());
        if figures.events > 0 {
            busy.push((source, figures));
        }
    }
    busy.sort_by(|(one, a), (other, b)| b.events.cmp(&a.events).then(one.id.cmp(&other.id)));
    busy.truncate(limits::TOP_SOURCES);
    let told = busy.into_iter().map(|(source, counts)| TopSource {
        source_id: source.id,
        name: source.record.name,
        provider: source.record.provider,
        totals: Figures::of(&counts),
    });
    Ok(told.collect())
}

async fn active(app: &App, caller: &Caller, since: Timestamp) -> ApiResult<Vec<Stored<Source>>> {
    let (mut found, mut after) = (Vec::new(), None);
    for _ in 0..limits::SOURCE_PAGES_MAX {
        let slice = Slice::default().limit(bounds::PAGE_MAX).after(after);
        let page = app.store.sources().list_by_account(caller.account(), slice).await?;
        let active = |source: &Stored<Source>| source.last_event_at.is_some_and(|at| at >= since);
        found.extend(page.rows.into_iter().filter(active));
        after = page.next;
        if after.is_none() {
            break;
        }
    }
    found.sort_by(|one, other| other.event_count.cmp(&one.event_count).then(one.id.cmp(&other.id)));
    found.truncate(limits::SOURCES_COMPARED_MAX);
    Ok(found)
}
