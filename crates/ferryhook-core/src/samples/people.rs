//! Who: users, accounts, keys, plans, and what they are told.

use std::collections::BTreeMap;

use serde_json::json;

use super::{CREATED, EXPIRES, UPDATED, id, map, secret, text};
use crate::plan::Limits;
use crate::plan_count::Counted;
use crate::rollup::{Counts, Interval, Scope};
use crate::schedule::ScheduleType;
use crate::secret::Previous;
use crate::{
    Account, Activity, Alert, Answer, AuditHead, DataKey, Headers, Hook, Invitation, Key, Member,
    Notification, OauthState, Plan, PlanCount, Rollup, Session, Subscription, Ticket, TokenKey,
    Usage, User, account, alert, answer, billing, invitation, key, member, notification, plan,
    session, ticket, user,
};

pub fn user() -> User {
    User {
        id: id("usr_0000000000000001"),
        email: "ada@example.com".to_owned(),
        name: "Ada Lovelace".to_owned(),
        first_name: text("Ada"),
        last_name: text("Lovelace"),
        password_hash: Some(secret("password-hash")),
        status: user::Status::Active,
        email_verified: true,
        two_factor_enabled: false,
        totp_secret: Some(secret("totp")),
        totp_last_step: Some(58_907_520),
        recovery_codes: vec![secret("recovery-code-hash")],
        session_epoch: 3,
        plan: "pro".to_owned(),
        stripe_customer_id: text("cus_1"),
        stripe_sub_id: text("sub_1"),
        github_id: text("583231"),
        google_id: text("108204"),
        usage_this_month: 1234,
        usage_period_start: CREATED,
        last_login_at: Some(UPDATED),
        preferences: Some(map([("theme", json!("dark"))])),
        default_account_id: id("acc_0000000000000001"),
        created_at: CREATED,
        updated_at: UPDATED,
    }
}

pub fn account() -> Account {
    Account {
        id: id("acc_0000000000000001"),
        parent_account_id: Some(id("acc_0000000000000000")),
        path: "/acme/retail/".to_owned(),
        kind: account::AccountType::Subsidiary,
        name: "Acme Retail".to_owned(),
        level: 1,
        status: account::Status::Active,
        child_count: 2,
        key_count: Some(3),
        user_id: id("usr_0000000000000001"),
        created_at: CREATED,
        updated_at: UPDATED,
        metadata: Some(map([("region", json!("eu"))])),
        settings: Some(map([("timezone", json!("Europe/Berlin"))])),
    }
}

pub fn member() -> Member {
    Member {
        user_id: id("usr_0000000000000001"),
        account_id: id("acc_0000000000000001"),
        role: member::Role::Admin,
        permissions: map([("billing", json!(true))]),
        is_default: true,
        joined_at: CREATED,
        invited_by: Some(id("usr_0000000000000002")),
        status: member::Status::Active,
    }
}

pub fn key() -> Key {
    Key {
        id: id("key_0000000000000001"),
        user_id: id("usr_0000000000000001"),
        account_id: id("acc_0000000000000001"),
        name: "Production".to_owned(),
        hash: secret("key-hash"),
        prefix: "fh_live_".to_owned(),
        permissions: key::Permissions::Write,
        operations: Some(vec!["events.create".to_owned()]),
        status: key::Status::Active,
        last_used_at: Some(UPDATED),
        expires_at: Some(EXPIRES),
        created_at: CREATED,
        metadata: Some(map([("team", json!("payments"))])),
    }
}

pub fn session() -> Session {
    Session {
        id: id("ses_0000000000000001"),
        user_id: id("usr_0000000000000001"),
        epoch: 3,
        method: session::Method::Password,
        family_hash: secret("family-hash"),
        token_hashes: vec![secret("token-hash")],
        replaced_hashes: vec![secret("replaced-hash")],
        rotated_at: Some(UPDATED),
        generation: 1,
        created_at: CREATED,
        last_used_at: UPDATED,
        expires_at: EXPIRES,
        ip_address: text("203.0.113.7"),
        user_agent: text("curl/8.5.0"),
    }
}

