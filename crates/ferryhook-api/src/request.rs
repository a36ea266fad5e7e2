//! What every request gets: an id, and an answer even if its handler panics.

use std::panic::AssertUnwindSafe;

use axum::extract::{Request, State};
use axum::http::{HeaderValue, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use futures_util::FutureExt;

use crate::problem::{Code, Problem};
use crate::router::App;

/// Handlers find it among the request's extensions.
pub use ferryhook_net::problem::{RequestId, X_REQUEST_ID};

/// Wraps every handler: names the request, and turns a [`Problem`] into its body.
pub async fn frame(State(app): State<App>, mut request: Request, next: Next) -> Response {
    let id = RequestId::new(&app.env);
    request.extensions_mut().insert(id);
    let answer = AssertUnwindSafe(next.run(request)).catch_unwind().await;
    let mut response = answer.unwrap_or_else(|_| {
        tracing::error!(request.id = %id, "a handler panicked");
        Problem::new(Code::Internal, "Something failed on our side.").into_response()
    });
    if let Some(problem) = response.extensions_mut().remove::<Problem>() {
        response = problem.answer(id, response);
    }
    if let Ok(value) = HeaderValue::from_str(id.as_str()) {
        response.headers_mut().insert(X_REQUEST_ID.clone(), value);
    }
    response
}

/// What every answer of the API tells browsers: take it for what it says it is, keep no copy.
pub(crate) async fn careful(mut response: Response) -> Response {
    let headers = response.headers_mut();
    headers.insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    headers.entry(header::CACHE_CONTROL).or_insert(HeaderValue::from_static("no-store"));
    headers.entry(header::REFERRER_POLICY).or_insert(HeaderValue::from_static("no-referrer"));
    response
}
