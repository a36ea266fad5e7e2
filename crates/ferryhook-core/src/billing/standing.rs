//! What all subscriptions of one customer come to.

use std::cmp::Reverse;

use super::said::{Means, Said};
use crate::plan::Plan;

/// The subscription that counts, and what it gives.
#[derive(Debug, Clone, PartialEq)]
pub struct Standing<'a> {
    pub best: Option<&'a Said>,
    pub gives: Gives,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Gives {
    /// The id of a plan.
    Plan(String),
    Nothing,
    /// There is one that we do not understand: a status that is new, or a price that no plan has.
    Unknown,
}

impl<'a> Standing<'a> {
    /// A function of what Stripe has now and of nothing else. Of several that are paid for the
    /// dearest plan counts; one that is not understood counts before one that gives nothing.
    pub fn of(said: &'a [Said], plans: &[Plan]) -> Self {
        let judged = said.iter().map(|said| (said, gives(said, plans)));
        let best = judged.max_by_key(|(said, gives)| (rank(gives, plans), said.created));
        match best {
            Some((said, gives)) => Self { best: Some(said), gives },
            None => Self { best: None, gives: Gives::Nothing },
        }
    }
}

/// What one of them gives, by its status and its prices. A plan that is not sold any more is still
/// what those get who bought it.
fn gives(said: &Said, plans: &[Plan]) -> Gives {
    match said.status.means() {
        Means::DoesNot => return Gives::Nothing,
        Means::Unknown => return Gives::Unknown,
        Means::Pays => {}
    }
    let bought =
        plans.iter().filter(|plan| said.items.iter().any(|item| plan.is_sold_as(&item.price_id)));
    let dearest = bought.max_by_key(|plan| (plan.price_cents, Reverse(&plan.id)));
    dearest.map_or(Gives::Unknown, |plan| Gives::Plan(plan.id.clone()))
}

fn rank(gives: &Gives, plans: &[Plan]) -> (u8, u64) {
    match gives {
        Gives::Nothing => (0, 0),
        Gives::Unknown => (1, 0),
        Gives::Plan(id) => {
            let price = plans.iter().find(|plan| plan.id == *id).map(|plan| plan.price_cents);
            (2, price.unwrap_or_default())
        }
    }
}
