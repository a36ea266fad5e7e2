//! Claims: the ledger, for receivers that must do something only once.
//!
//! One claims a key, works, and completes it or gives it back. The token grows from holder to
//! holder, so that whatever the receiver writes to can refuse one whose lease ended while it slept.
//! Keys are the account's own: two tenants never meet in one.

use std::time::Duration;

use axum::extract::State;
use ferryhook_core::Timestamp;
use ferryhook_store::repositories::{Claiming, Ending};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::call::{ApiResult, Done, Found, Sent};
use crate::caller::Caller;
use crate::limits;
use crate::problem::{Code, Problem};
use crate::router::App;

/// What is claimed, for how long, and how long it is remembered.
#[derive(Debug, Clone, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ClaimOrder {
    /// What is to be done once, such as `invoice:77`.
    #[schema(min_length = 1, max_length = 512)]
    key: String,
    /// After that another may claim it; 60 if nothing is said.
    #[schema(minimum = 1, maximum = 43200)]
    lease_seconds: Option<u32>,
    /// Until then it counts as done, once it is; two weeks if nothing is said.
    #[schema(minimum = 1, maximum = 7776000)]
    keep_seconds: Option<u32>,
}

/// Whose work ends.
#[derive(Debug, Clone, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ClaimEnd {
    #[schema(min_length = 1, max_length = 512)]
    key: String,
    /// The one that the claim was answered with.
    token: u64,
}

/// What one who claims is told.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Claim)]
pub struct ClaimTold {
    pub key: String,
    pub outcome: ClaimOutcome,
    /// Yours, to be sent with whatever you write, and when you are done.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub token: Option<u64>,
    /// When the lease ends: yours, or that of whoever is busy.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lease_until: Option<Timestamp>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum ClaimOutcome {
    /// It is yours until the lease ends.
    Claimed,
    /// Somebody else has it; ask again when their lease ends.
    Busy,
    /// It has been done.
    Done,
}

const LEASE_SECONDS_DEFAULT: u32 = 60;
const KEEP_SECONDS_DEFAULT: u32 = 14 * 24 * 60 * 60;

/// `POST /v1/ledger/claim`
pub async fn claim(
    State(app): State<App>,
    caller: Caller,
    Sent(order): Sent<ClaimOrder>,
) -> ApiResult<Found<ClaimTold>> {
    let key = scoped(&caller, &order.key)?;
    let lease = seconds(
        "/leaseSeconds",
        order.lease_seconds.unwrap_or(LEASE_SECONDS_DEFAULT),
        limits::CLAIM_LEASE_SECONDS_MAX,
    )?;
    let keep = seconds(
        "/keepSeconds",
        order.keep_seconds.unwrap_or(KEEP_SECONDS_DEFAULT),
        limits::CLAIM_KEPT_SECONDS_MAX,
    )?;
    // A receiver's claims are its traffic, not a change of what the account has.
    caller.not_for_the_log();
    let told = |outcome, token, lease_until| {
        Ok(Found(ClaimTold { key: order.key.clone(), outcome, token, lease_until }))
    };
    match app.store.ledger().claim(&key, lease, keep).await? {
        Claiming::Yours { token, until } => told(ClaimOutcome::Claimed, Some(token), Some(until)),
        Claiming::Busy { until } => told(ClaimOutcome::Busy, None, Some(until)),
        Claiming::Done => told(ClaimOutcome::Done, None, None),
    }
}

/// `POST /v1/ledger/complete`. The work is done, for good.
pub async fn complete(
    State(app): State<App>,
    caller: Caller,
    Sent(end): Sent<ClaimEnd>,
) -> ApiResult<Done> {
    let key = scoped(&caller, &end.key)?;
    caller.not_for_the_log();
    ended(app.store.ledger().complete(&key, end.token).await?)
}

/// `POST /v1/ledger/release`. The next one to ask gets it at once.
pub async fn release(
    State(app): State<App>,
    caller: Caller,
    Sent(end): Sent<ClaimEnd>,
) -> ApiResult<Done> {
    let key = scoped(&caller, &end.key)?;
    caller.not_for_the_log();
    ended(app.store.ledger().release(&key, end.token).await?)
}

/// No key of ingest begins like this: theirs begin with a provider.
fn scoped(caller: &Caller, key: &str) -> ApiResult<String> {
    let max = limits::CLAIM_KEY_BYTES_MAX;
    if key.is_empty() || key.len() > max {
        return Err(Problem::invalid("/key", format!("must have 1 to {max} bytes")));
    }
    Ok(format!("CLAIM#{}#{key}", caller.account()))
}

fn seconds(pointer: &str, seconds: u32, most: u32) -> ApiResult<Duration> {
    match (1..=most).contains(&seconds) {
        true => Ok(Duration::from_secs(seconds.into())),
        false => Err(Problem::invalid(pointer, format!("must be between 1 and {most}"))),
    }
}

fn ended(ending: Ending) -> ApiResult<Done> {
    match ending {
        Ending::Ended => Ok(Done),
        Ending::Lost => Err(Problem::new(
            Code::Conflict,
            "The claim is not yours any more: its lease ended and somebody else has it, or nobody.",
        )),
    }
}

#[cfg(test)]
mod tests;
