//! One connection of a route, with what had to be parsed parsed.

use std::sync::{Arc, OnceLock};
use std::time::Duration;

use ferryhook_core::connection::{DestinationType, PipelineOrder, Status};
use ferryhook_core::delivery::Hold;
use ferryhook_core::event_types::EventTypes;
use ferryhook_core::filter::{Filter, Seen};
use ferryhook_core::order_key::OrderKey;
use ferryhook_core::retry::Policy;
use ferryhook_core::signature::Keys;
use ferryhook_core::transform::Transform;
use ferryhook_core::{Connection, Event, Hook, Id, Secret, Timestamp, account, inbox, limits};
use ferryhook_net::client::{Guard, Refusal, Target};

use crate::credentials::Credentials;

#[derive(Debug)]
pub struct Way {
    pub connection: Connection,
    /// The hook whose way it is, if it is one's.
    pub hook: Option<Id<Hook>>,
    /// Its account, or one above that, is not active: it holds what it gets, like a paused one.
    account_is_closed: bool,
    pub policy: Policy,
    /// What it signs with.
    pub(crate) keys: Keys,
    /// Which types it wants, or why that cannot be told.
    types: Result<EventTypes, String>,
    filter: Compiled<Filter>,
    transform: Compiled<Transform>,
    credentials: Compiled<Credentials>,
    order_key: Option<OrderKey>,
    /// Which inbox it leads to, if it does.
    inbox: Option<inbox::Settings>,
    target: OnceLock<Result<Target, Refusal>>,
}

/// A rule that was written as text: none, or what it means, or why that cannot be told.
type Compiled<R> = Option<Result<Arc<R>, String>>;

impl Way {
    /// `before` is the same connection as it was loaded the last time.
    pub(crate) fn new(connection: Connection, before: Option<&Way>, now: Timestamp) -> Self {
        let policy = match before {
            // Also one that could not be read: that was said once.
            Some(before) if before.connection.retry_config == connection.retry_config => {
                before.policy.clone()
            }
            _ => policy_of(&connection),
        };
        let filter = compiled(
            connection.filters.as_deref(),
            before.map(|before| (before.connection.filters.as_deref(), &before.filter)),
            Filter::parse,
        );
        let transform = compiled(
            connection.transform.as_deref(),
            before.map(|before| (before.connection.transform.as_deref(), &before.transform)),
            Transform::parse,
        );
        let credentials = compiled(
            connection.auth.as_ref().map(Secret::expose),
            before.map(|before| {
                (before.connection.auth.as_ref().map(Secret::expose), &before.credentials)
            }),
            Credentials::parse,
        );
        let types = EventTypes::compile(&connection.event_types);
        let order_key = connection.ordering_key.as_deref().map(OrderKey::parse);
        Self {
            keys: Keys::of(&connection, now),
            types: types.map_err(|error| error.to_string()),
            filter,
            transform,
            credentials,
            order_key: order_key
                .and_then(|parsed| parsed.inspect_err(|error| unread(&connection, error)).ok()),
            inbox: inbox_of(&connection),
            target: OnceLock::new(),
            account_is_closed: false,
            hook: None,
            connection,
            policy,
        }
    }

    /// The same as the way of a hook.
    pub(crate) fn of_hook(self, hook: Option<Id<Hook>>) -> Self {
        Self { hook, ..self }
    }

    /// The same of an account that stands like this.
    pub(crate) fn of_account(self, status: account::Status) -> Self {
        Self { account_is_closed: status != account::Status::Active, ..self }
    }

    /// Why it holds what it gets, if it does. What is left of a deleted connection is looked at,
    /// to be cancelled.
    pub(crate) fn hold(&self) -> Option<Hold> {
        match self.connection.status {
            _ if self.inbox.is_some() => None, // nothing is sent
            Status::Deleted => None,
            _ if self.account_is_closed => Some(Hold::AccountSuspended),
            Status::Paused => Some(Hold::ConnectionPaused),
            Status::Active => None,
        }
    }

