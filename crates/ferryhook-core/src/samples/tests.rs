//! What each noun looks like when stored: every attribute by name, with a `?` if it may be absent,
//! its DynamoDB type, and for a time its form. An attribute that goes missing, changes its name or
//! its form fails here, because stored items would no longer be read.

use std::fmt::Debug;

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::*;

/// Checks the stored attributes against `expected`, in any order, that the value reads back as it
/// was, and that printing it gives no secret away.
fn stored<T: Serialize + DeserializeOwned + PartialEq + Debug>(value: &T, expected: &str) {
    let item = serde_json::to_value(value).unwrap();
    let item = item.as_object().unwrap();
    let mut found: Vec<_> = item
        .iter()
        .map(|(name, value)| {
            let mark = if is_optional::<T>(item, name) { "?" } else { "" };
            format!("{name}{mark} {}", form(value))
        })
        .collect();
    let mut expected: Vec<_> = expected.split(',').map(str::trim).collect();
    found.sort_unstable();
    expected.sort_unstable();
    assert_eq!(found, expected);
    let text = serde_json::to_string(item).unwrap();
    assert_eq!(&serde_json::from_str::<T>(&text).unwrap(), value);
    assert_eq!(&serde_json::from_value::<T>(item.clone().into()).unwrap(), value);
    let printed = format!("{value:?}");
    assert!(!printed.contains("hush"), "{printed}");
}

/// Whether the item can be read without the attribute. Nothing may then be written as null.
fn is_optional<T: Serialize + DeserializeOwned>(item: &Map, name: &str) -> bool {
    let mut without = item.clone();
    without.remove(name);
    let Ok(read) = serde_json::from_value::<T>(without.into()) else {
        return false;
    };
    let written = serde_json::to_value(read).unwrap();
    assert!(written.get(name).is_none_or(|value| !value.is_null()), "{name}");
    true
}

/// The samples' counters are small, so that a number of this size can only be a moment of 2026.
fn form(value: &Value) -> &'static str {
    match value {
        Value::String(text) if text.parse::<Timestamp>().is_ok() => "S(iso)",
        Value::String(_) => "S",
        Value::Number(number) => match number.as_i64().unwrap() {
            1_700_000_000..=1_800_000_000 => "N(s)",
            1_700_000_000_000..=1_800_000_000_000 => "N(ms)",
            _ => "N",
        },
        Value::Bool(_) => "BOOL",
        Value::Array(_) => "L",
        Value::Object(_) => "M",
        Value::Null => "NULL",
    }
}

#[test]
fn a_user() {
    stored(
        &user(),
        "userId S, email S, name S, firstName? S, lastName? S, passwordHash? S, status S, \
         emailVerified BOOL, twoFactorEnabled BOOL, totpSecret? S, totpLastStep? N, \
         recoveryCodes? L, sessionEpoch? N, plan S, stripeCustomerId? S, \
         stripeSubId? S, githubId? S, googleId? S, usageThisMonth N, usagePeriodStart S(iso), \
         lastLoginAt? N(s), preferences? M, defaultAccountId S, createdAt S(iso), \
         updatedAt S(iso)",
    );
}

#[test]
fn an_account() {
    stored(
        &account(),
        "accountId S, parentAccountId? S, accountPath S, accountType S, accountName S, level N, \
         status S, childCount? N, keyCount? N, userId S, createdAt N(s), updatedAt N(s), \
         metadata? M, settings? M",
    );
}

#[test]
fn a_member() {
    stored(
        &member(),
        "userId S, accountId S, role S, permissions M, isDefault BOOL, joinedAt N(s), \
         invitedBy? S, status S",
    );
}

#[test]
fn an_invitation() {
    stored(
        &invitation(),
        "invitationId S, accountId S, email S, role S, invitedBy S, tokenHash S, status S, \
         userId? S, createdAt S(iso), expiresAt S(iso), ttl N(s)",
    );
}

#[test]
fn a_source() {
    stored(
        &source(),
        "sourceId S, userId S, name S, provider S, signingSecret? S, signingAlgorithm? S, \
         status S, eventCount N, lastEventAt? S(iso), createdAt S(iso), accountId S, \
         connectionType S, config M, lastSyncAt? N(s), syncStatus? S, updatedAt S(iso), \
         createdBy S, previousSecrets? L, verificationMode? S, bodyBytesMax? N, \
         dedupExpression? S, customResponse? M",
    );
}

#[test]
fn a_connection() {
    stored(
        &connection(),
        "connectionId S, sourceId S, userId S, name S, destinationUrl? S, signingSecret S, \
         filters? S, transform? S, retryConfig? S, status S, deliveryCount N, failureCount N, \
         createdAt S(iso), updatedAt S(iso), accountId S, statusReason? S, destinationType S, \
         destinationConfig? M, method? S, headers? S, auth? S, previousSecrets? L, \
         eventTypes? L, pipelineOrder? S, timeoutMs? N, concurrencyMax? N, ratePerSecondMax? N, \
         orderingKey? S, orderingPolicy? M",
    );
}

