//! A record: a noun of the domain, with its place in the store.

use std::fmt;
use std::ops::Deref;

use ferryhook_core::event::Standing;
use ferryhook_core::{Event, Timestamp};
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::StoreError;
use crate::engine::Row;
use crate::key::{IndexKey, Key};
use crate::tables::Table;
use crate::value::{self, Name, SerError, Value};

/// Which noun a stored row is. The numbers are stored and never given to another noun.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum Kind {
    User = 1,
    Source = 2,
    Connection = 3,
    Key = 4,
    Event = 5,
    Delivery = 6,
    Attempt = 7,
    Rejection = 8,
    Claim = 9,
    Account = 10,
    Member = 11,
    Schedule = 12,
    Run = 13,
    Activity = 14,
    Hook = 15,
    Notification = 16,
    Usage = 17,
    Plan = 18,
    OauthState = 19,
    /// Holds a value (an e-mail address, a key's hash) for one owner.
    Unique = 20,
    Replay = 21,
    DataKey = 22,
    Answer = 23,
    Session = 24,
    Ticket = 25,
    TokenKey = 26,
    Invitation = 27,
    Erasure = 28,
    Rollup = 29,
    /// Of an audit log: its last line.
    AuditHead = 30,
    Alert = 31,
    Subscription = 32,
    PlanCount = 33,
    EventType = 34,
}

impl Kind {
    pub const ALL: [Kind; 34] = [
        Kind::User,
        Kind::Source,
        Kind::Connection,
        Kind::Key,
        Kind::Event,
        Kind::Delivery,
        Kind::Attempt,
        Kind::Rejection,
        Kind::Claim,
        Kind::Account,
        Kind::Member,
        Kind::Schedule,
        Kind::Run,
        Kind::Activity,
        Kind::Hook,
        Kind::Notification,
        Kind::Usage,
        Kind::Plan,
        Kind::OauthState,
        Kind::Unique,
        Kind::Replay,
        Kind::DataKey,
        Kind::Answer,
        Kind::Session,
        Kind::Ticket,
        Kind::TokenKey,
        Kind::Invitation,
        Kind::Erasure,
        Kind::Rollup,
        Kind::AuditHead,
        Kind::Alert,
        Kind::Subscription,
        Kind::PlanCount,
        Kind::EventType,
    ];

    pub fn from_number(number: u8) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| *kind as u8 == number)
    }

    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.name() == name)
    }

    pub const fn name(self) -> &'static str {
        match self {
            Self::User => "user",
            Self::Source => "source",
            Self::Connection => "connection",
            Self::Key => "key",
            Self::Event => "event",
            Self::Delivery => "delivery",
            Self::Attempt => "attempt",
            Self::Rejection => "rejection",
            Self::Claim => "claim",
            Self::Account => "account",
            Self::Member => "member",
            Self::Schedule => "schedule",
            Self::Run => "run",
            Self::Activity => "activity",
            Self::Hook => "hook",
            Self::Notification => "notification",
            Self::Usage => "usage",
            Self::Plan => "plan",
            Self::OauthState => "oauth state",
            Self::Unique => "unique value",
            Self::Replay => "replay",
            Self::DataKey => "data key",
            Self::Answer => "answer",
            Self::Session => "session",
            Self::Ticket => "ticket",
            Self::TokenKey => "token key",
            Self::Invitation => "invitation",
            Self::Erasure => "erasure",
            Self::Subscription => "subscription",
            Self::Rollup => "rollup",
            Self::PlanCount => "plan count",
            Self::AuditHead => "audit head",
            Self::Alert => "alert",
            Self::EventType => "event type",
        }
    }

    pub const fn table(self) -> Table {
        match self {
            Self::User | Self::Source | Self::Connection | Self::Key | Self::Unique => Table::Main,
            Self::Answer | Self::Session | Self::Ticket | Self::TokenKey => Table::Main,
            Self::Invitation | Self::Erasure | Self::DataKey | Self::EventType => Table::Main,
            Self::Rollup | Self::AuditHead | Self::Alert | Self::Subscription | Self::PlanCount => {
                Table::Main
            }
            Self::Event | Self::Delivery | Self::Attempt | Self::Rejection | Self::Replay => {
                Table::Events
            }
            Self::Claim => Table::Ledger,
            Self::Account => Table::Accounts,
            Self::Member => Table::Members,
            Self::Schedule => Table::Schedules,
            Self::Run => Table::Runs,
            Self::Activity => Table::Activities,
            Self::Hook => Table::Hooks,
            Self::Notification => Table::Notifications,
            Self::Usage => Table::Usage,
            Self::Plan => Table::Plans,
            Self::OauthState => Table::OauthStates,
        }
    }

    /// Attributes that are written once and never change: the bulk of an event. The embedded
    /// engine keeps them apart, so that a change of the rest does not write them again. No patch
    /// may touch them and no condition ask for them.
    pub const fn content(self) -> &'static [&'static str] {
        match self {
            Self::Event => &["headers", "body", "payload"],
            Self::Rejection => &["headers", "body"],
            Self::Replay => &["ids"],
            _ => &[],
        }
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// Attributes that are sealed before an engine sees them, where the store has a vault.
///
/// None of them may be part of a key, an index or the content, and no condition can ask for one:
/// sealed twice, the same text is not the same.
#[derive(Debug, Clone, Copy)]
pub struct Secrets {
    /// The attribute that says whose key seals them. A record without it, and whatever belongs to
    /// nobody, is sealed with the installation's own key.
    pub owner: Option<&'static str>,
    /// The attributes that say which record it is. What was sealed for another does not open.
    pub named_by: &'static [&'static str],
    pub attributes: &'static [&'static str],
}

