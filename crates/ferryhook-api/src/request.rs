//! What every request gets: an id, and an answer even if its handler panics.

use std::panic::AssertUnwindSafe;

use axum::extract::{Request, State};
use axum::http::{HeaderName, HeaderValue};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use ferryhook_core::Id;
use ferryhook_core::id::Identified;
use futures_util::FutureExt;

use crate::problem::{Code, Problem};
use crate::router::App;

pub static X_REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");

/// One request, as its id names it. Handlers find the id among the request's extensions.
#[derive(Debug)]
pub enum AnyRequest {}

impl Identified for AnyRequest {
    const PREFIX: &'static str = "req_";
    const SORTABLE: bool = true;
}

pub type RequestId = Id<AnyRequest>;

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
