//! Signing a sample as the provider of a source would, for trying the source out.
//!
//! The secret never leaves: where a provider's proof is the secret itself, nothing is signed.

use axum::extract::State;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use ferryhook_core::Secret;
use ferryhook_core::id::SourceId;
use ferryhook_core::verify::sign::{self, Draft};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::call::{ApiResult, Found, In, Sent};
use crate::caller::Caller;
use crate::events::HeaderLine;
use crate::owned;
use crate::problem::{Code, Problem};
use crate::router::App;

/// A request that a provider might send.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct SampleRequest {
    #[serde(default = "usual_method")]
    #[schema(max_length = 16)]
    pub method: String,
    /// Where it will be sent to; some providers sign it.
    #[serde(default)]
    #[schema(max_length = 8192)]
    pub url: String,
    #[serde(default)]
    #[schema(max_items = 100)]
    pub headers: Vec<HeaderLine>,
    /// In base64.
    #[serde(default)]
    pub body_base64: String,
}

fn usual_method() -> String {
    "POST".to_owned()
}

/// The same, with a signature that holds.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct SignedSample {
    /// `false` where the source has no secret: then it is as it was.
    pub is_signed: bool,
    pub method: String,
    pub url: String,
    pub headers: Vec<HeaderLine>,
    pub body_base64: String,
}

/// `POST /v1/sources/{id}/sign`
pub async fn sign(
    State(app): State<App>,
    caller: Caller,
    In(id): In<SourceId>,
    Sent(sample): Sent<SampleRequest>,
) -> ApiResult<Found<SignedSample>> {
    let source = owned::source(&app, &caller, id).await?;
    caller.nothing_changed();
    let body = STANDARD.decode(&sample.body_base64);
    let body = body.map_err(|_| Problem::invalid("/bodyBase64", "must be base64"))?;
    let headers = sample.headers.into_iter().map(|header| (header.name, header.value)).collect();
    let draft = Draft { method: sample.method, url: sample.url, headers, body };
    let Some(secret) = &source.signing_secret else { return Ok(Found(shown(draft, false))) };
    let signed = sign::sign(&source.provider, secret, &source.config, draft, app.env.now());
    let signed = signed.map_err(|error| Problem::new(Code::Conflict, format!("{error}.")))?;
    match tells(&signed, secret) {
        true => Err(Problem::new(
            Code::Conflict,
            format!("{} shows the secret itself, which is not given out.", source.provider),
        )),
        false => Ok(Found(shown(signed, true))),
    }
}

fn shown(draft: Draft, is_signed: bool) -> SignedSample {
    let line = |(name, value)| HeaderLine { name, value };
    SignedSample {
        is_signed,
        method: draft.method,
        url: draft.url,
        headers: draft.headers.into_iter().map(line).collect(),
        body_base64: STANDARD.encode(draft.body),
    }
}

/// Whether the secret can be read in it, also behind the base64 of basic authentication.
fn tells(draft: &Draft, secret: &Secret) -> bool {
    let secret = secret.expose();
    let has = |text: &str| text.contains(secret);
    let is_behind = |value: &str| {
        let word = value.rsplit(' ').next().unwrap_or_default();
        STANDARD.decode(word).is_ok_and(|bytes| has(&String::from_utf8_lossy(&bytes)))
    };
    has(&draft.url)
        || has(&String::from_utf8_lossy(&draft.body))
        || draft.headers.iter().any(|(_, value)| has(value) || is_behind(value))
}

#[cfg(test)]
mod tests;
