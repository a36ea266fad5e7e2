//! Rejections as clients see them.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use ferryhook_core::id::{EventId, RejectionId};
use ferryhook_core::rejection::Cause;
use ferryhook_core::{Rejection, Timestamp};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::events::HeaderLine;

/// A rejection in a list.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = RejectionSummary)]
pub struct RejectionLine {
    pub rejection_id: RejectionId,
    pub rejected_at: Timestamp,
    pub cause: Cause,
    /// What to mend.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub detail: Option<String>,
    pub method: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source_ip: Option<String>,
    pub body_bytes: usize,
    /// Whether it can be let in after all.
    pub is_whole: bool,
}

impl From<&Rejection> for RejectionLine {
    fn from(rejection: &Rejection) -> Self {
        Self {
            rejection_id: rejection.id,
            rejected_at: rejection.rejected_at,
            cause: rejection.cause,
            detail: rejection.detail.clone(),
            method: rejection.method.clone(),
            source_ip: rejection.source_ip.clone(),
            body_bytes: rejection.body.len(),
            is_whole: !rejection.body_truncated,
        }
    }
}

/// A request that was refused, as far as it is kept.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Rejection)]
pub struct RejectionStory {
    #[serde(flatten)]
    pub line: RejectionLine,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub query: Option<String>,
    pub headers: Vec<HeaderLine>,
    /// Where it is text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub body: Option<String>,
    /// Where it is not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub body_base64: Option<String>,
}

impl RejectionStory {
    pub fn new(rejection: &Rejection, line: RejectionLine) -> Self {
        let body = rejection.body.as_text().map(str::to_owned);
        Self {
            line,
            path: rejection.path.clone(),
            query: rejection.query.clone(),
            headers: HeaderLine::all(&rejection.headers),
            body_base64: body.is_none().then(|| STANDARD.encode(rejection.body.as_bytes())),
            body,
        }
    }
}

/// What came of letting them in.
#[derive(Debug, Clone, Default, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Readmitted {
    pub events: Vec<EventId>,
    /// Why the others stay out.
    pub refused: Vec<String>,
    /// There are older ones.
    pub has_more: bool,
}
