//! Handshakes: what providers ask before they send anything, and what they are told.
//!
//! A source's [`Handshakes`] are compiled once. Ingest asks [`Handshakes::may_answer`] with the
//! head of each request, which turns nearly all of them away, and then [`Handshakes::answer`] with
//! the whole. What is answered here is no event: it is neither stored nor delivered.
//!
//! It does no I/O: what is to be done besides answering (keep a secret, call a URL) is said in
//! [`Then`]. What is sent back is a stranger's text, so it is short and never a page. What is
//! signed for a stranger is a plain word, never a body, and only as the source's own provider signs
//! it: else anybody could have events signed.

mod answer;
mod compiled;
mod kind;

use serde_json::Value;

use crate::dedup::{Arriving, Rule};
use crate::source::CustomResponse;
use crate::verify::Request;
use crate::{Body, Headers, Map, Secret, Source, providers};
use answer::Answering;
use compiled::Compiled;

pub use kind::{Acknowledgement, Content, Effect, Handshake, Keyed, Part, When};

/// A challenge is echoed only if it is not longer.
pub const CHALLENGE_BYTES_MAX: usize = 2048;
/// What is signed for a stranger is shorter still.
pub const SIGNED_CHALLENGE_BYTES_MAX: usize = 256;
/// No handshake has a larger body.
pub const HANDSHAKE_BODY_BYTES_MAX: usize = 16 * 1024;
/// Among the settings of a source (`config`): the provider whose handshakes it answers, where that
/// is not its own.
pub const SETTING: &str = "handshake";

/// The answer to a handshake.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reply {
    pub status: u16,
    pub content_type: Option<&'static str>,
    pub headers: Vec<(String, String)>,
    pub body: String,
    pub then: Then,
    /// The signature has to hold before this is said or done.
    pub verified_first: bool,
}

/// What has to be done besides, before the answer is sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Then {
    Nothing,
    /// This is the source's secret from now on. Whoever keeps it must make sure that the source
    /// still has none: else a stranger could put his own in its place.
    Keep(Secret),
    /// Get what is at this URL. Its host has been checked; the client's guard still counts. Not
    /// for a source that does not verify: anybody could have asked.
    Call(String),
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BadHandshake {
    #[error("handshake names a provider that has handshakes, such as \"meta\", not {0:?}")]
    Unknown(String),
    #[error("handshake is the name of a provider, or false")]
    Shape,
    #[error("handshakes of {0} are signed, so only its own sources answer them")]
    Keyed(&'static str),
    #[error("{0} is {1}")]
    Setting(&'static str, &'static str),
}

/// The handshakes of one source.
#[derive(Debug, Clone, Default)]
pub struct Handshakes {
    known: Vec<Compiled>,
    acknowledgement: Option<CustomResponse>,
    secrets: answer::Secrets,
}

impl Handshakes {
    pub fn of(source: &Source) -> Result<Self, BadHandshake> {
        Self::new(&source.provider, source.signing_secret.as_ref(), &source.config)
    }

    /// For a source that is yet to be made.
    pub fn new(
        provider: &str,
        signing_secret: Option<&Secret>,
        config: &Map,
    ) -> Result<Self, BadHandshake> {
        let own = providers::find(provider);
        let provider = match config.get(SETTING) {
            None | Some(Value::Null) => own,
            Some(Value::Bool(false)) => None,
            Some(Value::String(name)) => {
                let named = providers::find(name).filter(|own| !own.handshakes.is_empty());
                let unknown = || BadHandshake::Unknown(name.chars().take(64).collect());
                let named = named.ok_or_else(unknown)?;
                // Signed in its way, a challenge may be an event signed in the source's way.
                if own.map(|own| own.name) != Some(named.name)
                    && named.handshakes.iter().any(Handshake::is_keyed)
                {
                    return Err(BadHandshake::Keyed(named.name));
                }
                Some(named)
            }
            Some(_) => return Err(BadHandshake::Shape),
        };
        let Some(provider) = provider else { return Ok(Self::none()) };
        Ok(Self {
            known: provider.handshakes.iter().filter_map(Compiled::of).collect(),
            acknowledgement: provider.acknowledgement.map(CustomResponse::from),
            secrets: answer::Secrets::of(signing_secret, config)?,
        })
    }

    /// Of somebody who asks nothing.
    pub fn none() -> Self {
        Self::default()
    }

    /// Whether it is worth looking at the body. Looks at the head only.
    pub fn may_answer(&self, method: &str, query: Option<&str>, headers: &Headers) -> bool {
        if self.known.is_empty() {
            return false;
        }
        let body = Body::default();
        let head = Arriving { headers, query, path: None, body: &body };
        self.known.iter().any(|own| own.may_be(method, &head))
    }

    pub fn answer(&self, request: &Request<'_>) -> Option<Reply> {
        if request.body.len() > HANDSHAKE_BODY_BYTES_MAX {
            return None;
        }
        let query = request.url.split('#').next()?.split_once('?').map(|(_, query)| query);
        if !self.may_answer(request.method, query, request.headers) {
            return None;
        }
        let body = Body::from(bytes::Bytes::copy_from_slice(request.body));
        let seen = Arriving { headers: request.headers, query, path: None, body: &body };
        let handshake = self.known.iter().find(|own| own.is(request.method, &seen))?;
        Answering { url: request.url, seen: &seen, secrets: &self.secrets }.reply(handshake)
    }

    /// What this provider wants to hear when its events have been taken in.
    pub fn acknowledgement(&self) -> Option<&CustomResponse> {
        self.acknowledgement.as_ref()
    }
}

/// Whether this provider makes up its secret and hands it over in a handshake.
pub fn brings_secret(provider: &str) -> bool {
    let brings = |own: &Handshake| matches!(own.effect, Effect::Keep(_));
    providers::find(provider).is_some_and(|own| own.handshakes.iter().any(brings))
}

/// Every expression of the catalogue is understood; a test reads them all.
fn rule(expression: &str) -> Option<Rule> {
    Rule::parse(expression).ok()
}

#[cfg(test)]
mod tests;
