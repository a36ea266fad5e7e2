//! Billing: what somebody pays for at Stripe, and which plan that comes to.
//!
//! One record for each owner of an account tree. It is what Stripe said when it was last asked;
//! [`Standing::of`] decides what that means, and [`Subscription::told`] what changes. Nothing here
//! asks Stripe, believes what a message says about itself, or knows the order in which messages
//! came.

mod said;
mod standing;

use serde::{Deserialize, Serialize};

use crate::plan::Plan;
use crate::time::seconds;
use crate::{Account, Env, Id, Secret, Timestamp, User};

pub use said::{Item, Said, Status};
pub use standing::{Gives, Standing};

/// As many letters as make a guess hopeless.
const CUSTOMER_KEY_LETTERS: usize = 32;

/// Who pays, as what, and for which plan. It holds nothing that opens anything: cards, addresses
/// and links stay at Stripe.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Subscription {
    /// The owner, whose plan it is.
    pub user_id: Id<User>,
    /// The root of their tree, where what happens is written down.
    pub account_id: Id<Account>,
    /// What the customer is made with. It is stored before Stripe is first asked, so that however
    /// many ask, and however often an answer is lost, they all ask for the same customer.
    pub customer_key: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stripe_customer_id: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stripe_sub_id: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub subscription_status: Option<Status>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub price_id: Option<String>,
    /// The plan that it gives. What the owner has may be another: an operator can give one by
    /// hand, which stays until this changes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub plan_id: Option<String>,
    pub cancel_at_period_end: bool,
    #[serde(default, with = "seconds::option", skip_serializing_if = "Option::is_none")]
    pub current_period_end: Option<Timestamp>,
    /// When Stripe was last asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub read_at: Option<Timestamp>,
    pub created_at: Timestamp,
    pub updated_at: Timestamp,
}

/// What comes of an answer of Stripe.
#[derive(Debug, Clone, PartialEq)]
pub struct Told {
    pub now: Subscription,
    /// The plan that the owner gets instead of theirs, if it is another.
    pub plan: Option<String>,
}

impl Subscription {
    /// Of somebody who has not bought anything yet.
    pub fn new(owner: &User, account: Id<Account>, env: &Env) -> Self {
        let now = env.now();
        let key = Secret::letters(CUSTOMER_KEY_LETTERS, env);
        Self {
            user_id: owner.id,
            account_id: account,
            customer_key: key.expose().to_owned(),
            stripe_customer_id: None,
            stripe_sub_id: None,
            subscription_status: None,
            price_id: None,
            plan_id: None,
            cancel_at_period_end: false,
            current_period_end: None,
            read_at: None,
            created_at: now,
            updated_at: now,
        }
    }

    /// Whether something is paid for, or would be as soon as a payment succeeds: to buy again
    /// would be to pay twice.
    pub fn is_open(&self) -> bool {
        self.subscription_status.as_ref().is_some_and(Status::is_open)
    }

    /// What all subscriptions of the customer mean for an owner who has the plan `held`.
    ///
    /// A plan is given when the subscription begins to give it, and taken when it stops; between
    /// the two it is the operator's. Whoever loses theirs gets the plan of new accounts.
    pub fn told(&self, said: &[Said], plans: &[Plan], held: &str, now: Timestamp) -> Told {
        let standing = Standing::of(said, plans);
        let kept = |gives: &Gives| match gives {
            Gives::Plan(id) => Some(id.clone()),
            Gives::Nothing => None,
            // Nobody loses or gets a plan because of something that we do not understand.
            Gives::Unknown => self.plan_id.clone(),
        };
        let plan_id = kept(&standing.gives);
        let plan = match (&plan_id, &self.plan_id) {
            (now, before) if now == before => None,
            (Some(now), _) => Some(now.clone()),
            (None, Some(before)) if before == held => {
                plans.iter().find(|plan| plan.is_default).map(|plan| plan.id.clone())
            }
            (None, _) => None,
        };
        let best = standing.best;
        let now = Self {
            stripe_sub_id: best.map(|said| said.id.clone()),
            subscription_status: best.map(|said| said.status.clone()),
            price_id: best.and_then(|said| said.items.first()).map(|item| item.price_id.clone()),
            plan_id,
            cancel_at_period_end: best.is_some_and(|said| said.cancel_at_period_end),
            current_period_end: best.and_then(Said::period_end),
            read_at: Some(now),
            updated_at: now,
            ..self.clone()
        };
        Told { now, plan: plan.filter(|plan| plan != held) }
    }
}

#[cfg(test)]
mod tests;
