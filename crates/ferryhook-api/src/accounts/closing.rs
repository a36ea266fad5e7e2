//! Suspending an account, and opening it again: for whoever is above it, never for itself.
//!
//! Everything beneath it is closed with it. Nothing that was accepted is dropped: deliveries are
//! held where they are, and go on when the account is opened again.

use axum::extract::State;
use ferryhook_core::account::Status;
use ferryhook_core::member::Role;
use ferryhook_core::{Account, Id};
use ferryhook_store::{Slice, StoreError, Stored};

use super::AccountView;
use crate::apply::Changed;
use crate::call::{ApiResult, Found, In};
use crate::caller::Caller;
use crate::owner;
use crate::problem::{Code, Problem};
use crate::router::App;
use crate::visit;

pub async fn suspend(
    State(app): State<App>,
    caller: Caller,
    In(id): In<Id<Account>>,
) -> ApiResult<Found<AccountView>> {
    set(&app, &caller, id, Status::Suspended, "account_suspended").await
}

pub async fn resume(
    State(app): State<App>,
    caller: Caller,
    In(id): In<Id<Account>>,
) -> ApiResult<Found<AccountView>> {
    set(&app, &caller, id, Status::Active, "account_resumed").await
}

async fn set(
    app: &App,
    caller: &Caller,
    id: Id<Account>,
    status: Status,
    event_type: &str,
) -> ApiResult<Found<AccountView>> {
    let was = beneath(app, caller, id).await?;
    let before = AccountView::of(&was, Role::Admin);
    if was.status == Status::Terminated {
        return Err(Problem::new(Code::Conflict, "The account has ended for good."));
    }
    if was.status == status {
        caller.nothing_changed();
        return Ok(Found(before));
    }
    let after = AccountView { status, ..before.clone() };
    let details = visit::details(Some(&before), Some(&after));
    let store = caller.noting(app, event_type, "account", id.as_str(), details);
    let now = store.accounts().set_status(&was, status).await?;
    ring(app, id).await;
    Ok(Found(AccountView::of(&now, Role::Admin)))
}

/// The account, if it lies beneath the caller's. Beneath the installation's own lie all roots.
async fn beneath(app: &App, caller: &Caller, id: Id<Account>) -> Result<Stored<Account>, Problem> {
    if id == caller.account() {
        let said = "An account is suspended and opened by one above it; name that in the header \
                    X-Ferryhook-Account.";
        return Err(Problem::new(Code::Forbidden, said));
    }
    let mut lineage = app.store.accounts().lineage(id).await?.into_iter();
    let account = lineage.next().ok_or_else(Problem::not_found)?;
    let is_root = account.parent_account_id.is_none();
    let is_beneath = lineage.any(|above| above.id == caller.account());
    let installation = owner::find(&app.store).await?.map(|owner| owner.account);
    match is_beneath || (is_root && installation == Some(caller.account())) {
        true => Ok(account),
        false => Err(Problem::not_found()),
    }
}

/// Tells the data plane of every source in and beneath the account, before anyone hears that it
/// was closed or opened. The change is made either way: whoever is not told finds out by itself
/// within a minute.
pub(super) async fn ring(app: &App, id: Id<Account>) {
    if let Err(error) = ring_all(app, id).await {
        tracing::warn!(%error, account.id = %id, "not every source was told of its account");
    }
}

async fn ring_all(app: &App, id: Id<Account>) -> Result<(), StoreError> {
    let mut open = vec![id];
    while let Some(id) = open.pop() {
        let mut slice = Slice::default();
        loop {
            let page = app.store.sources().list_by_account(id, slice.clone()).await?;
            for source in page.rows {
                (app.bell)(Changed { source: source.id, resumed: true, connections: Vec::new() });
            }
            let Some(next) = page.next else { break };
            slice = slice.after(Some(next));
        }
        let mut slice = Slice::default();
        loop {
            let page = app.store.accounts().list_children(id, None, slice.clone()).await?;
            open.extend(page.rows.iter().map(|child| child.id));
            let Some(next) = page.next else { break };
            slice = slice.after(Some(next));
        }
    }
    Ok(())
}
