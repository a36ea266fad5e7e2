//! The tables and their indexes, declared once.
//!
//! The dynamo engine creates exactly these, the embedded engine mirrors them, the schema tool
//! prints them. The order of [`Table`] and [`Index`] is stored on disk: add at the end only.

/// An attribute that is part of a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct KeyAttribute {
    pub name: &'static str,
    pub numeric: bool,
}

const fn text(name: &'static str) -> KeyAttribute {
    KeyAttribute { name, numeric: false }
}

const fn number(name: &'static str) -> KeyAttribute {
    KeyAttribute { name, numeric: true }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Capacity {
    OnDemand,
    Provisioned { read: i64, write: i64 },
}

#[derive(Debug, Clone, Copy)]
pub struct TableShape {
    pub partition: KeyAttribute,
    pub sort: Option<KeyAttribute>,
    /// The attribute (in seconds) that decides when a row is gone.
    pub expiry: Option<&'static str>,
    /// Whether changes are published as a stream of new images.
    pub stream: bool,
    pub point_in_time_recovery: bool,
    pub capacity: Capacity,
}

#[derive(Debug, Clone, Copy)]
pub struct IndexShape {
    pub name: &'static str,
    pub partition: KeyAttribute,
    pub sort: Option<KeyAttribute>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum Table {
    Main,
    Events,
    Ledger,
    Accounts,
    Members,
    Schedules,
    Runs,
    Activities,
    Hooks,
    Notifications,
    Usage,
    Plans,
    OauthStates,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum Index {
    UserByEmail,
    KeyByHash,
    SourceOrConnectionById,
    AccountPlatform,
    AccountStatus,
    EventById,
    Inbox,
    EventType,
    EventStatus,
    Pending,
    Due,
    AccountParent,
    MemberRole,
    ScheduleNextRun,
    RunStatus,
    ActivityUser,
    ActivityType,
    HookActive,
    NotificationUnread,
    UsageDate,
    PlanCatalogue,
    HookLanes,
}

impl Table {
    pub const ALL: [Table; 13] = [
        Table::Main,
        Table::Events,
        Table::Ledger,
        Table::Accounts,
        Table::Members,
        Table::Schedules,
        Table::Runs,
        Table::Activities,
        Table::Hooks,
        Table::Notifications,
        Table::Usage,
        Table::Plans,
        Table::OauthStates,
    ];

    /// The name behind the configured prefix. The ledger has a name of its own in the settings.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Main => "main",
            Self::Events => "events",
            Self::Ledger => "ledger",
            Self::Accounts => "accounts",
            Self::Members => "users_accounts",
            Self::Schedules => "sync_schedules",
            Self::Runs => "sync_history",
            Self::Activities => "activities",
            Self::Hooks => "webhooks",
            Self::Notifications => "notifications",
            Self::Usage => "usage_metrics",
            Self::Plans => "billing_plans",
            Self::OauthStates => "oauth_states",
        }
    }

    pub const fn shape(self) -> TableShape {
        let plain = TableShape {
            partition: text("PK"),
            sort: Some(text("SK")),
            expiry: None,
            stream: false,
            point_in_time_recovery: false,
            capacity: Capacity::OnDemand,
        };
        match self {
            Self::Main => TableShape { expiry: Some("ttl"), point_in_time_recovery: true, ..plain },
            Self::Events => TableShape {
                expiry: Some("expiresAt"),
                stream: true,
                point_in_time_recovery: true,
                ..plain
            },
            Self::Ledger => {
                TableShape { partition: text("pk"), sort: None, expiry: Some("expiresAt"), ..plain }
            }
            Self::Accounts => TableShape {
                partition: text("accountId"),
                sort: None,
                point_in_time_recovery: true,
                ..plain
            },
            Self::Members => TableShape {
                partition: text("userId"),
                sort: Some(text("accountId")),
                point_in_time_recovery: true,
                ..plain
            },
            Self::Schedules => TableShape {
                partition: text("sourceId"),
                sort: Some(text("scheduleId")),
                capacity: Capacity::Provisioned { read: 5, write: 5 },
                ..plain
            },
            Self::Runs => {
                TableShape { partition: text("sourceId"), sort: Some(text("syncId")), ..plain }
            }
            Self::Activities => {
                TableShape { partition: text("accountId"), sort: Some(text("eventId")), ..plain }
            }
            Self::Hooks => TableShape { partition: text("webhookId"), sort: None, ..plain },
            Self::Notifications => TableShape {
                partition: text("userId"),
                sort: Some(text("notificationId")),
                expiry: Some("expiresAt"),
                ..plain
            },
            Self::Usage => TableShape {
                partition: text("accountId"),
                sort: Some(text("metricDate")),
                capacity: Capacity::Provisioned { read: 10, write: 20 },
                ..plain
            },
            Self::Plans => TableShape {
                partition: text("planId"),
                sort: None,
                capacity: Capacity::Provisioned { read: 5, write: 1 },
                ..plain
            },
            Self::OauthStates => TableShape {
                partition: text("state"),
                sort: None,
                expiry: Some("expiresAt"),
                ..plain
            },
        }
    }

    pub fn indexes(self) -> impl Iterator<Item = Index> {
        Index::ALL.into_iter().filter(move |index| index.table() == self)
    }
}

impl Index {
    pub const ALL: [Index; 22] = [
        Index::UserByEmail,
        Index::KeyByHash,
        Index::SourceOrConnectionById,
        Index::AccountPlatform,
        Index::AccountStatus,
        Index::EventById,
        Index::Inbox,
        Index::EventType,
        Index::EventStatus,
        Index::Pending,
        Index::Due,
        Index::AccountParent,
        Index::MemberRole,
        Index::ScheduleNextRun,
        Index::RunStatus,
        Index::ActivityUser,
        Index::ActivityType,
        Index::HookActive,
        Index::NotificationUnread,
        Index::UsageDate,
        Index::PlanCatalogue,
        Index::HookLanes,
    ];

    pub const fn table(self) -> Table {
        match self {
            Self::UserByEmail
            | Self::KeyByHash
            | Self::SourceOrConnectionById
            | Self::AccountPlatform
            | Self::AccountStatus => Table::Main,
            Self::EventById
            | Self::Inbox
            | Self::EventType
            | Self::EventStatus
            | Self::Pending
            | Self::Due => Table::Events,
            Self::AccountParent => Table::Accounts,
            Self::MemberRole => Table::Members,
            Self::ScheduleNextRun => Table::Schedules,
            Self::RunStatus => Table::Runs,
            Self::ActivityUser | Self::ActivityType => Table::Activities,
            Self::HookActive | Self::HookLanes => Table::Hooks,
            Self::NotificationUnread => Table::Notifications,
            Self::UsageDate => Table::Usage,
            Self::PlanCatalogue => Table::Plans,
        }
    }

    pub const fn shape(self) -> IndexShape {
        let (name, partition, sort) = match self {
            Self::UserByEmail => ("GSI1", text("GSI1PK"), Some(text("GSI1SK"))),
            Self::KeyByHash => ("GSI2", text("GSI2PK"), Some(text("GSI2SK"))),
            Self::SourceOrConnectionById => ("GSI3", text("GSI3PK"), Some(text("GSI3SK"))),
            Self::AccountPlatform => {
                ("accountId-platformId-index", text("accountId"), Some(text("platformId")))
            }
            Self::AccountStatus => {
                ("accountId-status-index", text("accountId"), Some(text("status")))
            }
            Self::EventById => ("GSI1", text("GSI1PK"), Some(text("GSI1SK"))),
            Self::Inbox => ("InboxIndex", text("user_id"), Some(text("timestamp#event_id"))),
            Self::EventType => {
                ("EventTypeIndex", text("user_id"), Some(text("event_type#timestamp")))
            }
            Self::EventStatus => ("StatusIndex", text("user_id"), Some(text("status#timestamp"))),
            Self::Pending => ("PendingIndex", text("pendingShard"), Some(number("pendingSince"))),
            Self::Due => ("DueIndex", text("dueShard"), Some(number("dueAt"))),
            Self::AccountParent => (
                "parentAccountId-accountType-index",
                text("parentAccountId"),
                Some(text("accountType")),
            ),
            Self::MemberRole => ("accountId-role-index", text("accountId"), Some(text("role"))),
            Self::ScheduleNextRun => ("nextRunAt-index", number("nextRunAt"), None),
            Self::RunStatus => {
                ("status-startedAt-index", text("status"), Some(number("startedAt")))
            }
            Self::ActivityUser => {
                ("userId-timestamp-index", text("userId"), Some(number("timestamp")))
            }
            Self::ActivityType => {
                ("eventType-timestamp-index", text("eventType"), Some(number("timestamp")))
            }
            Self::HookActive => {
                ("accountId-isActive-index", text("accountId"), Some(number("isActive")))
            }
            Self::NotificationUnread => {
                ("userId-isRead-createdAt-index", text("userId"), Some(text("isRead#createdAt")))
            }
            Self::UsageDate => {
                ("metricDate-accountId-index", text("metricDate"), Some(text("accountId")))
            }
            Self::PlanCatalogue => ("catalogue-index", text("catalogue"), Some(text("planId"))),
            Self::HookLanes => ("lanes-index", text("laneShard"), Some(text("webhookId"))),
        };
        IndexShape { name, partition, sort }
    }
}

#[cfg(test)]
mod tests;
