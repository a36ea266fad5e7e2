//! `POST /v1/billing/portal`: a page of Stripe's with cards, invoices, and the end of it.

use axum::extract::State;
use ferryhook_core::Map;
use serde::Deserialize;
use utoipa::ToSchema;

use super::checkout::Link;
use super::objects::Session;
use super::stripe::Field;
use super::{require_root, return_url};
use crate::call::{ApiResult, Found, MaybeSent};
use crate::caller::Caller;
use crate::problem::{Code, Problem};
use crate::router::App;

/// Where to come back to.
#[derive(Debug, Clone, Default, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct PortalOrder {
    /// A page of this server without it.
    return_url: Option<String>,
}

/// `POST /v1/billing/portal`
pub async fn open(
    State(app): State<App>,
    caller: Caller,
    MaybeSent(order): MaybeSent<PortalOrder>,
) -> ApiResult<Found<Link>> {
    let stripe = app.billing.stripe()?;
    require_root(&app, &caller).await?;
    let order = order.unwrap_or_default();
    let back = return_url::checked(&app, order.return_url.as_deref(), "/returnUrl", "")?;
    let found = app.store.subscriptions().find(caller.owner()).await?;
    let customer = found.and_then(|found| found.record.stripe_customer_id);
    let Some(customer) = customer else {
        let said = "Nothing was ever bought, so there is nothing to look after. Begin at POST \
                    /v1/billing/checkout.";
        return Err(Problem::new(Code::Conflict, said));
    };
    let form: Vec<Field> = vec![("customer", customer), ("return_url", back)];
    let session: Session = stripe.post("/v1/billing_portal/sessions", &form).await?;
    let id = caller.owner().to_string();
    let store = caller.noting(&app, "portal_opened", "subscription", &id, Map::new());
    store.subscriptions().touch(caller.owner()).await?;
    Ok(Found(Link { url: session.url }))
}
