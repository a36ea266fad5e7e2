//! What an operator says about a plan, and the plan that comes of it.
//!
//! A pure function with one complaint for each mistake. Who has the plan already is not asked
//! here: it holds for them from the next event on.

use std::str::FromStr;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{Limits, Plan, PlanType};
use crate::schedule::ScheduleType;
use crate::{Timestamp, limits};

const ID_CHARACTERS_MAX: usize = 64;
const PRICE_ID_CHARACTERS_MAX: usize = 255;
const FEATURES_MAX: usize = 100;
/// No currency has a plan that costs more.
const PRICE_CENTS_MAX: u64 = 100_000_000_000;
/// Every reader of JSON keeps a number up to here exactly.
const LIMIT_MAX: u64 = 1 << 52;
const RETENTION_DAYS_MAX: u32 = 3650;
const OVER_QUOTA: &str = "overQuota";

/// What is absent stays as it is.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Edit {
    pub name: Option<String>,
    pub kind: Option<PlanType>,
    pub price_cents: Option<u64>,
    pub currency: Option<String>,
    /// `NAME=NUMBER`, or `NAME=none` for no limit.
    pub limits: Vec<String>,
    /// All of them, instead of those it has.
    pub features: Option<Vec<String>>,
    pub stripe_price: Option<StripePrice>,
    /// What is answered when the month is used up: 402 asks to pay, 429 to wait.
    pub over_quota: Option<u16>,
    pub is_active: Option<bool>,
    pub is_default: Option<bool>,
    pub customizable: Option<bool>,
}

/// A price of Stripe, or none.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum StripePrice {
    Is(String),
    None,
}

/// Why a plan cannot be like that.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BadPlan {
    #[error("the id of a plan has 1 to {ID_CHARACTERS_MAX} of a-z, 0-9, _ and -, not {0:?}")]
    Id(String),
    #[error("a name is one line of 1 to {} characters", limits::NAME_CHARACTERS_MAX)]
    Name,
    #[error("a price is at most {PRICE_CENTS_MAX} cents")]
    Price,
    #[error("a currency has three letters, such as USD, not {0:?}")]
    Currency(String),
    #[error("a limit is written NAME=NUMBER or NAME=none, not {0:?}")]
    Limit(String),
    #[error("there is no limit {0:?}; there are {names}", names = NAMES.join(", "))]
    UnknownLimit(String),
    #[error("{name} must be {expected}, not {value:?}")]
    LimitValue { name: String, expected: &'static str, value: String },
    #[error("a plan has at most {FEATURES_MAX} features, each one line")]
    Features,
    #[error("a price of Stripe looks like price_1AbC, not {0:?}")]
    StripePrice(String),
    #[error("over quota means 402 (pay) or 429 (wait), not {0}")]
    OverQuota(u16),
    #[error("the default plan is what new accounts get: make another the default first")]
    Default,
    #[error("a plan that is not on offer cannot be the default")]
    Retired,
}

const NAMES: [&str; 10] = [
    "eventsPerMinute",
    "eventsPerMonth",
    "apiCallsPerMonth",
    "storageGB",
    "users",
    "sources",
    "syncFrequency",
    "dataRetentionDays",
    "webhooks",
    "customDomains",
];

impl Plan {
    /// A new one: on offer, without limits, free of charge, until it is said otherwise.
    pub fn create(id: &str, edit: &Edit, now: Timestamp) -> Result<Self, BadPlan> {
        let is_plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || "_-".contains(c);
        if id.is_empty() || id.len() > ID_CHARACTERS_MAX || !id.chars().all(is_plain) {
            return Err(BadPlan::Id(id.to_owned()));
        }
        let plan = Self {
            id: id.to_owned(),
            name: id.to_owned(),
            kind: PlanType::Starter,
            price_cents: 0,
            currency: "USD".to_owned(),
            limits: Limits::default(),
            features: Vec::new(),
            is_active: true,
            is_default: false,
            customizable: false,
            metadata: None,
            created_at: now,
            updated_at: now,
        };
        plan.edited(edit, now)
    }

