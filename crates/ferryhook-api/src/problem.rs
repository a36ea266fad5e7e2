//! The one shape of an error at this edge: a problem document (RFC 9457).
//!
//! A handler returns a [`Problem`]; `request::frame` adds the request's id and writes the body,
//! so that no handler has to carry the id around.

use axum::extract::Path;
use axum::http::{HeaderName, HeaderValue, header};
use axum::response::{IntoResponse, Response};
use ferryhook_net::problem;
use ferryhook_store::StoreError;

use crate::request::RequestId;

pub use ferryhook_net::problem::{Code, FieldError};

#[derive(Debug, Clone)]
pub struct Problem {
    code: Code,
    detail: String,
    errors: Vec<FieldError>,
    /// After how long it is worth asking again, where that is known.
    wait_seconds: Option<u64>,
    headers: Vec<(HeaderName, HeaderValue)>,
}

impl Problem {
    /// `detail` is for people and may change; it holds no secrets and no causes.
    pub fn new(code: Code, detail: impl Into<String>) -> Self {
        let detail = detail.into();
        Self { code, detail, errors: Vec::new(), wait_seconds: None, headers: Vec::new() }
    }

    /// One thing is wrong: `pointer` is where in the body (RFC 6901), or the parameter's name.
    pub fn invalid(pointer: impl Into<String>, message: impl Into<String>) -> Self {
        let error = FieldError { pointer: pointer.into(), message: message.into() };
        Self::invalid_all(vec![error])
    }

    pub fn invalid_all(errors: Vec<FieldError>) -> Self {
        Self::new(Code::Validation, "The request is not valid; errors says where.")
            .with_errors(errors)
    }

    /// The one answer for what is not there and for what is somebody else's.
    pub fn not_found() -> Self {
        Self::new(Code::NotFound, "There is no such thing, or it is not yours to see.")
    }

    /// Too many have been asked for; `wait_seconds` are told.
    pub fn too_fast(detail: impl Into<String>, wait_seconds: u64) -> Self {
        Self::new(Code::RateLimited, detail).after(wait_seconds)
    }

    pub fn internal() -> Self {
        Self::new(Code::Internal, "Something failed on our side.")
    }

    pub fn detail(&self) -> &str {
        &self.detail
    }

    pub fn errors(&self) -> &[FieldError] {
        &self.errors
    }

    pub fn code(&self) -> Code {
        self.code
    }

    /// It is worth asking again then.
    #[must_use]
    pub fn after(self, wait_seconds: u64) -> Self {
        Self { wait_seconds: Some(wait_seconds), ..self }
    }

    #[must_use]
    pub(crate) fn with_headers(self, headers: Vec<(HeaderName, HeaderValue)>) -> Self {
        Self { headers, ..self }
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

/// Said once here; the client is told what it can do about it, never the cause.
impl From<StoreError> for Problem {
    fn from(error: StoreError) -> Self {
        match error {
            StoreError::Refused { .. } => Self::new(
                Code::Conflict,
                "Somebody else changed it at the same time. Read it again and repeat the change.",
            ),
            StoreError::Unavailable(..) | StoreError::Full(_) => {
                tracing::warn!(%error, "the store did not do what the API asked for");
                Self::new(Code::Unavailable, "The store does not answer now. Ask again.")
            }
            error => {
                tracing::error!(%error, "the store refused what the API asked for");
                Self::internal()
            }
        }
    }
}

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        let mut response = self.code.status().into_response();
        if self.code == Code::Unauthorized {
            let scheme = HeaderValue::from_static("Bearer");
            response.headers_mut().insert(header::WWW_AUTHENTICATE, scheme);
        }
        let wait = self.wait_seconds.or((self.code == Code::Unavailable).then_some(1));
        if let Some(wait) = wait {
            response.headers_mut().insert(header::RETRY_AFTER, wait.into());
        }
        response.headers_mut().extend(self.headers.iter().cloned());
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
