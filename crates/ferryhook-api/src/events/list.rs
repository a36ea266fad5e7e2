//! Lists of events: those that a filter and a text let through, a page at a time.
//!
//! However little is found, a page ends after so many events have been looked at, and its cursor
//! goes on from there.

use ferryhook_core::event_types::BadPattern;
use ferryhook_core::replay::Filter;
use ferryhook_core::{Account, Event, Id};
use ferryhook_store::{Cursor, Page, Search, Slice, Store, StoreError};

use super::text::Text;
use super::view::EventLine;
use crate::names;

/// Events that are looked at in one step.
const STEP: usize = 200;

/// Which events are wanted, and how many.
#[derive(Debug, Clone)]
pub struct Wanted {
    pub filter: Filter,
    pub only: Only,
    /// How many, from where on and in which order.
    pub slice: Slice,
    /// At most so many are looked at.
    pub looked_at_max: usize,
}

/// What the filter cannot say.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Only {
    #[default]
    Everything,
    /// Those that have this somewhere.
    Having(Text),
    /// Those that could not be processed and were given up: failed, and without a delivery.
    DeadLetters,
}

impl Only {
    async fn takes(&self, store: &Store, event: &Event) -> Result<bool, StoreError> {
        match self {
            Self::Everything => Ok(true),
            Self::Having(text) => Ok(text.is_in(event)),
            Self::DeadLetters if event.processing_error.is_none() => Ok(false),
            Self::DeadLetters => {
                // One that was planned after all may still tell what went wrong before.
                let one = Slice::default().limit(1);
                Ok(store.deliveries().list_by_event(event.id, one).await?.rows.is_empty())
            }
        }
    }
}

#[derive(Debug, thiserror::Error)]
pub enum ListError {
    #[error(transparent)]
    Type(#[from] BadPattern),
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// One page; it may be short, or empty, and still have a next one.
pub async fn find(
    store: &Store,
    account: Id<Account>,
    wanted: &Wanted,
) -> Result<Page<Event>, ListError> {
    let limit = wanted.slice.limit;
    let mut search = Search::new(account, &wanted.filter, wanted.slice.clone())?;
    // Where nothing is left out, nothing is read that is not shown; and where it is, most of a
    // page is often among the first.
    let is_narrow = !search.is_exact() || wanted.only != Only::Everything;
    let (mut rows, mut looked_at) = (Vec::new(), 0);
    while rows.len() < limit && looked_at < wanted.looked_at_max && !search.is_over() {
        let step = if is_narrow && looked_at > 0 { STEP } else { limit };
        let found = search.look(store, step).await?;
        // A store on this machine answers at once, and others wait for this thread.
        tokio::task::yield_now().await;
        looked_at += found.looked_at.max(1);
        for event in found.events {
            if wanted.only.takes(store, &event).await? {
                rows.push(event.record);
            }
        }
    }
    let next = match rows.get(limit.saturating_sub(1)) {
        Some(last) if rows.len() > limit => Some(search.behind(last)),
        _ => search.reached().cloned(),
    };
    rows.truncate(limit);
    Ok(Page { rows, next })
}

/// As clients see them.
pub async fn shown(
    store: &Store,
    events: Page<Event>,
) -> Result<(Vec<EventLine>, Option<Cursor>), StoreError> {
    let Page { rows, next } = events;
    let called = names::of_sources(store, rows.iter()).await?;
    let line = |event: &Event| EventLine::new(event, called.get(&event.source_id).cloned());
    Ok((rows.iter().map(line).collect(), next))
}