/// How a noun is stored: its key, its index entries, its expiry. Its attributes are its serde form.
pub trait Record: Serialize + DeserializeOwned + Send + Sync {
    const KIND: Kind;
    /// Counts up when the stored shape changes; old shapes stay readable.
    const VERSION: u8 = 1;
    /// See [`Kind::content`]. Only a record of a test, which borrows a kind, has less than all.
    const CONTENT: &'static [&'static str] = Self::KIND.content();

    /// What of it is secret. A new secret is a new name in this list, and nothing else; where there
    /// was none it is `Some(Secrets { .. })` with one.
    const SECRETS: Option<Secrets> = None;

    fn key(&self) -> Key;

    fn indexes(&self) -> Vec<IndexKey> {
        Vec::new()
    }

    fn expires_at(&self) -> Option<Timestamp> {
        None
    }

    /// Facts of this record under the names that other readers of its DynamoDB table expect.
    /// Written at insert, never read back, and nothing that changes may be among them.
    fn mirror(&self) -> Vec<(Name, Value)> {
        Vec::new()
    }
}

/// A record as it was read, with the revision that a later write must still find.
#[derive(Debug, Clone, PartialEq)]
pub struct Stored<T> {
    pub record: T,
    pub revision: u64,
}

impl<T> Deref for Stored<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.record
    }
}

impl Stored<Event> {
    /// Nobody has written it since it came: not where it stands, and not what became of it.
    pub fn is_as_it_came(&self) -> bool {
        self.revision == 1
    }

    /// Where it stands, without what it carries.
    pub fn standing(&self) -> Stored<Standing> {
        Stored { record: self.record.standing(), revision: self.revision }
    }
}

impl<T: Record> Stored<T> {
    pub(crate) fn from_row(row: Row) -> Result<Self, StoreError> {
        if row.kind != T::KIND {
            return Err(StoreError::corrupt(
                T::KIND,
                format!("there is a {} in its place", row.kind),
            ));
        }
        if row.version > T::VERSION {
            let reason = format!("it was written by a newer version (shape {})", row.version);
            return Err(StoreError::corrupt(T::KIND, reason));
        }
        let record =
            value::from_item(row.item).map_err(|error| StoreError::corrupt(T::KIND, error))?;
        Ok(Self { record, revision: row.revision })
    }
}

#[cfg(test)]
pub(crate) fn item_of<T: Record>(record: &T) -> Result<value::Item, StoreError> {
    value::to_item(record).map_err(|error| not_stored(T::KIND, &error))
}

pub(crate) fn not_stored(kind: Kind, error: &SerError) -> StoreError {
    StoreError::Malformed(format!("this {kind} cannot be stored: {error}"))
}
