//! Stripe's interface, called as its own library calls it: forms with brackets, one pinned version,
//! a key with every POST, and the same call again when it is worth it.
//!
//! It knows how to ask, not what for.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use ferryhook_core::{Env, Secret};
use ferryhook_net::Guard;
use ferryhook_net::client::{Outbound, Outgoing, Reply};
use hyper::Method;
use hyper::header::{
    ACCEPT, AUTHORIZATION, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue, RETRY_AFTER,
    USER_AGENT,
};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use url::form_urlencoded::Serializer;

use crate::problem::{Code, Problem};

/// What answers are read as. A newer version is a change of this program.
pub const VERSION: &str = "2026-10-28.endive";
/// What is read of an answer, for whoever makes the client.
pub const ANSWER_BYTES_MAX: usize = 1024 * 1024;

const AGENT: &str = concat!("Ferryhook/", env!("CARGO_PKG_VERSION"));
const WITHIN: Duration = Duration::from_secs(10);
const TRIES_MAX: u32 = 3;
const PAUSE_FIRST: Duration = Duration::from_millis(500);
const PAUSE_MAX: Duration = Duration::from_secs(5);
const KEY_LETTERS: usize = 32;
const STRIPE_VERSION: HeaderName = HeaderName::from_static("stripe-version");
const IDEMPOTENCY_KEY: HeaderName = HeaderName::from_static("idempotency-key");

/// As it is configured.
#[derive(Debug, Clone, PartialEq)]
pub struct Settings {
    pub api_key: Secret,
    /// Any of them may have signed: two while one takes the other's place.
    pub webhook_secrets: Vec<Secret>,
    /// Without a slash at the end.
    pub base_url: String,
}

