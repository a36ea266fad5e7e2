//! Event types: the catalogue that an account's traffic has written, and what its owner declares
//! about types.
//!
//! Counting, learning and checking are left to the data plane, which is told when a declaration
//! changes. A type is named by its name, which is the account's own: nobody else's can be meant.

mod view;

use axum::extract::State;
use ferryhook_core::event_type::declared::{BadSchema, Compiled};
use ferryhook_core::event_type::{Declared, is_name};
use ferryhook_core::{EventType, limits};
use ferryhook_store::{Slice, Stored};
use serde::{Deserialize, Serialize};
use utoipa::IntoParams;

use crate::call::{ApiResult, Asked, Done, Found, In, Listed, Sent};
use crate::caller::Caller;
use crate::page::{self, Sort};
use crate::problem::{Code, Problem};
use crate::router::App;
use crate::visit;

pub use view::{DeclaredView, EventTypeView, NewDeclaration};

/// How often a change is tried that another's came before: events are counted on the same row.
const TRIES_MAX: usize = 8;

#[derive(Debug, Clone, Serialize, Deserialize, IntoParams)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct EventTypesQuery {
    /// How many at once.
    #[param(minimum = 1, maximum = 100)]
    #[serde(skip_serializing)]
    limit: Option<u32>,
    #[serde(skip_serializing)]
    cursor: Option<String>,
}

/// `GET /v1/event-types`: by name, without the inferred schemas.
pub async fn list(
    State(app): State<App>,
    caller: Caller,
    Asked(query): Asked<EventTypesQuery>,
) -> ApiResult<Listed<EventTypeView>> {
    let list = app.cursors.of("eventTypes.list", caller.account(), &query);
    let after = list.open(query.cursor.as_deref())?;
    let slice = page::slice(query.limit, after, Sort::Asc)?;
    let page = app.store.event_types().list(caller.account(), slice).await?;
    Ok(Listed(list.page(page, |known| EventTypeView::brief(&known))))
}

/// `GET /v1/event-types/{typeName}`
pub async fn show(
    State(app): State<App>,
    caller: Caller,
    In(name): In<String>,
) -> ApiResult<Found<EventTypeView>> {
    let known = get(&app, &caller, &name).await?;
    Ok(Found(EventTypeView::of(&known)))
}

/// `PUT /v1/event-types/{typeName}/schema`: also of a type that nothing has come of yet.
pub async fn declare(
    State(app): State<App>,
    caller: Caller,
    In(name): In<String>,
    Sent(body): Sent<NewDeclaration>,
) -> ApiResult<Found<EventTypeView>> {
    if !is_name(&name) {
        let most = limits::TYPE_NAME_BYTES_MAX;
        let said =
            format!("The name of a type has at most {most} bytes and no control characters.");
        return Err(Problem::new(Code::Validation, said));
    }
    let bad = |BadSchema { pointer, reason }| Problem::invalid(format!("/schema{pointer}"), reason);
    // Patterns can take their time.
    let compile = move || Compiled::of(&body.schema).map(|_| body.schema.to_string());
    let compiled = tokio::task::spawn_blocking(compile).await;
    let schema = compiled.map_err(|_| Problem::internal())?.map_err(bad)?;
    let declared = Declared { schema, mode: body.mode, declared_at: app.env.now(), told_at: None };
    for _ in 0..TRIES_MAX {
        let was = app.store.event_types().find(caller.account(), &name).await?;
        let before = was.as_ref().and_then(|was| was.declared.as_ref());
        if before.is_some_and(|one| one.schema == declared.schema && one.mode == declared.mode) {
            caller.nothing_changed();
            let known = get(&app, &caller, &name).await?;
            return Ok(Found(EventTypeView::of(&known)));
        }
        if before.is_none() {
            has_room(&app, &caller).await?;
        }
        let known = was.as_ref().map(|was| was.record.clone());
        let known = known.unwrap_or_else(|| EventType::new(caller.account(), &name));
        let now = EventType { declared: Some(declared.clone()), ..known };
        if write(&app, &caller, was.as_ref(), &now, "event_type_declared").await? {
            return Ok(Found(EventTypeView::of(&now)));
        }
    }
    Err(busy())
}

/// `DELETE /v1/event-types/{typeName}/schema`: what was learned stays.
pub async fn withdraw(
    State(app): State<App>,
    caller: Caller,
    In(name): In<String>,
) -> ApiResult<Done> {
    for _ in 0..TRIES_MAX {
        let was = get(&app, &caller, &name).await?;
        if was.declared.is_none() {
            return Err(Problem::not_found());
        }
        let now = EventType { declared: None, ..was.record.clone() };
        if write(&app, &caller, Some(&was), &now, "event_type_declaration_withdrawn").await? {
            return Ok(Done);
        }
    }
    Err(busy())
}

/// `DELETE /v1/event-types/{typeName}`: with what is declared. The next event begins it anew.
pub async fn delete(
    State(app): State<App>,
    caller: Caller,
    In(name): In<String>,
) -> ApiResult<Done> {
    for _ in 0..TRIES_MAX {
        let was = get(&app, &caller, &name).await?;
        let before = was.declared.as_ref().map(DeclaredView::of);
        let details = visit::details(before.as_ref(), None::<&DeclaredView>);
        let store = caller.noting(&app, "event_type_deleted", "event_type", &name, details);
        match store.event_types().delete(&was).await {
            Err(error) if error.is_refused() => {}
            Err(error) => return Err(error.into()),
            Ok(()) => {
                app.works.types_changed(caller.account());
                return Ok(Done);
            }
        }
    }
    Err(busy())
}

async fn get(app: &App, caller: &Caller, name: &str) -> ApiResult<Stored<EventType>> {
    // What cannot be a name is not asked for: no key is made of it.
    let found = match is_name(name) {
        true => app.store.event_types().find(caller.account(), name).await?,
        false => None,
    };
    found.ok_or_else(Problem::not_found)
}

/// Whether nobody else was faster.
async fn write(
    app: &App,
    caller: &Caller,
    was: Option<&Stored<EventType>>,
    now: &EventType,
    what: &str,
) -> ApiResult<bool> {
    let before = was.and_then(|was| was.declared.as_ref()).map(DeclaredView::of);
    let after = now.declared.as_ref().map(DeclaredView::of);
    let details = visit::details(before.as_ref(), after.as_ref());
    let store = caller.noting(app, what, "event_type", &now.name, details);
    let types = store.event_types();
    let written = match was {
        Some(was) => types.replace(was, now.clone()).await.map(drop),
        None => types.create(now).await,
    };
    match written {
        Err(error) if error.is_refused() => Ok(false),
        Err(error) => Err(error.into()),
        Ok(()) => {
            app.works.types_changed(caller.account());
            Ok(true)
        }
    }
}

async fn has_room(app: &App, caller: &Caller) -> ApiResult<()> {
    let most = limits::DECLARED_PER_ACCOUNT_MAX;
    let mut count = 0;
    let mut slice = Slice::default().limit(most);
    loop {
        let page = app.store.event_types().list_declared(caller.account(), slice.clone()).await?;
        count += page.rows.len();
        if count >= most {
            let said = format!("An account declares at most {most} types; withdraw one first.");
            return Err(Problem::new(Code::Conflict, said));
        }
        if page.next.is_none() {
            return Ok(());
        }
        slice = slice.after(page.next);
    }
}

fn busy() -> Problem {
    Problem::new(Code::Conflict, "Others change this type all the time. Ask again.")
}

#[cfg(test)]
mod tests;