    /// The plan as it is from now on.
    pub fn edited(&self, edit: &Edit, now: Timestamp) -> Result<Self, BadPlan> {
        let mut plan = self.clone();
        if let Some(name) = &edit.name {
            plan.name = line(name).ok_or(BadPlan::Name)?;
        }
        if let Some(cents) = edit.price_cents {
            plan.price_cents =
                Some(cents).filter(|cents| *cents <= PRICE_CENTS_MAX).ok_or(BadPlan::Price)?;
        }
        if let Some(code) = &edit.currency {
            plan.currency = currency(code)?;
        }
        for limit in &edit.limits {
            plan.limits.set(limit)?;
        }
        if let Some(features) = &edit.features {
            let lines: Option<Vec<_>> = features.iter().map(|feature| line(feature)).collect();
            let lines = lines.filter(|lines| lines.len() <= FEATURES_MAX);
            plan.features = lines.ok_or(BadPlan::Features)?;
        }
        plan = match &edit.stripe_price {
            Some(StripePrice::Is(price)) => plan.with_stripe_price(Some(price_id(price)?)),
            Some(StripePrice::None) => plan.with_stripe_price(None),
            None => plan,
        };
        if let Some(status) = edit.over_quota {
            if !matches!(status, 402 | 429) {
                return Err(BadPlan::OverQuota(status));
            }
            let metadata = plan.metadata.get_or_insert_default();
            metadata.insert(OVER_QUOTA.to_owned(), Value::from(status));
        }
        plan.kind = edit.kind.unwrap_or(plan.kind);
        plan.customizable = edit.customizable.unwrap_or(plan.customizable);
        plan.is_active = edit.is_active.unwrap_or(plan.is_active);
        plan.is_default = edit.is_default.unwrap_or(plan.is_default);
        match (self.is_default, plan.is_default, plan.is_active) {
            (true, false, _) | (true, true, false) => Err(BadPlan::Default),
            (false, true, false) => Err(BadPlan::Retired),
            _ => Ok(Self { updated_at: now, ..plan }),
        }
    }
}

impl Limits {
    fn set(&mut self, written: &str) -> Result<(), BadPlan> {
        let bad = || BadPlan::Limit(written.to_owned());
        let (name, value) = written.split_once('=').ok_or_else(bad)?;
        let (name, value) = (name.trim(), value.trim());
        match name {
            "eventsPerMinute" => self.events_per_minute = number(name, value, LIMIT_MAX)?,
            "eventsPerMonth" => self.events_per_month = number(name, value, LIMIT_MAX)?,
            "apiCallsPerMonth" => self.api_calls_per_month = number(name, value, LIMIT_MAX)?,
            "storageGB" => self.storage_gb = number(name, value, LIMIT_MAX)?,
            "users" => self.users = number(name, value, u32::MAX)?,
            "sources" => self.sources = number(name, value, u32::MAX)?,
            "dataRetentionDays" => {
                let days = number(name, value, RETENTION_DAYS_MAX)?;
                let expected = "a number of days from 1 to 3650, or none";
                if days == Some(0) {
                    return Err(bad_value(name, expected, value));
                }
                self.data_retention_days = days;
            }
            "webhooks" => self.webhooks = number(name, value, u32::MAX)?,
            "customDomains" => self.custom_domains = number(name, value, u32::MAX)?,
            "syncFrequency" => {
                let expected = "one of hourly, daily, weekly, monthly, custom, none";
                let parsed = match value {
                    "none" => Ok(None),
                    word => serde_json::from_value::<ScheduleType>(word.into()).map(Some),
                };
                self.sync_frequency = parsed.map_err(|_| bad_value(name, expected, value))?;
            }
            other => return Err(BadPlan::UnknownLimit(other.to_owned())),
        }
        Ok(())
    }
}

fn number<T: FromStr + PartialOrd + Copy>(
    name: &str,
    value: &str,
    most: T,
) -> Result<Option<T>, BadPlan> {
    if value == "none" {
        return Ok(None);
    }
    let parsed = value.parse().ok().filter(|number| *number <= most);
    parsed.map(Some).ok_or_else(|| bad_value(name, "a whole number within bounds, or none", value))
}

fn bad_value(name: &str, expected: &'static str, value: &str) -> BadPlan {
    BadPlan::LimitValue { name: name.to_owned(), expected, value: value.to_owned() }
}

fn line(text: &str) -> Option<String> {
    let text = text.trim();
    let is_line = !text.is_empty()
        && text.chars().count() <= limits::NAME_CHARACTERS_MAX
        && !text.chars().any(char::is_control);
    is_line.then(|| text.to_owned())
}

fn currency(code: &str) -> Result<String, BadPlan> {
    let is_code = code.len() == 3 && code.chars().all(|c| c.is_ascii_alphabetic());
    is_code.then(|| code.to_ascii_uppercase()).ok_or_else(|| BadPlan::Currency(code.to_owned()))
}

fn price_id(text: &str) -> Result<&str, BadPlan> {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let rest = text.strip_prefix("price_").unwrap_or_default();
    let is_price =
        !rest.is_empty() && text.len() <= PRICE_ID_CHARACTERS_MAX && text.chars().all(is_plain);
    is_price.then_some(text).ok_or_else(|| BadPlan::StripePrice(text.to_owned()))
}

#[cfg(test)]
mod tests;
