//! Accounts: the tenants, and the tree they form.
//!
//! Routes that name an account in their path are about that account, whatever the header says; the
//! gate has looked whether the caller may be there.

pub mod closing;
pub mod name;
pub mod view;

use axum::extract::State;
use ferryhook_core::account::{AccountType, Status};
use ferryhook_core::member;
use ferryhook_core::{Account, Id, Map, alert, limits};
use ferryhook_store::repositories::{NewChild, TreeError};
use ferryhook_store::{Page, Stored};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use crate::call::{ApiResult, Asked, Condition, Created, Done, Found, In, Listed, Sent, Tagged};
use crate::caller::{Caller, Person};
use crate::owner;
use crate::page::{self, Sort};
use crate::problem::{Code, Problem};
use crate::router::App;
use crate::visit;

pub use view::AccountView;

#[derive(Debug, Clone, Serialize, Deserialize, IntoParams)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct AccountsQuery {
    /// How many at once.
    #[param(minimum = 1, maximum = 100)]
    #[serde(skip_serializing)]
    limit: Option<u32>,
    #[serde(skip_serializing)]
    cursor: Option<String>,
}

#[derive(Debug, Clone, Serialize, Deserialize, IntoParams)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct ChildrenQuery {
    /// Only those of this type.
    #[param(inline)]
    account_type: Option<AccountType>,
    /// How many at once.
    #[param(minimum = 1, maximum = 100)]
    #[serde(skip_serializing)]
    limit: Option<u32>,
    #[serde(skip_serializing)]
    cursor: Option<String>,
}

/// An account beneath the one that the request is about.
#[derive(Debug, Clone, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct NewAccount {
    #[schema(min_length = 1, max_length = 100)]
    account_name: String,
    account_type: AccountType,
    /// Yours to fill.
    #[schema(value_type = Option<Object>)]
    settings: Option<Map>,
    /// Yours to fill.
    #[schema(value_type = Option<Object>)]
    metadata: Option<Map>,
}

/// What is to be different about an account.
#[derive(Debug, Clone, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct AccountChange {
    #[schema(min_length = 1, max_length = 100)]
    account_name: Option<String>,
    account_type: Option<AccountType>,
    /// Takes the place of all that was there.
    #[schema(value_type = Option<Object>)]
    settings: Option<Map>,
    /// Takes the place of all that was there.
    #[schema(value_type = Option<Object>)]
    metadata: Option<Map>,
}

/// Those in which somebody has a place of their own, with their role there.
pub async fn list(
    State(app): State<App>,
    person: Person,
    Asked(query): Asked<AccountsQuery>,
) -> ApiResult<Listed<AccountView>> {
    let of = person.user.default_account_id;
    let list = app.cursors.of("accounts.list", of, &(person.id(), &query));
    let after = list.open(query.cursor.as_deref())?;
    let slice = page::slice(query.limit, after, Sort::Asc)?;
    let Page { rows: places, next } = app.store.members().list_by_user(person.id(), slice).await?;
    let mut rows = Vec::with_capacity(places.len());
    for place in places.into_iter().filter(|place| place.status == member::Status::Active) {
        if let Some(account) = app.store.accounts().find(place.account_id).await? {
            let view = AccountView::of(&account, place.role);
            rows.push(AccountView { is_default: Some(Some(account.id) == person.home), ..view });
        }
    }
    Ok(Listed(list.page(Page { rows, next }, |row| row)))
}

/// Makes an account beneath the caller's, whose administrators are its administrators too.
pub async fn create(
    State(app): State<App>,
    caller: Caller,
    Sent(body): Sent<NewAccount>,
) -> ApiResult<Created<AccountView>> {
    let new = NewChild {
        id: Id::new(&app.env),
        name: name::checked("/accountName", &body.account_name)?,
        kind: body.account_type,
        metadata: bounded("/metadata", body.metadata)?,
        settings: understood(bounded("/settings", body.settings)?)?,
    };
    let details = Map::from_iter([("name".to_owned(), new.name.clone().into())]);
    let store = caller.noting(&app, "account_created", "account", new.id.as_str(), details);
    let account = store.accounts().create_child(caller.account(), &new).await?;
    Ok(Created(AccountView::of(&account, caller.role())))
}

pub async fn show(
    State(app): State<App>,
    caller: Caller,
    In(id): In<Id<Account>>,
) -> ApiResult<Tagged<AccountView>> {
    let account = find(&app, id).await?;
    Ok(AccountView::of(&account, caller.role()).tagged())
}

