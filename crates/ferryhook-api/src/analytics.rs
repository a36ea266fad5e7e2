//! Analytics: how much came in, what became of it and how long it took, of the account, of a source
//! and of a connection.
//!
//! Everything is read from rollups, which the data plane adds to every so often: an answer reads
//! as many rows as it shows hours or days, however many events are stored.

mod figures;
mod overview;

use std::collections::BTreeMap;

use axum::extract::State;
use ferryhook_core::id::{ConnectionId, SourceId};
use ferryhook_core::rollup::{Counts, Interval, Scope};
use ferryhook_core::{Timestamp, limits as bounds};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use crate::call::{ApiResult, Asked, Found, In};
use crate::caller::Caller;
use crate::limits;
use crate::owned;
use crate::problem::Problem;
use crate::router::App;

pub use figures::{Figures, Latency};
pub use overview::{Overview, Period, TopSource, overview};

/// Which stretch of time is wanted, and how finely.
#[derive(Debug, Clone, Copy, Default, Serialize, Deserialize, IntoParams)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct SeriesQuery {
    /// By hour, unless it says otherwise. Hours are kept for 35 days, days for 400.
    #[param(inline)]
    interval: Option<Interval>,
    /// From the hour or day of this moment on: the last 24 hours or 30 days, where it is not said.
    #[param(inline)]
    from: Option<Timestamp>,
    /// To the hour or day of this moment: that of now, where it is not said.
    #[param(inline)]
    to: Option<Timestamp>,
}

/// A stretch of time, hour by hour or day by day.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Series {
    #[schema(inline)]
    pub interval: Interval,
    /// Where the first hour or day begins.
    pub from: Timestamp,
    /// Where the last hour or day begins.
    pub to: Timestamp,
    /// Of all of them together.
    pub totals: Figures,
    /// One for each hour or day, also where nothing happened.
    pub points: Vec<Point>,
}

/// What happened in an hour or on a day.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = SeriesPoint)]
pub struct Point {
    /// Where it begins.
    pub at: Timestamp,
    #[serde(flatten)]
    pub figures: Figures,
}

/// `GET /v1/analytics/series`
pub async fn of_account(
    State(app): State<App>,
    caller: Caller,
    Asked(query): Asked<SeriesQuery>,
) -> ApiResult<Found<Series>> {
    let span = query.span(app.env.now())?;
    Ok(Found(series(&app, Scope::Account(caller.account()), span).await?))
}

/// `GET /v1/sources/{id}/analytics`
pub async fn of_source(
    State(app): State<App>,
    caller: Caller,
    In(id): In<SourceId>,
    Asked(query): Asked<SeriesQuery>,
) -> ApiResult<Found<Series>> {
    let source = owned::source(&app, &caller, id).await?;
    let span = query.span(app.env.now())?;
    Ok(Found(series(&app, Scope::Source(source.id), span).await?))
}

/// `GET /v1/connections/{id}/analytics`
pub async fn of_connection(
    State(app): State<App>,
    caller: Caller,
    In(id): In<ConnectionId>,
    Asked(query): Asked<SeriesQuery>,
) -> ApiResult<Found<Series>> {
    let connection = owned::connection(&app, &caller, id).await?;
    let span = query.span(app.env.now())?;
    Ok(Found(series(&app, Scope::Connection(connection.id), span).await?))
}

/// Whole hours or days, one behind the other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Span {
    interval: Interval,
    from: Timestamp,
    to: Timestamp,
}

impl Span {
    /// The last so many, with the one that is not over yet.
    pub(crate) fn last(interval: Interval, count: u32, now: Timestamp) -> Self {
        let to = interval.begin(now);
        let from = interval.last(count, now).next().unwrap_or(to);
        Self { interval, from, to }
    }

    fn begins(self) -> impl Iterator<Item = Timestamp> {
        let Self { interval, from, to } = self;
        std::iter::successors(Some(from), move |at| Some(*at + interval.length()))
            .take_while(move |at| *at <= to)
    }
}

impl SeriesQuery {
    fn span(self, now: Timestamp) -> Result<Span, Problem> {
        let interval = self.interval.unwrap_or(Interval::Hour);
        let count = match interval {
            Interval::Hour => 24,
            Interval::Day => 30,
        };
        let to = interval.begin(self.to.unwrap_or(now));
        let from = self.from.map(|from| interval.begin(from));
        let from = from.unwrap_or_else(|| Span::last(interval, count, to).from);
        if from > to {
            return Err(Problem::invalid("from", "must not be later than to"));
        }
        let points = to.saturating_since(from).as_secs() / interval.length().as_secs() + 1;
        let most = limits::SERIES_POINTS_MAX;
        if points > most {
            let said = format!("asks for {points} points, and {most} are given at once");
            return Err(Problem::invalid("from", said));
        }
        Ok(Span { interval, from, to })
    }
}

async fn series(app: &App, scope: Scope, span: Span) -> ApiResult<Series> {
    let counts = counts(app, scope, span).await?;
    let nothing = Counts::default();
    let points = span
        .begins()
        .map(|at| Point { at, figures: Figures::of(counts.get(&at).unwrap_or(&nothing)) });
    let totals = Figures::of(&sum(counts.values()));
    let (Span { interval, from, to }, points) = (span, points.collect());
    Ok(Series { interval, from, to, totals, points })
}

pub(crate) async fn counts(
    app: &App,
    scope: Scope,
    span: Span,
) -> ApiResult<BTreeMap<Timestamp, Counts>> {
    let rollups = app.store.rollups().list(scope, span.interval, span.from, span.to).await?;
    Ok(rollups.into_iter().map(|rollup| (rollup.begins_at, rollup.counts)).collect())
}

pub(crate) fn sum<'a>(all: impl IntoIterator<Item = &'a Counts>) -> Counts {
    all.into_iter().fold(Counts::default(), |mut sum, counts| {
        sum.add(counts);
        sum
    })
}

/// Both bounds are ours: what is kept fits into what is given at once.
const _: () = assert!(
    bounds::ROLLUP_HOURS_KEPT.as_secs() / 3600 < limits::SERIES_POINTS_MAX
        && bounds::ROLLUP_DAYS_KEPT.as_secs() / 86_400 < limits::SERIES_POINTS_MAX
);

#[cfg(test)]
pub(crate) mod tests;
