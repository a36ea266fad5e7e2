//! Everything that is ever said, with what a program gets and what people read.

use serde_json::{Value, json};

use super::{Operational, types};
use crate::event_type::Mode;
use crate::notification::NotificationType;
use crate::{Alert, Hook, Map, Timestamp};

/// A type of event, and what its `data` looks like.
#[derive(Debug, Clone, Copy)]
pub struct Type {
    pub name: &'static str,
    pub summary: &'static str,
    sample: fn() -> Operational,
}

impl Type {
    /// One that never happened, for those who want to see one before the first.
    pub fn sample(&self) -> Operational {
        (self.sample)()
    }
}

pub const DELIVERY_FAILED: &str = "delivery.failed";
const DELIVERY_RECOVERED: &str = "delivery.recovered";
const CONNECTION_DISABLED: &str = "connection.disabled";
const HOOK_DISABLED: &str = "hook.disabled";
const QUOTA_WARNING: &str = "quota.warning";
const QUOTA_REACHED: &str = "quota.reached";
const PLAN_CHANGED: &str = "plan.changed";

pub const TYPES: [Type; 10] = [
    Type {
        name: DELIVERY_FAILED,
        summary: "Deliveries over a connection fail.",
        sample: || Operational::delivery_failed(&pretended()),
    },
    Type {
        name: DELIVERY_RECOVERED,
        summary: "They succeed again.",
        sample: || {
            Operational::delivery_recovered(&pretended(), Timestamp::from_seconds(PRETENDED + 600))
        },
    },
    Type {
        name: CONNECTION_DISABLED,
        summary: "A destination said that it is gone; its connection is paused.",
        sample: || {
            Operational::connection_disabled(SUBJECT, "Orders", "the destination answered 410 Gone")
        },
    },
    Type {
        name: HOOK_DISABLED,
        summary: "A hook was turned off because nobody answers there.",
        sample: || {
            Operational::hook_disabled_of(
                "hook_0000000000000000",
                "https://example.com/",
                "the last 50 calls failed",
            )
        },
    },
    Type {
        name: QUOTA_WARNING,
        summary: "Most of what the plan allows is used.",
        sample: || {
            Operational::quota(Quota {
                name: "eventsPerMonth",
                period: "2026-01",
                used: 8_000,
                limit: 10_000,
            })
        },
    },
    Type {
        name: QUOTA_REACHED,
        summary: "All of what the plan allows is used.",
        sample: || {
            Operational::quota(Quota {
                name: "eventsPerMonth",
                period: "2026-01",
                used: 10_000,
                limit: 10_000,
            })
        },
    },
    Type {
        name: PLAN_CHANGED,
        summary: "The account has another plan.",
        sample: || Operational::plan_changed("free", "pro"),
    },
    Type {
        name: types::DRIFTED,
        summary: "Events of a type look different from those before.",
        sample: || Operational::type_drifted("order.paid", &types::pretended()),
    },
    Type {
        name: types::MISMATCHED,
        summary: "An event is not as its type is declared.",
        sample: || Operational::type_mismatched("order.paid", Mode::Warn, "/amount", "is required"),
    },
    Type {
        name: types::FULL,
        summary: "There are more event types than are learned.",
        sample: || Operational::types_full(1_000),
    },
];

const SUBJECT: &str = "conn_0000000000000000";
pub(super) const PRETENDED: i64 = 1_767_225_600;

/// Something that is counted and bounded by a plan.
#[derive(Debug, Clone, Copy)]
pub struct Quota<'a> {
    /// As the plan calls it, such as `eventsPerMonth`.
    pub name: &'a str,
    /// Such as `2026-01`.
    pub period: &'a str,
    pub used: u64,
    pub limit: u64,
}

impl Operational {
    pub fn delivery_failed(alert: &Alert) -> Self {
        let reason = alert.reason.clone().unwrap_or_default();
        let said = alert.last_error.as_deref().unwrap_or("no answer");
        Self {
            event_type: DELIVERY_FAILED,
            data: delivery(alert),
            level: NotificationType::Error,
            category: "delivery",
            title: format!("Deliveries to {} fail", alert.what),
            message: match alert.last_status_code {
                Some(code) => format!("On {}, {reason}; the last answer was {code}.", alert.what),
                None => format!("On {}, {reason}: {said}.", alert.what),
            },
        }
    }

