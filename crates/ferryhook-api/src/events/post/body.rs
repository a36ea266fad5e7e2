//! What an app sends: an event, a list of them, or one on each line.

use std::collections::BTreeMap;

use axum::extract::{FromRequest, FromRequestParts, Request};
use axum::http::header;
use axum::http::request::Parts;
use ferryhook_core::limits::TRIGGERS_MAX;
use ferryhook_core::{Map, Timestamp};
use serde::Deserialize;
use serde_json::value::RawValue;
use utoipa::ToSchema;

use super::PostHeaders;
use crate::call::{self, Describes};
use crate::limits;
use crate::openapi::Sketch;
use crate::problem::{Code, Problem};
use crate::router::App;

const BY_LINES: [&str; 3] = ["application/x-ndjson", "application/ndjson", "application/jsonl"];

/// One event, as its app knows it.
#[derive(Debug, Clone, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schema(as = EventPost)]
pub struct Post {
    /// What it is about and what happened to it, such as `order.paid`; also as `event_type`.
    #[serde(alias = "event_type")]
    #[schema(max_length = 128, pattern = r"^[A-Za-z0-9_-]+(\.[A-Za-z0-9_-]+)+$")]
    pub(super) event_type: String,
    #[schema(value_type = Object)]
    pub(super) payload: Map,
    /// When it happened, if not now.
    #[serde(default)]
    pub(super) timestamp: Option<Timestamp>,
    /// What is to be kept beside the payload, such as a correlation id.
    #[serde(default)]
    #[schema(value_type = Option<Object>)]
    pub(super) metadata: Option<Map>,
    /// Your own name for it: what comes again under it within two weeks is the same event. Also as
    /// `event_id`.
    #[serde(default, alias = "event_id")]
    #[schema(min_length = 1, max_length = 255)]
    pub(super) event_id: Option<String>,
}

/// Many events.
#[derive(Debug, Clone, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = EventPosts)]
pub(super) struct List {
    #[schema(value_type = Vec<Post>, min_items = 1, max_items = 500)]
    events: Vec<Box<RawValue>>,
}

/// Either of them; only its description is used.
#[derive(Debug, ToSchema)]
#[schema(as = EventPostBody)]
#[serde(untagged)]
#[allow(dead_code, reason = "only its description is used")]
enum Either {
    One(Post),
    Many(List),
}

/// What was sent, each understood by itself.
#[derive(Debug)]
pub enum Posts {
    One(Box<Post>),
    Many(Vec<Result<Post, Problem>>),
}

impl FromRequest<App> for Posts {
    type Rejection = Problem;

    async fn from_request(request: Request, _: &App) -> Result<Self, Problem> {
        let kind = request.headers().get(header::CONTENT_TYPE);
        let kind = kind.and_then(|kind| kind.to_str().ok()).and_then(|kind| kind.split(';').next());
        let kind = kind.map(|kind| kind.trim().to_ascii_lowercase());
        let is_by_lines = kind.is_some_and(|kind| BY_LINES.contains(&kind.as_str()));
        if !is_by_lines {
            call::require_json(request.headers())?;
        }
        let bytes = call::read_up_to(request.into_body(), limits::POST_BYTES_MAX).await?;
        match is_by_lines {
            true => lines(&bytes),
            false => document(&bytes),
        }
    }
}

fn document(bytes: &[u8]) -> Result<Posts, Problem> {
    let is_list = bytes.iter().find(|byte| !byte.is_ascii_whitespace()) == Some(&b'[');
    if is_list {
        return several(&call::parse::<Vec<Box<RawValue>>>(bytes)?);
    }
    let fields: BTreeMap<String, Box<RawValue>> = call::parse(bytes)?;
    match fields.contains_key("events") {
        true => several(&call::parse::<List>(bytes)?.events),
        false => call::parse(bytes).map(|post| Posts::One(Box::new(post))),
    }
}

fn several(texts: &[Box<RawValue>]) -> Result<Posts, Problem> {
    counted(texts.len())?;
    let each = texts.iter().map(|text| call::parse(text.get().as_bytes()));
    Ok(Posts::Many(each.collect()))
}

fn lines(bytes: &[u8]) -> Result<Posts, Problem> {
    let lines = bytes.split(|byte| *byte == b'\n');
    let lines: Vec<_> = lines.filter(|line| !line.trim_ascii().is_empty()).collect();
    counted(lines.len())?;
    Ok(Posts::Many(lines.into_iter().map(call::parse).collect()))
}

fn counted(count: usize) -> Result<(), Problem> {
    match count {
        1..=TRIGGERS_MAX => Ok(()),
        _ => {
            let said = format!("must be 1 to {TRIGGERS_MAX}, not {count}");
            Err(Problem::invalid("/events", said))
        }
    }
}

impl Describes for Posts {
    fn describe(sketch: &mut Sketch) {
        sketch.takes::<Either>(true);
        sketch.may_fail(Code::PayloadTooLarge);
    }
}

impl FromRequestParts<App> for PostHeaders {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, _: &App) -> Result<Self, Problem> {
        Self::of(&parts.headers)
    }
}

impl Describes for PostHeaders {
    fn describe(_: &mut Sketch) {}
}
