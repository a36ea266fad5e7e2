//! The receiver that `ferryhook dev` brings along: a destination that looks at what it gets as a
//! careful one would, and says what it saw.
//!
//! It takes the signature of any connection that leads here, and keeps nothing.

use std::net::SocketAddr;
use std::sync::Arc;

use axum::body::Body;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use axum::routing::any;
use axum::{Json, Router};
use ferryhook_api::owner;
use ferryhook_core::signature::{self, TOLERANCE, Unverified};
use ferryhook_core::{Connection, Env, limits, outgoing};
use ferryhook_store::{Slice, Store, StoreError};
use serde_json::json;

const PATH: &str = "/_dev/echo";

struct Echo {
    store: Store,
    env: Env,
}

pub fn router(store: Store, env: Env) -> Router {
    Router::new().route(PATH, any(receive)).with_state(Arc::new(Echo { store, env }))
}

pub fn url(address: SocketAddr) -> String {
    format!("http://{address}{PATH}")
}

/// Whether a connection leads to this receiver, on whatever port it was when that was written.
pub fn is_here(connection: &Connection) -> bool {
    let url = connection.destination_url.as_deref();
    let address = url.and_then(|url| url.strip_prefix("http://")?.strip_suffix(PATH));
    let address = address.and_then(|address| address.parse::<SocketAddr>().ok());
    address.is_some_and(|address| address.ip().is_loopback())
}

async fn receive(State(echo): State<Arc<Echo>>, headers: HeaderMap, body: Body) -> Response {
    let Ok(body) = axum::body::to_bytes(body, limits::BODY_BYTES_MAX).await else {
        return told(StatusCode::PAYLOAD_TOO_LARGE, "the body is too large or did not come");
    };
    let header = |name| headers.get(name).and_then(|value| value.to_str().ok());
    let Some(given) = header(outgoing::SIGNATURE) else {
        return told(StatusCode::UNAUTHORIZED, "there is no signature");
    };
    let connections = match echo.connections().await {
        Ok(connections) => connections,
        Err(error) => {
            tracing::warn!(%error, "the echo cannot look up whose signature to expect");
            return told(StatusCode::SERVICE_UNAVAILABLE, "not checked: the store does not answer");
        }
    };
    let now = echo.env.now();
    let check = |connection: &Connection| {
        signature::verify(given, connection.signing_secrets(now), &body, now, TOLERANCE)
    };
    let mut wrong = Unverified::Mismatch;
    for connection in &connections {
        match check(connection) {
            Ok(()) => {
                let event = header(outgoing::EVENT_ID);
                let (bytes, connection) = (body.len(), &connection.name);
                let told = json!({
                    "signature": "ok", "event": event, "connection": connection, "bytes": bytes
                });
                return Json(told).into_response();
            }
            Err(error) => wrong = error,
        }
    }
    told(StatusCode::UNAUTHORIZED, &wrong.to_string())
}

fn told(status: StatusCode, signature: &str) -> Response {
    (status, Json(json!({ "signature": signature }))).into_response()
}

impl Echo {
    /// Read anew each time: a secret may have been rotated. This is a toy, so a page is enough.
    async fn connections(&self) -> Result<Vec<Connection>, StoreError> {
        let Some(owner) = owner::find(&self.store).await? else { return Ok(Vec::new()) };
        let slice = Slice::default().limit(limits::PAGE_MAX);
        let page = self.store.connections().list_by_account(owner.account, slice).await?;
        let here = page.rows.into_iter().map(|stored| stored.record).filter(is_here);
        Ok(here.collect())
    }
}

#[cfg(test)]
mod tests;
