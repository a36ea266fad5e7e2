//! A single request that was sent for a delivery, and how the destination answered it. History:
//! it is written when the answer is known, and then stays as it is.

use serde::{Deserialize, Serialize};

use crate::time::{millis, seconds};
use crate::{Connection, Event, Id, Timestamp};

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Attempt {
    pub event_id: Id<Event>,
    pub connection_id: Id<Connection>,
    /// Counts from 1 and goes on counting when the event is replayed.
    #[serde(rename = "attemptNumber")]
    pub number: u16,
    pub destination_url: String,
    /// 0 when there was no answer.
    pub status_code: u16,
    /// The beginning of the answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub response_body: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    pub latency_ms: u32,
    // Where the time went. A step that did not happen (a connection that was open already, an
    // answer that never came) is absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dns_ms: Option<u32>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub connect_ms: Option<u32>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tls_ms: Option<u32>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub first_byte_ms: Option<u32>,
    #[serde(with = "millis")]
    pub attempted_at: Timestamp,
    #[serde(default, with = "seconds::option", skip_serializing_if = "Option::is_none")]
    pub expires_at: Option<Timestamp>,
}
