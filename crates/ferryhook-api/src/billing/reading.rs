//! Asks Stripe how somebody stands, and makes it so.
//!
//! The record is read first, then Stripe, then the record is replaced, if nobody has written it
//! since. Whoever is refused begins again. So no answer of Stripe is ever written over one that is
//! younger, however many hear of it at once; and that holds only because each answer is written,
//! also one that says nothing new.

use ferryhook_core::billing::{Gives, Said, Standing};
use ferryhook_core::operational::Operational;
use ferryhook_core::{Id, Map, Plan, Subscription, User};
use ferryhook_store::{Slice, StoreError, Stored};
use serde_json::json;

use super::objects::{List, SubscriptionObject};
use super::stripe::{Stripe, StripeError};
use crate::apply::Changed;
use crate::call::ApiResult;
use crate::problem::{Code, Problem};
use crate::router::App;
use crate::visit::{Deed, Visit};

/// How often somebody else may have been quicker.
const TRIES_MAX: usize = 8;
/// Subscriptions of one customer; the newest come first.
const PAGE: usize = 20;
const PAGES_MAX: usize = 10;

/// How they stand now. `None` for somebody who never was a customer.
pub(super) async fn read(
    app: &App,
    stripe: &Stripe,
    visit: &Visit,
    owner: Id<User>,
) -> ApiResult<Option<Stored<Subscription>>> {
    for _ in 0..TRIES_MAX {
        let Some(was) = app.store.subscriptions().find(owner).await? else { return Ok(None) };
        let Some(customer) = &was.stripe_customer_id else { return Ok(Some(was)) };
        let Some(user) = app.store.users().find(owner).await? else { return Ok(None) };
        let said = subscriptions(stripe, customer).await?;
        let plans = app.store.plans().all().await?;
        let plans: Vec<Plan> = plans.into_iter().map(|plan| plan.record).collect();
        warn_of_unknown(&was, &said, &plans);
        let told = was.told(&said, &plans, &user.plan, app.env.now());
        let details = changes(&was, &told.now, &user.plan, told.plan.as_deref());
        let store = match details.is_empty() {
            true => {
                visit.not_for_the_log();
                app.store.clone()
            }
            false => {
                let event_type = match told.plan {
                    Some(_) => "plan_changed",
                    None => "subscription_updated",
                };
                let id = owner.as_str();
                let deed = Deed { event_type, resource: "subscription", id, details };
                visit.noting(app, was.account_id, None, deed)
            }
        };
        match store.subscriptions().settle(&was, &told, &user.plan).await {
            Err(error) if error.is_refused() => {}
            settled => {
                let settled = settled?;
                if let Some(plan) = &told.plan {
                    tracing::info!(user.id = %owner, before = %user.plan, after = %plan, "plan changed");
                    ring(app, owner).await;
                    let said = Operational::plan_changed(&user.plan, plan);
                    if let Err(error) = app.works.announce(was.account_id, &said).await {
                        tracing::warn!(%error, user.id = %owner, "nobody is told of the new plan");
                    }
                }
                return Ok(Some(settled));
            }
        }
    }
    Err(Problem::new(Code::Unavailable, "Too many changes at once. Ask again."))
}

/// All that the customer has and ever had.
async fn subscriptions(stripe: &Stripe, customer: &str) -> Result<Vec<Said>, StripeError> {
    let mut said: Vec<Said> = Vec::new();
    for _ in 0..PAGES_MAX {
        let mut query = vec![
            ("customer", customer.to_owned()),
            ("status", "all".to_owned()),
            ("limit", PAGE.to_string()),
        ];
        query.extend(said.last().map(|last| ("starting_after", last.id.clone())));
        let page: List<SubscriptionObject> = stripe.get("/v1/subscriptions", &query).await?;
        let is_last = !page.has_more || page.data.is_empty();
        said.extend(page.data.into_iter().map(Said::from));
        if is_last {
            return Ok(said);
        }
    }
    tracing::warn!(stripe.customer = customer, "only the newest subscriptions count");
    Ok(said)
}

fn warn_of_unknown(was: &Subscription, said: &[Said], plans: &[Plan]) {
    let standing = Standing::of(said, plans);
    let (Gives::Unknown, Some(best)) = (&standing.gives, standing.best) else { return };
    let price = best.items.first().map(|item| item.price_id.as_str());
    tracing::warn!(
        user.id = %was.user_id, stripe.subscription = best.id, stripe.price = price,
        status = ?best.status,
        "a subscription is not understood: no plan has its price, or its status is new; the plan \
         stays as it is"
    );
}

/// For the audit log; empty when nothing has changed that anybody would look for.
fn changes(was: &Subscription, now: &Subscription, held: &str, plan: Option<&str>) -> Map {
    let view = |one: &Subscription, plan: &str| {
        json!({
            "plan": plan,
            "status": one.subscription_status,
            "subscription": one.stripe_sub_id,
            "cancelAtPeriodEnd": one.cancel_at_period_end,
        })
    };
    let (before, after) = (view(was, held), view(now, plan.unwrap_or(held)));
    crate::visit::details(Some(&before), Some(&after))
        .into_iter()
        .filter(|(_, side)| side.as_object().is_some_and(|fields| !fields.is_empty()))
        .collect()
}

/// Tells the data plane, before anyone hears of it. The plan is changed either way: whoever is not
/// told finds out within a minute.
async fn ring(app: &App, owner: Id<User>) {
    if let Err(error) = ring_all(app, owner).await {
        tracing::warn!(%error, user.id = %owner, "not every source was told of its owner's plan");
    }
}

async fn ring_all(app: &App, owner: Id<User>) -> Result<(), StoreError> {
    let mut slice = Slice::default();
    loop {
        let page = app.store.sources().list_by_user(owner, slice.clone()).await?;
        for source in page.rows {
            (app.bell)(Changed { source: source.id, resumed: false, connections: Vec::new() });
        }
        let Some(next) = page.next else { return Ok(()) };
        slice = slice.after(Some(next));
    }
}
