//! Access tokens: what a person who has signed in shows with each request, for an hour.
//!
//! A signed statement (JWT, ES256) of who they are and which session it is. It says nothing about
//! what they may do: that is read when they do it, and so is the session, so that one that has
//! ended opens nothing more. The algorithm is ours and the key is one of our own list, whatever
//! the token says about itself.

mod ring;

use std::sync::Arc;
use std::time::Duration;

use aws_lc_rs::rand::SystemRandom;
use axum::extract::State;
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use ferryhook_core::{Env, Id, Session, User};
use ferryhook_store::{Store, StoreError};
use serde::{Deserialize, Serialize};

use crate::call::{ApiResult, Found};
use crate::router::App;
use ring::Ring;

pub use ring::{Jwk, Jwks};

pub const LIVES: Duration = Duration::from_secs(60 * 60);
const AUDIENCE: &str = "ferryhook-api";
/// Between the clocks of two servers.
const LEEWAY_SECONDS: i64 = 30;
/// Ours have about 400.
const BYTES_MAX: usize = 2048;

/// Cheap to clone: clones share the keys.
#[derive(Debug, Clone)]
pub struct Tokens {
    env: Env,
    ring: Arc<Ring>,
    issuer: Arc<str>,
}

/// What a token says, once its signature holds.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Claims {
    iss: String,
    aud: String,
    #[serde(rename = "sub")]
    pub user: Id<User>,
    #[serde(rename = "sid")]
    pub session: Id<Session>,
    #[serde(rename = "iat")]
    pub issued_at: i64,
    #[serde(rename = "exp")]
    pub expires_at: i64,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Head {
    alg: String,
    typ: String,
    kid: String,
}

/// Why a token opens nothing.
#[derive(Debug, thiserror::Error)]
pub enum BadToken {
    #[error("it is not a token of ours")]
    Foreign,
    #[error("its signature does not hold")]
    Forged,
    #[error("its time is over")]
    Expired,
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error("the key to sign it with cannot be used")]
    Unsigned,
}

impl Tokens {
    /// `issuer` is the same on every server that shares the store.
    pub fn new(store: Store, env: Env, issuer: &str) -> Self {
        let ring = Arc::new(Ring::new(store, env.clone()));
        Self { env, ring, issuer: issuer.into() }
    }

    pub async fn issue(&self, user: Id<User>, session: Id<Session>) -> Result<String, BadToken> {
        let key = self.ring.signing().await?;
        let now = self.env.now().as_seconds();
        let lives = i64::try_from(LIVES.as_secs()).unwrap_or(i64::MAX);
        let claims = Claims {
            iss: self.issuer.to_string(),
            aud: AUDIENCE.to_owned(),
            user,
            session,
            issued_at: now,
            expires_at: now.saturating_add(lives),
        };
        let head = Head { alg: ring::ALGORITHM.into(), typ: "JWT".into(), kid: key.id.clone() };
        let signed = format!("{}.{}", part(&head), part(&claims));
        let signature = key.pair.sign(&SystemRandom::new(), signed.as_bytes());
        let signature = signature.map_err(|_| BadToken::Unsigned)?;
        Ok(format!("{signed}.{}", URL_SAFE_NO_PAD.encode(signature)))
    }

    pub async fn verify(&self, text: &str) -> Result<Claims, BadToken> {
        if text.len() > BYTES_MAX {
            return Err(BadToken::Foreign);
        }
        let (signed, signature) = text.rsplit_once('.').ok_or(BadToken::Foreign)?;
        let (head, claims) = signed.split_once('.').ok_or(BadToken::Foreign)?;
        let head: Head = read(head)?;
        if head.alg != ring::ALGORITHM || head.typ != "JWT" {
            return Err(BadToken::Foreign);
        }
        let signature = URL_SAFE_NO_PAD.decode(signature).map_err(|_| BadToken::Foreign)?;
        let key = self.ring.verifying(&head.kid).await?.ok_or(BadToken::Foreign)?;
        let holds = key.public.verify_sig(signed.as_bytes(), &signature);
        holds.map_err(|_| BadToken::Forged)?;
        let claims: Claims = read(claims)?;
        if *claims.iss != *self.issuer || claims.aud != AUDIENCE {
            return Err(BadToken::Foreign);
        }
        let now = self.env.now().as_seconds();
        let is_now =
            claims.issued_at <= now.saturating_add(LEEWAY_SECONDS) && now < claims.expires_at;
        is_now.then_some(claims).ok_or(BadToken::Expired)
    }

    pub async fn jwks(&self) -> Result<Jwks, BadToken> {
        self.ring.jwks().await
    }
}

/// The public halves of our keys, for whoever wants to check a token by themselves.
pub async fn show(State(app): State<App>) -> ApiResult<Found<Jwks>> {
    Ok(Found(app.auth.tokens.jwks().await?))
}

fn part(value: &impl Serialize) -> String {
    // Text and numbers only: there is nothing that could fail.
    URL_SAFE_NO_PAD.encode(serde_json::to_vec(value).unwrap_or_default())
}

fn read<T: for<'de> Deserialize<'de>>(part: &str) -> Result<T, BadToken> {
    let bytes = URL_SAFE_NO_PAD.decode(part).map_err(|_| BadToken::Foreign)?;
    serde_json::from_slice(&bytes).map_err(|_| BadToken::Foreign)
}

#[cfg(test)]
mod tests;
