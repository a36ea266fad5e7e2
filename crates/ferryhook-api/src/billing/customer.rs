//! Who somebody is at Stripe: one customer for each owner, however many ask at once.
//!
//! The key that the customer is made with is stored before Stripe is asked. Two who race, and one
//! whose answer was lost, send the same key, and Stripe makes one customer of all of them.

use aws_lc_rs::digest::{SHA256, digest};
use ferryhook_core::{Map, Subscription, User};
use ferryhook_store::{Stored, UniqueError};

use super::objects::Customer;
use super::stripe::{Field, Stripe};
use crate::call::ApiResult;
use crate::caller::Caller;
use crate::problem::{Code, Problem};
use crate::router::App;

/// How often somebody else may have been quicker.
const TRIES_MAX: usize = 8;
/// Of an owner whom nobody has claimed yet; no mail reaches it.
const NOBODYS_HOST: &str = "@localhost";

/// Finds the customer, or makes one.
pub(super) async fn ensure(
    app: &App,
    stripe: &Stripe,
    caller: &Caller,
    owner: &User,
) -> ApiResult<String> {
    let new = Subscription::new(owner, caller.account(), &app.env);
    let mut was = app.store.subscriptions().begin(&new).await?;
    for _ in 0..TRIES_MAX {
        if let Some(customer) = &was.stripe_customer_id {
            return Ok(customer.clone());
        }
        let customer = match adopted(app, owner).await? {
            Some(customer) => customer,
            None => make(stripe, &was, owner).await?,
        };
        let mut details = Map::new();
        details.insert("customer".to_owned(), customer.as_str().into());
        let id = owner.id.to_string();
        let store = caller.noting(app, "customer_created", "subscription", &id, details);
        match store.subscriptions().set_customer(&was, &customer).await {
            // Refused by whoever was quicker, with the same customer.
            Ok(_) | Err(UniqueError::Taken(_)) => {}
            Err(UniqueError::Store(error)) if error.is_refused() => {}
            Err(UniqueError::Store(error)) => return Err(error.into()),
        }
        let found = app.store.subscriptions().find(owner.id).await?;
        was = found.ok_or_else(Problem::internal)?;
    }
    Err(Problem::new(Code::Unavailable, "Too many changes at once. Ask again."))
}

/// The one that the user has had since before there were subscriptions here, unless it is
/// somebody else's.
async fn adopted(app: &App, owner: &User) -> ApiResult<Option<String>> {
    let Some(customer) = &owner.stripe_customer_id else { return Ok(None) };
    let holder = app.store.subscriptions().find_by_customer(customer).await?;
    Ok(holder.is_none().then(|| customer.clone()))
}

async fn make(stripe: &Stripe, was: &Stored<Subscription>, owner: &User) -> ApiResult<String> {
    let mut form: Vec<Field> = Vec::new();
    if !owner.email.ends_with(NOBODYS_HOST) {
        form.push(("email", owner.email.clone()));
    }
    form.push(("name", owner.name.clone()));
    form.push(("metadata[account_id]", was.account_id.to_string()));
    form.push(("metadata[user_id]", was.user_id.to_string()));
    let key = once(&was.customer_key, &form);
    let customer: Customer = stripe.post_once("/v1/customers", &form, &key).await?;
    Ok(customer.id)
}

/// Stripe refuses a key that comes with another form, as it does when somebody has changed their
/// address since a call whose answer was lost.
fn once(key: &str, form: &[Field]) -> String {
    let mut text = key.to_owned();
    for (name, value) in form {
        text.push_str(&format!("\n{name}={value}"));
    }
    let hash = digest(&SHA256, text.as_bytes());
    hash.as_ref().iter().take(16).map(|byte| format!("{byte:02x}")).collect()
}
