//! The events of one job, in the order in which they are passed, from where it stands on.

use std::collections::VecDeque;

use ferryhook_core::event_types::BadPattern;
use ferryhook_core::replay::{Position, Selection};
use ferryhook_core::{Event, Id, Replay, Source};
use ferryhook_store::{Search, Store, StoreError};

use crate::limits;

/// What is known of an event before it is replayed.
#[derive(Debug, Clone, Copy)]
pub(super) struct Next {
    pub(super) position: Position,
    /// Absent when there is no such event.
    pub(super) source: Option<Id<Source>>,
}

#[derive(Debug)]
pub(super) enum Feed {
    Ids { left: VecDeque<Id<Event>> },
    Search { search: Box<Search>, found: VecDeque<Next>, last: Option<Position> },
}

impl Feed {
    pub(super) fn of(replay: &Replay) -> Result<Self, BadPattern> {
        let after = replay.position;
        match &replay.selection {
            Selection::Ids { ids } => {
                let done = after.map_or(0, |after| ids.partition_point(|id| *id <= after.event_id));
                Ok(Self::Ids { left: ids[done..].iter().copied().collect() })
            }
            Selection::Filter { filter } => {
                let search = Search::oldest_first(replay.account_id, filter)?.after(after);
                Ok(Self::Search { search: Box::new(search), found: VecDeque::new(), last: None })
            }
        }
    }

    /// The next few; none at the end.
    pub(super) async fn take(
        &mut self,
        store: &Store,
        replay: &Replay,
        most: usize,
    ) -> Result<Vec<Next>, StoreError> {
        match self {
            Self::Ids { left } => {
                let ids = left.iter().copied().take(most);
                let found = ids.map(|id| look_up(store, replay, id));
                let found = futures_util::future::try_join_all(found).await?;
                left.drain(..found.len());
                Ok(found)
            }
            Self::Search { search, found, last } => {
                while found.is_empty() && !search.is_over() {
                    // Not so many that they have changed before it is their turn.
                    let rate = replay.rate_per_second as usize;
                    let limit = rate.clamp(limits::REPLAY_AT_ONCE, limits::REPLAY_PAGE);
                    let page = search.look(store, limit).await?;
                    *last = page.last.or(*last);
                    found.extend(page.events.iter().map(|event| Next {
                        position: Position::of(event),
                        source: Some(event.source_id),
                    }));
                    if !found.is_empty() {
                        break;
                    }
                    // So that a long stretch without a match can be stopped, and is not repeated.
                    if !search.is_over() {
                        return Ok(Vec::new());
                    }
                }
                let count = found.len().min(most);
                Ok(found.drain(..count).collect())
            }
        }
    }

    /// How far everything has been passed, once all that was taken is done.
    pub(super) fn passed(&self) -> Option<Position> {
        match self {
            Self::Search { found, last, .. } if found.is_empty() => *last,
            _ => None,
        }
    }

    pub(super) fn is_over(&self) -> bool {
        match self {
            Self::Ids { left } => left.is_empty(),
            Self::Search { search, found, .. } => found.is_empty() && search.is_over(),
        }
    }
}

async fn look_up(store: &Store, replay: &Replay, id: Id<Event>) -> Result<Next, StoreError> {
    let found = store.events().find(id).await?;
    let found = found.filter(|event| event.account_id == replay.account_id);
    Ok(match found {
        Some(event) => Next { position: Position::of(&event), source: Some(event.source_id) },
        None => {
            let received_at = id.made_at().unwrap_or_default();
            Next { position: Position { received_at, event_id: id }, source: None }
        }
    })
}