pub async fn change(
    State(app): State<App>,
    caller: Caller,
    In(id): In<Id<Account>>,
    condition: Condition,
    Sent(body): Sent<AccountChange>,
) -> ApiResult<Tagged<AccountView>> {
    let was = find(&app, id).await?;
    let before = AccountView::of(&was, caller.role());
    condition.allows(&before.tag())?;
    let name = body.account_name.as_deref().map(|name| name::checked("/accountName", name));
    let name = name.transpose()?.filter(|name| *name != was.name);
    let mut now = match &name {
        Some(name) => was.renamed(name, app.env.now()),
        None => Account { updated_at: app.env.now(), ..was.record.clone() },
    };
    now.kind = body.account_type.unwrap_or(now.kind);
    now.settings = understood(bounded("/settings", body.settings)?)?.or(now.settings);
    now.metadata = bounded("/metadata", body.metadata)?.or(now.metadata);
    let after = AccountView::of(&now, caller.role());
    if after.tag() == before.tag() {
        caller.nothing_changed();
        return Ok(before.tagged());
    }
    let details = visit::details(Some(&before), Some(&after));
    let store = caller.noting(&app, "account_updated", "account", id.as_str(), details);
    match name {
        Some(_) => store.accounts().rename(&was, now).await?,
        None => store.accounts().replace(&was, now).await?,
    };
    Ok(after.tagged())
}

/// Ends an account for good. What it has can still be read until its time is up.
pub async fn end(
    State(app): State<App>,
    caller: Caller,
    In(id): In<Id<Account>>,
    condition: Condition,
) -> ApiResult<Done> {
    let was = find(&app, id).await?;
    let before = AccountView::of(&was, caller.role());
    condition.allows(&before.tag())?;
    if owner::find(&app.store).await?.is_some_and(|owner| owner.account == id) {
        return Err(Problem::new(Code::Conflict, "The installation's own account cannot end."));
    }
    let after = AccountView { status: Status::Terminated, ..before.clone() };
    let details = visit::details(Some(&before), Some(&after));
    let store = caller.noting(&app, "account_terminated", "account", id.as_str(), details);
    store.accounts().set_status(&was, Status::Terminated).await?;
    closing::ring(&app, id).await;
    Ok(Done)
}

pub async fn children(
    State(app): State<App>,
    caller: Caller,
    In(id): In<Id<Account>>,
    Asked(query): Asked<ChildrenQuery>,
) -> ApiResult<Listed<AccountView>> {
    let list = app.cursors.of("accounts.children", id, &query);
    let after = list.open(query.cursor.as_deref())?;
    let slice = page::slice(query.limit, after, Sort::Asc)?;
    let page = app.store.accounts().list_children(id, query.account_type, slice).await?;
    Ok(Listed(list.page(page, |child| AccountView::of(&child, caller.role()))))
}

/// Makes it the account of requests that name none.
pub async fn make_default(
    State(app): State<App>,
    person: Person,
    In(id): In<Id<Account>>,
) -> ApiResult<Found<AccountView>> {
    let standing = app.store.members().standing(person.id(), id).await?;
    let standing = standing.ok_or_else(Problem::not_found)?;
    let view = AccountView::of(&standing.account, standing.role);
    let view = AccountView { is_default: Some(true), ..view };
    if person.home == Some(id) {
        person.nothing_changed();
        return Ok(Found(view));
    }
    let change =
        |id: Id<Account>| Map::from_iter([("defaultAccountId".to_owned(), id.as_str().into())]);
    let before = person.home.map(change);
    let details = visit::details(before.as_ref(), Some(&change(id)));
    let store = person.noting(&app, "user_updated", "user", person.id().as_str(), details);
    store.members().make_default(person.id(), id).await?;
    Ok(Found(view))
}

async fn find(app: &App, id: Id<Account>) -> Result<Stored<Account>, Problem> {
    app.store.accounts().find(id).await?.ok_or_else(Problem::not_found)
}

/// What people keep beside an account has to stay small.
/// What Ferryhook itself reads there must be what it understands.
fn understood(settings: Option<Map>) -> Result<Option<Map>, Problem> {
    match alert::Settings::read(settings.as_ref()) {
        Ok(_) => Ok(settings),
        Err(bad) => Err(Problem::invalid(format!("/settings{}", bad.pointer), bad.message)),
    }
}

fn bounded(pointer: &str, map: Option<Map>) -> Result<Option<Map>, Problem> {
    let most = limits::ACCOUNT_SETTINGS_BYTES_MAX;
    match map.as_ref().map(|map| serde_json::to_vec(map).map_or(usize::MAX, |text| text.len())) {
        Some(bytes) if bytes > most => {
            Err(Problem::invalid(pointer, format!("may have at most {most} bytes")))
        }
        _ => Ok(map),
    }
}

impl From<TreeError> for Problem {
    fn from(error: TreeError) -> Self {
        match error {
            TreeError::Store(error) => error.into(),
            TreeError::Missing => Self::not_found(),
            TreeError::Closed => Self::new(Code::AccountSuspended, format!("Not done: {error}.")),
            TreeError::TooDeep
            | TreeError::TooMany
            | TreeError::HasChildren
            | TreeError::TooManyToRename => {
                Self::new(Code::Conflict, format!("Not done: {error}."))
            }
        }
    }
}

#[cfg(test)]
mod tests;
