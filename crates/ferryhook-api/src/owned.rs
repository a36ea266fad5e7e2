//! What the caller's account has. Everything that a request names by id is found through here, so
//! that what is somebody else's is as missing as what is not there.

use ferryhook_core::{
    Connection, Erasure, Event, Hook, Id, Rejection, Replay, Source, connection, source,
};
use ferryhook_store::Stored;

use crate::call::ApiResult;
use crate::caller::Caller;
use crate::problem::Problem;
use crate::router::App;

pub async fn source(app: &App, caller: &Caller, id: Id<Source>) -> ApiResult<Stored<Source>> {
    let found = app.store.sources().find_owned(caller.owner(), id).await?;
    found
        .filter(|found| found.account_id == caller.account())
        .filter(|found| found.status != source::Status::Deleted)
        .ok_or_else(Problem::not_found)
}

pub async fn connection(
    app: &App,
    caller: &Caller,
    id: Id<Connection>,
) -> ApiResult<Stored<Connection>> {
    let found = app.store.connections().find(id).await?;
    let found = found.filter(|found| found.account_id == caller.account());
    let Some(found) = found else { return Err(Problem::not_found()) };
    // By its key, and so as it was last written.
    let found = app.store.connections().find_of(found.source_id, id).await?;
    found
        .filter(|found| found.account_id == caller.account())
        .filter(|found| found.status != connection::Status::Deleted)
        .ok_or_else(Problem::not_found)
}

pub async fn event(app: &App, caller: &Caller, id: Id<Event>) -> ApiResult<Stored<Event>> {
    let found = app.store.events().find(id).await?;
    let ours = found.filter(|found| found.account_id == caller.account());
    ours.ok_or_else(Problem::not_found)
}

/// Of a source that is the caller's.
pub async fn rejection(
    app: &App,
    source: &Source,
    id: Id<Rejection>,
) -> ApiResult<Stored<Rejection>> {
    let Some(at) = id.made_at() else { return Err(Problem::not_found()) };
    let found = app.store.rejections().find(source.id, at, id).await?;
    found.ok_or_else(Problem::not_found)
}

pub async fn erasure(app: &App, caller: &Caller, id: Id<Erasure>) -> ApiResult<Stored<Erasure>> {
    let found = app.store.erasures().find(caller.account(), id).await?;
    found.ok_or_else(Problem::not_found)
}

pub async fn replay(app: &App, caller: &Caller, id: Id<Replay>) -> ApiResult<Stored<Replay>> {
    let found = app.store.replays().find_of(caller.account(), id).await?;
    found.ok_or_else(Problem::not_found)
}

pub async fn hook(app: &App, caller: &Caller, id: Id<Hook>) -> ApiResult<Stored<Hook>> {
    let found = app.store.hooks().find(id).await?;
    let ours = found.filter(|found| found.account_id == caller.account());
    ours.ok_or_else(Problem::not_found)
}
