//! One event on its way to one destination, from planned to settled.
//!
//! The record says where it stands; [`Delivery::after`] and the steps beside it say where it goes
//! from there. All of them are pure: the worker makes the attempt, asks, and stores the answer
//! together with the attempt. A settled delivery stays settled; only a replay begins again.

mod step;

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::time::{millis, seconds};
use crate::{Account, Connection, Event, Id, Source, Timestamp, inbox};

pub use step::{Consequence, Next, Outcome};

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Delivery {
    pub event_id: Id<Event>,
    pub connection_id: Id<Connection>,
    pub source_id: Id<Source>,
    pub account_id: Id<Account>,
    #[serde(flatten)]
    pub state: State,
    pub lane: Lane,
    /// All attempts ever made; the next one has the number after this.
    pub attempts: u16,
    /// Those of them that were made before the last replay, which the policy no longer counts.
    #[serde(default)]
    pub attempts_before: u16,
    /// Deliveries of one connection that agree in this go out in the order of their events.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub order_key: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_status_code: Option<u16>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_error: Option<String>,
    #[serde(with = "millis")]
    pub created_at: Timestamp,
    #[serde(with = "millis")]
    pub updated_at: Timestamp,
    #[serde(default, with = "seconds::option", skip_serializing_if = "Option::is_none")]
    pub expires_at: Option<Timestamp>,
    /// Present if it is not sent but fetched: its attempts are leases then, see [`inbox`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub inbox: Option<inbox::Place>,
}

/// Stored flat: the word under `state`, and beside it what that state has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "state", rename_all = "snake_case", rename_all_fields = "camelCase")]
pub enum State {
    /// For its first attempt or for another.
    Waiting {
        #[serde(with = "millis")]
        next_attempt_at: Timestamp,
    },
    /// A worker has it. If the lease ends before the worker does, another may take it.
    Sending {
        #[serde(with = "millis")]
        lease_until: Timestamp,
    },
    /// Stopped before its next attempt until someone lets it go on.
    Held {
        reason: Hold,
        #[serde(with = "millis")]
        next_attempt_at: Timestamp,
    },
    Delivered {
        #[serde(with = "millis")]
        settled_at: Timestamp,
    },
    Failed {
        reason: Failure,
        #[serde(with = "millis")]
        settled_at: Timestamp,
    },
    /// Not wanted any more.
    Cancelled {
        reason: Cancel,
        #[serde(with = "millis")]
        settled_at: Timestamp,
    },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Hold {
    ConnectionPaused,
    SourcePaused,
    /// The destination keeps failing and is given a rest.
    BreakerOpen,
    TransformFailed,
    /// Given up, and those behind it in order wait until somebody replays or cancels it.
    Parked,
    /// Its account, or one above that, is suspended.
    AccountSuspended,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Failure {
    /// The last attempt of the schedule failed too.
    Exhausted,
    /// The destination wants no more events at all.
    Gone,
    /// A rule of the connection gives up after this answer.
    Refused,
    /// The address may not be delivered to.
    Blocked,
    /// Its event is kept no longer than until now, or than until the next attempt would have come.
    Expired,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Cancel {
    Requested,
    ConnectionDeleted,
    SourceDeleted,
    /// Seen after its transform, the connection's filter does not want it.
    Filtered,
    /// The connection's transform gave nothing back.
    TransformDropped,
}

/// Replays have a lane of their own, so that they cannot delay what is new.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, ToSchema,
)]
#[serde(rename_all = "snake_case")]
#[schema(as = DeliveryLane)]
pub enum Lane {
    Live,
    Replay,
}

impl Delivery {
    /// When a worker should look at it: its attempt is due, or the lease of another has ended.
    pub fn due_at(&self) -> Option<Timestamp> {
        match self.state {
            State::Waiting { next_attempt_at } => Some(next_attempt_at),
            State::Sending { lease_until } => Some(lease_until),
            _ => None,
        }
    }

    pub fn is_settled(&self) -> bool {
        self.settled_at().is_some()
    }

    pub fn settled_at(&self) -> Option<Timestamp> {
        match self.state {
            State::Delivered { settled_at }
            | State::Failed { settled_at, .. }
            | State::Cancelled { settled_at, .. } => Some(settled_at),
            State::Waiting { .. } | State::Sending { .. } | State::Held { .. } => None,
        }
    }
}

#[cfg(test)]
mod tests;