#[test]
fn a_key() {
    stored(
        &key(),
        "keyId S, userId S, name S, keyHash S, keyPrefix S, permissions S, lastUsedAt? S(iso), \
         createdAt S(iso), accountId S, operations? L, status S, expiresAt? N(s), metadata? M",
    );
}

#[test]
fn an_event() {
    stored(
        &event(),
        "eventId S, sourceId S, userId S, status S, headers? S, body? S, sourceIp? S, \
         contentType? S, method? S, receivedAt N(ms), processedAt? N(ms), deliveredAt? N(ms), \
         expiresAt? N(s), event_type? S, payload? M, retry_count N, metadata? M, accountId S, \
         origin S, dedupKey? S, duplicateCount? N, path? S, query? S, pendingSince? N(ms), \
         processingTries? N, processingError? S, occurredAt? N(ms)",
    );
}

#[test]
fn a_delivery() {
    stored(
        &inbox_item(),
        "eventId S, connectionId S, sourceId S, accountId S, state S, nextAttemptAt N(ms), \
         lane S, attempts N, attemptsBefore? N, lastStatusCode? N, lastError? S, orderKey? S, \
         createdAt N(ms), updatedAt N(ms), expiresAt? N(s), inbox? M",
    );
}

#[test]
fn an_attempt() {
    stored(
        &attempt(),
        "eventId S, connectionId S, attemptNumber N, destinationUrl S, statusCode N, \
         responseBody? S, latencyMs N, error? S, attemptedAt N(ms), dnsMs? N, connectMs? N, \
         tlsMs? N, firstByteMs? N, expiresAt? N(s)",
    );
}

#[test]
fn a_rejection() {
    stored(
        &rejection(),
        "rejectionId S, sourceId S, accountId S, cause S, detail? S, method S, url? S, \
         path? S, query? S, contentType? S, sourceIp? S, headers? S, body? S, bodyTruncated BOOL, \
         rejectedAt N(ms), expiresAt? N(s)",
    );
}

#[test]
fn a_replay() {
    stored(
        &replay(),
        "replayId S, accountId S, selection S, ids L, connections? L, ratePerSecond N, state S, \
         leaseUntil N(ms), matched N, replayed N, skipped N, failed N, position? M, \
         waitingFor? S, lastError? S, createdAt N(ms), updatedAt N(ms), expiresAt? N(s)",
    );
}

#[test]
fn a_claim() {
    stored(
        &claim(),
        "pk S, seenAt S(iso), expiresAt N(s), source? S, notes? S, eventId? S, state? S, \
         fencingToken? N, leaseUntil? S(iso)",
    );
}

#[test]
fn a_schedule() {
    stored(
        &schedule(),
        "sourceId S, scheduleId S, scheduleType S, cronExpression? S, dataTypes L, \
         isActive BOOL, nextRunAt N(s), lastRunAt? N(s), retryPolicy? M, createdAt N(s), \
         updatedAt N(s)",
    );
}

#[test]
fn a_run() {
    stored(
        &run(),
        "sourceId S, syncId S, scheduleId? S, status S, startedAt N(s), completedAt? N(s), \
         duration? N, dataTypes L, recordsProcessed M, errors? L, s3Location? S, metadata? M",
    );
}

#[test]
fn an_activity() {
    stored(
        &activity(),
        "accountId S, eventId S, timestamp N(s), userId? S, eventType S, resource S, \
         resourceId? S, action S, details? M, ipAddress? S, userAgent? S, lineNumber? N, previousHash? S, \
         hash? S",
    );
}

#[test]
fn a_hook() {
    stored(
        &hook(),
        "webhookId S, accountId S, url S, events L, isActive N, statusReason? S, secret S, \
         previousSecrets? L, headers? M, retryPolicy M, lastResponseCode? N, lastCalledAt? N(s), failureCount N, \
         createdAt N(s), updatedAt N(s)",
    );
}

#[test]
fn the_head_of_an_audit_log() {
    stored(
        &audit_head(),
        "accountId S, lineNumber N, hash S, lastId S, before N, beforeHash? S, updatedAt S(iso)",
    );
}

#[test]
fn an_alert() {
    stored(
        &alert(),
        "accountId S, subject S, sourceId? S, what S, state S, recoveredAt S(iso), \
         firedAt S(iso), times N, reason? S, lastError? S, lastStatusCode? N, updatedAt S(iso), \
         ttl? N(s)",
    );
}

#[test]
fn a_notification() {
    stored(
        &notification(),
        "userId S, notificationId S, type S, title S, message S, isRead BOOL, readAt? N(s), \
         category S, metadata? M, actionUrl? S, createdAt N(s), expiresAt? N(s)",
    );
}

#[test]
fn usage_of_a_day() {
    stored(
        &usage(),
        "accountId S, metricDate S, apiCalls N, dataProcessed N, storageUsed N, syncJobs N, \
         activeUsers N, activeSources N, errorCount N, byPlatform M, byUser? M, \
         hourlyCounts? L, updatedAt N(s)",
    );
}

