//! Sessions of `ferryhook listen`: a source's events for somebody's own machine.
//!
//! A session is made with a connection of its own for each source, read as a stream of requests to
//! be made, and answered with their results. It is nobody's but its maker's: to others in the same
//! account it does not exist either. Where it lives is behind [`Listening`].

mod port;
mod view;

use std::collections::BTreeMap;
use std::convert::Infallible;
use std::fmt;
use std::sync::Arc;

use axum::extract::{FromRequestParts, State};
use axum::http::HeaderMap;
use axum::http::request::Parts;
use ferryhook_core::cli_session::{Ended, Told};
use ferryhook_core::connection::{DestinationType, Method, Status};
use ferryhook_core::filter::Filter;
use ferryhook_core::id::CliSessionId;
use ferryhook_core::limits as bounds;
use ferryhook_core::member::Role;
use ferryhook_core::source::ConnectionType;
use ferryhook_core::{CliSession, Connection, Id, Map, Secret, Source};
use ferryhook_store::repositories::Edit;
use ferryhook_store::{Slice, Stored};
use futures_util::stream::{self, BoxStream};
use futures_util::{Stream, StreamExt};
use serde::Deserialize;
use serde_json::{Value as Json, json};
use utoipa::IntoParams;

use crate::address::Address;
use crate::apply::{self, TRIES_MAX};
use crate::call::{
    ApiResult, Asked, Created, Describes, Done, Found, In, MaybeSent, Message, Sent, Streamed,
};
use crate::caller::Caller;
use crate::gate::is_still_open;
use crate::openapi::Sketch;
use crate::owned;
use crate::problem::{Code, Problem};
use crate::router::App;
use crate::sources;

pub use port::Listening;
pub use view::{
    CliEnd, CliEnded, CliMessage, CliReported, CliRequest, CliResult, CliResults, CliSessionView,
    ListenedSource, NewCliSession,
};

/// Somebody waits in front of it: soon at first, and not for days. A 410 is a mistake in the
/// making, not the end of the destination.
const RETRIES: &str = r#"{"schedule":[0,2,10,60,300],"rules":[{"codes":410,"then":"retry"}]}"#;
/// The operation whose messages are given out only for as long as it is allowed.
pub(crate) const STREAM: &str = "cliSessions.stream";
/// What its connections are called.
const NAME: &str = "ferryhook listen";

/// Where reading goes on.
#[derive(Debug, Clone, Deserialize, IntoParams)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct CliStreamQuery {
    /// The id of the last request that was read, when the stream is read again.
    after: Option<u64>,
}

/// `POST /v1/cli/sessions`
pub async fn create(
    State(app): State<App>,
    caller: Caller,
    address: Address,
    MaybeSent(body): MaybeSent<NewCliSession>,
) -> ApiResult<Created<CliSessionView>> {
    let wanted = Wanted::read(body.unwrap_or_default())?;
    let sources = wanted.sources(&app, &caller).await?;
    let signing_secret = wanted.signing_secret.clone();
    let signing_secret = signing_secret.unwrap_or_else(|| Secret::generate(&app.env));
    let session = CliSession {
        id: Id::new(&app.env),
        account_id: caller.account(),
        user_id: caller.user(),
        path: wanted.path.clone(),
        connections: sources.iter().map(|source| (source.id, Id::new(&app.env))).collect(),
    };
    let _turn = app.turns.lock().await;
    for source in &sources {
        let there = apply::connections_of(&app.store, source.id).await?.len();
        if there >= bounds::CONNECTIONS_PER_SOURCE_MAX {
            let said = format!("A source has at most {there} connections.");
            return Err(Problem::new(Code::Conflict, said));
        }
    }
    app.listening.open(session.clone())?;
    let edits = edits(&app, &session, &sources, &wanted, &signing_secret);
    let view = CliSessionView {
        session_id: session.id,
        sources: listened(&session, &sources, &address),
        signing_secret,
    };
    let ids: Vec<_> = sources.iter().map(|source| json!(source.id)).collect();
    let deed = Map::from_iter([("sourceIds".to_owned(), Json::Array(ids))]);
    let id = session.id;
    let store = caller.noting(&app, "cli_session_created", "cli_session", id.as_str(), deed);
    if let Err(error) = store.sources().edit(&edits).await {
        app.listening.close(id);
        return Err(error.into());
    }
    ring(&app, &edits);
    Ok(Created(view))
}

