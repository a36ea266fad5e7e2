//! The client: speaks to a server over its API, for the commands that people type.
//!
//! It says what it was asked to say and turns what comes back into values or into a [`Failure`]
//! that tells a person what to do. Whom it speaks to is decided by [`place`]; it never opens a
//! store, and it never sends a key to another server than the one the key is for.

pub mod contexts;
pub mod errands;
mod failure;
mod line;
pub mod local;
mod names;
pub mod place;
mod query;

use std::io;
use std::time::Duration;

use bytes::Bytes;
use ferryhook_api::page::Page;
use ferryhook_core::Secret;
use futures_util::{Stream, StreamExt};
use http_body_util::{BodyExt, Full, Limited};
use hyper::body::Incoming;
use hyper::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE, RETRY_AFTER, USER_AGENT};
use hyper::{HeaderMap, Method, Request, Response, StatusCode, Uri};
use hyper_util::client::legacy;
use hyper_util::rt::TokioExecutor;
use serde::Serialize;
use serde::de::DeserializeOwned;
use tokio::time::{sleep, timeout};

pub use failure::Failure;
pub use query::{segment, with_query};

use line::Connector;

/// For the whole of an answer, or for the head of one that goes on.
const ANSWER_WITHIN: Duration = Duration::from_secs(60);
/// The largest thing that is asked for is an event's body.
const ANSWER_BYTES_MAX: usize = 32 * 1024 * 1024;
/// As many of a list as the server gives at once.
const PAGE: usize = 100;
/// How often a server may say "not so fast" to one call, and for how long at most.
const WAITS_MAX: usize = 5;
const WAIT_MAX: Duration = Duration::from_secs(90);
const AGENT: &str = concat!("ferryhook-cli/", env!("CARGO_PKG_VERSION"));

/// One server, spoken to as one caller. Clones share its connections.
#[derive(Debug, Clone)]
pub struct Client {
    /// Without a slash at the end.
    server: String,
    proof: Option<Secret>,
    http: legacy::Client<Connector, Full<Bytes>>,
}

/// An answer, whatever its status.
#[derive(Debug, Clone)]
pub struct Reply {
    pub status: StatusCode,
    pub headers: HeaderMap,
    pub body: Bytes,
}

impl Client {
    pub fn new(server: &str, proof: Option<Secret>) -> Result<Self, Failure> {
        let server = server.trim_end_matches('/').to_owned();
        let bad = |why: &str| Failure::BadServer { server: server.clone(), why: why.to_owned() };
        let uri: Uri = server.parse().map_err(|_| bad("it is not a URL"))?;
        match (uri.scheme_str(), uri.host()) {
            (Some("http" | "https"), Some(_)) => {}
            _ => return Err(bad("it must begin with http:// or https://")),
        }
        let connector = Connector::new().map_err(|error| bad(&error.to_string()))?;
        let http = legacy::Client::builder(TokioExecutor::new()).build(connector);
        Ok(Self { server, proof, http })
    }

    /// Where it speaks to, without a slash at the end.
    pub fn server(&self) -> &str {
        &self.server
    }

    pub async fn get<T: DeserializeOwned>(&self, path: &str) -> Result<T, Failure> {
        self.call(Method::GET, path, None).await
    }

    pub async fn post<T: DeserializeOwned>(
        &self,
        path: &str,
        body: &impl Serialize,
    ) -> Result<T, Failure> {
        self.call(Method::POST, path, Some(json(body)?)).await
    }

    pub async fn patch<T: DeserializeOwned>(
        &self,
        path: &str,
        body: &impl Serialize,
    ) -> Result<T, Failure> {
        self.call(Method::PATCH, path, Some(json(body)?)).await
    }

    pub async fn delete(&self, path: &str) -> Result<(), Failure> {
        self.ask(Method::DELETE, path, None).await.map(drop)
    }

    /// As many of a list as are wanted, page by page. Says whether there is more.
    pub async fn list<T: DeserializeOwned>(
        &self,
        path: &str,
        limit: usize,
    ) -> Result<Page<T>, Failure> {
        let mut all: Vec<T> = Vec::new();
        let mut cursor = None;
        loop {
            let count = (limit - all.len()).clamp(1, PAGE).to_string();
            let more = [("limit", Some(count)), ("cursor", cursor)];
            let page: Page<T> = self.get(&with_query(path, more)).await?;
            all.extend(page.data);
            cursor = page.cursor.filter(|_| page.has_more);
            if cursor.is_none() || all.len() >= limit {
                return Ok(Page { data: all, has_more: cursor.is_some(), cursor });
            }
        }
    }

