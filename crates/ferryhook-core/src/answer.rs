//! What a request with an `Idempotency-Key` was answered, kept so that its repetition hears the
//! same and does nothing.
//!
//! While the first one is still at work the record says so, under a lease: if it dies on the way,
//! a later one may take its place. An answer may hold what is shown only once (a new key, a
//! token), so it never reaches a log.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::time::{millis, seconds};
use crate::{Account, Body, Headers, Id, Timestamp, limits};

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Answer {
    /// Whose key it is: the same word of two callers means two requests.
    pub caller: String,
    /// SHA-256 of the word the caller chose, in hex.
    pub key_hash: String,
    /// Absent where nobody has proved who they are yet.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub account_id: Option<Id<Account>>,
    /// SHA-256 of what was asked, in hex. Another request under the same word is a mistake.
    pub fingerprint: String,
    /// Of whoever is at work, or was: one who overslept is told apart by it.
    pub token: String,
    #[serde(flatten)]
    pub state: State,
    pub created_at: Timestamp,
    #[serde(rename = "ttl", with = "seconds")]
    pub expires_at: Timestamp,
}

/// Stored flat: the word under `state`, and beside it what that state has.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "state", rename_all = "snake_case", rename_all_fields = "camelCase")]
pub enum State {
    /// Somebody is at work on it, and given up for lost after that.
    Running {
        #[serde(with = "millis")]
        lease_until: Timestamp,
    },
    Done {
        reply: Reply,
    },
}

#[derive(Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Reply {
    pub status: u16,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub content_type: Option<String>,
    /// Those that are part of the answer, such as `Location`.
    #[serde(default, skip_serializing_if = "Headers::is_empty")]
    pub headers: Headers,
    pub body: Body,
}

impl Reply {
    /// Whether it is small enough to be kept.
    pub fn fits(&self) -> bool {
        let headers = self.headers.iter().map(|(name, value)| name.len() + value.len());
        self.body.len() <= limits::ANSWER_BODY_BYTES_MAX
            && headers.sum::<usize>() <= limits::ANSWER_HEADERS_BYTES_MAX
    }
}

impl fmt::Debug for Reply {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { status, body, .. } = self;
        f.debug_struct("Reply").field("status", status).field("body", body).finish_non_exhaustive()
    }
}