/// `GET /v1/cli/sessions/{id}/stream`
pub async fn stream(
    State(app): State<App>,
    caller: Caller,
    In(id): In<CliSessionId>,
    Asked(query): Asked<CliStreamQuery>,
    shown: Shown,
) -> ApiResult<Streamed<CliMessage>> {
    let session = find(&app, &caller, id)?;
    let told = app.listening.read(session.id, query.after.unwrap_or(0));
    let told = told.ok_or_else(Problem::not_found)?;
    let told = while_allowed(told, app, caller, shown);
    let message = |told| match told {
        Told::Errand(errand) => Message {
            name: "request",
            id: Some(errand.number.to_string()),
            data: Some(CliMessage::Request(Box::new((*errand).into()))),
        },
        Told::End(why) => {
            let data = Some(CliMessage::End(CliEnd { reason: why.into() }));
            Message { name: "end", id: None, data }
        }
    };
    Ok(Streamed(told.map(message).boxed()))
}

/// Looks at each message whether they may still have it: a key that is revoked is revoked for what
/// it has opened as well.
fn while_allowed(
    told: BoxStream<'static, Told>,
    app: App,
    caller: Caller,
    shown: Shown,
) -> impl Stream<Item = Told> + Send {
    let asking = Arc::new((app, caller, shown));
    stream::unfold(Some(told), move |told| {
        let asking = asking.clone();
        async move {
            let mut told = told?;
            let next = told.next().await?;
            let (app, caller, Shown(headers)) = &*asking;
            match is_still_open(app, headers, caller, Role::Member, STREAM).await {
                true => Some((next, Some(told))),
                // Whoever asks again is told why.
                false => Some((Told::End(Ended::Replaced), None)),
            }
        }
    })
}

/// With what a request has shown who sends it.
pub struct Shown(HeaderMap);

impl FromRequestParts<App> for Shown {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, _: &App) -> Result<Self, Infallible> {
        Ok(Self(parts.headers.clone()))
    }
}

impl Describes for Shown {
    fn describe(_: &mut Sketch) {}
}

impl fmt::Debug for Shown {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Shown").finish_non_exhaustive()
    }
}

/// `POST /v1/cli/sessions/{id}/results`
pub async fn report(
    State(app): State<App>,
    caller: Caller,
    In(id): In<CliSessionId>,
    Sent(results): Sent<CliResults>,
) -> ApiResult<Found<CliReported>> {
    let session = find(&app, &caller, id)?;
    let reports = results.reports()?;
    caller.not_for_the_log();
    let reports = reports.into_iter();
    let accepted = reports.filter(|report| app.listening.report(session.id, report.clone()));
    Ok(Found(CliReported { accepted: accepted.count() }))
}

/// `DELETE /v1/cli/sessions/{id}`. What waits for it is not sent any more.
pub async fn end(
    State(app): State<App>,
    caller: Caller,
    In(id): In<CliSessionId>,
) -> ApiResult<Done> {
    let session = find(&app, &caller, id)?;
    for _ in 0..TRIES_MAX {
        let mut edits = Vec::new();
        for (source, connection) in &session.connections {
            let found = app.store.connections().find_of(*source, *connection).await?;
            let there = found.filter(|found| found.status != Status::Deleted);
            edits.extend(there.map(|was| {
                let now = was.hung_up(app.env.now());
                Edit::ReplaceConnection(was, now)
            }));
        }
        if edits.is_empty() {
            caller.nothing_changed();
            app.listening.close(id);
            return Ok(Done);
        }
        let deed = Map::new();
        let store = caller.noting(&app, "cli_session_deleted", "cli_session", id.as_str(), deed);
        match store.sources().edit(&edits).await {
            Ok(()) => {
                app.listening.close(id);
                ring(&app, &edits);
                return Ok(Done);
            }
            Err(error) if error.is_refused() => {} // a counter came before
            Err(error) => return Err(error.into()),
        }
    }
    Err(Problem::new(Code::Conflict, "It is being changed all the time. Try again."))
}

/// The caller's own, and no other.
fn find(app: &App, caller: &Caller, id: Id<CliSession>) -> ApiResult<CliSession> {
    let found = app.listening.find(id);
    found
        .filter(|found| found.account_id == caller.account() && found.user_id == caller.user())
        .ok_or_else(Problem::not_found)
}

/// A session as it was asked for, understood.
struct Wanted {
    source: Option<Id<Source>>,
    forward_to: Option<String>,
    path: String,
    filters: Option<String>,
    signing_secret: Option<Secret>,
}