pub fn ticket() -> Ticket {
    Ticket {
        hash: secret("ticket-hash"),
        purpose: ticket::Purpose::SecondFactor,
        user_id: Some(id("usr_0000000000000001")),
        email: text("ada@example.com"),
        epoch: 3,
        method: Some(session::Method::Password),
        tries: 1,
        created_at: CREATED,
        expires_at: EXPIRES,
    }
}

pub fn subscription() -> Subscription {
    Subscription {
        user_id: id("usr_0000000000000001"),
        account_id: id("acc_0000000000000001"),
        customer_key: "0123456789abcdef".to_owned(),
        stripe_customer_id: text("cus_1"),
        stripe_sub_id: text("sub_1"),
        subscription_status: Some(billing::Status::Active),
        price_id: text("price_1"),
        plan_id: text("pro"),
        cancel_at_period_end: true,
        current_period_end: Some(EXPIRES),
        read_at: Some(UPDATED),
        created_at: CREATED,
        updated_at: UPDATED,
    }
}

pub fn token_key() -> TokenKey {
    TokenKey {
        id: "0123456789abcdef".to_owned(),
        private_key: secret("private-key"),
        created_at: CREATED,
        expires_at: EXPIRES,
    }
}

pub fn invitation() -> Invitation {
    Invitation {
        id: id("inv_0000000000000001"),
        account_id: id("acc_0000000000000001"),
        email: "grace@example.com".to_owned(),
        role: member::Role::Member,
        invited_by: id("usr_0000000000000001"),
        token_hash: secret("invitation-hash"),
        status: invitation::Status::Accepted,
        user_id: Some(id("usr_0000000000000002")),
        created_at: CREATED,
        expires_at: EXPIRES,
        kept_until: EXPIRES,
    }
}

pub fn oauth_state() -> OauthState {
    OauthState {
        state: secret("state"),
        user_id: Some(id("usr_0000000000000001")),
        account_id: Some(id("acc_0000000000000001")),
        platform_id: "hubspot".to_owned(),
        redirect_uri: "https://ferryhook.example/oauth/callback".to_owned(),
        code_verifier: Some(secret("verifier")),
        created_at: CREATED,
        expires_at: EXPIRES,
        metadata: Some(map([("scope", json!("contacts"))])),
    }
}

pub fn answer() -> Answer {
    let reply = answer::Reply {
        status: 201,
        content_type: text("application/json"),
        headers: Headers::from_iter([("Location", "/v1/keys/key_0000000000000001")]),
        body: r#"{"key":"hush-answer"}"#.into(),
    };
    Answer {
        caller: "key_0000000000000001".to_owned(),
        key_hash: "0a1b".to_owned(),
        account_id: Some(id("acc_0000000000000001")),
        fingerprint: "2c3d".to_owned(),
        token: "4e5f".to_owned(),
        state: answer::State::Done { reply },
        created_at: CREATED,
        expires_at: EXPIRES,
    }
}

pub fn data_key() -> DataKey {
    DataKey {
        owner_id: "acc_0000000000000001".to_owned(),
        id: "0123456789abcdef".to_owned(),
        wrapped: secret("wrapped"),
        master_id: "3ac8b14c1eec9bfc".to_owned(),
        former_master_ids: vec!["fedcba9876543210".to_owned()],
        created_at: CREATED,
        updated_at: UPDATED,
    }
}

pub fn plan() -> Plan {
    Plan {
        id: "pro".to_owned(),
        name: "Pro".to_owned(),
        kind: plan::PlanType::Professional,
        price_cents: 4_900,
        currency: "USD".to_owned(),
        limits: Limits {
            events_per_minute: Some(2_000),
            events_per_month: Some(1_000_000),
            api_calls_per_month: Some(100_000),
            storage_gb: Some(100),
            users: Some(10),
            sources: Some(50),
            sync_frequency: Some(ScheduleType::Hourly),
            data_retention_days: Some(30),
            webhooks: Some(5),
            custom_domains: Some(1),
        },
        features: vec!["replay".to_owned()],
        is_active: true,
        is_default: false,
        customizable: false,
        metadata: Some(map([("badge", json!("popular"))])),
        created_at: CREATED,
        updated_at: UPDATED,
    }
}