    /// An answer that goes on for as long as the server likes, piece by piece as it comes.
    pub async fn stream(
        &self,
        path: &str,
    ) -> Result<impl Stream<Item = io::Result<Bytes>> + Send + Unpin + use<>, Failure> {
        let request = self.request(Method::GET, path, None, "*/*")?;
        let answer = self.answered(request).await?;
        if !answer.status().is_success() {
            let reply = self.whole(answer).await?;
            return Err(self.refused(&reply));
        }
        Ok(answer.into_body().into_data_stream().map(|piece| piece.map_err(io::Error::other)))
    }

    /// Sends bytes to an address that takes events, as their sender would: without the key.
    pub async fn deliver(
        &self,
        method: &str,
        url: &str,
        headers: &[(String, String)],
        body: Bytes,
    ) -> Result<Reply, Failure> {
        let mut request = Request::builder().method(method).uri(url);
        if !headers.iter().any(|(name, _)| name.eq_ignore_ascii_case("user-agent")) {
            request = request.header(USER_AGENT, AGENT);
        }
        for (name, value) in headers {
            request = request.header(name, value);
        }
        let request = request.body(Full::new(body));
        let request = request.map_err(|error| Failure::Unsendable(error.to_string()))?;
        self.whole(self.answered(request).await?).await
    }

    async fn call<T: DeserializeOwned>(
        &self,
        method: Method,
        path: &str,
        body: Option<Bytes>,
    ) -> Result<T, Failure> {
        let reply = self.ask(method, path, body).await?;
        // Nothing is an answer too, to those who expect nothing.
        let text: &[u8] = if reply.body.is_empty() { b"null" } else { &reply.body };
        serde_json::from_slice(text).map_err(|_| Failure::Strange { server: self.server.clone() })
    }

    /// A good answer; one that says "later" is asked for again then.
    async fn ask(&self, method: Method, path: &str, body: Option<Bytes>) -> Result<Reply, Failure> {
        for _ in 0..WAITS_MAX {
            let request = self.request(method.clone(), path, body.clone(), "application/json")?;
            let reply = self.whole(self.answered(request).await?).await?;
            match wait(&reply) {
                Some(pause) => sleep(pause).await,
                None if reply.status.is_success() => return Ok(reply),
                None => return Err(self.refused(&reply)),
            }
        }
        Err(Failure::Busy { server: self.server.clone() })
    }

    fn request(
        &self,
        method: Method,
        path: &str,
        body: Option<Bytes>,
        accept: &str,
    ) -> Result<Request<Full<Bytes>>, Failure> {
        let mut request = Request::builder()
            .method(method)
            .uri(format!("{}{path}", self.server))
            .header(USER_AGENT, AGENT)
            .header(ACCEPT, accept);
        if let Some(proof) = &self.proof {
            request = request.header(AUTHORIZATION, format!("Bearer {}", proof.expose()));
        }
        if body.is_some() {
            request = request.header(CONTENT_TYPE, "application/json");
        }
        let request = request.body(Full::new(body.unwrap_or_default()));
        // Without the text of the error, which may quote the key.
        request.map_err(|_| Failure::Unsendable("the key or the address is malformed".to_owned()))
    }

    async fn answered(&self, request: Request<Full<Bytes>>) -> Result<Response<Incoming>, Failure> {
        let server = server_of(request.uri());
        match timeout(ANSWER_WITHIN, self.http.request(request)).await {
            Ok(Ok(answer)) => Ok(answer),
            Ok(Err(error)) => Err(Failure::unreachable(server, &error)),
            Err(_) => Err(Failure::Late { server }),
        }
    }

    async fn whole(&self, answer: Response<Incoming>) -> Result<Reply, Failure> {
        let (head, body) = answer.into_parts();
        let server = || self.server.clone();
        let body = timeout(ANSWER_WITHIN, Limited::new(body, ANSWER_BYTES_MAX).collect()).await;
        let body = body.map_err(|_| Failure::Late { server: server() })?;
        let body = body.map_err(|_| Failure::Cut { server: server() })?.to_bytes();
        Ok(Reply { status: head.status, headers: head.headers, body })
    }

    fn refused(&self, reply: &Reply) -> Failure {
        Failure::refused(&self.server, self.proof.is_some(), reply)
    }
}

fn json(body: &impl Serialize) -> Result<Bytes, Failure> {
    let text = serde_json::to_vec(body);
    text.map(Bytes::from).map_err(|error| Failure::Unsendable(error.to_string()))
}

fn server_of(uri: &Uri) -> String {
    let authority = uri.authority().map(ToString::to_string).unwrap_or_default();
    format!("{}://{authority}", uri.scheme_str().unwrap_or("http"))
}

/// How long a server wants to be left alone, where it has done nothing yet.
fn wait(reply: &Reply) -> Option<Duration> {
    if reply.status != StatusCode::TOO_MANY_REQUESTS {
        return None;
    }
    let seconds = reply.headers.get(RETRY_AFTER)?.to_str().ok()?.parse().ok()?;
    Some(Duration::from_secs(seconds)).filter(|pause| *pause <= WAIT_MAX)
}
