//! The way into the inbox that everything has which an app posts.

use super::own_way;
use crate::connection::{DestinationType, Method, PipelineOrder, Status};
use crate::{Connection, Headers, Secret, Source};

/// Of the source that apps post to; `None` for others, whose events go to the inbox only where
/// somebody has connected them.
pub fn way_of(source: &Source) -> Option<Connection> {
    if source.id != Source::triggers_id(source.account_id) {
        return None;
    }
    Some(Connection {
        id: own_way(source.account_id),
        source_id: source.id,
        user_id: source.user_id,
        account_id: source.account_id,
        name: "inbox".to_owned(),
        status: Status::Active,
        status_reason: None,
        destination_type: DestinationType::Inbox,
        destination_url: None,
        destination_config: None,
        method: Method::Post,
        headers: Headers::default(),
        auth: None,
        signing_secret: Secret::new(String::new()), // nothing is signed
        previous_secrets: Vec::new(),
        event_types: Vec::new(),
        filters: None,
        transform: None,
        pipeline_order: PipelineOrder::default(),
        retry_config: None,
        timeout_ms: None,
        concurrency_max: None,
        rate_per_second_max: None,
        ordering_key: None,
        ordering_policy: None,
        delivery_count: 0,
        failure_count: 0,
        created_at: source.created_at,
        updated_at: source.created_at,
    })
}
