//! What Ferryhook itself has to say: an ordinary event of a source that only Ferryhook posts to,
//! and beside it a notification for the people of the account.
//!
//! Who commits and delivers it is `ferryhook-flow`. Nothing here is said about the deliveries of
//! such events: that would go on for ever.

mod sayings;
mod types;

use serde_json::{Value, json};

use crate::event::{Origin, Status};
use crate::notification::NotificationType;
use crate::source::{self, ConnectionType};
use crate::{
    Account, Body, Env, Event, Headers, Id, Map, Notification, Source, Timestamp, User, limits,
};

pub use sayings::{DELIVERY_FAILED, Quota, TYPES, Type};

/// The provider, and the name, of the source that it comes from.
pub const PROVIDER: &str = "ferryhook";

/// What the types of these events begin with. A pattern that begins like this means them.
const FAMILIES: [&str; 7] =
    ["connection.", "delivery.", "event_type.", "hook.", "plan.", "quota.", "source."];

/// Whether a pattern of a hook asks for these events and for no others.
pub fn is_operational(pattern: &str) -> bool {
    FAMILIES.iter().any(|family| pattern.starts_with(family))
}

/// One thing to say.
#[derive(Debug, Clone, PartialEq)]
pub struct Operational {
    /// Such as `delivery.failed`.
    pub event_type: &'static str,
    pub data: Map,
    /// For people.
    pub level: NotificationType,
    pub category: &'static str,
    pub title: String,
    pub message: String,
}

impl Operational {
    /// What a program gets.
    pub fn body(&self, account: Id<Account>, at: Timestamp) -> Value {
        json!({
            "type": self.event_type,
            "timestamp": at,
            "accountId": account,
            "data": self.data,
        })
    }

    /// As an event of the account's own source, which waits to be delivered.
    pub fn event(&self, source: &Source, expires_at: Option<Timestamp>, env: &Env) -> Event {
        let now = env.now();
        let is_held = source.status == source::Status::Paused;
        let body = self.body(source.account_id, now).to_string();
        Event {
            id: Id::at(now, env),
            source_id: source.id,
            user_id: source.user_id,
            account_id: source.account_id,
            origin: Origin::Webhook,
            status: if is_held { Status::Held } else { Status::Received },
            event_type: Some(self.event_type.to_owned()),
            retry_count: 0,
            metadata: None,
            dedup_key: None,
            duplicate_count: 0,
            method: Some("POST".to_owned()),
            path: None,
            query: None,
            content_type: Some("application/json".to_owned()),
            source_ip: None,
            headers: Headers::from_iter([("content-type", "application/json")]),
            body: Body::from(body),
            payload: None,
            received_at: now,
            occurred_at: None,
            processing_tries: 0,
            processing_error: None,
            pending_since: (!is_held).then_some(now),
            processed_at: None,
            delivered_at: None,
            expires_at,
        }
    }

    /// As a notification for one person.
    pub fn notification(&self, account: Id<Account>, user: Id<User>, env: &Env) -> Notification {
        let now = env.now();
        let mut metadata = self.data.clone();
        metadata.insert("accountId".to_owned(), account.as_str().into());
        metadata.insert("eventType".to_owned(), self.event_type.into());
        Notification {
            user_id: user,
            id: Id::at(now, env),
            kind: self.level,
            title: self.title.clone(),
            message: self.message.clone(),
            is_read: false,
            read_at: None,
            category: self.category.to_owned(),
            metadata: Some(metadata),
            action_url: None,
            created_at: now,
            expires_at: Some(now + limits::NOTIFICATION_KEPT),
        }
    }
}

impl Source {
    /// The one that Ferryhook speaks through in an account. Its id is made of the account's, so
    /// that whoever needs it first makes it, and nobody a second one.
    pub fn own(account: &Account, now: Timestamp) -> Self {
        let name = PROVIDER.to_owned();
        Self::built_in(Self::own_id(account.id), (account.user_id, account.id), name, now)
    }

    /// The one that its apps post to, in the same way.
    pub fn triggers(owner: Id<User>, account: Id<Account>, now: Timestamp) -> Self {
        Self::built_in(Self::triggers_id(account), (owner, account), "triggers".to_owned(), now)
    }

    fn built_in(
        id: Id<Source>,
        (owner, account): (Id<User>, Id<Account>),
        name: String,
        now: Timestamp,
    ) -> Self {
        Self {
            id,
            user_id: owner,
            account_id: account,
            created_by: owner,
            provider: name.clone(),
            name,
            connection_type: ConnectionType::Trigger,
            status: source::Status::Active,
            config: Map::new(),
            signing_secret: None,
            previous_secrets: Vec::new(),
            signing_algorithm: None,
            verification_mode: None,
            body_bytes_max: None,
            dedup_expression: None,
            custom_response: None,
            event_count: 0,
            last_event_at: None,
            last_sync_at: None,
            sync_status: None,
            created_at: now,
            updated_at: now,
        }
    }
}

#[cfg(test)]
mod tests;
