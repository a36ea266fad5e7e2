//! Deliveries that were given up, by event and connection.

use ferryhook_core::delivery::State;
use ferryhook_core::event::Status;
use ferryhook_core::replay::Filter;
use ferryhook_core::{Account, Delivery, Event, Id, limits};
use ferryhook_store::{Cursor, Part, Search, Slice, Store, StoreError};

use crate::events::DeliveryLine;
use crate::events::list::ListError;
use crate::names;

/// Events that are looked at in one step.
const STEP: usize = 100;

/// Whose deliveries may have been given up. Of the last two only some have.
pub const SUSPECTS: [Status; 3] = [Status::Failed, Status::Retrying, Status::Held];

/// Those of the first status, then those of the next. What one event has stays on one page, which
/// may have more than its limit if that event alone does.
pub async fn failures(
    store: &Store,
    account: Id<Account>,
    statuses: &[Status],
    slice: Slice,
    looked_at_max: usize,
) -> Result<(Vec<Delivery>, Option<Cursor>), ListError> {
    let limit = slice.limit;
    let (mut failed, mut looked_at) = (Vec::new(), 0);
    let first = slice.after.as_ref().and_then(status_of);
    let begun = statuses.iter().position(|status| Some(*status) == first).unwrap_or(0);
    let mut after = slice.after.clone();
    let mut reached = None;
    for status in &statuses[begun..] {
        let filter = Filter { status: Some(*status), ..Filter::default() };
        let mut search = Search::new(account, &filter, slice.clone().after(after.take()))?;
        while !search.is_over() {
            if looked_at >= looked_at_max {
                return Ok((failed, search.reached().cloned()));
            }
            let found = search.look(store, STEP).await?;
            looked_at += found.looked_at.max(1);
            for event in found.events {
                let given_up = given_up(store, event.id).await?;
                if !failed.is_empty() && failed.len() + given_up.len() > limit {
                    return Ok((failed, reached));
                }
                failed.extend(given_up);
                reached = Some(search.behind(&event));
            }
        }
    }
    Ok((failed, None))
}

async fn given_up(store: &Store, event: Id<Event>) -> Result<Vec<Delivery>, StoreError> {
    let page = Slice::default().limit(limits::PAGE_MAX);
    let page = store.deliveries().list_by_event(event, page).await?;
    let all = page.rows.into_iter().map(|row| row.record);
    Ok(all.filter(|one| matches!(one.state, State::Failed { .. })).collect())
}

/// The list that a cursor stands in: its entry begins with the status.
fn status_of(cursor: &Cursor) -> Option<Status> {
    let Some(Part::Text(sort)) = &cursor.entry.as_ref()?.sort else { return None };
    let (word, _) = sort.split_once('#')?;
    SUSPECTS.into_iter().find(|status| status.as_str() == word)
}

pub async fn shown(store: &Store, failed: &[Delivery]) -> Result<Vec<DeliveryLine>, StoreError> {
    let ids = failed.iter().map(|one| (one.source_id, one.connection_id));
    let called = names::of_connections(store, ids).await?;
    let line = |one: &Delivery| DeliveryLine::new(one, called.get(&one.connection_id).cloned());
    Ok(failed.iter().map(line).collect())
}
