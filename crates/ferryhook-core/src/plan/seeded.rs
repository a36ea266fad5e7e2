//! The plans of a new installation.
//!
//! The rates, monthly events and retention are the product's published figures. Prices, seats and
//! the other limits were never published: they are a starting point for the operator.

use super::{Limits, Plan, PlanType};
use crate::Timestamp;
use crate::schedule::ScheduleType;

pub fn seeded(now: Timestamp) -> Vec<Plan> {
    vec![free(now), starter(now), professional(now), team(now), self_hosted(now)]
}

fn free(now: Timestamp) -> Plan {
    let limits = Limits {
        events_per_minute: Some(100),
        events_per_month: Some(5_000),
        api_calls_per_month: Some(10_000),
        storage_gb: Some(1),
        users: Some(1),
        sources: Some(3),
        sync_frequency: Some(ScheduleType::Daily),
        data_retention_days: Some(1),
        webhooks: Some(1),
        custom_domains: Some(0),
    };
    offered("free", "Free", PlanType::Free, 0, limits, now)
}

fn starter(now: Timestamp) -> Plan {
    let limits = Limits {
        events_per_minute: Some(500),
        events_per_month: Some(100_000),
        api_calls_per_month: Some(50_000),
        storage_gb: Some(10),
        users: Some(3),
        sources: Some(10),
        sync_frequency: Some(ScheduleType::Daily),
        data_retention_days: Some(7),
        webhooks: Some(3),
        custom_domains: Some(0),
    };
    offered("starter", "Starter", PlanType::Starter, 1_900, limits, now)
}

fn professional(now: Timestamp) -> Plan {
    let limits = Limits {
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
    };
    offered("pro", "Pro", PlanType::Professional, 4_900, limits, now)
}

fn team(now: Timestamp) -> Plan {
    let limits = Limits {
        events_per_minute: Some(10_000),
        events_per_month: Some(5_000_000),
        api_calls_per_month: Some(1_000_000),
        storage_gb: Some(500),
        users: Some(50),
        sources: Some(200),
        sync_frequency: Some(ScheduleType::Hourly),
        data_retention_days: Some(90),
        webhooks: Some(20),
        custom_domains: Some(5),
    };
    let plan = offered("team", "Team", PlanType::Enterprise, 19_900, limits, now);
    Plan { customizable: true, ..plan }
}

/// Whoever runs the server pays for it already. The default, so that `serve` without a
/// configuration refuses nobody. Its type is the nearest of the four the table knows.
fn self_hosted(now: Timestamp) -> Plan {
    let unlimited = Limits::default();
    let plan = offered("self_hosted", "Self-hosted", PlanType::Enterprise, 0, unlimited, now);
    Plan { is_default: true, customizable: true, ..plan }
}

fn offered(
    id: &str,
    name: &str,
    kind: PlanType,
    price_cents: u64,
    limits: Limits,
    now: Timestamp,
) -> Plan {
    Plan {
        id: id.to_owned(),
        name: name.to_owned(),
        kind,
        price_cents,
        currency: "USD".to_owned(),
        limits,
        features: Vec::new(),
        is_active: true,
        is_default: false,
        customizable: false,
        metadata: None,
        created_at: now,
        updated_at: now,
    }
}
