//! API keys: made and shown once, listed, narrowed, revoked.
//!
//! A key opens what its scope and its maker have in common. Nobody makes one with a scope above
//! their own role, and a key never makes one that could more, or for longer, than itself.

pub mod view;

use axum::extract::State;
use ferryhook_core::key::{Permissions, PlainKey, Status};
use ferryhook_core::{Id, Key, Timestamp, limits, permission};
use ferryhook_store::repositories::KeyError;
use ferryhook_store::{Stored, UniqueError};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use crate::accounts::name;
use crate::call::{ApiResult, Asked, Condition, Created, Done, In, Listed, Sent, Tagged};
use crate::caller::Caller;
use crate::members::not_above;
use crate::operations;
use crate::page::{self, Sort};
use crate::problem::{Code, Problem};
use crate::route::Access;
use crate::router::App;
use crate::visit;

pub use view::KeyView;

#[derive(Debug, Clone, Serialize, Deserialize, IntoParams)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct KeysQuery {
    /// How many at once.
    #[param(minimum = 1, maximum = 100)]
    #[serde(skip_serializing)]
    limit: Option<u32>,
    #[serde(skip_serializing)]
    cursor: Option<String>,
}

/// What the new key may do, and for how long.
#[derive(Debug, Clone, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct NewKey {
    #[schema(min_length = 1, max_length = 100)]
    name: String,
    permissions: Permissions,
    /// The only operations it may do, within its permissions: `sources.list`, or `sources.*`.
    #[schema(max_items = 100)]
    operations: Option<Vec<String>>,
    /// Without it the key works until it is revoked.
    expires_at: Option<Timestamp>,
}

/// What is to be different about a key.
#[derive(Debug, Clone, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct KeyChange {
    #[schema(min_length = 1, max_length = 100)]
    name: Option<String>,
    /// Takes the place of those it had. A key that could do everything of its scope can be
    /// narrowed; the list cannot be taken away again.
    #[schema(max_items = 100)]
    operations: Option<Vec<String>>,
}

pub async fn create(
    State(app): State<App>,
    caller: Caller,
    Sent(body): Sent<NewKey>,
) -> ApiResult<Created<KeyView>> {
    not_above(&caller, body.permissions.role())?;
    let name = name::checked("/name", &body.name)?;
    let operations = listed(&caller, body.operations)?;
    let expires_at = ends(&app, &caller, body.expires_at)?;
    let plain = PlainKey::generate(&app.env);
    let key = Key {
        id: Id::new(&app.env),
        user_id: caller.user(),
        account_id: caller.account(),
        name,
        hash: plain.hash(),
        prefix: plain.prefix(),
        permissions: body.permissions,
        operations,
        status: Status::Active,
        last_used_at: None,
        expires_at,
        created_at: app.env.now(),
        metadata: None,
    };
    let view = KeyView::of(&key, app.env.now());
    let details = visit::details(None::<&KeyView>, Some(&view));
    let store = caller.noting(&app, "api_key_created", "api_key", key.id.as_str(), details);
    store.keys().create_within_bounds(&key).await?;
    Ok(Created(KeyView { key: Some(plain.expose().to_owned()), ..view }))
}

pub async fn list(
    State(app): State<App>,
    caller: Caller,
    Asked(query): Asked<KeysQuery>,
) -> ApiResult<Listed<KeyView>> {
    let list = app.cursors.of("apiKeys.list", caller.account(), &query);
    let after = list.open(query.cursor.as_deref())?;
    let slice = page::slice(query.limit, after, Sort::Asc)?;
    let page = app.store.keys().list_by_account(caller.account(), slice).await?;
    let now = app.env.now();
    Ok(Listed(list.page(page, |key| KeyView::of(&key, now))))
}

pub async fn show(
    State(app): State<App>,
    caller: Caller,
    In(id): In<Id<Key>>,
) -> ApiResult<Tagged<KeyView>> {
    let key = find(&app, &caller, id).await?;
    Ok(KeyView::of(&key, app.env.now()).tagged())
}

pub async fn change(
    State(app): State<App>,
    caller: Caller,
    In(id): In<Id<Key>>,
    condition: Condition,
    Sent(body): Sent<KeyChange>,
) -> ApiResult<Tagged<KeyView>> {
    let was = find(&app, &caller, id).await?;
    let before = KeyView::of(&was, app.env.now());
    condition.allows(&before.tag())?;
    if was.status == Status::Revoked {
        return Err(Problem::new(Code::Conflict, "The key is revoked for good."));
    }
    not_above(&caller, was.permissions.role())?;
    let mut now = was.record.clone();
    if let Some(name) = &body.name {
        now.name = name::checked("/name", name)?;
    }
    if body.operations.is_some() {
        now.operations = listed(&caller, body.operations)?;
        gives_no_more(&caller, &was, &now)?;
    }
    if now == was.record {
        caller.nothing_changed();
        return Ok(before.tagged());
    }
    let after = KeyView::of(&now, app.env.now());
    let details = visit::details(Some(&before), Some(&after));
    let store = caller.noting(&app, "api_key_updated", "api_key", id.as_str(), details);
    store.keys().replace(&was, now).await?;
    Ok(after.tagged())
}

