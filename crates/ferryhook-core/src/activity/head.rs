//! The head of an account's audit log: how many lines there are, and the hash of the last.
//!
//! Written in the same commit as each line, under the condition that it is still what was read: two
//! lines can never follow the same one. It also holds fast what was there before the chain began.

use serde::{Deserialize, Serialize};

use super::chain::{self, Link};
use crate::{Account, Activity, Id, Timestamp};

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct AuditHead {
    pub account_id: Id<Account>,
    /// Of the chain; the number of the last one.
    #[serde(rename = "lineNumber")]
    pub lines: u64,
    /// Of the last line.
    pub hash: String,
    /// Ids of the log rise with the numbers, also where two clocks disagree.
    pub last_id: Id<Activity>,
    /// Lines that were there when the chain began, and one hash over all of them.
    pub before: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub before_hash: Option<String>,
    pub updated_at: Timestamp,
}

/// The lines from before there was a chain, as they are read in order.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Before {
    pub lines: u64,
    pub hash: Option<String>,
    pub last_id: Option<Id<Activity>>,
}

impl Before {
    /// With one more of them.
    pub fn with(&self, line: &Activity) -> Self {
        let number = self.lines + 1;
        let link = Link { number, previous: self.hash.as_deref() };
        Self { lines: number, hash: Some(chain::hash(line, link)), last_id: Some(line.id) }
    }
}

/// Puts a line behind the head, or begins the chain with it; gives both as they are then.
pub fn append(
    head: Result<&AuditHead, &Before>,
    line: Activity,
    now: Timestamp,
) -> (Activity, AuditHead) {
    let (number, previous, last_id) = match head {
        Ok(head) => (head.lines + 1, Some(head.hash.clone()), Some(head.last_id)),
        Err(before) => (1, before.hash.clone(), before.last_id),
    };
    // The same id again is the same line again, which the store refuses.
    let id = match last_id {
        Some(last) if line.id < last => last.following(),
        _ => line.id,
    };
    let line = Activity { id, number: Some(number), ..line };
    let hash = chain::hash(&line, Link { number, previous: previous.as_deref() });
    let (before, before_hash) = match head {
        Ok(head) => (head.before, head.before_hash.clone()),
        Err(before) => (before.lines, before.hash.clone()),
    };
    let head = AuditHead {
        account_id: line.account_id,
        lines: number,
        hash: hash.clone(),
        last_id: id,
        before,
        before_hash,
        updated_at: now,
    };
    (Activity { previous_hash: previous, hash: Some(hash), ..line }, head)
}
