//! Which connections a replay is meant for.

use std::sync::Arc;

use ferryhook_core::connection::Status;
use ferryhook_core::{Connection, Event, Id};
use ferryhook_store::Store;

use super::ReplayError;
use crate::routes::{Route, Routes, Way};

/// Those that are named, whatever they want otherwise; or all that want it.
pub(super) async fn find(
    store: &Store,
    routes: &Routes,
    event: &Event,
    to: Option<&[Id<Connection>]>,
) -> Result<Vec<Arc<Way>>, ReplayError> {
    let route = route(routes, event).await?;
    let Some(named) = to else { return wanting(&route, event) };
    if let Some(ways) = all_of(&route, named) {
        return Ok(ways);
    }
    // One that is not known may be newer than what is remembered of its source.
    routes.forget(event.source_id);
    let route = self::route(routes, event).await?;
    if let Some(ways) = all_of(&route, named) {
        return Ok(ways);
    }
    if let Some(id) = named.iter().find(|id| way(&route, **id).is_none()) {
        return Err(why_not(store, event, *id).await?);
    }
    Ok(Vec::new())
}

async fn route(routes: &Routes, event: &Event) -> Result<Arc<Route>, ReplayError> {
    routes.find(event.source_id).await?.ok_or(ReplayError::SourceGone(event.id))
}

fn wanting(route: &Route, event: &Event) -> Result<Vec<Arc<Way>>, ReplayError> {
    let mut ways = Vec::new();
    for way in &route.ways {
        let undecided = |reason| ReplayError::Undecided { connection: way.connection.id, reason };
        if way.wants(event).map_err(undecided)? {
            ways.push(way.clone());
        }
    }
    Ok(ways)
}

/// Each once, or nothing if one is missing.
fn all_of(route: &Route, named: &[Id<Connection>]) -> Option<Vec<Arc<Way>>> {
    let mut named = named.to_vec();
    named.sort_unstable();
    named.dedup();
    named.into_iter().map(|id| way(route, id).cloned()).collect()
}

fn way(route: &Route, id: Id<Connection>) -> Option<&Arc<Way>> {
    route.ways.iter().find(|way| way.connection.id == id)
}

async fn why_not(
    store: &Store,
    event: &Event,
    id: Id<Connection>,
) -> Result<ReplayError, ReplayError> {
    let found = store.connections().find(id).await?;
    Ok(match found {
        None => ReplayError::UnknownConnection(id),
        Some(found) if found.account_id != event.account_id => ReplayError::UnknownConnection(id),
        Some(found) if found.status == Status::Deleted => ReplayError::ConnectionDeleted(id),
        Some(_) => ReplayError::ForeignConnection { event: event.id, connection: id },
    })
}
