//! A request that was refused, kept so that its sender's trouble can be seen, counted and, once
//! the cause is mended, undone.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::id::Identified;
use crate::time::{millis, seconds};
use crate::{Account, Body, Headers, Id, Source, Timestamp};

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Rejection {
    #[serde(rename = "rejectionId")]
    pub id: Id<Rejection>,
    pub source_id: Id<Source>,
    pub account_id: Id<Account>,
    pub cause: Cause,
    /// For people: which header was missing, how large the body was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub detail: Option<String>,
    pub method: String,
    /// As the sender called it, which is what some providers sign.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub query: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub content_type: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source_ip: Option<String>,
    #[serde(default, skip_serializing_if = "Headers::is_empty")]
    pub headers: Headers,
    #[serde(default, skip_serializing_if = "Body::is_empty")]
    pub body: Body,
    /// Only the beginning of the body was kept, so it cannot be replayed.
    pub body_truncated: bool,
    #[serde(with = "millis")]
    pub rejected_at: Timestamp,
    #[serde(default, with = "seconds::option", skip_serializing_if = "Option::is_none")]
    pub expires_at: Option<Timestamp>,
}

impl Identified for Rejection {
    const PREFIX: &'static str = "rej_";
    const SORTABLE: bool = true;
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
#[schema(as = RejectionCause)]
pub enum Cause {
    Signature,
    TooLarge,
    Rate,
    Quota,
    Unparsable,
    /// Not as its type is declared.
    Schema,
}
