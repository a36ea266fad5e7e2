//! The stream: every change of the account's events as it happens, as server-sent events.
//!
//! What is told comes from the store, which knows the order ([`Events::changes`]); here it is
//! decided who hears what, and from where on. A message's id is the place behind it: whoever comes
//! back with it goes on right there. For who is slow no more is held than a page, which the store
//! bounds: the next is read when all of it is on its way. Whoever has read everything waits for the
//! store's bell.
//!
//! [`Events::changes`]: ferryhook_store::repositories::Events::changes

mod record;
mod seats;

use std::collections::{HashMap, VecDeque};
use std::time::Duration;

use axum::extract::{FromRequestParts, State};
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderName};
use ferryhook_core::event_types::EventTypes;
use ferryhook_core::id::SourceId;
use ferryhook_core::member::Role;
use ferryhook_core::{Id, Source};
use ferryhook_store::repositories::{EventChange, ToldChange};
use ferryhook_store::{ChangesError, Place, Start, StoreError};
use futures_util::StreamExt;
use futures_util::stream;
use serde::Deserialize;
use utoipa::{IntoParams, ToSchema};

use crate::call::{ApiResult, Asked, Describes, Message, Streamed};
use crate::caller::Caller;
use crate::gate::is_still_open;
use crate::openapi::Sketch;
use crate::problem::{Code, Problem};
use crate::router::App;
use crate::{limits, owned};

pub use record::StreamRecord;
pub use seats::Seats;
use seats::{Full, Seat};

/// The operation whose messages are given out only for as long as it is allowed.
pub(crate) const STREAM: &str = "stream.read";
const LAST_EVENT_ID: HeaderName = HeaderName::from_static("last-event-id");
/// How often it is looked whether they may still read. As often, whoever hears nothing is told
/// how far that nothing goes.
const REVIEW_EVERY: Duration = Duration::from_secs(5);

#[derive(Debug, Clone, Deserialize, IntoParams)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct StreamQuery {
    /// Only events of this source.
    #[param(value_type = Option<String>)]
    source: Option<SourceId>,
    /// Only events of this type; `order.*` means all that begin with `order.`. Removals have no
    /// type, and are left out then.
    #[serde(rename = "type")]
    event_type: Option<String>,
    /// The id of the last message that was read, as `Last-Event-ID` would say it.
    after: Option<String>,
    /// Where to begin without one.
    #[param(inline)]
    from: Option<StreamStart>,
}

#[derive(Debug, Clone, Copy, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum StreamStart {
    /// The oldest change that is kept.
    Start,
    /// What comes from now on.
    Now,
}

/// `GET /v1/stream`
pub async fn read(
    State(app): State<App>,
    caller: Caller,
    Asked(query): Asked<StreamQuery>,
    came: Came,
) -> ApiResult<Streamed<StreamRecord>> {
    let patterns: Vec<String> = query.event_type.iter().cloned().collect();
    let types = EventTypes::compile(&patterns)
        .map_err(|error| Problem::invalid("type", error.to_string()))?;
    let source = match query.source {
        Some(id) => Some(owned::source(&app, &caller, id).await?.id),
        None => None,
    };
    let start = match came.last_event_id().or(query.after) {
        Some(place) => Start::After(Place::new(place)),
        None if matches!(query.from, Some(StreamStart::Start)) => Start::Oldest,
        None => Start::Now,
    };
    let seat = app.streams.take(caller.account()).map_err(no_seat)?;
    // The first page shows whether the place is one.
    let (events, limit) = (app.store.events(), limits::CHANGES_PER_PAGE);
    let page = events.changes(caller.account(), start, limit).await.map_err(refused)?;
    let reviewed_at = app.env.elapsed();
    let reader = Reader {
        app,
        caller,
        came,
        source,
        types,
        has_types: query.event_type.is_some(),
        ours: HashMap::new(),
        waiting: page.changes.into(),
        next: page.next,
        told: None,
        is_due: true,
        is_end: page.is_end,
        reviewed_at,
        _seat: seat,
    };
    let messages = stream::unfold(Some(reader), |reader| async {
        let mut reader = reader?;
        let message = reader.message().await?;
        Some((message, Some(reader)))
    });
    Ok(Streamed(messages.boxed()))
}

fn no_seat(full: Full) -> Problem {
    let said = match full {
        Full::ByAccount => {
            let max = limits::STREAMS_PER_ACCOUNT_MAX;
            format!("An account reads at most {max} streams at a time.")
        }
        Full::ByAll => "This server has as many streams as it can.".to_owned(),
    };
    Problem::too_fast(said, 5)
}

fn refused(error: StoreError) -> Problem {
    match error {
        StoreError::Changes(ChangesError::Unknown(_)) => Problem::invalid(
            "after",
            "is no id of a message of this stream (it may also come as Last-Event-ID)",
        ),
        StoreError::Changes(ChangesError::TooOld(_)) => Problem::invalid(
            "after",
            "is too old: what followed is no longer kept. Begin again with from=start, and list \
             the events to find what was missed",
        ),
        StoreError::Changes(ChangesError::NotKept) => Problem::new(
            Code::Conflict,
            "This server keeps no changes. An embedded store does, unless stream.keptHours is 0; \
             on DynamoDB the events table needs a stream of new images, which `ferryhook schema \
             apply` gives it.",
        ),
        error => error.into(),
    }
}