pub fn usage() -> Usage {
    Usage {
        account_id: id("acc_0000000000000001"),
        day: "2026-01-01".to_owned(),
        api_calls: 42,
        data_processed_bytes: 1_048_576,
        storage_used_bytes: 4_194_304,
        sync_jobs: 3,
        active_users: 2,
        active_sources: 5,
        error_count: 1,
        by_platform: map([("stripe", json!({ "events": 40 }))]),
        by_user: Some(map([("usr_0000000000000001", json!({ "apiCalls": 42 }))])),
        hourly_counts: (0..24).collect(),
        updated_at: UPDATED,
    }
}

pub fn plan_count() -> PlanCount {
    PlanCount {
        account_id: id("acc_0000000000000001"),
        counted: Counted::Events,
        month: text("2026-01"),
        count: 42,
        expires_at: Some(EXPIRES),
    }
}

pub fn rollup() -> Rollup {
    let mut counts = Counts {
        events: 40,
        duplicates: 3,
        rejected: 2,
        filtered: 1,
        bytes: 4096,
        delivered: 30,
        failed: 1,
        ..Counts::default()
    };
    counts.record_attempt(200, 12);
    counts.record_attempt(499, 180);
    counts.record_attempt(0, 30_000);
    let scope = Scope::Account(id("acc_0000000000000001"));
    Rollup::new(scope, Interval::Hour, CREATED, counts)
}

pub fn activity() -> Activity {
    Activity {
        account_id: id("acc_0000000000000001"),
        id: id("act_-OhqqeV-00000001"),
        at: CREATED,
        user_id: Some(id("usr_0000000000000001")),
        event_type: "source_created".to_owned(),
        resource: "source".to_owned(),
        resource_id: text("src_0000000000000001"),
        action: "create".to_owned(),
        details: Some(map([("after", json!({ "name": "Stripe Prod" }))])),
        ip_address: text("203.0.113.7"),
        user_agent: text("curl/8.5.0"),
        number: Some(2),
        previous_hash: text("5feceb66"),
        hash: text("6b86b273"),
    }
}

pub fn audit_head() -> AuditHead {
    AuditHead {
        account_id: id("acc_0000000000000001"),
        lines: 2,
        hash: "6b86b273".to_owned(),
        last_id: id("act_-OhqqeV-00000001"),
        before: 7,
        before_hash: text("4e074085"),
        updated_at: UPDATED,
    }
}

pub fn alert() -> Alert {
    Alert {
        account_id: id("acc_0000000000000001"),
        subject: "conn_0000000000000001".to_owned(),
        source_id: Some(id("src_0000000000000001")),
        what: "Orders".to_owned(),
        state: alert::State::Recovered { recovered_at: UPDATED },
        fired_at: CREATED,
        times: 3,
        reason: text("a delivery was given up"),
        last_error: text("connection refused"),
        last_status_code: Some(503),
        updated_at: UPDATED,
        expires_at: Some(EXPIRES),
    }
}

pub fn hook() -> Hook {
    let headers = [("X-Team".to_owned(), "payments".to_owned())];
    Hook {
        id: id("hook_0000000000000001"),
        account_id: id("acc_0000000000000001"),
        url: "https://ops.example.com/ferryhook".to_owned(),
        events: vec!["delivery.failed".to_owned()],
        is_active: true,
        status_reason: text("the last 50 calls failed"),
        secret: secret("hook"),
        previous_secrets: vec![Previous { secret: secret("hook-before"), valid_until: EXPIRES }],
        headers: Some(BTreeMap::from(headers)),
        retry_policy: map([("schedule", json!([0, 30, 120]))]),
        last_response_code: Some(200),
        last_called_at: Some(UPDATED),
        failure_count: 0,
        created_at: CREATED,
        updated_at: UPDATED,
    }
}

pub fn notification() -> Notification {
    Notification {
        user_id: id("usr_0000000000000001"),
        id: id("ntf_-OhqqeV-00000001"),
        kind: notification::NotificationType::Warning,
        title: "A delivery failed".to_owned(),
        message: "orders.example.com did not answer eight times".to_owned(),
        is_read: true,
        read_at: Some(UPDATED),
        category: "delivery".to_owned(),
        metadata: Some(map([("eventId", json!("evt_-OhqqeV-00000001"))])),
        action_url: text("/events/evt_-OhqqeV-00000001"),
        created_at: CREATED,
        expires_at: Some(EXPIRES),
    }
}
