//! The verbs of the store, one repository for each noun.
//!
//! `find` may find nothing; `list` gives a page and where the next one begins; `replace` needs
//! the record as it was read and is refused if it has changed since. A lookup through an index
//! (by e-mail, by hash, by id where the key has more than the id) lags a moment behind the last
//! write on DynamoDB; the methods that read by key do not.

use ferryhook_core::{Timestamp, limits};

use crate::StoreError;
use crate::query::{Cursor, Order, Page, Query};
use crate::record::Stored;

mod accounts;
mod activities;
mod alerts;
mod announcements;
mod answers;
mod attempts;
mod connections;
mod data_keys;
mod deliveries;
mod erasures;
mod event_types;
mod events;
mod hooks;
mod inbox;
mod installation;
mod invitations;
mod keys;
mod ledger;
mod members;
mod notifications;
mod oauth_states;
mod plan_counts;
mod plans;
mod rejections;
mod replays;
mod rollups;
mod runs;
mod schedules;
mod sessions;
mod sources;
mod standing;
mod subscriptions;
mod tickets;
mod token_keys;
mod usage;
mod users;

pub use accounts::{Accounts, NewChild, TreeError};
pub use activities::{Activities, Checked};
pub use alerts::Alerts;
pub use announcements::Announcement;
pub use answers::{Answering, Answers, Asked};
pub use attempts::Attempts;
pub use connections::Connections;
pub use data_keys::DataKeys;
pub use deliveries::{Begun, Deliveries};
pub use erasures::Erasures;
pub use event_types::EventTypes;
pub use events::{Accepted, Arrival, EventChange, EventChanges, Events, ToldChange};
pub use hooks::Hooks;
pub use inbox::{Inbox, Listing, Moved, Stuck};
pub use installation::{Installation, Owned};
pub use invitations::{Invitations, InviteError, JoinError};
pub use keys::{KeyError, Keys};
pub use ledger::{Claiming, Ending, Ledger, Mark};
pub use members::{MemberError, Members};
pub use notifications::Notifications;
pub use oauth_states::OauthStates;
pub use plan_counts::{PlanCounts, RoomError};
pub use plans::Plans;
pub use rejections::Rejections;
pub use replays::Replays;
pub use rollups::Rollups;
pub use runs::Runs;
pub use schedules::Schedules;
pub use sessions::Sessions;
pub use sources::{Edit, Sources};
pub use standing::Standing;
pub use subscriptions::Subscriptions;
pub use tickets::Tickets;
pub use token_keys::TokenKeys;
pub use usage::UsageDays;
pub use users::Users;

/// How often a read and the write that depends on it are tried when others write in between.
const TRIES_MAX: usize = 16;

/// Why something with a unique value (an e-mail address, a key's hash) was not written.
#[derive(Debug, thiserror::Error)]
pub enum UniqueError {
    #[error("this {0} belongs to someone else")]
    Taken(&'static str),
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl UniqueError {
    /// Tells the refusal of the unique value, at its place in the batch, from all others.
    fn at(place: usize, what: &'static str) -> impl FnOnce(StoreError) -> Self {
        move |error| match error.refused_at(place) {
            true => Self::Taken(what),
            false => Self::Store(error),
        }
    }
}

/// Which part of a list is wanted.
#[derive(Debug, Clone)]
pub struct Slice {
    pub limit: usize,
    pub after: Option<Cursor>,
    pub order: Order,
}

impl Slice {
    pub fn oldest_first() -> Self {
        Self { limit: limits::PAGE_DEFAULT, after: None, order: Order::Ascending }
    }

    pub fn newest_first() -> Self {
        Self { order: Order::Descending, ..Self::oldest_first() }
    }

    /// At most this many rows; more than [`limits::PAGE_MAX`] are refused.
    pub fn limit(self, limit: usize) -> Self {
        Self { limit, ..self }
    }

    pub fn after(self, after: Option<Cursor>) -> Self {
        Self { after, ..self }
    }

    fn of(self, query: Query) -> Query {
        Query { limit: self.limit, after: self.after, order: self.order, ..query }
    }
}

/// From the beginning, in the order of the list.
impl Default for Slice {
    fn default() -> Self {
        Self::oldest_first()
    }
}

/// A stretch of time, both ends included; an absent end is open.
#[derive(Debug, Clone, Copy, Default)]
pub struct Window {
    pub from: Option<Timestamp>,
    pub to: Option<Timestamp>,
}

impl Window {
    pub const ALWAYS: Window = Window { from: None, to: None };

    pub fn until(to: Timestamp) -> Self {
        Self { from: None, to: Some(to) }
    }

    pub fn between(from: Timestamp, to: Timestamp) -> Self {
        Self { from: Some(from), to: Some(to) }
    }

    /// In an index that is sorted by a number made from the time.
    fn numbers(self, query: Query, number: fn(Timestamp) -> i64) -> Query {
        let end = |at: Option<Timestamp>| at.map(|at| number(at).into());
        match (end(self.from), end(self.to)) {
            (None, None) => query,
            (from, to) => query.between(from, to),
        }
    }

    /// In a sort key that has, behind `prefix`, the time as text and perhaps more.
    fn texts(self, query: Query, prefix: &str, text: fn(Timestamp) -> String) -> Query {
        let last = crate::records::LAST;
        let from = self.from.map(text).unwrap_or_default();
        let to = self.to.map(text).unwrap_or_default();
        // A key is never compared with nothing. No id, and no `#` before one, sorts behind `last`.
        let from = Some(format!("{prefix}{from}")).filter(|from| !from.is_empty());
        query.between(from.map(Into::into), Some(format!("{prefix}{to}{last}").into()))
    }
}

/// Leaves out of a page what is not wanted; the page gets shorter, its cursor stays.
fn only<T>(page: Page<Stored<T>>, wanted: impl Fn(&T) -> bool) -> Page<Stored<T>> {
    let Page { mut rows, next } = page;
    rows.retain(|row| wanted(&row.record));
    Page { rows, next }
}
