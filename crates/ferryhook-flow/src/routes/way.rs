//! One connection of a route, with what had to be parsed parsed.

use ferryhook_core::Connection;
use ferryhook_core::retry::Policy;

#[derive(Debug)]
pub struct Way {
    pub connection: Connection,
    pub policy: Policy,
}

impl Way {
    /// `before` is the same connection as it was loaded the last time.
    pub(super) fn new(connection: Connection, before: Option<&Way>) -> Self {
        let policy = match before {
            // Also one that could not be read: that was said once.
            Some(before) if before.connection.retry_config == connection.retry_config => {
                before.policy.clone()
            }
            _ => policy_of(&connection),
        };
        Self { connection, policy }
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
