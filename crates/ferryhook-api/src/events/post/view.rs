//! What whoever posted is told.

use axum::Json;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use ferryhook_core::event::Status;
use ferryhook_core::id::{EventId, SourceId};
use ferryhook_core::{Event, Map, Timestamp};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::call::Describes;
use crate::openapi::Sketch;
use crate::problem::{Code, Problem};

/// The event as it is stored.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct PostedEvent {
    pub event_id: EventId,
    pub source_id: SourceId,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub event_type: Option<String>,
    pub status: Status,
    #[schema(value_type = Object)]
    pub payload: Map,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Object>)]
    pub metadata: Option<Map>,
    /// When it happened: as it was posted, or else when it came.
    pub timestamp: Timestamp,
    pub received_at: Timestamp,
    pub retry_count: u32,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires_at: Option<Timestamp>,
    /// It came before, and this is the first of them.
    #[serde(default)]
    pub duplicate: bool,
}

impl PostedEvent {
    pub(super) fn new(event: &Event, duplicate: bool) -> Self {
        Self {
            event_id: event.id,
            source_id: event.source_id,
            event_type: event.event_type.clone(),
            status: event.status,
            payload: event.payload.clone().unwrap_or_default(),
            metadata: event.metadata.clone(),
            timestamp: event.occurred_at.unwrap_or(event.received_at),
            received_at: event.received_at,
            retry_count: event.retry_count,
            expires_at: event.expires_at,
            duplicate,
        }
    }
}

/// What became of each of many, in the order they were posted.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct PostedBatch {
    pub data: Vec<PostedItem>,
}

/// What became of one: the event, or why it was not taken in.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct PostedItem {
    /// As it would have been answered by itself: 201, 200 for one that came before, 400 and so on.
    pub status: u16,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub event: Option<PostedEvent>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub problem: Option<PostedProblem>,
}

/// Why one was not taken in.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct PostedProblem {
    pub code: String,
    pub detail: String,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub errors: Vec<PostedError>,
}

/// One thing that is wrong with it.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct PostedError {
    /// Where in the event.
    pub pointer: String,
    pub message: String,
}

impl PostedItem {
    pub(super) fn filed(event: PostedEvent) -> Self {
        let status = if event.duplicate { StatusCode::OK } else { StatusCode::CREATED };
        Self { status: status.as_u16(), event: Some(event), problem: None }
    }

    pub(super) fn refused(problem: &Problem) -> Self {
        let errors = problem.errors().iter().map(|error| PostedError {
            pointer: error.pointer.clone(),
            message: error.message.clone(),
        });
        let told = PostedProblem {
            code: problem.code().as_str().to_owned(),
            detail: problem.detail().to_owned(),
            errors: errors.collect(),
        };
        Self { status: problem.code().status().as_u16(), event: None, problem: Some(told) }
    }
}

/// One event is answered as itself, many as a list.
#[derive(Debug, Clone)]
pub enum PostAnswer {
    New(PostedEvent),
    Known(PostedEvent),
    Several(PostedBatch),
}

/// The two shapes of 200.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[serde(untagged)]
#[allow(dead_code, reason = "only its description is used")]
enum PostedBefore {
    One(Box<PostedEvent>),
    Several(PostedBatch),
}

impl IntoResponse for PostAnswer {
    fn into_response(self) -> Response {
        match self {
            Self::New(event) => (StatusCode::CREATED, Json(event)).into_response(),
            Self::Known(event) => Json(event).into_response(),
            Self::Several(batch) => Json(batch).into_response(),
        }
    }
}

impl Describes for PostAnswer {
    fn describe(sketch: &mut Sketch) {
        sketch.gives::<PostedEvent>(StatusCode::CREATED, "Stored.");
        sketch.gives::<PostedBefore>(
            StatusCode::OK,
            "It came before; or, for many, what became of each.",
        );
        for code in [Code::QuotaExceeded, Code::PaymentRequired, Code::PayloadTooLarge] {
            sketch.may_fail(code);
        }
    }
}
