//! How a plan is sold: by the price of Stripe that stands for it.
//!
//! A price there never changes; a new one takes its place. Those who bought at the former price
//! go on paying it, so that a plan remembers every price that it was ever sold as.

use serde_json::Value;

use super::Plan;

const PRICE: &str = "stripePriceId";
const FORMER: &str = "formerStripePriceIds";

impl Plan {
    /// What it is sold as now, if it is.
    pub fn stripe_price(&self) -> Option<&str> {
        self.metadata.as_ref()?.get(PRICE)?.as_str().filter(|price| !price.is_empty())
    }

    /// Whether whoever pays this price has bought this plan.
    pub fn is_sold_as(&self, price: &str) -> bool {
        self.stripe_price() == Some(price) || self.former_prices().any(|former| former == price)
    }

    /// The same plan at another price, or at none.
    #[must_use]
    pub fn with_stripe_price(mut self, price: Option<&str>) -> Self {
        if self.stripe_price() == price {
            return self;
        }
        let former = self.former_prices().chain(self.stripe_price());
        let former = former.filter(|former| Some(*former) != price);
        let former: Vec<Value> = former.map(Value::from).collect();
        let metadata = self.metadata.get_or_insert_default();
        match price {
            Some(price) => metadata.insert(PRICE.to_owned(), price.into()),
            None => metadata.remove(PRICE),
        };
        match former.is_empty() {
            true => metadata.remove(FORMER),
            false => metadata.insert(FORMER.to_owned(), former.into()),
        };
        self.metadata = self.metadata.filter(|metadata| !metadata.is_empty());
        self
    }

    fn former_prices(&self) -> impl Iterator<Item = &str> {
        let former = self.metadata.as_ref().and_then(|metadata| metadata.get(FORMER));
        former.and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str)
    }
}
