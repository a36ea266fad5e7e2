//! An entry of the ledger: this event has been seen.
//!
//! Ingest commits it together with its event, so that neither is ever there alone. Consumers may
//! write their own, and hold it under a lease while they work.

use serde::{Deserialize, Serialize};

use crate::time::seconds;
use crate::{Event, Id, Timestamp};

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Claim {
    /// `SOURCE:event`, the same for every copy of an event.
    #[serde(rename = "pk")]
    pub key: String,
    pub seen_at: Timestamp,
    #[serde(with = "seconds")]
    pub expires_at: Timestamp,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub notes: Option<String>,
    /// The event that came first, which every later copy is answered with.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub event_id: Option<Id<Event>>,

    // Of a consumer's claim only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub state: Option<State>,
    /// Grows with every holder, so that one who overslept can be told apart.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fencing_token: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lease_until: Option<Timestamp>,
}

impl Claim {
    /// Past its expiry a claim counts as absent, whether or not it has been swept.
    pub fn is_live(&self, now: Timestamp) -> bool {
        now < self.expires_at
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum State {
    /// Someone works on it until the lease ends.
    Leased,
    Completed,
    /// Given back unfinished; the next one to ask gets it.
    Released,
}

#[cfg(test)]
mod tests;
