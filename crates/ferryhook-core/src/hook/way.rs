//! A hook as the data plane sees it: a connection of each source that its patterns are about.

use serde_json::Value;

use super::Hook;
use crate::connection::{DestinationType, Method, PipelineOrder, Status};
use crate::operational::is_operational;
use crate::{Connection, Headers, Id, Source, limits};

impl Hook {
    /// The name of its deliveries.
    pub fn way_id(&self) -> Id<Connection> {
        self.id.of_another()
    }

    /// The way over which it gets events of this source; `None` where it wants none of them.
    ///
    /// What Ferryhook says of itself is asked for by patterns such as `delivery.failed`, and these
    /// ask for nothing else: a parcel service has deliveries that fail, too.
    pub fn way(&self, source: &Source) -> Option<Connection> {
        let is_meant = |pattern: &&String| source.is_own() || !is_operational(pattern);
        let event_types: Vec<_> = self.events.iter().filter(is_meant).cloned().collect();
        // A connection without any would get everything.
        if event_types.is_empty() || !self.is_active {
            return None;
        }
        let headers = self.headers.iter().flatten();
        let retry_config = match self.retry_policy.is_empty() {
            true => None,
            false => Some(Value::Object(self.retry_policy.clone()).to_string()),
        };
        Some(Connection {
            id: self.way_id(),
            source_id: source.id,
            user_id: source.user_id,
            account_id: self.account_id,
            name: self.id.to_string(),
            status: Status::Active,
            status_reason: None,
            destination_type: DestinationType::Http,
            destination_url: Some(self.url.clone()),
            destination_config: None,
            method: Method::Post,
            headers: headers
                .map(|(name, value)| (name.clone(), value.clone()))
                .collect::<Headers>(),
            auth: None,
            signing_secret: self.secret.clone(),
            previous_secrets: self.previous_secrets.clone(),
            event_types,
            filters: None,
            transform: None,
            pipeline_order: PipelineOrder::default(),
            retry_config,
            timeout_ms: Some(limits::TIMEOUT_MS_DEFAULT),
            concurrency_max: None,
            rate_per_second_max: None,
            ordering_key: None,
            ordering_policy: None,
            delivery_count: 0,
            failure_count: 0,
            created_at: self.created_at,
            updated_at: self.updated_at,
        })
    }
}
