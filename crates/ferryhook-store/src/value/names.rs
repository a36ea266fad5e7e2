//! The dictionary of attribute names: a stored item carries a number for each.
//!
//! The place of a name is its number and is stored for ever: add at the end, never remove or
//! reorder. A name that is missing here is stored in full, so forgetting one costs bytes only.

use std::sync::LazyLock;

/// Number 0 means "spelled out".
pub(super) fn number_of(name: &str) -> Option<u64> {
    static NUMBERS: LazyLock<Numbers> = LazyLock::new(Numbers::new);
    NUMBERS.find(name)
}

/// Every attribute of every row asks here, so it is a table made for nothing else: a few bits of
/// a name say where to begin, and the name itself says whether it was found.
struct Numbers([u16; SLOTS]);

/// Four times as many as there are names, so that most stand where they are looked for.
const SLOTS: usize = 2048;
const _: () = assert!(NAMES.len() <= SLOTS / 4);

impl Numbers {
    fn new() -> Self {
        let mut slots = [0; SLOTS];
        for (name, number) in NAMES.iter().zip(1u16..) {
            let free = (slot_of(name)..).find(|slot| slots[slot % SLOTS] == 0);
            slots[free.unwrap_or(0) % SLOTS] = number;
        }
        Self(slots)
    }

    fn find(&self, name: &str) -> Option<u64> {
        let mut slot = slot_of(name);
        loop {
            let number = self.0[slot % SLOTS].into();
            let known = name_of(number)?; // an empty slot ends the search
            if known == name {
                return Some(number);
            }
            slot += 1;
        }
    }
}

/// Made from a name's length, its first and its last bytes.
fn slot_of(name: &str) -> usize {
    let bytes = name.as_bytes();
    let word = match (bytes.first_chunk::<4>(), bytes.last_chunk::<4>()) {
        (Some(first), Some(last)) => {
            u64::from(u32::from_le_bytes(*first)) << 32 | u64::from(u32::from_le_bytes(*last))
        }
        _ => bytes.iter().fold(0, |word, byte| word << 8 | u64::from(*byte)),
    };
    let mixed = word ^ (bytes.len() as u64) << 28;
    (mixed.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 54) as usize
}

pub(super) fn name_of(number: u64) -> Option<&'static str> {
    NAMES.get(usize::try_from(number.checked_sub(1)?).ok()?).copied()
}