    pub(crate) fn inbox(&self) -> Option<&inbox::Settings> {
        self.inbox.as_ref()
    }

    /// Whether the event should go this way, as far as that can be told before its transform.
    pub(crate) fn wants(&self, event: &Event, seen: &Seen<'_>) -> Result<bool, String> {
        if !self.types()?.wants(event.event_type.as_deref()) {
            return Ok(false);
        }
        match self.connection.pipeline_order {
            PipelineOrder::FilterFirst => self.passes(seen),
            PipelineOrder::TransformFirst => Ok(true),
        }
    }

    /// Whether its filter lets the event through.
    pub(crate) fn passes(&self, seen: &Seen<'_>) -> Result<bool, String> {
        Ok(self.filter()?.is_none_or(|filter| filter.matches(seen)))
    }

    pub(crate) fn types(&self) -> Result<&EventTypes, String> {
        self.types.as_ref().map_err(Clone::clone)
    }

    pub(crate) fn filter(&self) -> Result<Option<&Arc<Filter>>, String> {
        self.filter.as_ref().map(Result::as_ref).transpose().map_err(Clone::clone)
    }

    pub(crate) fn transform(&self) -> Result<Option<&Arc<Transform>>, String> {
        self.transform.as_ref().map(Result::as_ref).transpose().map_err(Clone::clone)
    }

    /// What its destination wants to be shown, if anything.
    pub(crate) fn credentials(&self) -> Result<Option<&Arc<Credentials>>, String> {
        self.credentials.as_ref().map(Result::as_ref).transpose().map_err(Clone::clone)
    }

    /// What the event has to agree in with another to go behind it.
    pub(crate) fn order_key(&self, event: &Event) -> Option<String> {
        self.order_key.as_ref()?.of(event)
    }

    pub(crate) fn target(&self, guard: &Guard) -> Result<&Target, &Refusal> {
        let url = || guard.target(self.connection.destination_url.as_deref().unwrap_or_default());
        self.target.get_or_init(url).as_ref()
    }

    pub(crate) fn timeout(&self) -> Duration {
        let ms = self.connection.timeout_ms.unwrap_or(limits::TIMEOUT_MS_DEFAULT);
        Duration::from_millis(ms.clamp(limits::TIMEOUT_MS_MIN, limits::TIMEOUT_MS_MAX).into())
    }
}

/// Once for each version of the text: a route is loaded every minute, its rules change rarely.
fn compiled<R, E: std::fmt::Display>(
    written: Option<&str>,
    before: Option<(Option<&str>, &Compiled<R>)>,
    parse: impl FnOnce(&str) -> Result<R, E>,
) -> Compiled<R> {
    match before {
        Some((was, compiled)) if was == written => compiled.clone(),
        _ => written.map(|text| parse(text).map(Arc::new).map_err(|error| error.to_string())),
    }
}

/// A configuration that nobody understands must not stop what is under way.
fn policy_of(connection: &Connection) -> Policy {
    let Some(written) = &connection.retry_config else {
        return Policy::default();
    };
    Policy::parse(written).unwrap_or_else(|error| {
        let id = connection.id;
        tracing::warn!(%error, connection.id = %id, "retries as if nothing were configured");
        Policy::default()
    })
}

fn inbox_of(connection: &Connection) -> Option<inbox::Settings> {
    let is_inbox = connection.destination_type == DestinationType::Inbox;
    is_inbox.then(|| {
        let settings = inbox::Settings::parse(connection.destination_config.as_ref());
        settings.unwrap_or_else(|error| {
            let id = connection.id;
            tracing::warn!(%error, connection.id = %id, "leads to the inbox of the default group");
            inbox::Settings::default()
        })
    })
}

fn unread(connection: &Connection, error: &impl std::fmt::Display) {
    tracing::warn!(%error, connection.id = %connection.id, "delivers in no particular order");
}
