//! `GET /v1/billing/plans`: what is on offer. Making and changing plans is the operator's.

use axum::extract::State;
use ferryhook_core::Plan;
use ferryhook_core::plan::{Limits, PlanType};
use ferryhook_store::{Store, StoreError};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::call::{ApiResult, Listed};
use crate::caller::Caller;
use crate::page::Page;
use crate::router::App;

/// A plan, as it is offered.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Plan)]
pub struct PlanView {
    pub plan_id: String,
    pub plan_name: String,
    pub plan_type: PlanType,
    /// A month, in cents.
    pub price: u64,
    pub currency: String,
    /// One that is absent does not limit.
    pub limits: Limits,
    pub features: Vec<String>,
    /// New accounts get it.
    pub is_default: bool,
    pub customizable: bool,
    /// It can be bought at `POST /v1/billing/checkout`.
    pub can_buy: bool,
    /// The account has it.
    pub is_current: bool,
}

/// `GET /v1/billing/plans`
pub async fn list(State(app): State<App>, caller: Caller) -> ApiResult<Listed<PlanView>> {
    let owner = app.store.users().find(caller.owner()).await?;
    let held = owner.map(|owner| owner.record.plan);
    let mut plans = app.store.plans().all().await?;
    plans.retain(|plan| plan.is_active || held.as_deref() == Some(&*plan.id));
    plans.sort_by(|one, other| (one.price_cents, &one.id).cmp(&(other.price_cents, &other.id)));
    let is_on = app.billing.is_on();
    let view = |plan: Plan| PlanView {
        can_buy: is_on && plan.is_active && plan.stripe_price().is_some(),
        is_current: held.as_deref() == Some(&*plan.id),
        plan_id: plan.id,
        plan_name: plan.name,
        plan_type: plan.kind,
        price: plan.price_cents,
        currency: plan.currency,
        limits: plan.limits,
        features: plan.features,
        is_default: plan.is_default,
        customizable: plan.customizable,
    };
    Ok(Listed(Page::whole(plans.into_iter().map(|plan| view(plan.record)).collect())))
}

/// What new accounts get; `otherwise` where no plan is the default.
pub(crate) async fn of_new_accounts(store: &Store, otherwise: &str) -> Result<String, StoreError> {
    let default = store.plans().find_default().await?;
    Ok(default.map_or_else(|| otherwise.to_owned(), |plan| plan.record.id))
}