const NAMES: &[&str] = &[
    "eventId",
    "sourceId",
    "userId",
    "accountId",
    "origin",
    "status",
    "event_type",
    "retry_count",
    "metadata",
    "dedupKey",
    "duplicateCount",
    "method",
    "path",
    "query",
    "contentType",
    "sourceIp",
    "headers",
    "body",
    "payload",
    "receivedAt",
    "pendingSince",
    "processedAt",
    "deliveredAt",
    "expiresAt",
    "pk",
    "seenAt",
    "source",
    "notes",
    "state",
    "fencingToken",
    "leaseUntil",
    "connectionId",
    "nextAttemptAt",
    "lane",
    "attempts",
    "attemptsBefore",
    "lastStatusCode",
    "lastError",
    "createdAt",
    "updatedAt",
    "attemptNumber",
    "destinationUrl",
    "statusCode",
    "responseBody",
    "error",
    "latencyMs",
    "dnsMs",
    "connectMs",
    "tlsMs",
    "firstByteMs",
    "attemptedAt",
    "rejectionId",
    "cause",
    "detail",
    "bodyTruncated",
    "rejectedAt",
    "createdBy",
    "name",
    "provider",
    "connectionType",
    "config",
    "signingSecret",
    "previousSecrets",
    "signingAlgorithm",
    "verificationMode",
    "bodyBytesMax",
    "dedupExpression",
    "customResponse",
    "eventCount",
    "lastEventAt",
    "lastSyncAt",
    "syncStatus",
    "statusReason",
    "destinationType",
    "destinationConfig",
    "auth",
    "eventTypes",
    "filters",
    "transform",
    "pipelineOrder",
    "retryConfig",
    "timeoutMs",
    "concurrencyMax",
    "ratePerSecondMax",
    "orderingKey",
    "deliveryCount",
    "failureCount",
    "keyId",
    "keyHash",
    "keyPrefix",
    "permissions",
    "operations",
    "lastUsedAt",
    "email",
    "firstName",
    "lastName",
    "passwordHash",
    "emailVerified",
    "twoFactorEnabled",
    "plan",
    "stripeCustomerId",
    "stripeSubId",
    "githubId",
    "googleId",
    "usageThisMonth",
    "usagePeriodStart",
    "lastLoginAt",
    "preferences",
    "defaultAccountId",
    "value",
    "ownerId",
    "parentAccountId",
    "accountPath",
    "accountType",
    "accountName",
    "level",
    "settings",
    "role",
    "isDefault",
    "joinedAt",
    "invitedBy",
    "scheduleId",
    "scheduleType",
    "cronExpression",
    "dataTypes",
    "isActive",
    "nextRunAt",
    "lastRunAt",
    "retryPolicy",
    "syncId",
    "startedAt",
    "completedAt",
    "duration",
    "recordsProcessed",
    "errors",
    "s3Location",
    "timestamp",
    "eventType",
    "resource",
    "resourceId",
    "action",
    "details",
    "ipAddress",
    "userAgent",
    "previousHash",
    "hash",
    "webhookId",
    "url",
    "events",
    "secret",
    "lastResponseCode",
    "lastCalledAt",
    "notificationId",
    "type",
    "title",
    "message",
    "isRead",
    "readAt",
    "category",
    "actionUrl",
    "metricDate",
    "apiCalls",
    "dataProcessed",
    "storageUsed",
    "syncJobs",
    "activeUsers",
    "activeSources",
    "errorCount",
    "byPlatform",
    "byUser",
    "hourlyCounts",
    "planId",
    "planName",
    "planType",
    "price",
    "currency",
    "limits",
    "features",
    "customizable",
    "platformId",
    "redirectUri",
    "codeVerifier",
    "orderKey",
    "processingTries",
    "processingError",
    "orderingPolicy",
    "replayId",
    "selection",
    "ids",
    "filter",
    "connections",
    "ratePerSecond",
    "matched",
    "replayed",
    "skipped",
    "failed",
    "position",
    "waitingFor",
    "endedAt",
    "reason",
    // Answers
    "caller",
    "fingerprint",
    "token",
    "reply",
    // An account's children, and an invitation.
    "childCount",
    "invitationId",
    "tokenHash",
    "ttl",
    // Session, Ticket, TokenKey, and what signing in needs of a User
    "sessionId",
    "epoch",
    "familyHash",
    "tokenHashes",
    "replacedHashes",
    "rotatedAt",
    "generation",
    "ticketHash",
    "purpose",
    "tries",
    "privateKey",
    "totpSecret",
    "totpLastStep",
    "recoveryCodes",
    "sessionEpoch",
    // Erasures
    "erasureId",
    "what",
    "subject",
    "paths",
    "erased",
    "lookedAt",
    "outcome",
    // Data keys
    "wrapped",
    "masterId",
    "formerMasterIds",
    // Triggered events
    "occurredAt",
    // Rollups and plan counts; what is counted by code and by bucket is spelled out
    "scopeId",
    "interval",
    "beginsAt",
    "duplicates",
    "rejected",
    "filtered",
    "bytes",
    "delivered",
    "counted",
    "count",
    // The chain of the audit log
    "lineNumber",
    // Items of the inbox
    "inbox",
    "group",
    "leasesMax",
    // Event types
    "firstSeenAt",
    "lastSeenAt",
    "learned",
    "drifts",
    "declared",
    "mismatches",
    "unchecked",
    "lastSource",
];

#[cfg(test)]
mod tests;