    pub fn delivery_recovered(alert: &Alert, now: Timestamp) -> Self {
        let mut data = delivery(alert);
        data.insert("recoveredAt".to_owned(), json!(now));
        let minutes = now.saturating_since(alert.fired_at).as_secs().div_ceil(60);
        Self {
            event_type: DELIVERY_RECOVERED,
            data,
            level: NotificationType::Success,
            category: "delivery",
            title: format!("Deliveries to {} work again", alert.what),
            message: format!(
                "{} takes events again, {minutes} min after the alert. What was given up meanwhile \
                 can be replayed.",
                alert.what
            ),
        }
    }

    pub fn connection_disabled(id: &str, name: &str, reason: &str) -> Self {
        Self {
            event_type: CONNECTION_DISABLED,
            data: map(json!({ "connectionId": id, "connectionName": name, "reason": reason })),
            level: NotificationType::Error,
            category: "connection",
            title: format!("{name} was paused"),
            message: format!(
                "The connection {name} was paused: {reason}. Resume it once it works."
            ),
        }
    }

    pub fn hook_disabled(hook: &Hook, reason: &str) -> Self {
        Self::hook_disabled_of(hook.id.as_str(), &hook.url, reason)
    }

    fn hook_disabled_of(id: &str, url: &str, reason: &str) -> Self {
        Self {
            event_type: HOOK_DISABLED,
            data: map(json!({ "hookId": id, "url": url, "reason": reason })),
            level: NotificationType::Warning,
            category: "hook",
            title: "A hook was turned off".to_owned(),
            message: format!("The hook to {url} was turned off: {reason}."),
        }
    }

    /// Most of it, or all of it.
    pub fn quota(quota: Quota<'_>) -> Self {
        let Quota { name, period, used, limit } = quota;
        let is_reached = used >= limit;
        let percent = used.saturating_mul(100) / limit.max(1);
        Self {
            event_type: if is_reached { QUOTA_REACHED } else { QUOTA_WARNING },
            data: map(json!({
                "quota": name,
                "period": period,
                "used": used,
                "limit": limit,
            })),
            level: match is_reached {
                true => NotificationType::Error,
                false => NotificationType::Warning,
            },
            category: "quota",
            title: match is_reached {
                true => format!("{name} is used up"),
                false => format!("{percent} % of {name} is used"),
            },
            message: format!("{used} of {limit} in {period}."),
        }
    }

    pub fn plan_changed(before: &str, after: &str) -> Self {
        Self {
            event_type: PLAN_CHANGED,
            data: map(json!({ "before": before, "after": after })),
            level: NotificationType::Info,
            category: "plan",
            title: format!("The plan is {after} now"),
            message: format!("It was {before} before. The new limits count at once."),
        }
    }
}

fn delivery(alert: &Alert) -> Map {
    let mut data = map(json!({
        "connectionId": alert.subject,
        "connectionName": alert.what,
        "reason": alert.reason,
        "firedAt": alert.fired_at,
    }));
    data.extend(alert.source_id.map(|id| ("sourceId".to_owned(), json!(id))));
    data.extend(alert.last_status_code.map(|code| ("lastStatusCode".to_owned(), json!(code))));
    data.extend(alert.last_error.as_ref().map(|said| ("lastError".to_owned(), json!(said))));
    data
}

pub(super) fn map(value: Value) -> Map {
    match value {
        Value::Object(map) => map,
        _ => Map::new(),
    }
}

fn pretended() -> Alert {
    let at = Timestamp::from_seconds(PRETENDED);
    // An id of the right shape, which nothing has.
    let account = "acc_0000000000000000".parse();
    let account = account.unwrap_or_else(|error| unreachable!("{error}"));
    Alert {
        reason: Some("a delivery was given up".to_owned()),
        last_status_code: Some(503),
        ..Alert::fired(account, SUBJECT, "Orders", at)
    }
}
