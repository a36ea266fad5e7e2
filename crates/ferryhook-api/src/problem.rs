//! The one shape of an error at this edge: a problem document (RFC 9457).
//!
//! A handler returns a [`Problem`]; `request::frame` adds the request's id and writes the body,
//! so that no handler has to carry the id around.

use axum::Json;
use axum::extract::Path;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde::{Serialize, Serializer};

use crate::request::RequestId;

/// What went wrong, in a word that clients may rely on. Never rename one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Code {
    NotFound,
    MethodNotAllowed,
    Internal,
    Unavailable,
}

impl Code {
    pub const ALL: [Code; 4] =
        [Code::NotFound, Code::MethodNotAllowed, Code::Internal, Code::Unavailable];

    pub fn as_str(self) -> &'static str {
        match self {
            Code::NotFound => "NOT_FOUND",
            Code::MethodNotAllowed => "METHOD_NOT_ALLOWED",
            Code::Internal => "INTERNAL",
            Code::Unavailable => "UNAVAILABLE",
        }
    }

    pub fn status(self) -> StatusCode {
        match self {
            Code::NotFound => StatusCode::NOT_FOUND,
            Code::MethodNotAllowed => StatusCode::METHOD_NOT_ALLOWED,
            Code::Internal => StatusCode::INTERNAL_SERVER_ERROR,
            Code::Unavailable => StatusCode::SERVICE_UNAVAILABLE,
        }
    }

    pub fn title(self) -> &'static str {
        match self {
            Code::NotFound => "Not found",
            Code::MethodNotAllowed => "Method not allowed",
            Code::Internal => "Internal error",
            Code::Unavailable => "Not available now",
        }
    }

    /// What the page behind `type` says.
    pub fn explanation(self) -> &'static str {
        match self {
            Code::NotFound => "The address is unknown, or what it names is not yours to see.",
            Code::MethodNotAllowed => "The address exists; the header Allow lists its methods.",
            Code::Internal => "A fault of the server. Its log has the request's id.",
            Code::Unavailable => "The server starts, stops or waits for its store. Ask again.",
        }
    }
}

impl Serialize for Code {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

#[derive(Debug, Clone)]
pub struct Problem {
    code: Code,
    detail: String,
    errors: Vec<FieldError>,
}

/// One thing wrong with the request's body.
#[derive(Debug, Clone, Serialize)]
pub struct FieldError {
    /// JSON pointer (RFC 6901) into the body.
    pub pointer: String,
    pub detail: String,
}

impl Problem {
    /// `detail` is for people and may change; it holds no secrets and no causes.
    pub fn new(code: Code, detail: impl Into<String>) -> Self {
        Self { code, detail: detail.into(), errors: Vec::new() }
    }

    #[must_use]
    pub fn with_errors(mut self, errors: Vec<FieldError>) -> Self {
        self.errors = errors;
        self
    }

    /// Writes the body into `response`, which keeps its other headers.
    pub(crate) fn answer(&self, request: RequestId, mut response: Response) -> Response {
        #[derive(Serialize)]
        #[serde(rename_all = "camelCase")]
        struct Body<'a> {
            r#type: String,
            title: &'a str,
            status: u16,
            detail: &'a str,
            code: Code,
            request_id: RequestId,
            #[serde(skip_serializing_if = "<[_]>::is_empty")]
            errors: &'a [FieldError],
        }

        let body = Body {
            r#type: format!("/problems/{}", self.code.as_str()),
            title: self.code.title(),
            status: self.code.status().as_u16(),
            detail: &self.detail,
            code: self.code,
            request_id: request,
            errors: &self.errors,
        };
        *response.body_mut() = Json(body).into_response().into_body();
        response.headers_mut().remove(header::CONTENT_LENGTH);
        response
            .headers_mut()
            .insert(header::CONTENT_TYPE, HeaderValue::from_static("application/problem+json"));
        response
    }
}

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        let mut response = self.code.status().into_response();
        response.extensions_mut().insert(self);
        response
    }
}

/// The page a problem's `type` points to.
pub async fn explain(Path(code): Path<String>) -> Result<String, Problem> {
    let code = Code::ALL
        .into_iter()
        .find(|known| known.as_str() == code)
        .ok_or_else(|| Problem::new(Code::NotFound, "There is no problem of that name."))?;
    Ok(format!("{}\n\n{}\n", code.title(), code.explanation()))
}