/// A name and its value, as they stand in a form or a query.
pub(super) type Field = (&'static str, String);

pub(super) struct Stripe {
    settings: Settings,
    outbound: Arc<dyn Outbound>,
    guard: Guard,
    env: Env,
}

#[derive(Debug, thiserror::Error)]
pub(super) enum StripeError {
    #[error("Stripe does not answer: {0}")]
    Away(String),
    #[error("Stripe refused with {status}: {message}")]
    Refused { status: u16, message: String },
    #[error("an answer of Stripe is not understood: {0}")]
    Odd(String),
}

/// The body of a refusal.
#[derive(Debug, Default, Deserialize)]
struct Refusal {
    #[serde(default)]
    error: Reason,
}

#[derive(Debug, Default, Deserialize)]
struct Reason {
    #[serde(default)]
    message: String,
}

impl Stripe {
    pub(super) fn new(
        settings: Settings,
        outbound: Arc<dyn Outbound>,
        guard: Guard,
        env: Env,
    ) -> Self {
        Self { settings, outbound, guard, env }
    }

    pub(super) async fn get<T: DeserializeOwned>(
        &self,
        path: &str,
        query: &[Field],
    ) -> Result<T, StripeError> {
        let path = match query.is_empty() {
            true => path.to_owned(),
            false => format!("{path}?{}", encoded(query)),
        };
        self.call(Method::GET, &path, Bytes::new(), None).await
    }

    /// However often it is sent, it is done once.
    pub(super) async fn post<T: DeserializeOwned>(
        &self,
        path: &str,
        form: &[Field],
    ) -> Result<T, StripeError> {
        let key = Secret::letters(KEY_LETTERS, &self.env);
        self.post_once(path, form, key.expose()).await
    }

    /// The same also for whoever else sends it with this key, for a day.
    pub(super) async fn post_once<T: DeserializeOwned>(
        &self,
        path: &str,
        form: &[Field],
        key: &str,
    ) -> Result<T, StripeError> {
        let key = format!("ferryhook-{key}");
        self.call(Method::POST, path, encoded(form).into(), Some(&key)).await
    }

    async fn call<T: DeserializeOwned>(
        &self,
        method: Method,
        path: &str,
        body: Bytes,
        key: Option<&str>,
    ) -> Result<T, StripeError> {
        let url = format!("{}{path}", self.settings.base_url);
        let target =
            self.guard.target(&url).map_err(|error| StripeError::Odd(error.to_string()))?;
        let headers = self.headers(key)?;
        let mut tries = 1;
        let reply = loop {
            let outgoing = Outgoing {
                target: target.clone(),
                method: method.clone(),
                headers: headers.clone(),
                body: body.clone(),
                timeout: WITHIN,
                identity: None,
            };
            let sent = self.outbound.send(outgoing).await;
            let again = sent.as_ref().map_or(true, is_worth_another);
            match sent {
                _ if again && tries < TRIES_MAX => {
                    let asked = sent.ok().and_then(|reply| asked_pause(&reply));
                    tokio::time::sleep(asked.unwrap_or_else(|| self.pause(tries))).await;
                    tries += 1;
                }
                Ok(reply) => break reply,
                Err(error) => return Err(StripeError::Away(error.to_string())),
            }
        };
        understood(&reply)
    }

    fn headers(&self, key: Option<&str>) -> Result<HeaderMap, StripeError> {
        let text = |text: &str| {
            let odd = || StripeError::Odd("a header cannot be written".to_owned());
            HeaderValue::from_str(text).map_err(|_| odd())
        };
        let mut bearer = text(&format!("Bearer {}", self.settings.api_key.expose()))?;
        bearer.set_sensitive(true);
        let mut headers = HeaderMap::new();
        headers.insert(AUTHORIZATION, bearer);
        headers.insert(ACCEPT, HeaderValue::from_static("application/json"));
        headers.insert(USER_AGENT, HeaderValue::from_static(AGENT));
        headers.insert(STRIPE_VERSION, HeaderValue::from_static(VERSION));
        let form = HeaderValue::from_static("application/x-www-form-urlencoded");
        headers.insert(CONTENT_TYPE, form);
        if let Some(key) = key {
            headers.insert(IDEMPOTENCY_KEY, text(key)?);
        }
        Ok(headers)
    }

    /// Twice as long each time, and a little different for everybody.
    fn pause(&self, tries: u32) -> Duration {
        let whole = PAUSE_FIRST.saturating_mul(1 << (tries - 1)).min(PAUSE_MAX);
        let mut dice = [0u8; 1];
        self.env.fill(&mut dice);
        whole / 2 + whole / 2 * u32::from(dice[0]) / 255
    }
}

/// Stripe says so, or it is of the sort that passes: a call under way with the same key, too many
/// calls, a fault.
fn is_worth_another(reply: &Reply) -> bool {
    match reply.headers.get("stripe-should-retry").map(HeaderValue::as_bytes) {
        Some(b"true") => true,
        Some(b"false") => false,
        _ => matches!(reply.status, 409 | 429 | 500..),
    }
}

fn asked_pause(reply: &Reply) -> Option<Duration> {
    let seconds = reply.headers.get(RETRY_AFTER)?.to_str().ok()?.parse().ok()?;
    Some(Duration::from_secs(seconds).min(PAUSE_MAX))
}

fn understood<T: DeserializeOwned>(reply: &Reply) -> Result<T, StripeError> {
    let status = reply.status;
    match status {
        200..300 => serde_json::from_slice(&reply.body)
            .map_err(|error| StripeError::Odd(format!("{status}: {error}"))),
        409 | 429 | 500.. => Err(StripeError::Away(format!("it answered {status}"))),
        _ => {
            let said: Refusal = serde_json::from_slice(&reply.body).unwrap_or_default();
            Err(StripeError::Refused { status, message: said.error.message })
        }
    }
}

fn encoded(fields: &[Field]) -> String {
    Serializer::new(String::new()).extend_pairs(fields).finish()
}

/// Said once here; the client is told what it can do about it.
impl From<StripeError> for Problem {
    fn from(error: StripeError) -> Self {
        match error {
            StripeError::Away(_) => {
                tracing::warn!(%error, "Stripe was asked in vain");
                Self::new(Code::Unavailable, "Stripe does not answer now. Try again.")
            }
            StripeError::Refused { .. } | StripeError::Odd(_) => {
                tracing::error!(%error, "Stripe does not do what it is asked");
                let said = "Stripe did not accept this; the log of the server says why.";
                Self::new(Code::Conflict, said)
            }
        }
    }
}

impl fmt::Debug for Stripe {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Stripe").field("base_url", &self.settings.base_url).finish_non_exhaustive()
    }
}
