//! An erasure: what is to be gone for good, and how far that has come.
//!
//! Like a replay it is the whole memory of the work: whoever runs it saves where it stands, and
//! whoever takes it over goes on from there. First everything that is meant is deleted, then the
//! store is scrubbed, and only then is it over. What the subject was looked for by is itself what
//! somebody wants forgotten, so it goes as soon as nobody needs it any more.

mod step;
mod subject;

use serde::{Deserialize, Serialize};

use crate::id::Identified;
use crate::replay::Position;
use crate::time::{millis, seconds};
use crate::{Account, Event, Id, Timestamp, User};

pub use step::Counts;
pub use subject::{BadErasure, Matcher, Subject};

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Erasure {
    #[serde(rename = "erasureId")]
    pub id: Id<Erasure>,
    pub account_id: Id<Account>,
    #[serde(flatten)]
    pub what: What,
    #[serde(flatten)]
    pub state: State,
    #[serde(flatten)]
    pub counts: Counts,
    /// The last event that was looked at.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub position: Option<Position>,
    /// Why the last that could not be erased could not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_error: Option<String>,
    /// Absent when it was asked for on the machine itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub created_by: Option<Id<User>>,
    #[serde(with = "millis")]
    pub created_at: Timestamp,
    #[serde(with = "millis")]
    pub updated_at: Timestamp,
    /// Absent as long as it runs.
    #[serde(rename = "ttl", default, with = "seconds::option")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expires_at: Option<Timestamp>,
}

impl Identified for Erasure {
    const PREFIX: &'static str = "era_";
    const SORTABLE: bool = true;
}

/// Stored flat: the word under `what`, and beside it the list or the subject.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "what", rename_all = "snake_case")]
pub enum What {
    /// Sorted, each once.
    Events {
        ids: Vec<Id<Event>>,
    },
    Subject {
        subject: Subject,
    },
}

/// Stored flat: the word under `state`, and beside it what that state has.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "state", rename_all = "snake_case", rename_all_fields = "camelCase")]
pub enum State {
    /// Somebody has it until then; before the first one it is the moment it was asked for.
    Running {
        #[serde(with = "millis")]
        lease_until: Timestamp,
    },
    /// Nothing more is looked for; what was deleted is on its way out of the store's files.
    Scrubbing {
        #[serde(with = "millis")]
        lease_until: Timestamp,
        outcome: Outcome,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        reason: Option<String>,
    },
    Done {
        #[serde(with = "millis")]
        ended_at: Timestamp,
    },
    Cancelled {
        #[serde(with = "millis")]
        ended_at: Timestamp,
    },
    /// Something that is meant is still there.
    Failed {
        reason: String,
        #[serde(with = "millis")]
        ended_at: Timestamp,
    },
}

/// How it ends once nothing is left of what was deleted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    Done,
    Cancelled,
    Failed,
}

impl State {
    pub const fn word(&self) -> &'static str {
        match self {
            Self::Running { .. } => "running",
            Self::Scrubbing { .. } => "scrubbing",
            Self::Done { .. } => "done",
            Self::Cancelled { .. } => "cancelled",
            Self::Failed { .. } => "failed",
        }
    }

    /// Until when somebody has it, if it is not over.
    pub const fn lease_until(&self) -> Option<Timestamp> {
        match self {
            Self::Running { lease_until } | Self::Scrubbing { lease_until, .. } => {
                Some(*lease_until)
            }
            Self::Done { .. } | Self::Cancelled { .. } | Self::Failed { .. } => None,
        }
    }
}

impl Erasure {
    pub fn is_over(&self) -> bool {
        self.state.lease_until().is_none()
    }

    /// Whether it still says whom it is about.
    pub fn names_someone(&self) -> bool {
        matches!(&self.what, What::Subject { subject } if subject.filter.is_some())
    }
}

#[cfg(test)]
mod tests;