#[test]
fn a_rollup() {
    stored(
        &rollup(),
        "scopeId S, interval S, beginsAt N(s), ttl N(s), events? N, duplicates? N, rejected? N, \
         filtered? N, bytes? N, delivered? N, failed? N, attempts? N, latencyMs? N, code0? N, \
         code200? N, code4? N, ms12? N, ms43? N",
    );
}

#[test]
fn an_event_type() {
    stored(
        &event_type(),
        "accountId S, eventType S, firstSeenAt? S(iso), lastSeenAt? S(iso), count? N, learned? M, \
         drifts? L, declared? M, mismatches? N, unchecked? N, lastSource? M",
    );
}

#[test]
fn a_plan_count() {
    stored(&plan_count(), "accountId S, counted S, month? S, count N, ttl? N(s)");
}

#[test]
fn a_plan() {
    stored(
        &plan(),
        "planId S, planName S, planType S, price N, currency S, limits M, features L, \
         isActive BOOL, isDefault BOOL, customizable BOOL, metadata? M, createdAt N(s), \
         updatedAt N(s)",
    );
    stored(
        &plan().limits,
        "apiCallsPerMonth? N, storageGB? N, users? N, sources? N, syncFrequency? S, \
         dataRetentionDays? N, webhooks? N, customDomains? N, eventsPerMinute? N, \
         eventsPerMonth? N",
    );
}

#[test]
fn a_session() {
    stored(
        &session(),
        "sessionId S, userId S, epoch N, method S, familyHash S, tokenHashes L, \
         replacedHashes? L, rotatedAt? S(iso), generation N, createdAt S(iso), \
         lastUsedAt S(iso), ttl N(s), ipAddress? S, userAgent? S",
    );
}

#[test]
fn a_ticket() {
    stored(
        &ticket(),
        "ticketHash S, purpose S, userId? S, email? S, epoch N, method? S, tries N, \
         createdAt S(iso), ttl N(s)",
    );
}

#[test]
fn a_subscription() {
    stored(
        &subscription(),
        "userId S, accountId S, customerKey S, stripeCustomerId? S, stripeSubId? S, \
         subscriptionStatus? S, priceId? S, planId? S, cancelAtPeriodEnd BOOL, \
         currentPeriodEnd? N(s), readAt? S(iso), createdAt S(iso), updatedAt S(iso)",
    );
}

#[test]
fn a_token_key() {
    stored(&token_key(), "keyId S, privateKey S, createdAt S(iso), ttl N(s)");
}

#[test]
fn an_oauth_state() {
    stored(
        &oauth_state(),
        "state S, userId? S, accountId? S, platformId S, redirectUri S, createdAt N(s), \
         expiresAt N(s), metadata? M, codeVerifier? S",
    );
}

#[test]
fn an_answer() {
    stored(
        &answer(),
        "caller S, keyHash S, accountId? S, fingerprint S, token S, state S, reply M, \
         createdAt S(iso), ttl N(s)",
    );
}

#[test]
fn a_data_key() {
    stored(
        &data_key(),
        "ownerId S, keyId S, wrapped S, masterId S, formerMasterIds? L, createdAt S(iso), \
         updatedAt S(iso)",
    );
}

/// A word that no version of ours wrote means that something is wrong; guessing would hide it.
#[test]
fn an_unknown_word_is_an_error() {
    fn refuses<T: Serialize + DeserializeOwned>(value: &T, attribute: &str) {
        let mut item = serde_json::to_value(value).unwrap();
        assert!(item[attribute].is_string(), "{attribute}");
        item[attribute] = "nonsense".into();
        let error = serde_json::from_value::<T>(item).err();
        let said = error.map(|error| error.to_string()).unwrap_or_default();
        assert!(said.contains("`nonsense`"), "{attribute}: {said}");
    }
    refuses(&user(), "status");
    refuses(&account(), "status");
    refuses(&account(), "accountType");
    refuses(&member(), "role");
    refuses(&member(), "status");
    refuses(&source(), "status");
    refuses(&source(), "connectionType");
    refuses(&source(), "syncStatus");
    refuses(&source(), "verificationMode");
    refuses(&connection(), "status");
    refuses(&connection(), "destinationType");
    refuses(&connection(), "method");
    refuses(&connection(), "pipelineOrder");
    refuses(&key(), "status");
    refuses(&key(), "permissions");
    refuses(&event(), "status");
    refuses(&event(), "origin");
    refuses(&delivery(), "state");
    refuses(&delivery(), "lane");
    refuses(&rejection(), "cause");
    refuses(&replay(), "state");
    refuses(&replay(), "selection");
    refuses(&claim(), "state");
    refuses(&schedule(), "scheduleType");
    refuses(&run(), "status");
    refuses(&notification(), "type");
    refuses(&plan(), "planType");
    refuses(&plan_count(), "counted");
    refuses(&rollup(), "interval");
}

/// The ids that sort by time say when the samples were made.
#[test]
fn sortable_sample_ids_carry_a_moment() {
    let made = [
        event().id.made_at(),
        rejection().id.made_at(),
        replay().id.made_at(),
        run().id.made_at(),
        activity().id.made_at(),
        notification().id.made_at(),
    ];
    assert_eq!(made, [Some(CREATED); 6]);
}