/// Answered when it works no more.
pub async fn revoke(
    State(app): State<App>,
    caller: Caller,
    In(id): In<Id<Key>>,
) -> ApiResult<Done> {
    let was = find(&app, &caller, id).await?;
    if was.status == Status::Revoked {
        caller.nothing_changed();
        return Ok(Done);
    }
    let before = KeyView::of(&was, app.env.now());
    let after = KeyView { status: Status::Revoked, ..before.clone() };
    let details = visit::details(Some(&before), Some(&after));
    let store = caller.noting(&app, "api_key_revoked", "api_key", id.as_str(), details);
    store.keys().revoke(caller.account(), id).await?.ok_or_else(Problem::not_found)?;
    Ok(Done)
}

async fn find(app: &App, caller: &Caller, id: Id<Key>) -> Result<Stored<Key>, Problem> {
    app.store.keys().find_in(caller.account(), id).await?.ok_or_else(Problem::not_found)
}

/// The operations of a key, each of which means something. One that makes another key has to have
/// them itself.
fn listed(caller: &Caller, wanted: Option<Vec<String>>) -> Result<Option<Vec<String>>, Problem> {
    let own = caller.used_key().and_then(|key| key.operations.as_ref());
    let Some(wanted) = wanted else {
        return match own {
            None => Ok(None),
            Some(_) => {
                let said = "Name the operations: this key is bound to some, and cannot make one \
                            that is not.";
                Err(Problem::new(Code::Forbidden, said))
            }
        };
    };
    let most = limits::KEY_OPERATIONS_MAX;
    if wanted.is_empty() || wanted.len() > most {
        return Err(Problem::invalid("/operations", format!("must have 1 to {most} entries")));
    }
    for (place, pattern) in wanted.iter().enumerate() {
        let meant = operations::meant(pattern, &format!("/operations/{place}"))?;
        let has = |operation: &str| {
            own.is_none_or(|own| own.iter().any(|pattern| permission::matches(pattern, operation)))
        };
        if let Some((operation, _)) = meant.iter().find(|(operation, _)| !has(operation)) {
            let said = format!("This key may not do {operation} itself.");
            return Err(Problem::new(Code::Forbidden, said));
        }
    }
    Ok(Some(wanted))
}

/// A whole second, as it is stored, in the future, and not behind the end of the key that asks.
fn ends(
    app: &App,
    caller: &Caller,
    wanted: Option<Timestamp>,
) -> Result<Option<Timestamp>, Problem> {
    let wanted = wanted.map(|at| Timestamp::from_seconds(at.as_seconds()));
    if wanted.is_some_and(|at| at <= app.env.now()) {
        return Err(Problem::invalid("/expiresAt", "must be in the future"));
    }
    let own = caller.used_key().and_then(|key| key.expires_at);
    match own.is_some_and(|own| wanted.is_none_or(|at| at > own)) {
        true => {
            let said = "A key cannot make one that outlives it; say expiresAt.";
            Err(Problem::new(Code::Forbidden, said))
        }
        false => Ok(wanted),
    }
}

/// Nobody gives a key what they may not do themselves, also if its maker could: they may be the one
/// who uses it.
fn gives_no_more(caller: &Caller, was: &Key, now: &Key) -> Result<(), Problem> {
    for (operation, access) in operations::known() {
        let Access::Role(needed) = *access else { continue };
        let gains = permission::key_may(now, needed, operation)
            && !permission::key_may(was, needed, operation);
        if gains && !caller.may(needed, operation) {
            let said = format!("You may not do {operation} yourself.");
            return Err(Problem::new(Code::Forbidden, said));
        }
    }
    Ok(())
}

impl From<KeyError> for Problem {
    fn from(error: KeyError) -> Self {
        match error {
            KeyError::TooMany => {
                let said = format!("Not done: {error}; revoke one that nobody uses.");
                Self::new(Code::Conflict, said)
            }
            KeyError::Unique(UniqueError::Store(error)) => error.into(),
            // 190 bits were drawn twice.
            KeyError::Unique(UniqueError::Taken(_)) => Self::internal(),
        }
    }
}

#[cfg(test)]
mod tests;
