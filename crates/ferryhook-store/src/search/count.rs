//! Count: how many events a replay or an erasure would be about, before anything is done.

use ferryhook_core::erasure::What;
use ferryhook_core::event_types::BadPattern;
use ferryhook_core::filter::BadFilter;
use ferryhook_core::replay::{Filter, Position, Selection};
use ferryhook_core::{Account, Id};
use serde::{Deserialize, Serialize};

use super::Search;
use crate::{Store, StoreError};

/// Events that one count looks at, and how many at a time.
pub const COUNTED_MAX: usize = 10_000;
const PAGE: usize = 100;

/// Of as many events as one count may look at.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Count {
    pub matched: u64,
    pub looked_at: u64,
    /// Where the next count goes on; nothing when all have been counted.
    pub next: Option<Position>,
}

#[derive(Debug, thiserror::Error)]
pub enum CountError {
    #[error(transparent)]
    Pattern(#[from] BadPattern),
    #[error(transparent)]
    Filter(#[from] BadFilter),
    #[error(transparent)]
    Store(#[from] StoreError),
}

pub async fn count(
    store: &Store,
    account: Id<Account>,
    selection: &Selection,
    after: Option<Position>,
) -> Result<Count, CountError> {
    let mut count = Count { matched: 0, looked_at: 0, next: None };
    match selection {
        Selection::Ids { ids } => {
            for id in ids {
                let found = store.events().find(*id).await?;
                count.looked_at += 1;
                count.matched += u64::from(found.is_some_and(|one| one.account_id == account));
            }
        }
        Selection::Filter { filter } => {
            let mut search = Search::oldest_first(account, filter)?.after(after);
            while !search.is_over() && count.looked_at < COUNTED_MAX as u64 {
                let found = search.look(store, PAGE).await?;
                count.matched += found.events.len() as u64;
                count.looked_at += found.looked_at as u64;
                count.next = found.last.or(count.next);
            }
            if search.is_over() {
                count.next = None;
            }
        }
    }
    Ok(count)
}

/// Of the events that an erasure means; what was refused at the door is erased as well, and not
/// counted.
pub async fn count_erased(
    store: &Store,
    account: Id<Account>,
    what: &What,
    after: Option<Position>,
) -> Result<Count, CountError> {
    let subject = match what {
        What::Events { ids } => {
            let named = Selection::Ids { ids: ids.clone() };
            return count(store, account, &named, after).await;
        }
        What::Subject { subject } => subject,
    };
    let mut count = Count { matched: 0, looked_at: 0, next: None };
    let Some(matcher) = subject.matcher()? else { return Ok(count) };
    let filter = Filter {
        source_id: subject.source_id,
        from: subject.from,
        to: subject.to,
        ..Filter::default()
    };
    let mut search = Search::oldest_first(account, &filter)?.after(after);
    while !search.is_over() && count.looked_at < COUNTED_MAX as u64 {
        let found = search.look(store, PAGE).await?;
        count.matched += found.events.iter().filter(|event| matcher.means(event)).count() as u64;
        count.looked_at += found.looked_at as u64;
        count.next = found.last.or(count.next);
    }
    if search.is_over() {
        count.next = None;
    }
    Ok(count)
}