/// One consumer.
struct Reader {
    app: App,
    caller: Caller,
    came: Came,
    source: Option<Id<Source>>,
    types: EventTypes,
    has_types: bool,
    /// Sources, and whether they are the account's.
    ours: HashMap<Id<Source>, bool>,
    /// The rest of a page. Each becomes a message, which is larger, when its turn has come.
    waiting: VecDeque<ToldChange>,
    /// Behind the page.
    next: Place,
    /// The last place that the consumer was told.
    told: Option<Place>,
    /// It is time to tell it, if there is nothing else to tell.
    is_due: bool,
    /// All that was there has been read.
    is_end: bool,
    reviewed_at: Duration,
    _seat: Seat,
}

impl Reader {
    /// The next message; nothing when it is over.
    async fn message(&mut self) -> Option<Message<StreamRecord>> {
        loop {
            if self.app.streams.is_closed() {
                return None;
            }
            while let Some(told) = self.waiting.pop_front() {
                let wants = self.wants(&told.change).await;
                if wants.inspect_err(|error| tracing::warn!(%error, "a stream ended")).ok()? {
                    return Some(self.tell(told));
                }
            }
            // At the beginning, and again after a silence: who is cut off here and comes back has
            // missed nothing.
            if std::mem::take(&mut self.is_due) && self.told.as_ref() != Some(&self.next) {
                self.told = Some(self.next.clone());
                return Some(Message { name: "", id: Some(self.next.to_string()), data: None });
            }
            if self.is_end {
                let events = self.app.store.events();
                tokio::select! {
                    changed = events.changed(&self.next) => changed.ok()?,
                    () = tokio::time::sleep(REVIEW_EVERY) => {}
                    () = self.app.streams.closed() => return None,
                }
            }
            self.review().await?;
            let start = Start::After(self.next.clone());
            let (account, limit) = (self.caller.account(), limits::CHANGES_PER_PAGE);
            let page = self.app.store.events().changes(account, start, limit).await;
            let page = page.inspect_err(|error| tracing::warn!(%error, "a stream ended")).ok()?;
            (self.waiting, self.next, self.is_end) = (page.changes.into(), page.next, page.is_end);
            tokio::task::yield_now().await; // pages that have nothing for us follow each other
        }
    }

    /// A key that is revoked is revoked for what it has opened as well.
    async fn review(&mut self) -> Option<()> {
        let now = self.app.env.elapsed();
        if now.saturating_sub(self.reviewed_at) < REVIEW_EVERY {
            return Some(());
        }
        self.reviewed_at = now;
        self.is_due = true;
        let Came(headers) = &self.came;
        let open = is_still_open(&self.app, headers, &self.caller, Role::Viewer, STREAM).await;
        open.then_some(())
    }

    fn tell(&mut self, told: ToldChange) -> Message<StreamRecord> {
        let region = self.app.settings.region.as_deref();
        let account = self.caller.account();
        let record = StreamRecord::of(&told.change, account, told.sequence, region);
        let id = Some(told.place.to_string());
        self.told = Some(told.place);
        Message { name: "change", id, data: Some(record) }
    }

    async fn wants(&mut self, change: &EventChange) -> Result<bool, StoreError> {
        match change {
            EventChange::Inserted(event) | EventChange::Changed(event) => {
                // The store tells of the account's own events only.
                self.remember(event.source_id, true);
                Ok(self.source.is_none_or(|source| source == event.source_id)
                    && self.types.wants(event.event_type.as_deref()))
            }
            EventChange::Removed { .. } if self.has_types => Ok(false),
            EventChange::Removed { source, .. } => match self.source {
                Some(wanted) => Ok(wanted == *source),
                None => self.is_ours(*source).await,
            },
        }
    }

    async fn is_ours(&mut self, source: Id<Source>) -> Result<bool, StoreError> {
        if let Some(ours) = self.ours.get(&source) {
            return Ok(*ours);
        }
        // Sources that were deleted stay. One that is not found may be too young for an index that
        // lags behind: that is not remembered.
        let Some(found) = self.app.store.sources().find(source).await? else { return Ok(false) };
        let ours = found.account_id == self.caller.account();
        self.remember(source, ours);
        Ok(ours)
    }

    fn remember(&mut self, source: Id<Source>, ours: bool) {
        if self.ours.len() >= limits::STREAM_SOURCES_KEPT && !self.ours.contains_key(&source) {
            self.ours.clear();
        }
        self.ours.insert(source, ours);
    }
}

/// With what a request has shown who sends it, and where it goes on.
#[derive(Clone)]
pub struct Came(HeaderMap);

impl Came {
    fn last_event_id(&self) -> Option<String> {
        let value = self.0.get(LAST_EVENT_ID)?;
        Some(String::from_utf8_lossy(value.as_bytes()).into_owned())
    }
}

impl FromRequestParts<App> for Came {
    type Rejection = std::convert::Infallible;

    async fn from_request_parts(parts: &mut Parts, _: &App) -> Result<Self, Self::Rejection> {
        Ok(Self(parts.headers.clone()))
    }
}

impl Describes for Came {
    fn describe(sketch: &mut Sketch) {
        sketch.header("Last-Event-ID", "The id of the last message that was read.");
        sketch.may_fail(Code::Conflict);
        sketch.may_fail(Code::RateLimited);
    }
}

impl std::fmt::Debug for Came {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Came").finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests;
