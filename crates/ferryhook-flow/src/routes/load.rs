//! Reads one route from the store.

use std::sync::Arc;

use ferryhook_core::limits::HOOKS_PER_ACCOUNT_MAX;
use ferryhook_core::{Account, Connection, Id, Source, Timestamp, account, inbox, source};
use ferryhook_store::{Slice, Store, StoreError};

use super::declared::Shared;
use super::{Allowance, Proof, Reading, Route, Way, limits};

/// `None` when there is no such source, or when it is deleted. `before` is what was read the last
/// time, if anything.
pub(super) async fn route(
    store: &Store,
    id: Id<Source>,
    before: Option<&Route>,
    declared: &Shared,
    now: Timestamp,
) -> Result<Option<Arc<Route>>, StoreError> {
    let found = store.sources().find(id).await?.map(|found| found.record);
    let Some(source) = found.filter(|source| source.status != source::Status::Deleted) else {
        return Ok(None);
    };
    let lineage = store.accounts().lineage(source.account_id).await?;
    let account = lineage.first();
    if account.is_none() {
        // Its events are still worth more than the mistake.
        tracing::warn!(source.id = %id, account.id = %source.account_id, "the account is missing");
    }
    let plan = match account {
        Some(account) => plan(store, account).await?,
        None => Allowance::default(),
    };
    let worst = lineage.iter().map(|account| account.status).max();
    let account_status = worst.unwrap_or(account::Status::Active);
    let mut ways = ways(store, &source, account_status, before, now).await?;
    add_hooks(store, &source, account_status, before, (&mut ways, now)).await?;
    if let Some(own) = inbox::way_of(&source) {
        ways.push(way(own, account_status, None, now).await?);
    }
    let reading = match before {
        Some(before) if Reading::is_same(&before.source, &source) => before.reading.clone(),
        _ => Reading::new(&source),
    };
    let proof = match before {
        Some(before) if Proof::is_same(&before.source, &source) => before.proof.clone(),
        _ => Proof::new(&source),
    };
    let erased_until = store.ledger().erased_until(id).await?;
    let declared = declared.load(store, source.account_id).await?;
    Ok(Some(Arc::new(Route {
        source,
        reading,
        proof,
        plan,
        account_status,
        erased_until,
        declared,
        ways,
    })))
}

/// An owner without a plan has no limits: nobody's event is refused for a gap in our own tables.
async fn plan(store: &Store, account: &Account) -> Result<Allowance, StoreError> {
    let owner = store.users().find(account.user_id).await?;
    let Some(owner) = owner else {
        tracing::warn!(account.id = %account.id, "the account's owner is missing");
        return Ok(Allowance::default());
    };
    match store.plans().find(&owner.plan).await? {
        Some(plan) => Ok(Allowance::of(&plan)),
        None => {
            tracing::warn!(account.id = %account.id, plan = %owner.plan, "the plan is missing");
            Ok(Allowance::default())
        }
    }
}

/// To compile a script can take as long as its author likes, within its size.
async fn way(
    connection: Connection,
    account: account::Status,
    known: Option<Arc<Way>>,
    now: Timestamp,
) -> Result<Arc<Way>, StoreError> {
    let was = known.as_ref().and_then(|known| known.connection.transform.as_deref());
    let is_quick = connection.transform.is_none() || connection.transform.as_deref() == was;
    let make = move || Arc::new(Way::new(connection, known.as_deref(), now).of_account(account));
    if is_quick {
        return Ok(make());
    }
    tokio::task::spawn_blocking(make).await.map_err(|error| {
        StoreError::Unavailable(format!("a transform cannot be compiled: {error}"), None)
    })
}

/// The hooks of the account that ask for events of this source are ways beside its connections.
async fn add_hooks(
    store: &Store,
    source: &Source,
    account: account::Status,
    before: Option<&Route>,
    (ways, now): (&mut Vec<Arc<Way>>, Timestamp),
) -> Result<(), StoreError> {
    let slice = Slice::default().limit(HOOKS_PER_ACCOUNT_MAX as usize);
    for hook in store.hooks().list_active(source.account_id, slice).await?.rows {
        let Some(connection) = hook.way(source) else { continue };
        if ways.len() == limits::CONNECTIONS_MAX {
            tracing::warn!(source.id = %source.id, hook.id = %hook.id, "there is no room for a hook");
            return Ok(());
        }
        let before = before.map_or(&[][..], |before| &before.ways);
        let known = before.iter().find(|way| way.connection.id == connection.id);
        let way = Way::new(connection, known.map(|known| &**known), now);
        ways.push(Arc::new(way.of_account(account).of_hook(Some(hook.id))));
    }
    Ok(())
}

async fn ways(
    store: &Store,
    source: &Source,
    account: account::Status,
    before: Option<&Route>,
    now: Timestamp,
) -> Result<Vec<Arc<Way>>, StoreError> {
    let id = source.id;
    let before = before.map_or(&[][..], |before| &before.ways);
    let mut ways = Vec::new();
    let mut slice = Slice::default().limit(limits::CONNECTIONS_MAX);
    for _ in 0..limits::PAGES_MAX {
        let page = store.connections().list_by_source(id, slice.clone()).await?;
        for connection in page.rows.into_iter().map(|row| row.record) {
            if ways.len() == limits::CONNECTIONS_MAX {
                tracing::warn!(source.id = %id, "only the first {} connections count", ways.len());
                return Ok(ways);
            }
            let known = before.iter().find(|way| way.connection.id == connection.id);
            ways.push(way(connection, account, known.cloned(), now).await?);
        }
        if page.next.is_none() {
            return Ok(ways);
        }
        slice = slice.after(page.next);
    }
    tracing::warn!(source.id = %id, "too many deleted connections; some were not looked at");
    Ok(ways)
}
