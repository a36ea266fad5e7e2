//! What of Stripe's objects is read. All else in them may change as it likes.

use ferryhook_core::Timestamp;
use ferryhook_core::billing::{Item, Said, Status};
use serde::Deserialize;
use serde_json::Value;

/// A customer that was made.
#[derive(Debug, Deserialize)]
pub(super) struct Customer {
    pub(super) id: String,
}

/// A page of Stripe's, to which people are sent.
#[derive(Debug, Deserialize)]
pub(super) struct Session {
    pub(super) url: String,
}

#[derive(Debug, Deserialize)]
pub(super) struct List<T> {
    pub(super) data: Vec<T>,
    #[serde(default)]
    pub(super) has_more: bool,
}

#[derive(Debug, Deserialize)]
pub(super) struct SubscriptionObject {
    pub(super) id: String,
    status: Status,
    #[serde(default)]
    cancel_at_period_end: bool,
    /// A moment instead of the end of the period, which comes to the same for us.
    cancel_at: Option<i64>,
    created: i64,
    items: List<ItemObject>,
}

#[derive(Debug, Deserialize)]
struct ItemObject {
    price: PriceObject,
    /// Of the item, and no longer of the subscription.
    current_period_end: Option<i64>,
}

#[derive(Debug, Deserialize)]
struct PriceObject {
    id: String,
}

impl From<SubscriptionObject> for Said {
    fn from(object: SubscriptionObject) -> Self {
        let items = object.items.data.into_iter().map(|item| Item {
            price_id: item.price.id,
            current_period_end: item.current_period_end.map(Timestamp::from_seconds),
        });
        Self {
            id: object.id,
            status: object.status,
            cancel_at_period_end: object.cancel_at_period_end || object.cancel_at.is_some(),
            created: Timestamp::from_seconds(object.created),
            items: items.collect(),
        }
    }
}

/// A message to `/webhooks/stripe`.
#[derive(Debug, Deserialize)]
pub(super) struct Message {
    pub(super) id: String,
    #[serde(rename = "type")]
    pub(super) kind: String,
    data: About,
}

#[derive(Debug, Deserialize)]
struct About {
    object: Value,
}

/// After which of them Stripe is asked. What else comes is none of our business.
const HEARD: [&str; 12] = [
    "checkout.session.completed",
    "customer.subscription.created",
    "customer.subscription.updated",
    "customer.subscription.deleted",
    "customer.subscription.paused",
    "customer.subscription.resumed",
    "customer.subscription.trial_will_end",
    "customer.subscription.pending_update_applied",
    "customer.subscription.pending_update_expired",
    "invoice.paid",
    "invoice.payment_failed",
    CUSTOMER_UPDATED,
];
const CUSTOMER_UPDATED: &str = "customer.updated";

impl Message {
    /// Whom it is about, if it is one that matters.
    pub(super) fn customer(&self) -> Option<&str> {
        if !HEARD.contains(&&*self.kind) {
            return None;
        }
        let object = &self.data.object;
        let customer = match &*self.kind {
            CUSTOMER_UPDATED => object.get("id")?,
            _ => object.get("customer")?,
        };
        // The id, or all of it where an endpoint was told to expand it.
        customer.as_str().or_else(|| customer.get("id")?.as_str())
    }
}
