//! `POST /v1/billing/checkout`: a page of Stripe's where a plan is bought.

use axum::extract::State;
use ferryhook_core::Map;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::objects::Session;
use super::stripe::Field;
use super::{customer, reading, require_root, return_url};
use crate::call::{ApiResult, Found, Sent};
use crate::caller::Caller;
use crate::problem::{Code, Problem};
use crate::router::App;

/// What is to be bought, and where to come back to.
#[derive(Debug, Clone, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct CheckoutOrder {
    /// One of `GET /v1/billing/plans` that can be bought.
    plan_id: String,
    /// After the payment; a page of this server without it. `{CHECKOUT_SESSION_ID}` in it becomes
    /// Stripe's id of the payment.
    success_url: Option<String>,
    /// When nothing was bought.
    cancel_url: Option<String>,
}

/// Where to go on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = BillingLink)]
pub struct Link {
    /// A page of Stripe's, for one person and a short while.
    pub url: String,
}

/// `POST /v1/billing/checkout`
pub async fn check_out(
    State(app): State<App>,
    caller: Caller,
    Sent(order): Sent<CheckoutOrder>,
) -> ApiResult<Found<Link>> {
    let stripe = app.billing.stripe()?;
    require_root(&app, &caller).await?;
    let price = price(&app, &order.plan_id).await?;
    let done = "?checkout=done&session={CHECKOUT_SESSION_ID}";
    let success = return_url::checked(&app, order.success_url.as_deref(), "/successUrl", done)?;
    let cancel = order.cancel_url.as_deref();
    let cancel = return_url::checked(&app, cancel, "/cancelUrl", "?checkout=cancelled")?;
    let owner = app.store.users().find(caller.owner()).await?.ok_or_else(Problem::not_found)?;
    // Stripe knows better than a message that is still on its way.
    let stands = reading::read(&app, stripe, caller.visit(), owner.id).await?;
    if stands.is_some_and(|stands| stands.is_open()) {
        let said = "There is a subscription already, and a second one would be paid for as well. \
                    Change it at POST /v1/billing/portal.";
        return Err(Problem::new(Code::Conflict, said));
    }
    let customer = customer::ensure(&app, stripe, &caller, &owner).await?;
    let account = caller.account().to_string();
    let form: Vec<Field> = vec![
        ("mode", "subscription".to_owned()),
        ("line_items[0][price]", price),
        ("line_items[0][quantity]", "1".to_owned()),
        ("customer", customer),
        ("client_reference_id", account.clone()),
        ("success_url", success),
        ("cancel_url", cancel),
        ("subscription_data[metadata][account_id]", account),
        ("allow_promotion_codes", "true".to_owned()),
    ];
    let session: Session = stripe.post("/v1/checkout/sessions", &form).await?;
    let mut details = Map::new();
    details.insert("plan".to_owned(), order.plan_id.into());
    let id = owner.id.to_string();
    let store = caller.noting(&app, "checkout_created", "subscription", &id, details);
    store.subscriptions().touch(owner.id).await?;
    Ok(Found(Link { url: session.url }))
}

/// What the plan is sold as.
async fn price(app: &App, plan: &str) -> ApiResult<String> {
    let unknown = || Problem::invalid("/planId", "must be a plan on offer");
    if plan.is_empty() || plan.len() > 255 {
        return Err(unknown());
    }
    let plan = app.store.plans().find(plan).await?.filter(|plan| plan.is_active);
    let plan = plan.ok_or_else(unknown)?;
    let unsold =
        || Problem::invalid("/planId", "must be a plan that is sold: this one has no price");
    plan.stripe_price().map(str::to_owned).ok_or_else(unsold)
}
