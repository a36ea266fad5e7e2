//! Calls that may be repeated: under the same `Idempotency-Key` the same caller gets the answer of
//! the first call, and nothing is done twice.
//!
//! Only what worked, and changed something, is kept: an answer that can be had again for the asking
//! would only be one more copy of what it shows. What failed has changed nothing, so its repetition is done anew. The
//! call goes on when its client goes away: the answer has to be there when the client comes back.

use std::time::Duration;

use aws_lc_rs::digest::{Context, SHA256, digest};
use axum::body::{Body, to_bytes};
use axum::extract::Request;
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header};
use axum::middleware::Next;
use axum::response::Response;
use ferryhook_core::answer::Reply;
use ferryhook_core::{Account, Answer, Headers, Id};
use ferryhook_store::Store;
use ferryhook_store::repositories::{Answering, Asked};

use crate::call;
use crate::limits;
use crate::problem::{Code, Problem};
use crate::router::App;
use crate::visit::Visit;

const KEY: &str = "idempotency-key";
const REPLAYED: HeaderName = HeaderName::from_static("idempotency-replayed");
/// Longer than any call takes; after it, whoever was at work is taken for dead.
const LEASE: Duration = Duration::from_secs(60);
/// Headers that belong to the answer. Cookies are not among them: they are for the first caller.
const KEPT: [HeaderName; 2] = [header::LOCATION, header::ETAG];

/// Who calls, as far as their keys are concerned.
#[derive(Debug, Clone)]
pub(crate) struct Identity {
    pub(crate) name: String,
    pub(crate) account: Option<Id<Account>>,
}

pub(crate) async fn run(
    app: &App,
    identity: &Identity,
    visit: &Visit,
    request: Request,
    next: Next,
) -> Result<Response, Problem> {
    let Some(key) = key(request.headers())? else { return Ok(next.run(request).await) };
    let (parts, body) = request.into_parts();
    let bytes = call::read(body).await?;
    let fingerprint = {
        let mut context = Context::new(&SHA256);
        for part in [parts.method.as_str(), "\n", parts.uri.to_string().as_str(), "\n"] {
            context.update(part.as_bytes());
        }
        context.update(&bytes);
        hex(context.finish().as_ref())
    };
    let key_hash = hex(digest(&SHA256, key.as_bytes()).as_ref());
    let asked = Asked {
        caller: &identity.name,
        key_hash: &key_hash,
        account: identity.account,
        fingerprint: &fingerprint,
    };
    let begun = match app.store.answers().begin(asked, LEASE).await? {
        Answering::First(begun) => begun,
        Answering::Running => {
            let said = "The first call with this Idempotency-Key is still at work. Ask again.";
            return Err(Problem::new(Code::Conflict, said).after(1));
        }
        Answering::OtherRequest => {
            let said = "This Idempotency-Key was used for another request. Take a new one.";
            return Err(Problem::new(Code::IdempotencyKeyReused, said));
        }
        Answering::Finished(reply) => {
            visit.nothing_changed();
            return Ok(repeat(reply));
        }
    };
    let request = Request::from_parts(parts, Body::from(bytes));
    let (done, answer) = tokio::sync::oneshot::channel();
    let (store, visit) = (app.store.clone(), visit.clone());
    app.tasks.spawn("idempotent call", async move {
        let response = next.run(request).await;
        let _ = done.send(keep(&store, &begun, &visit, response).await);
    });
    answer.await.map_err(|_| Problem::internal())
}

/// Bare, as most clients send it, or in quotation marks, as the draft has it.
pub(crate) fn key(headers: &HeaderMap) -> Result<Option<String>, Problem> {
    let mut values = headers.get_all(KEY).iter();
    let Some(value) = values.next() else { return Ok(None) };
    let text = value.to_str().ok().map(|text| text.trim());
    let text = text
        .map(|text| text.strip_prefix('"').and_then(|text| text.strip_suffix('"')).unwrap_or(text));
    let most = limits::IDEMPOTENCY_KEY_BYTES_MAX;
    match text {
        Some(text) if (1..=most).contains(&text.len()) && values.next().is_none() => {
            Ok(Some(text.to_owned()))
        }
        _ => Err(Problem::invalid("Idempotency-Key", format!("must have 1 to {most} characters"))),
    }
}

/// Writes the answer down before anybody hears it.
async fn keep(store: &Store, begun: &Answer, visit: &Visit, response: Response) -> Response {
    let answers = store.answers();
    if !response.status().is_success() || !visit.has_changed_something() {
        if let Err(error) = answers.abandon(begun).await {
            tracing::warn!(%error, "a call keeps its Idempotency-Key until the lease ends");
        }
        return response;
    }
    let (parts, body) = response.into_parts();
    let Ok(bytes) = to_bytes(body, usize::MAX).await else {
        return Response::from_parts(parts, Body::empty());
    };
    let text = |value: &HeaderValue| value.to_str().ok().map(str::to_owned);
    let headers = KEPT.iter().filter_map(|name| {
        Some((name.as_str().to_owned(), parts.headers.get(name).and_then(text)?))
    });
    let reply = Reply {
        status: parts.status.as_u16(),
        content_type: parts.headers.get(header::CONTENT_TYPE).and_then(text),
        headers: Headers::new(headers.collect()),
        body: bytes.clone().into(),
    };
    if let Err(error) = answers.finish(begun, reply).await {
        tracing::warn!(%error, "an answer could not be kept for its Idempotency-Key");
    }
    Response::from_parts(parts, Body::from(bytes))
}

fn repeat(reply: Reply) -> Response {
    let mut response = Response::new(Body::from(reply.body.into_bytes()));
    *response.status_mut() = StatusCode::from_u16(reply.status).unwrap_or(StatusCode::OK);
    let headers = response.headers_mut();
    headers.insert(REPLAYED, HeaderValue::from_static("true"));
    let kind = reply.content_type.map(|kind| (header::CONTENT_TYPE.to_string(), kind));
    let kept = reply.headers.iter().map(|(name, value)| (name.to_string(), value.to_string()));
    for (name, value) in kind.into_iter().chain(kept) {
        if let (Ok(name), Ok(value)) = (HeaderName::try_from(name), HeaderValue::try_from(value)) {
            headers.insert(name, value);
        }
    }
    response
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
