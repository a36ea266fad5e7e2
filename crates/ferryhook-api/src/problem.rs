//! The one shape of an error at this edge: a problem document (RFC 9457).
//!
//! A handler returns a [`Problem`]; `request::frame` adds the request's id and writes the body,
//! so that no handler has to carry the id around.

use axum::extract::Path;
use axum::http::{HeaderValue, header};
use axum::response::{IntoResponse, Response};
use ferryhook_net::problem;

use crate::request::RequestId;

pub use ferryhook_net::problem::{Code, FieldError};

#[derive(Debug, Clone)]
pub struct Problem {
    code: Code,
    detail: String,
    errors: Vec<FieldError>,
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
        let document = problem::document(self.code, &self.detail, request, &self.errors);
        *response.body_mut() = document.into();
        response.headers_mut().remove(header::CONTENT_LENGTH);
        response
            .headers_mut()
            .insert(header::CONTENT_TYPE, HeaderValue::from_static(problem::CONTENT_TYPE));
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
