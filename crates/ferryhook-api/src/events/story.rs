//! One event with all that was done with it.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use ferryhook_core::{Delivery, Event, Id, limits};
use ferryhook_store::{Slice, Store, StoreError, Stored};

use super::view::{AttemptLine, DeliveryLine, EventLine, EventStory, HeaderLine};
use crate::names;

/// Pages of attempts that are shown of one event.
const ATTEMPT_PAGES_MAX: usize = 10;
/// Looks at what goes on meanwhile.
const LOOKS_MAX: usize = 3;

/// With its body, unless that has more bytes than `body_bytes_max`.
pub async fn tell(
    store: &Store,
    event: &Event,
    body_bytes_max: usize,
) -> Result<EventStory, StoreError> {
    let (attempts, deliveries) = course(store, event.id).await?;
    // In this order, and the event once more: nothing is told of a time before what led to it.
    let now = store.events().find_of(event.source_id, event.received_at, event.id).await?;
    let event = now.as_ref().map_or(event, |now| &now.record);
    let written = event.with_body();
    let event = written.as_ref().unwrap_or(event);
    let ids = deliveries.iter().map(|one| (one.source_id, one.connection_id));
    let called = names::of_connections(store, ids).await?;
    let line = |one: &Delivery| DeliveryLine::new(one, called.get(&one.connection_id).cloned());
    let mut source = names::of_sources(store, std::iter::once(event)).await?;
    let (text, bytes) = (event.body.as_text(), event.body.as_bytes());
    let with_body = (1..=body_bytes_max).contains(&event.body.len());
    Ok(EventStory {
        line: EventLine::new(event, source.remove(&event.source_id)),
        origin: event.origin,
        method: event.method.clone(),
        path: event.path.clone(),
        query: event.query.clone(),
        content_type: event.content_type.clone(),
        source_ip: event.source_ip.clone(),
        dedup_key: event.dedup_key.clone(),
        headers: HeaderLine::all(&event.headers),
        metadata: event.metadata.clone(),
        occurred_at: event.occurred_at,
        processed_at: event.processed_at,
        delivered_at: event.delivered_at,
        expires_at: event.expires_at,
        body: text.filter(|_| with_body).map(str::to_owned),
        body_base64: (with_body && text.is_none()).then(|| STANDARD.encode(bytes)),
        deliveries: deliveries.iter().map(|one| line(one)).collect(),
        attempts,
    })
}

/// Its attempts and what they came to. An outcome is one commit with its attempt; one that is
/// written between the two looks has its attempt at the next.
async fn course(
    store: &Store,
    event: Id<Event>,
) -> Result<(Vec<AttemptLine>, Vec<Stored<Delivery>>), StoreError> {
    let page = Slice::default().limit(limits::PAGE_MAX);
    let mut found = attempts(store, event).await?;
    let mut deliveries = store.deliveries().list_by_event(event, page.clone()).await?.rows;
    for _ in 1..LOOKS_MAX {
        let sent = deliveries.iter().filter(|one| one.inbox.is_none());
        if sent.map(|one| usize::from(one.attempts)).sum::<usize>() <= found.len() {
            break;
        }
        found = attempts(store, event).await?;
        deliveries = store.deliveries().list_by_event(event, page.clone()).await?.rows;
    }
    Ok((found, deliveries))
}

async fn attempts(store: &Store, event: Id<Event>) -> Result<Vec<AttemptLine>, StoreError> {
    let mut attempts = Vec::new();
    let mut slice = Slice::default().limit(limits::PAGE_MAX);
    for _ in 0..ATTEMPT_PAGES_MAX {
        let page = store.attempts().list_by_event(event, slice.clone()).await?;
        attempts.extend(page.rows.iter().map(|row| AttemptLine::from(&row.record)));
        match page.next {
            None => break,
            next => slice = slice.after(next),
        }
    }
    // Kept by number; a story is told by time.
    attempts.sort_by_key(|attempt| (attempt.attempted_at, attempt.number));
    Ok(attempts)
}
