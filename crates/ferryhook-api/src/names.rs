//! What sources and connections are called, for views that speak of them by id.

use std::collections::HashMap;

use ferryhook_core::{Connection, Event, Id, Source, connection, source};
use ferryhook_store::{Store, StoreError};
use futures_util::future::try_join_all;

/// What the sources of these events are called, without those that are gone. By their keys, which
/// an event knows: a page of events is of as many sources, and an index would be asked for each.
pub async fn of_sources<'a>(
    store: &Store,
    events: impl Iterator<Item = &'a Event>,
) -> Result<HashMap<Id<Source>, String>, StoreError> {
    let sources = store.sources();
    let looks = unique(events.map(|event| (event.user_id, event.source_id)));
    let looks = looks.into_iter().map(|(owner, id)| sources.find_owned(owner, id));
    let found = try_join_all(looks).await?.into_iter().flatten();
    let there = found.filter(|found| found.status != source::Status::Deleted);
    Ok(there.map(|found| (found.id, found.record.name)).collect())
}

/// What these connections are called, each with its source, without those that are gone.
pub async fn of_connections(
    store: &Store,
    ids: impl Iterator<Item = (Id<Source>, Id<Connection>)>,
) -> Result<HashMap<Id<Connection>, String>, StoreError> {
    let connections = store.connections();
    let looks = unique(ids).into_iter().map(|(source, id)| connections.find_of(source, id));
    let found = try_join_all(looks).await?.into_iter().flatten();
    let there = found.filter(|found| found.status != connection::Status::Deleted);
    Ok(there.map(|found| (found.id, found.record.name)).collect())
}

fn unique<T: Ord>(ids: impl Iterator<Item = T>) -> Vec<T> {
    let mut ids: Vec<_> = ids.collect();
    ids.sort_unstable();
    ids.dedup();
    ids
}
