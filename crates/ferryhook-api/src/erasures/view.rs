//! Erasures as clients see them. Never what was looked for.

use std::fmt;

use ferryhook_core::erasure::{Counts, Outcome, What};
use ferryhook_core::id::{ErasureId, SourceId, UserId};
use ferryhook_core::{Erasure, Timestamp, erasure};
use ferryhook_store::search::Count;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Erasure)]
pub struct ErasureJob {
    pub erasure_id: ErasureId,
    pub state: State,
    /// Nothing is left of what it erased, in no file of this server's store. Backups that were
    /// taken before still have it.
    pub is_gone: bool,
    /// Why it failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// How many events it names, if it names any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ids: Option<usize>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub subject: Option<Subject>,
    /// Events and rejections that were looked at, those that were erased, and those that could not
    /// be.
    pub looked_at: u64,
    pub erased: u64,
    pub failed: u64,
    /// When the last event came that was looked at.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reached: Option<Timestamp>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_error: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub created_by: Option<UserId>,
    pub created_at: Timestamp,
    pub updated_at: Timestamp,
    /// Nobody is there to do it before a server starts.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub waits_for_server: bool,
}

/// Where it looks, without what for.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = ErasureSubject)]
pub struct Subject {
    pub paths: Vec<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source_id: Option<SourceId>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<Timestamp>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub to: Option<Timestamp>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
#[schema(as = ErasureState)]
pub enum State {
    /// Events are looked at and erased.
    Running,
    /// All are erased; what is left of them in files is on its way out.
    Scrubbing,
    Done,
    Cancelled,
    Failed,
}

/// How many events an erasure would be about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = ErasureCount)]
pub struct Counted {
    pub matched: u64,
    pub looked_at: u64,
    /// Not all events have been looked at; there may be more than were counted.
    pub is_lower_bound: bool,
}

impl From<Count> for Counted {
    fn from(count: Count) -> Self {
        let Count { matched, looked_at, next } = count;
        Self { matched, looked_at, is_lower_bound: next.is_some() }
    }
}

/// One that is cancelled or has failed is called so as soon as it erases nothing more.
impl From<&erasure::State> for State {
    fn from(state: &erasure::State) -> Self {
        use erasure::State as Stands;
        match state {
            Stands::Running { .. } => Self::Running,
            Stands::Scrubbing { outcome: Outcome::Done, .. } => Self::Scrubbing,
            Stands::Scrubbing { outcome: Outcome::Cancelled, .. } | Stands::Cancelled { .. } => {
                Self::Cancelled
            }
            Stands::Scrubbing { outcome: Outcome::Failed, .. } | Stands::Failed { .. } => {
                Self::Failed
            }
            Stands::Done { .. } => Self::Done,
        }
    }
}

impl fmt::Display for State {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Running => "running",
            Self::Scrubbing => "scrubbing",
            Self::Done => "done",
            Self::Cancelled => "cancelled",
            Self::Failed => "failed",
        })
    }
}

impl ErasureJob {
    pub fn new(erasure: &Erasure, waits_for_server: bool) -> Self {
        let (ids, subject) = match &erasure.what {
            What::Events { ids } => (Some(ids.len()), None),
            What::Subject { subject } => {
                let erasure::Subject { paths, source_id, from, to, .. } = subject.clone();
                (None, Some(Subject { paths, source_id, from, to }))
            }
        };
        let reason = match &erasure.state {
            erasure::State::Failed { reason, .. } => Some(reason.clone()),
            erasure::State::Scrubbing { reason, .. } => reason.clone(),
            _ => None,
        };
        let Counts { looked_at, erased, failed } = erasure.counts;
        Self {
            erasure_id: erasure.id,
            state: State::from(&erasure.state),
            is_gone: erasure.is_over(),
            reason,
            ids,
            subject,
            looked_at,
            erased,
            failed,
            reached: erasure.position.map(|position| position.received_at),
            last_error: erasure.last_error.clone(),
            created_by: erasure.created_by,
            created_at: erasure.created_at,
            updated_at: erasure.updated_at,
            waits_for_server: waits_for_server && !erasure.is_over(),
        }
    }
}
