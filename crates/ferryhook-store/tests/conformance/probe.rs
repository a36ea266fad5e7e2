//! A record that goes where a case needs it: in the events table, which has text and number
//! indexes and an expiry.

use ferryhook_core::time::seconds;
use ferryhook_core::{Body, Timestamp};
use ferryhook_store::{Index, IndexKey, Key, Kind, Query, Record, Table};
use serde::{Deserialize, Serialize};
use serde_json::Value;

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Probe {
    pub(crate) partition: String,
    pub(crate) sort: String,
    pub(crate) label: String,
    pub(crate) count: i64,
    /// Puts it into an index sorted by text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) mail: Option<String>,
    /// Puts it into an index sorted by number.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) wait: Option<i64>,
    #[serde(default, skip_serializing_if = "Value::is_null")]
    pub(crate) data: Value,
    /// Never changes.
    #[serde(default, skip_serializing_if = "Body::is_empty")]
    pub(crate) body: Body,
    #[serde(default, with = "seconds::option", skip_serializing_if = "Option::is_none")]
    pub(crate) expires_at: Option<Timestamp>,
}

impl Probe {
    pub(crate) fn new(partition: String, sort: &str) -> Self {
        Self {
            partition,
            sort: sort.to_owned(),
            label: sort.to_owned(),
            count: 0,
            mail: None,
            wait: None,
            data: Value::Null,
            body: Body::default(),
            expires_at: None,
        }
    }

    pub(crate) fn mail(self, mail: &str) -> Self {
        let mail = Some(mail.to_owned());
        Self { mail, ..self }
    }

    pub(crate) fn wait(self, wait: i64) -> Self {
        let wait = Some(wait);
        Self { wait, ..self }
    }

    pub(crate) fn label(self, label: &str) -> Self {
        let label = label.to_owned();
        Self { label, ..self }
    }

    pub(crate) fn count(self, count: i64) -> Self {
        Self { count, ..self }
    }

    pub(crate) fn data(self, data: Value) -> Self {
        Self { data, ..self }
    }

    pub(crate) fn body(self, body: impl Into<Body>) -> Self {
        let body = body.into();
        Self { body, ..self }
    }

    pub(crate) fn expires(self, at: Timestamp) -> Self {
        let expires_at = Some(at);
        Self { expires_at, ..self }
    }

    /// Its partition of the table.
    pub(crate) fn neighbours(&self) -> Query {
        Query::table(Kind::Event, &*self.partition)
    }

    /// Its partition of the index sorted by text.
    pub(crate) fn mails(&self) -> Query {
        Query::index(Kind::Event, Index::Inbox, &*self.partition)
    }

    /// Its partition of the index sorted by number.
    pub(crate) fn waits(&self) -> Query {
        Query::index(Kind::Event, Index::Pending, &*self.partition)
    }
}

impl Record for Probe {
    const KIND: Kind = Kind::Event;

    fn key(&self) -> Key {
        Key::new(Table::Events, &*self.partition, &*self.sort)
    }

    fn indexes(&self) -> Vec<IndexKey> {
        let partition = &*self.partition;
        let mail = self.mail.as_deref();
        let mail = mail.map(|mail| IndexKey::new(Index::Inbox, partition, mail));
        let wait = self.wait.map(|wait| IndexKey::new(Index::Pending, partition, wait));
        mail.into_iter().chain(wait).collect()
    }

    fn expires_at(&self) -> Option<Timestamp> {
        self.expires_at
    }
}