impl Wanted {
    fn read(asked: NewCliSession) -> ApiResult<Self> {
        let NewCliSession { source_id, forward_to, path, filters, signing_secret } = asked;
        if let Some(url) = &forward_to {
            let is_web = url.starts_with("http://") || url.starts_with("https://");
            if !is_web || url.len() > bounds::URL_BYTES_MAX || url.contains(char::is_control) {
                let said =
                    format!("must be an http URL of at most {} bytes", bounds::URL_BYTES_MAX);
                return Err(Problem::invalid("/forwardTo", said));
            }
        }
        let path = path.unwrap_or_else(|| "/".to_owned());
        let is_plain = path.bytes().all(|byte| byte.is_ascii_graphic() && !b"?#".contains(&byte));
        if !path.starts_with('/') || !is_plain || path.len() > bounds::URL_BYTES_MAX {
            let said = "must be a path such as /hooks, without a query";
            return Err(Problem::invalid("/path", said));
        }
        if let Some(secret) = &signing_secret
            && !(1..=bounds::SECRET_BYTES_MAX).contains(&secret.expose().len())
        {
            let said = format!("must have 1 to {} bytes", bounds::SECRET_BYTES_MAX);
            return Err(Problem::invalid("/signingSecret", said));
        }
        let filters = filters.map(|filters| filters.to_string());
        if let Some(text) = &filters {
            let wrong =
                |error: &dyn std::fmt::Display| Problem::invalid("/filters", error.to_string());
            Filter::parse(text).map_err(|error| wrong(&error))?;
        }
        Ok(Self { source: source_id, forward_to, path, filters, signing_secret })
    }

    async fn sources(&self, app: &App, caller: &Caller) -> ApiResult<Vec<Stored<Source>>> {
        if let Some(id) = self.source {
            let unknown = |_| Problem::invalid("/sourceId", "there is no such source");
            return Ok(vec![owned::source(app, caller, id).await.map_err(unknown)?]);
        }
        let mut found = Vec::new();
        let mut slice = Slice::default().limit(bounds::PAGE_MAX);
        loop {
            let page = app.store.sources().list_by_account(caller.account(), slice.clone()).await?;
            let posted =
                |source: &Stored<Source>| source.connection_type == ConnectionType::Webhook;
            found.extend(page.rows.into_iter().filter(posted));
            if found.len() > bounds::CLI_SOURCES_MAX {
                let most = bounds::CLI_SOURCES_MAX;
                let said = format!("name one: the account has more than {most} sources");
                return Err(Problem::invalid("/sourceId", said));
            }
            let Some(next) = page.next else { break };
            slice = slice.after(Some(next));
        }
        match found.is_empty() {
            true => Err(Problem::invalid("/sourceId", "the account has no source to listen to")),
            false => Ok(found),
        }
    }
}

/// The connections of a new session.
fn edits(
    app: &App,
    session: &CliSession,
    sources: &[Stored<Source>],
    wanted: &Wanted,
    secret: &Secret,
) -> Vec<Edit> {
    let until = app.listening.lease();
    // Together they are asked for no more at once than a session has room for.
    let at_once = (bounds::CLI_REQUESTS_MAX / sources.len().max(1)).max(1);
    let each = sources.iter().zip(&session.connections);
    let made = each.map(|(source, (_, id))| {
        Edit::CreateConnection(Connection {
            id: *id,
            name: format!("{NAME} ({})", session.id),
            destination_type: DestinationType::Cli,
            destination_url: wanted.forward_to.clone(),
            destination_config: Some(session.destination(until)),
            method: Method::Original,
            signing_secret: secret.clone(),
            filters: wanted.filters.clone(),
            retry_config: Some(RETRIES.to_owned()),
            timeout_ms: Some(bounds::CLI_TIMEOUT_MS),
            concurrency_max: Some(at_once as u16),
            ..apply::new_connection(source, &app.env)
        })
    });
    made.collect()
}

fn listened(
    session: &CliSession,
    sources: &[Stored<Source>],
    address: &Address,
) -> Vec<ListenedSource> {
    let each = sources.iter().zip(&session.connections);
    let one = |(source, (_, connection)): (&Stored<Source>, &(_, Id<Connection>))| ListenedSource {
        source_id: source.id,
        name: source.name.clone(),
        ingest_url: address.of(&format!("/in/{}", source.id)),
        connection_id: *connection,
    };
    each.map(one).collect()
}

/// For each source by itself, as the bell wants it.
fn ring(app: &App, edits: &[Edit]) {
    let mut by_source: BTreeMap<Id<Source>, Vec<Edit>> = BTreeMap::new();
    for edit in edits {
        if let Edit::CreateConnection(connection) | Edit::ReplaceConnection(_, connection) = edit {
            by_source.entry(connection.source_id).or_default().push(edit.clone());
        }
    }
    by_source.values().for_each(|edits| sources::ring(app, edits));
}

#[cfg(test)]
mod tests;
