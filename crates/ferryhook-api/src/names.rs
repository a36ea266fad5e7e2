//! What sources and connections are called, for views that speak of them by id.

use std::collections::HashMap;

use ferryhook_core::{Connection, Id, Source, connection, source};
use ferryhook_store::{Store, StoreError};

/// What each of these is called, without those that are gone.
pub async fn of_sources(
    store: &Store,
    ids: impl Iterator<Item = Id<Source>>,
) -> Result<HashMap<Id<Source>, String>, StoreError> {
    let mut names = HashMap::new();
    for id in unique(ids) {
        let found = store.sources().find(id).await?;
        if let Some(found) = found.filter(|found| found.status != source::Status::Deleted) {
            names.insert(id, found.record.name);
        }
    }
    Ok(names)
}

pub async fn of_connections(
    store: &Store,
    ids: impl Iterator<Item = Id<Connection>>,
) -> Result<HashMap<Id<Connection>, String>, StoreError> {
    let mut names = HashMap::new();
    for id in unique(ids) {
        let found = store.connections().find(id).await?;
        if let Some(found) = found.filter(|found| found.status != connection::Status::Deleted) {
            names.insert(id, found.record.name);
        }
    }
    Ok(names)
}

fn unique<T: Ord>(ids: impl Iterator<Item = T>) -> Vec<T> {
    let mut ids: Vec<_> = ids.collect();
    ids.sort_unstable();
    ids.dedup();
    ids
}
