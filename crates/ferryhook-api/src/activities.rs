//! Activities: what was done in the account, by whom, and when.

use axum::extract::State;
use ferryhook_core::activity::check::Report;
use ferryhook_core::id::{AccountId, ActivityId, UserId};
use ferryhook_core::{Activity, Map, Timestamp};
use ferryhook_store::repositories::Checked;
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use crate::call::{ApiResult, Asked, Found, Listed};
use crate::caller::Caller;
use crate::limits;
use crate::page::{self, Sort};
use crate::problem::Problem;
use crate::router::App;

/// One line of the audit log.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ActivityView {
    pub activity_id: ActivityId,
    pub account_id: AccountId,
    pub at: Timestamp,
    /// Absent when nobody had signed in, or the server acted by itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub user_id: Option<UserId>,
    /// Such as `source_created`.
    pub event_type: String,
    /// The noun, such as `source`.
    pub resource: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resource_id: Option<String>,
    /// What was before and what is after, without secrets.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Object>)]
    pub details: Option<Map>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ip_address: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub user_agent: Option<String>,
    /// Its place in the chain of the account's log; absent in lines from before there was one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line_number: Option<u64>,
    /// Over what the line says, its number and the hash of the line before it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hash: Option<String>,
}

impl From<Activity> for ActivityView {
    fn from(activity: Activity) -> Self {
        Self {
            activity_id: activity.id,
            account_id: activity.account_id,
            at: activity.at,
            user_id: activity.user_id,
            event_type: activity.event_type,
            resource: activity.resource,
            resource_id: activity.resource_id,
            details: activity.details,
            ip_address: activity.ip_address,
            user_agent: activity.user_agent,
            line_number: activity.number,
            hash: activity.hash,
        }
    }
}

/// Which lines are wanted.
#[derive(Debug, Clone, Serialize, Deserialize, IntoParams)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct ActivitiesQuery {
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

/// `GET /v1/activities`
pub async fn list(
    State(app): State<App>,
    caller: Caller,
    Asked(query): Asked<ActivitiesQuery>,
) -> ApiResult<Listed<ActivityView>> {
    let cursors = app.cursors.of("activities.list", caller.account(), &query);
    let after = cursors.open(query.cursor.as_deref())?;
    let slice = page::slice(query.limit, after, query.order.unwrap_or_default())?;
    let page = app.store.activities().list_by_account(caller.account(), slice).await?;
    Ok(Listed(cursors.page(page, |activity| activity.record.into())))
}

/// From where the log is checked.
#[derive(Debug, Clone, Deserialize, IntoParams)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct VerifyQuery {
    /// Goes on behind this line, which an earlier answer has named.
    #[param(value_type = Option<String>)]
    after: Option<ActivityId>,
}

/// A stretch of the log that was checked.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Verified {
    /// Nothing in this stretch is different from what was written.
    pub is_intact: bool,
    #[serde(flatten)]
    pub report: Report,
    /// There is more behind this stretch: ask again with it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after: Option<ActivityId>,
}

/// `GET /v1/activities/verify`
pub async fn verify(
    State(app): State<App>,
    caller: Caller,
    Asked(query): Asked<VerifyQuery>,
) -> ApiResult<Found<Verified>> {
    let activities = app.store.activities();
    let most = limits::VERIFIED_MAX;
    let checked = activities.check(caller.account(), query.after, most).await?;
    let Some(Checked { report, next }) = checked else {
        return Err(Problem::invalid("after", "there is no such line"));
    };
    Ok(Found(Verified { is_intact: report.is_clean(), report, after: next }))
}

#[cfg(test)]
mod tests;
