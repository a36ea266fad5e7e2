//! How much of what a plan limits an account has: the row by which the limit is held.
//!
//! Changed in the same commit as what it counts, or before it (events of a month, of which a
//! server takes many at once), so that two servers cannot both have the last place.

use serde::{Deserialize, Serialize};

use crate::time::seconds;
use crate::{Account, Id, Timestamp};

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PlanCount {
    pub account_id: Id<Account>,
    pub counted: Counted,
    /// `2026-01`, for what begins anew each month; see [`Timestamp::month`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub month: Option<String>,
    pub count: i64,
    /// When nobody needs to know any more.
    #[serde(
        rename = "ttl",
        default,
        with = "seconds::option",
        skip_serializing_if = "Option::is_none"
    )]
    pub expires_at: Option<Timestamp>,
}

impl PlanCount {
    /// Of something that stays until somebody deletes it.
    pub fn standing(account_id: Id<Account>, counted: Counted, count: i64) -> Self {
        Self { account_id, counted, month: None, count, expires_at: None }
    }

    /// Whether as many more keep within `most`.
    pub fn has_room(&self, more: i64, most: u64) -> bool {
        i64::try_from(most).map_or(true, |most| self.count.saturating_add(more) <= most)
    }
}

/// What plans have limits for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Counted {
    /// Of a month.
    Events,
    Sources,
    Users,
    Webhooks,
}

impl Counted {
    /// The stored word, which the key has too.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Events => "events",
            Self::Sources => "sources",
            Self::Users => "users",
            Self::Webhooks => "webhooks",
        }
    }
}

#[cfg(test)]
mod tests;
