//! Sources: the addresses that senders post to.

mod change;
mod sign;
mod view;

use axum::extract::State;
use ferryhook_core::id::SourceId;
use ferryhook_core::secret::Previous;
use ferryhook_core::source::Status;
use ferryhook_core::{Map, Secret, Source};
use ferryhook_store::Stored;
use ferryhook_store::repositories::Edit;
use serde::{Deserialize, Serialize};
use serde_json::json;
use utoipa::{IntoParams, ToSchema};

use crate::address::Address;
use crate::apply::{self, Existing};
use crate::call::{
    ApiResult, Asked, Condition, Created, Done, Found, In, Listed, MaybeSent, Sent, Tagged,
};
use crate::caller::Caller;
use crate::export;
use crate::manifest::{SourceSpec, says_types};
use crate::owned;
use crate::owner::Owner;
use crate::page::{self, Sort};
use crate::problem::Problem;
use crate::router::App;
use crate::settings::{self, Patch, Written};
use crate::visit::details;

pub(crate) use change::{Unwritten, change, edit, ring};
pub use sign::{SampleRequest, SignedSample, sign};
pub use view::{NewSource, SourceView, Standing};

/// Which sources are wanted.
#[derive(Debug, Clone, Serialize, Deserialize, IntoParams)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct SourcesQuery {
    /// Only those in this state.
    #[param(inline)]
    status: Option<Status>,
    /// Only those of this provider.
    provider: Option<String>,
    /// How many at once.
    #[param(minimum = 1, maximum = 100)]
    #[serde(skip_serializing)]
    limit: Option<u32>,
    #[serde(skip_serializing)]
    cursor: Option<String>,
}

/// The secret that comes next.
#[derive(Debug, Clone, Default, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct NewSecret {
    /// One is made up where none is given.
    #[schema(min_length = 1, max_length = 1024)]
    pub signing_secret: Option<String>,
}

/// A secret that has just been changed. It is not shown again.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct RotatedSecret {
    #[schema(value_type = String)]
    pub signing_secret: Secret,
    /// Until then the one before is honoured as well.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub previous_valid_until: Option<ferryhook_core::Timestamp>,
}

impl RotatedSecret {
    pub(crate) fn new(secret: Secret, previous: &[Previous]) -> Self {
        let previous_valid_until = previous.iter().map(|old| old.valid_until).max();
        Self { signing_secret: secret, previous_valid_until }
    }
}

/// `POST /v1/sources`
pub async fn create(
    State(app): State<App>,
    caller: Caller,
    address: Address,
    Sent(body): Sent<Written<NewSource>>,
) -> ApiResult<Created<SourceView>> {
    let spec = read(&app, &body.0)?;
    let owner = Owner { user: caller.owner(), account: caller.account() };
    let source = apply::wanted_source(&spec, None, owner, &app.env);
    let source = Source { created_by: caller.user(), ..source };
    let view = SourceView::new(&source, &address);
    let deed = details(None::<&Map>, Some(&settings::logged(&view)));
    let store = caller.noting(&app, "source_created", "source", source.id.as_str(), deed);
    let edits = [Edit::CreateSource(source)];
    edit(&app, &caller, &store, &edits).await?;
    ring(&app, &edits);
    Ok(Created(view))
}

fn read(app: &App, body: &Map) -> ApiResult<SourceSpec> {
    if body.contains_key("connections") {
        let said = "connections are made at /v1/sources/{id}/connections";
        return Err(Problem::invalid("/connections", said));
    }
    SourceSpec::from_json(body, &app.guard).map_err(settings::problem)
}

/// `GET /v1/sources`
pub async fn list(
    State(app): State<App>,
    caller: Caller,
    address: Address,
    Asked(query): Asked<SourcesQuery>,
) -> ApiResult<Listed<SourceView>> {
    let account = caller.account();
    let cursors = app.cursors.of("sources.list", account, &query);
    let after = cursors.open(query.cursor.as_deref())?;
    let slice = page::slice(query.limit, after, Sort::Asc)?;
    let sources = app.store.sources();
    let mut page = match (query.status, query.provider.as_deref()) {
        (Some(Status::Deleted), _) => {
            return Err(Problem::invalid("status", "what is deleted is not listed"));
        }
        (Some(status), _) => sources.list_by_status(account, status, slice).await?,
        (None, Some("")) => return Err(Problem::invalid("provider", "must not be empty")),
        (None, Some(provider)) => sources.list_by_platform(account, provider, slice).await?,
        (None, None) => sources.list_by_account(account, slice).await?,
    };
    if let Some(provider) = &query.provider {
        page.rows.retain(|source| source.provider == *provider);
    }
    Ok(Listed(cursors.page(page, |source| SourceView::new(&source, &address))))
}

