//! Conditions: a client changes a thing only if it is still as the client saw it.
//!
//! A tag stands for the settings of a thing, not for what is counted about it: a source that
//! takes events every second can still be changed by whoever read it a minute ago.

use std::fmt;

use aws_lc_rs::digest::{SHA256, digest};
use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use axum::http::{HeaderValue, header};
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde::Serialize;

use super::Describes;
use crate::openapi::Sketch;
use crate::problem::{Code, Problem};
use crate::router::App;

/// A strong tag, with its quotation marks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ETag(String);

impl ETag {
    /// Of whatever is the same exactly when the tag should be.
    pub fn of(settings: &impl Serialize) -> Self {
        let text = serde_json::to_vec(settings).unwrap_or_default();
        let hash = digest(&SHA256, &text);
        Self(format!("\"{}\"", URL_SAFE_NO_PAD.encode(&hash.as_ref()[..12])))
    }

    pub fn header(&self) -> Option<HeaderValue> {
        HeaderValue::from_str(&self.0).ok()
    }
}

impl fmt::Display for ETag {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// `If-Match`, where the client has one.
#[derive(Debug, Clone, Default)]
pub struct Condition {
    wanted: Option<Vec<String>>,
}

impl Condition {
    /// Whether the thing may be changed as it is now.
    pub fn allows(&self, now: &ETag) -> Result<(), Problem> {
        let Some(wanted) = &self.wanted else { return Ok(()) };
        match wanted.iter().any(|tag| tag == "*" || *tag == now.0) {
            true => Ok(()),
            false => Err(Problem::new(
                Code::PreconditionFailed,
                "It has changed since you read it. Read it again and repeat the change.",
            )),
        }
    }
}

impl FromRequestParts<App> for Condition {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, _: &App) -> Result<Self, Problem> {
        let lines = parts.headers.get_all(header::IF_MATCH);
        let wanted: Vec<_> = tags(lines.iter()).collect();
        let is_there = parts.headers.contains_key(header::IF_MATCH);
        Ok(Self { wanted: is_there.then_some(wanted) })
    }
}

/// Whether the client has this already (`If-None-Match`).
pub(crate) fn has(headers: &axum::http::HeaderMap, tag: &HeaderValue) -> bool {
    let Ok(tag) = tag.to_str() else { return false };
    tags(headers.get_all(header::IF_NONE_MATCH).iter())
        .any(|had| had == "*" || had.strip_prefix("W/").unwrap_or(&had) == tag)
}

fn tags<'a>(lines: impl Iterator<Item = &'a HeaderValue>) -> impl Iterator<Item = String> {
    lines
        .filter_map(|line| line.to_str().ok())
        .flat_map(|line| line.split(','))
        .map(|tag| tag.trim().to_owned())
        .collect::<Vec<_>>()
        .into_iter()
}

impl Describes for Condition {
    fn describe(sketch: &mut Sketch) {
        sketch.header("If-Match", "The ETag of the state that the change is meant for.");
        sketch.may_fail(Code::PreconditionFailed);
    }
}
