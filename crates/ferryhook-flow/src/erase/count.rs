//! Count: how many events and rejections an erasure would be about, before anything is done.

use ferryhook_core::erasure::What;
use ferryhook_core::filter::BadFilter;
use ferryhook_core::replay::{Filter, Position};
use ferryhook_core::{Account, Id};
use ferryhook_store::{Store, StoreError};
use serde::{Deserialize, Serialize};

use crate::limits;
use ferryhook_store::search::{COUNTED_MAX, Search};

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
    Filter(#[from] BadFilter),
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Events only: what was refused is erased as well, and not worth a search of its own.
pub async fn count(
    store: &Store,
    account: Id<Account>,
    what: &What,
    after: Option<Position>,
) -> Result<Count, CountError> {
    let mut count = Count { matched: 0, looked_at: 0, next: None };
    let subject = match what {
        What::Events { ids } => {
            for id in ids {
                let found = store.events().find(*id).await?;
                count.looked_at += 1;
                count.matched += u64::from(found.is_some_and(|one| one.account_id == account));
            }
            return Ok(count);
        }
        What::Subject { subject } => subject,
    };
    let Some(matcher) = subject.matcher()? else { return Ok(count) };
    let filter = Filter {
        source_id: subject.source_id,
        from: subject.from,
        to: subject.to,
        ..Filter::default()
    };
    // Without a pattern of types there is none that could be bad.
    let Ok(search) = Search::oldest_first(account, &filter) else { return Ok(count) };
    let mut search = search.after(after);
    while !search.is_over() && count.looked_at < COUNTED_MAX as u64 {
        let found = search.look(store, limits::ERASURE_PAGE).await?;
        count.matched += found.events.iter().filter(|event| matcher.means(event)).count() as u64;
        count.looked_at += found.looked_at as u64;
        count.next = found.last.or(count.next);
    }
    if search.is_over() {
        count.next = None;
    }
    Ok(count)
}
