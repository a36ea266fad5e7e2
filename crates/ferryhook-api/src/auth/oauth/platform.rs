//! The platforms, as the rest of signing in sees them, and how they are called.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use ferryhook_core::user::Identity;
use ferryhook_core::{Env, Secret};
use ferryhook_net::Guard;
use ferryhook_net::client::{Outbound, Outgoing};
use hyper::Method;
use hyper::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE, HeaderMap, HeaderValue, USER_AGENT};
use serde::de::DeserializeOwned;

use super::github::Github;
use super::google::Google;
use super::name;
use crate::auth::Settings;
use crate::problem::{Code, Problem};

const WITHIN: Duration = Duration::from_secs(10);
const AGENT: &str = concat!("Ferryhook/", env!("CARGO_PKG_VERSION"));

#[derive(Debug)]
pub(crate) struct Platforms {
    github: Option<Github>,
    google: Option<Google>,
}

/// What somebody leaves with.
#[derive(Debug)]
pub(crate) struct Left {
    pub(crate) state: Secret,
    pub(crate) verifier: Secret,
    pub(crate) nonce: Secret,
    pub(crate) redirect_uri: String,
}

/// What they come back with, and what was kept of how they left.
#[derive(Debug)]
pub(crate) struct Returned {
    pub(crate) code: Secret,
    pub(crate) verifier: Secret,
    pub(crate) nonce: Secret,
    pub(crate) redirect_uri: String,
}

/// Somebody, as a platform knows them.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Somebody {
    /// The platform's own, which never becomes another's.
    pub(crate) id: String,
    /// One that the platform has verified.
    pub(crate) email: Option<String>,
    pub(crate) name: Option<String>,
}

impl Platforms {
    pub(crate) fn new(
        settings: &Settings,
        outbound: &Arc<dyn Outbound>,
        guard: &Guard,
        env: Env,
    ) -> Self {
        let calls = |at| Calls { at, outbound: outbound.clone(), guard: guard.clone() };
        let github = settings.github.clone();
        let google = settings.google.clone();
        Self {
            github: github.map(|settings| Github::new(settings, calls(Identity::Github))),
            google: google.map(|settings| Google::new(settings, calls(Identity::Google), env)),
        }
    }

    /// Where to send the browser.
    pub(crate) async fn url(&self, at: Identity, left: &Left) -> Result<String, Problem> {
        match (at, &self.github, &self.google) {
            (Identity::Github, Some(github), _) => github.url(left),
            (Identity::Google, _, Some(google)) => google.url(left).await,
            _ => Err(not_configured(at)),
        }
    }

    pub(crate) async fn who(&self, at: Identity, back: &Returned) -> Result<Somebody, Problem> {
        match (at, &self.github, &self.google) {
            (Identity::Github, Some(github), _) => github.who(back).await,
            (Identity::Google, _, Some(google)) => google.who(back).await,
            _ => Err(not_configured(at)),
        }
    }
}

/// Calls one platform: the operator has named it, so it may be anywhere.
pub(super) struct Calls {
    at: Identity,
    outbound: Arc<dyn Outbound>,
    guard: Guard,
}

impl Calls {
    pub(super) async fn get<T: DeserializeOwned>(
        &self,
        url: &str,
        bearer: Option<&Secret>,
    ) -> Result<T, Problem> {
        let mut headers = HeaderMap::new();
        if let Some(bearer) = bearer {
            let value = HeaderValue::from_str(&format!("Bearer {}", bearer.expose()));
            headers.insert(AUTHORIZATION, value.map_err(|_| self.odd("its token is not text"))?);
        }
        self.call(Method::GET, url, headers, Bytes::new()).await
    }

    pub(super) async fn post_form<T: DeserializeOwned>(
        &self,
        url: &str,
        fields: &[(&str, &str)],
    ) -> Result<T, Problem> {
        let form =
            url::form_urlencoded::Serializer::new(String::new()).extend_pairs(fields).finish();
        let mut headers = HeaderMap::new();
        let kind = HeaderValue::from_static("application/x-www-form-urlencoded");
        headers.insert(CONTENT_TYPE, kind);
        self.call(Method::POST, url, headers, form.into()).await
    }

    async fn call<T: DeserializeOwned>(
        &self,
        method: Method,
        url: &str,
        mut headers: HeaderMap,
        body: Bytes,
    ) -> Result<T, Problem> {
        headers.insert(ACCEPT, HeaderValue::from_static("application/json"));
        headers.insert(USER_AGENT, HeaderValue::from_static(AGENT));
        let target = self.guard.target(url).map_err(|refusal| {
            tracing::error!(platform = name(self.at), %refusal, "the platform cannot be called");
            self.away()
        })?;
        let outgoing = Outgoing { target, method, headers, body, timeout: WITHIN, identity: None };
        let reply = self.outbound.send(outgoing).await.map_err(|error| {
            tracing::warn!(platform = name(self.at), %error, "the platform does not answer");
            self.away()
        })?;
        if reply.status >= 500 || reply.status == 429 {
            tracing::warn!(platform = name(self.at), status = reply.status, "the platform fails");
            return Err(self.away());
        }
        serde_json::from_slice(&reply.body).map_err(|error| {
            let status = reply.status;
            tracing::warn!(platform = name(self.at), status, %error, "an answer is not understood");
            self.odd("its answer is not understood")
        })
    }

    /// It does not work now.
    pub(super) fn away(&self) -> Problem {
        let name = name(self.at);
        Problem::new(Code::Unavailable, format!("{name} does not answer now. Try again."))
    }

    /// It answered, and the answer proves nothing.
    pub(super) fn odd(&self, why: &str) -> Problem {
        Problem::new(Code::Forbidden, format!("{} did not sign anybody in: {why}.", name(self.at)))
    }
}

impl std::fmt::Debug for Calls {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Calls").field("at", &self.at).finish_non_exhaustive()
    }
}

fn not_configured(at: Identity) -> Problem {
    let name = name(at);
    let detail = format!("Nobody signs in with {name} here: the server has no client id for it.");
    Problem::new(Code::NotFound, detail)
}
