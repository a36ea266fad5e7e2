//! `GET /v1/billing/subscription`: which plan the account has, and what is paid for.

use axum::extract::State;
use ferryhook_core::{Subscription, Timestamp};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::call::{ApiResult, Found};
use crate::caller::Caller;
use crate::problem::Problem;
use crate::router::App;

/// The plan of the account, and the subscription that pays for it, if one does.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Subscription)]
pub struct SubscriptionView {
    pub plan_id: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub plan_name: Option<String>,
    /// Whether anything can be bought here.
    pub is_billing_on: bool,
    /// In Stripe's words, such as `active`, `past_due` or `canceled`; absent when nothing was
    /// bought.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<String>,
    /// When what is paid for ends, or is paid for anew.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub current_period_end: Option<Timestamp>,
    /// It ends then, and the account goes on with the plan of new accounts.
    pub cancel_at_period_end: bool,
}

/// `GET /v1/billing/subscription`
pub async fn show(State(app): State<App>, caller: Caller) -> ApiResult<Found<SubscriptionView>> {
    let owner = app.store.users().find(caller.owner()).await?.ok_or_else(Problem::not_found)?;
    let plan = app.store.plans().find(&owner.plan).await?;
    let bought = app.store.subscriptions().find(owner.id).await?.map(|bought| bought.record);
    Ok(Found(SubscriptionView {
        plan_id: owner.record.plan,
        plan_name: plan.map(|plan| plan.record.name),
        is_billing_on: app.billing.is_on(),
        status: bought.as_ref().and_then(word),
        current_period_end: bought.as_ref().and_then(|bought| bought.current_period_end),
        cancel_at_period_end: bought.is_some_and(|bought| bought.cancel_at_period_end),
    }))
}

fn word(bought: &Subscription) -> Option<String> {
    let status = serde_json::to_value(bought.subscription_status.as_ref()?).ok()?;
    status.as_str().map(str::to_owned)
}
