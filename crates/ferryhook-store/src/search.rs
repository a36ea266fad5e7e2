//! Search: finds the events that a filter lets through, a page at a time, in the shortest list
//! that has them all.
//!
//! For whoever shows events to people, and for whoever replays them. It decides nothing but where
//! to look; how much is looked at is up to the one who asks.

mod count;

use ferryhook_core::event::Status;
use ferryhook_core::event_types::BadPattern;
use ferryhook_core::replay::{Filter, Matcher, Position};
use ferryhook_core::{Account, Event, Id, Source};

use crate::query::{Cursor, Order};
use crate::record::{Record, Stored};
use crate::repositories::{Slice, Window};
use crate::tables::Index;
use crate::{Store, StoreError};

pub use count::{COUNTED_MAX, Count, CountError, count, count_erased};

#[derive(Debug)]
pub struct Search {
    account: Id<Account>,
    matcher: Matcher,
    /// For how many things, beside the time.
    asks: usize,
    list: List,
    window: Window,
    slice: Slice,
    /// Everything up to here was seen before.
    after: Option<Position>,
    over: bool,
}

/// Where the events are looked for.
#[derive(Debug, Clone)]
enum List {
    /// Complete only for those that need someone.
    Status(Status),
    /// Exactly this one.
    Type(String),
    Source(Id<Source>),
    Inbox,
}

#[derive(Debug, Default)]
pub struct Found {
    pub events: Vec<Stored<Event>>,
    /// How many were looked at to find these, and the last of them.
    pub looked_at: usize,
    pub last: Option<Position>,
}

impl Search {
    pub fn oldest_first(account: Id<Account>, filter: &Filter) -> Result<Self, BadPattern> {
        Self::by_position(account, filter, Slice::oldest_first())
    }

    pub fn newest_first(account: Id<Account>, filter: &Filter) -> Result<Self, BadPattern> {
        Self::by_position(account, filter, Slice::newest_first())
    }

    /// For pages that go on by their cursor, and not behind an event. Within a millisecond the
    /// list by type is in no order that an id could tell, and so has no place for the other way.
    pub fn new(account: Id<Account>, filter: &Filter, slice: Slice) -> Result<Self, BadPattern> {
        let mut search = Self::by_position(account, filter, slice)?;
        if let (List::Inbox, Some(event_type)) = (&search.list, &filter.event_type)
            && !event_type.contains('*')
        {
            search.list = List::Type(event_type.clone());
        }
        Ok(search)
    }

    fn by_position(
        account: Id<Account>,
        filter: &Filter,
        slice: Slice,
    ) -> Result<Self, BadPattern> {
        let list = match (filter.status, filter.source_id) {
            (Some(status), _) if needs_someone(status) => List::Status(status),
            (_, Some(source)) => List::Source(source),
            (_, None) => List::Inbox,
        };
        let window = Window { from: filter.from, to: filter.to };
        let (matcher, asks) = (filter.matcher()?, asks(filter));
        Ok(Self { account, matcher, asks, list, window, slice, after: None, over: false })
    }

    /// Whether the list has nothing that the filter leaves out.
    pub fn is_exact(&self) -> bool {
        self.asks == usize::from(!matches!(self.list, List::Inbox))
    }

    /// Goes on behind an event that was looked at before, in another search by the same filter.
    pub fn after(mut self, position: Option<Position>) -> Self {
        let Some(last) = position else { return self };
        match self.slice.order {
            Order::Ascending => self.window.from = Some(last.received_at),
            Order::Descending => self.window.to = Some(last.received_at),
        }
        self.after = position;
        self
    }

    /// Where a search by the same filter goes on: behind what this one has looked at. Nothing when
    /// that was everything.
    pub fn reached(&self) -> Option<&Cursor> {
        self.slice.after.as_ref().filter(|_| !self.over)
    }

    /// The same, behind an event that this search has found.
    pub fn behind(&self, event: &Event) -> Cursor {
        let index = match &self.list {
            List::Status(_) => Some(Index::EventStatus),
            List::Type(_) => Some(Index::EventType),
            List::Inbox => Some(Index::Inbox),
            List::Source(_) => None,
        };
        let entry = event.indexes().into_iter().find(|entry| Some(entry.index) == index);
        Cursor { key: event.key(), entry }
    }

    /// Whether everything has been looked at.
    pub fn is_over(&self) -> bool {
        self.over
    }

    /// Looks at the next `limit` events at most.
    pub async fn look(&mut self, store: &Store, limit: usize) -> Result<Found, StoreError> {
        if self.over {
            return Ok(Found::default());
        }
        let slice = self.slice.clone().limit(limit);
        let events = store.events();
        let page = match &self.list {
            List::Status(status) => {
                events.list_by_status(self.account, *status, self.window, slice).await?
            }
            List::Type(wanted) => {
                events.list_by_type(self.account, wanted, self.window, slice).await?
            }
            List::Source(source) => events.list_by_source(*source, self.window, slice).await?,
            List::Inbox => events.list_by_account(self.account, self.window, slice).await?,
        };
        let looked_at = page.rows.len();
        let last = page.rows.last().map(|event| Position::of(event));
        let mut events = page.rows;
        events.retain(|event| !self.was_seen(event) && self.lets_through(event));
        self.go_on(page.next);
        Ok(Found { events, looked_at, last })
    }

    fn go_on(&mut self, next: Option<Cursor>) {
        self.over = next.is_none();
        self.slice.after = next;
    }

    fn lets_through(&self, event: &Event) -> bool {
        event.account_id == self.account && self.matcher.lets_through(event)
    }

    /// Within a millisecond the list by status is in no order that an id could tell. What was
    /// replayed there has another status by now.
    fn was_seen(&self, event: &Event) -> bool {
        let Some(after) = self.after else { return false };
        let this = Position::of(event);
        match (&self.list, self.slice.order) {
            (List::Status(_) | List::Type(_), _) => this == after,
            (_, Order::Ascending) => this <= after,
            (_, Order::Descending) => this >= after,
        }
    }
}

/// What a filter asks for, beside the time.
fn asks(filter: &Filter) -> usize {
    let Filter { source_id, status, event_type, from: _, to: _ } = filter;
    [source_id.is_some(), status.is_some(), event_type.is_some()].into_iter().map(usize::from).sum()
}

/// As the list by status has it.
fn needs_someone(status: Status) -> bool {
    matches!(status, Status::Failed | Status::Retrying | Status::Held | Status::SignatureFailed)
}
