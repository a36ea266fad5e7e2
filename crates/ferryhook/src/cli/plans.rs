//! `ferryhook plans`: what can be said about plans.

use clap::{Args, Subcommand};
use ferryhook_core::plan::{Edit, PlanType, StripePrice};

use crate::config::{FlagsOf, StoreScope};

#[derive(Debug, Subcommand)]
pub enum PlansCommand {
    /// List all plans, also those that are not on offer any more.
    List(PlansList),
    /// Show one.
    Get(PlansOf),
    /// Change one. It holds at once for all who have it.
    Set(PlansEdit),
    /// Make one. Without anything said it is free of charge and has no limits.
    Create(PlansEdit),
    /// Take one off the offer. Who has it keeps it.
    Retire(PlansOf),
    /// Give somebody another plan, which holds at once. It stays until their subscription changes.
    Assign(PlansAssign),
}

#[derive(Debug, Args)]
pub struct PlansList {
    /// Say it as JSON.
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    pub flags: FlagsOf<StoreScope>,
}

#[derive(Debug, Args)]
pub struct PlansOf {
    #[arg(value_name = "PLAN")]
    pub plan: String,
    /// Say it as JSON.
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    pub flags: FlagsOf<StoreScope>,
}

#[derive(Debug, Args)]
pub struct PlansEdit {
    #[arg(value_name = "PLAN")]
    pub plan: String,
    #[command(flatten)]
    pub fields: PlanFields,
    /// Say it as JSON.
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    pub flags: FlagsOf<StoreScope>,
}

#[derive(Debug, Args)]
pub struct PlanFields {
    /// What people read.
    #[arg(long)]
    pub name: Option<String>,
    /// free, starter, professional or enterprise.
    #[arg(long = "type", value_name = "TYPE", value_parser = kind)]
    pub kind: Option<PlanType>,
    /// What a month costs, in cents.
    #[arg(long, value_name = "CENTS")]
    pub price: Option<u64>,
    /// Such as USD.
    #[arg(long)]
    pub currency: Option<String>,
    /// Such as eventsPerMonth=100000 or sources=none; may be given several times. There are
    /// eventsPerMinute, eventsPerMonth, apiCallsPerMonth, storageGB, users, sources,
    /// syncFrequency, dataRetentionDays, webhooks and customDomains.
    #[arg(long = "limit", value_name = "NAME=VALUE")]
    pub limits: Vec<String>,
    /// A line about what it has; may be given several times, and replaces those there were.
    #[arg(long = "feature", value_name = "TEXT")]
    pub features: Vec<String>,
    /// The price at Stripe that it is sold as, such as price_1AbC; none sells it no more.
    #[arg(long, value_name = "PRICE|none")]
    pub stripe_price: Option<String>,
    /// What one who has used up the month is answered: 402 (pay) or 429 (wait).
    #[arg(long, value_name = "STATUS")]
    pub over_quota: Option<u16>,
    /// Whether it is on offer.
    #[arg(long, value_name = "true|false")]
    pub active: Option<bool>,
    /// Make it the plan of new accounts, instead of the one that is.
    #[arg(long)]
    pub default: bool,
    /// Whether people may ask for changes of it.
    #[arg(long, value_name = "true|false")]
    pub customizable: Option<bool>,
}

impl PlanFields {
    pub fn edit(&self) -> Edit {
        let price = self.stripe_price.as_deref().map(|price| match price {
            "none" => StripePrice::None,
            price => StripePrice::Is(price.to_owned()),
        });
        Edit {
            name: self.name.clone(),
            kind: self.kind,
            price_cents: self.price,
            currency: self.currency.clone(),
            limits: self.limits.clone(),
            features: Some(self.features.clone()).filter(|features| !features.is_empty()),
            stripe_price: price,
            over_quota: self.over_quota,
            is_active: self.active,
            is_default: self.default.then_some(true),
            customizable: self.customizable,
        }
    }
}

#[derive(Debug, Args)]
pub struct PlansAssign {
    /// The account, or the address of its owner. The plan holds for all accounts of that owner.
    #[arg(value_name = "ACCOUNT|EMAIL")]
    pub whom: String,
    #[arg(value_name = "PLAN")]
    pub plan: String,
    /// Say it as JSON.
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    pub flags: FlagsOf<StoreScope>,
}

fn kind(word: &str) -> Result<PlanType, String> {
    let expected = "must be free, starter, professional or enterprise";
    serde_json::from_value(word.into()).map_err(|_| expected.to_owned())
}