/// `GET /v1/sources/{id}`
pub async fn show(
    State(app): State<App>,
    caller: Caller,
    address: Address,
    In(id): In<SourceId>,
) -> ApiResult<Tagged<SourceView>> {
    let source = owned::source(&app, &caller, id).await?;
    Ok(SourceView::new(&source, &address).tagged())
}

/// `PATCH /v1/sources/{id}`
pub async fn update(
    State(app): State<App>,
    caller: Caller,
    address: Address,
    In(id): In<SourceId>,
    condition: Condition,
    Sent(patch): Sent<Patch<NewSource>>,
) -> ApiResult<Tagged<SourceView>> {
    let changed =
        change(&app, &caller, id, &condition, "source_updated", |was| patched(&app, was, &patch));
    let now = changed.await?;
    Ok(SourceView::new(&now, &address).tagged())
}

/// The settings as they are, with the patch, read once more as a whole.
fn patched(app: &App, was: &Stored<Source>, patch: &Patch<NewSource>) -> ApiResult<Source> {
    let settings = export::source_fields(was, &|secret| json!(secret.expose()));
    let spec = read(app, &patch.applied_to(settings))?;
    let owner = Owner { user: was.user_id, account: was.account_id };
    Ok(apply::wanted_source(&spec, Some(&was.record), owner, &app.env))
}

/// `DELETE /v1/sources/{id}`. Its connections go with it; its events stay until they expire.
pub async fn delete(
    State(app): State<App>,
    caller: Caller,
    In(id): In<SourceId>,
    condition: Condition,
) -> ApiResult<Done> {
    change::delete(&app, &caller, id, &condition).await?;
    Ok(Done)
}

/// `POST /v1/sources/{id}/pause`. What comes in is held.
pub async fn pause(
    State(app): State<App>,
    caller: Caller,
    address: Address,
    In(id): In<SourceId>,
    condition: Condition,
) -> ApiResult<Tagged<SourceView>> {
    let turn = |was: &Stored<Source>| Ok(standing(&app, was, Status::Paused));
    let now = change(&app, &caller, id, &condition, "source_paused", turn).await?;
    Ok(SourceView::new(&now, &address).tagged())
}

/// `POST /v1/sources/{id}/resume`. What was held goes on its way.
pub async fn resume(
    State(app): State<App>,
    caller: Caller,
    address: Address,
    In(id): In<SourceId>,
    condition: Condition,
) -> ApiResult<Tagged<SourceView>> {
    let turn = |was: &Stored<Source>| Ok(standing(&app, was, Status::Active));
    let now = change(&app, &caller, id, &condition, "source_resumed", turn).await?;
    Ok(SourceView::new(&now, &address).tagged())
}

fn standing(app: &App, was: &Source, status: Status) -> Source {
    match was.status == status {
        true => was.clone(),
        false => Source { status, updated_at: app.env.now(), ..was.clone() },
    }
}

/// `POST /v1/sources/{id}/rotate-secret`
pub async fn rotate_secret(
    State(app): State<App>,
    caller: Caller,
    In(id): In<SourceId>,
    MaybeSent(body): MaybeSent<NewSecret>,
) -> ApiResult<Found<RotatedSecret>> {
    let given = body.unwrap_or_default().signing_secret.map(Secret::new);
    let secret = given.unwrap_or_else(|| Secret::generate(&app.env));
    let patch = [("signingSecret".to_owned(), json!(secret.expose()))];
    let patch = Patch::of(patch.into_iter().collect());
    let always = Condition::default();
    let changed = change(&app, &caller, id, &always, "source_secret_rotated", |was| {
        patched(&app, was, &patch)
    });
    let now = changed.await?;
    Ok(Found(RotatedSecret::new(secret, &now.previous_secrets)))
}

/// A source whose connections list types must have events that say theirs.
pub(crate) async fn require_types(app: &App, now: &Source) -> ApiResult<()> {
    if says_types(now) {
        return Ok(());
    }
    let connections = apply::connections_of(&app.store, now.id).await?;
    match connections.iter().any(|connection| !connection.event_types.is_empty()) {
        true => {
            let said = "a connection lists eventTypes, which need one here, such as body.type";
            Err(Problem::invalid("/eventType", said))
        }
        false => Ok(()),
    }
}

/// With its connections, as they are.
async fn existing(app: &App, source: Stored<Source>) -> ApiResult<Existing> {
    let connections = apply::connections_of(&app.store, source.id).await?;
    Ok(Existing { source, connections })
}

#[cfg(test)]
mod tests;
