//! The dictionary of attribute names: a stored item carries a number for each.
//!
//! The place of a name is its number and is stored for ever: add at the end, never remove or
//! reorder. A name that is missing here is stored in full, so forgetting one costs bytes only.

use std::collections::HashMap;
use std::sync::LazyLock;

/// Number 0 means "spelled out".
pub(super) fn number_of(name: &str) -> Option<u64> {
    static NUMBERS: LazyLock<HashMap<&str, u64>> =
        LazyLock::new(|| NAMES.iter().zip(1..).map(|(name, number)| (*name, number)).collect());
    NUMBERS.get(name).copied()
}

pub(super) fn name_of(number: u64) -> Option<&'static str> {
    NAMES.get(usize::try_from(number.checked_sub(1)?).ok()?).copied()
}

const NAMES: &[&str] = &[
    "eventId",
    "sourceId",
    "userId",
    "accountId",
    "status",
    "headers",
    "body",
    "sourceIp",
    "contentType",
    "method",
    "receivedAt",
    "processedAt",
    "deliveredAt",
    "expiresAt",
];
