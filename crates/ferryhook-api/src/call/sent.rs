//! The body that a client sends: JSON, whole, within bounds, and without a field nobody knows.

use std::time::Duration;

use axum::body::{Body, to_bytes};
use axum::extract::{FromRequest, Request};
use axum::http::{HeaderMap, header};
use bytes::Bytes;
use serde::de::DeserializeOwned;
use serde_path_to_error::Segment;
use tokio::time::timeout;
use utoipa::ToSchema;

use super::Describes;
use crate::limits;
use crate::openapi::Sketch;
use crate::problem::{Code, Problem};
use crate::router::App;

/// How long a client may take for its body.
const WITHIN: Duration = Duration::from_secs(30);

/// The body, read and understood.
#[derive(Debug, Clone)]
pub struct Sent<T>(pub T);

/// The body, if there is one.
#[derive(Debug, Clone)]
pub struct MaybeSent<T>(pub Option<T>);

impl<T: DeserializeOwned> FromRequest<App> for Sent<T> {
    type Rejection = Problem;

    async fn from_request(request: Request, _: &App) -> Result<Self, Problem> {
        require_json(request.headers())?;
        let bytes = read(request.into_body()).await?;
        parse(&bytes).map(Self)
    }
}

impl<T: DeserializeOwned> FromRequest<App> for MaybeSent<T> {
    type Rejection = Problem;

    async fn from_request(request: Request, _: &App) -> Result<Self, Problem> {
        let is_json = require_json(request.headers());
        let bytes = read(request.into_body()).await?;
        if bytes.is_empty() {
            return Ok(Self(None));
        }
        is_json?;
        parse(&bytes).map(|body| Self(Some(body)))
    }
}

impl<T: ToSchema> Describes for Sent<T> {
    fn describe(sketch: &mut Sketch) {
        sketch.takes::<T>(true);
    }
}

impl<T: ToSchema> Describes for MaybeSent<T> {
    fn describe(sketch: &mut Sketch) {
        sketch.takes::<T>(false);
    }
}

/// All of it, or a problem: nothing is cut.
pub(crate) async fn read(body: Body) -> Result<Bytes, Problem> {
    read_up_to(body, limits::BODY_BYTES_MAX).await
}

pub(crate) async fn read_up_to(body: Body, most: usize) -> Result<Bytes, Problem> {
    let declared = axum::body::HttpBody::size_hint(&body).lower();
    if declared > most as u64 {
        return Err(too_large(most));
    }
    match timeout(WITHIN, to_bytes(body, most)).await {
        Ok(Ok(bytes)) => Ok(bytes),
        Ok(Err(error)) if is_over(&error) => Err(too_large(most)),
        Ok(Err(_)) => Err(Problem::new(Code::Validation, "The body ended before its end.")),
        Err(_) => Err(Problem::new(Code::RequestTimeout, "The body did not arrive in time.")),
    }
}

fn too_large(most: usize) -> Problem {
    Problem::new(Code::PayloadTooLarge, format!("The body may have at most {most} bytes."))
}

fn is_over(error: &axum::Error) -> bool {
    let mut cause: Option<&(dyn std::error::Error + 'static)> = Some(error);
    while let Some(error) = cause {
        if error.is::<http_body_util::LengthLimitError>() {
            return true;
        }
        cause = error.source();
    }
    false
}

pub(crate) fn require_json(headers: &HeaderMap) -> Result<(), Problem> {
    let kind = headers.get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok());
    let essence = kind.and_then(|kind| kind.split(';').next()).map(|kind| kind.trim());
    let is_json = essence.is_some_and(|kind| {
        let kind = kind.to_ascii_lowercase();
        kind == "application/json" || (kind.starts_with("application/") && kind.ends_with("+json"))
    });
    is_json.then_some(()).ok_or_else(|| {
        let said = "The body must be JSON, with the header Content-Type: application/json.";
        Problem::new(Code::UnsupportedMediaType, said)
    })
}

pub(crate) fn parse<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, Problem> {
    let mut reader = serde_json::Deserializer::from_slice(bytes);
    let body: T = serde_path_to_error::deserialize(&mut reader)
        .map_err(|error| Problem::invalid(pointer(error.path()), says(error.inner())))?;
    reader.end().map_err(|error| Problem::invalid("", says(&error)))?;
    Ok(body)
}

/// Without the place in the text: the pointer says it better.
fn says(error: &serde_json::Error) -> String {
    let text = error.to_string();
    match text.rfind(" at line ") {
        Some(end) if error.is_data() => text[..end].to_owned(),
        _ => text,
    }
}

fn pointer(path: &serde_path_to_error::Path) -> String {
    let mut pointer = String::new();
    for segment in path {
        match segment {
            Segment::Map { key } => {
                pointer.push('/');
                pointer.push_str(&key.replace('~', "~0").replace('/', "~1"));
            }
            Segment::Seq { index } => pointer.push_str(&format!("/{index}")),
            Segment::Enum { .. } | Segment::Unknown => {}
        }
    }
    pointer
}
