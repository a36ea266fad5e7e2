//! A subscription, as Stripe tells of it.

use serde::{Deserialize, Serialize};

use crate::Timestamp;

#[derive(Debug, Clone, PartialEq)]
pub struct Said {
    pub id: String,
    pub status: Status,
    /// It goes on until the end of what is paid for, and no longer.
    pub cancel_at_period_end: bool,
    pub created: Timestamp,
    pub items: Vec<Item>,
}

/// What is paid for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Item {
    pub price_id: String,
    pub current_period_end: Option<Timestamp>,
}

impl Said {
    /// When all of it is over or paid for anew.
    pub fn period_end(&self) -> Option<Timestamp> {
        self.items.iter().filter_map(|item| item.current_period_end).max()
    }
}

/// In Stripe's own words.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    Active,
    Trialing,
    /// A payment failed, and Stripe tries again.
    PastDue,
    /// Stripe has given that up.
    Unpaid,
    Canceled,
    /// The first payment has not been made.
    Incomplete,
    IncompleteExpired,
    /// A trial is over, and nobody has said how to pay.
    Paused,
    /// One that is newer than this program.
    #[serde(untagged)]
    Other(String),
}

/// What a status means for the plan.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Means {
    Pays,
    DoesNot,
    Unknown,
}

impl Status {
    pub(super) fn means(&self) -> Means {
        match self {
            // While Stripe asks for the money again, nobody is cut off.
            Self::Active | Self::Trialing | Self::PastDue => Means::Pays,
            Self::Unpaid | Self::Canceled | Self::Incomplete => Means::DoesNot,
            Self::IncompleteExpired | Self::Paused => Means::DoesNot,
            Self::Other(_) => Means::Unknown,
        }
    }

    /// It can still come to be paid.
    pub(super) fn is_open(&self) -> bool {
        !matches!(self, Self::Canceled | Self::Incomplete | Self::IncompleteExpired)
    }
}
