//! One connection of a route, with what had to be parsed parsed.

use std::sync::OnceLock;
use std::time::Duration;

use ferryhook_core::event_types::EventTypes;
use ferryhook_core::order_key::OrderKey;
use ferryhook_core::retry::Policy;
use ferryhook_core::signature::Keys;
use ferryhook_core::{Connection, Event, Timestamp, limits};
use ferryhook_net::client::{Guard, Refusal, Target};

#[derive(Debug)]
pub struct Way {
    pub connection: Connection,
    pub policy: Policy,
    /// What it signs with.
    pub(crate) keys: Keys,
    /// Which types it wants, or why that cannot be told.
    types: Result<EventTypes, String>,
    order_key: Option<OrderKey>,
    target: OnceLock<Result<Target, Refusal>>,
}

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
        let types = EventTypes::compile(&connection.event_types);
        let order_key = connection.ordering_key.as_deref().map(OrderKey::parse);
        Self {
            keys: Keys::of(&connection, now),
            types: types.map_err(|error| error.to_string()),
            order_key: order_key
                .and_then(|parsed| parsed.inspect_err(|error| unread(&connection, error)).ok()),
            target: OnceLock::new(),
            connection,
            policy,
        }
    }

    /// Whether the event should go this way.
    pub(crate) fn wants(&self, event: &Event) -> Result<bool, String> {
        let types = self.types.as_ref().map_err(Clone::clone)?;
        Ok(types.wants(event.event_type.as_deref()))
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

fn unread(connection: &Connection, error: &impl std::fmt::Display) {
    tracing::warn!(%error, connection.id = %connection.id, "delivers in no particular order");
}
