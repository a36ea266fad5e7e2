//! Google, or whoever else speaks OpenID Connect as it does: where to go and with which keys is
//! discovered, and a signed statement says who it is.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use ferryhook_core::{Env, Map, Secret, verify};
use serde::Deserialize;
use serde_json::Value;
use url::Url;

use super::hash;
use super::platform::{Calls, Left, Returned, Somebody};
use crate::problem::Problem;

/// How long what was discovered is taken for true.
const KNOWN_FOR: Duration = Duration::from_secs(60 * 60);
const LEEWAY_SECONDS: i64 = 60;

/// As it was registered there.
#[derive(Debug, Clone, PartialEq)]
pub struct Settings {
    pub client_id: String,
    pub client_secret: Secret,
    /// Without a slash at the end.
    pub issuer: String,
}

#[derive(Debug)]
pub(super) struct Google {
    settings: Settings,
    calls: Calls,
    env: Env,
    known: Mutex<Option<(Duration, Endpoints)>>,
}

#[derive(Debug, Clone, Deserialize)]
struct Endpoints {
    issuer: String,
    authorization_endpoint: String,
    token_endpoint: String,
    jwks_uri: String,
}

#[derive(Debug, Deserialize)]
struct Exchanged {
    id_token: Option<Secret>,
    error: Option<String>,
}

/// What of the statement counts. Times that are not numbers make it none.
#[derive(Debug, Deserialize)]
struct Claims {
    iss: String,
    aud: Audience,
    #[serde(default)]
    azp: Option<String>,
    sub: String,
    exp: i64,
    iat: i64,
    nonce: String,
    #[serde(default)]
    email: Option<String>,
    #[serde(default)]
    email_verified: bool,
    #[serde(default)]
    name: Option<String>,
}

#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum Audience {
    One(String),
    Many(Vec<String>),
}

impl Google {
    pub(super) fn new(settings: Settings, calls: Calls, env: Env) -> Self {
        Self { settings, calls, env, known: Mutex::default() }
    }

    pub(super) async fn url(&self, left: &Left) -> Result<String, Problem> {
        let endpoints = self.endpoints().await?;
        let mut url =
            Url::parse(&endpoints.authorization_endpoint).map_err(|_| self.calls.away())?;
        url.query_pairs_mut()
            .append_pair("client_id", &self.settings.client_id)
            .append_pair("redirect_uri", &left.redirect_uri)
            .append_pair("response_type", "code")
            .append_pair("scope", "openid email profile")
            .append_pair("state", left.state.expose())
            .append_pair("nonce", left.nonce.expose())
            .append_pair("code_challenge", &hash(left.verifier.expose()))
            .append_pair("code_challenge_method", "S256");
        Ok(url.into())
    }

    pub(super) async fn who(&self, back: &Returned) -> Result<Somebody, Problem> {
        let endpoints = self.endpoints().await?;
        let exchanged: Exchanged = self
            .calls
            .post_form(
                &endpoints.token_endpoint,
                &[
                    ("grant_type", "authorization_code"),
                    ("client_id", &self.settings.client_id),
                    ("client_secret", self.settings.client_secret.expose()),
                    ("code", back.code.expose()),
                    ("redirect_uri", &back.redirect_uri),
                    ("code_verifier", back.verifier.expose()),
                ],
            )
            .await?;
        let Exchanged { id_token: Some(statement), error: None } = exchanged else {
            return Err(self.calls.odd("the code is not valid, or not any more"));
        };
        // Read each time: keys are changed without notice, and people sign in seldom.
        let keys: Value = self.calls.get(&endpoints.jwks_uri, None).await?;
        let claims = verify::claims_signed_by(statement.expose(), &keys.to_string());
        let claims = claims.map_err(|_| self.calls.odd("its signature does not hold"))?;
        self.judge(claims, &endpoints, back)
    }

    fn judge(
        &self,
        claims: Map,
        endpoints: &Endpoints,
        back: &Returned,
    ) -> Result<Somebody, Problem> {
        let odd = |why| self.calls.odd(why);
        let claims: Claims = serde_json::from_value(Value::Object(claims))
            .map_err(|_| odd("its statement lacks something"))?;
        let is_issuer = claims.iss == endpoints.issuer
            || (claims.iss == "accounts.google.com"
                && endpoints.issuer == "https://accounts.google.com");
        let own = &self.settings.client_id;
        let is_for_us = match &claims.aud {
            Audience::One(one) => one == own,
            Audience::Many(many) => many.contains(own) && claims.azp.as_ref() == Some(own),
        };
        let now = self.env.now().as_seconds();
        let is_now = now < claims.exp.saturating_add(LEEWAY_SECONDS)
            && claims.iat <= now.saturating_add(LEEWAY_SECONDS);
        if !is_issuer || !is_for_us {
            return Err(odd("its statement is not for us"));
        }
        if !is_now {
            return Err(odd("its statement is not of now"));
        }
        if claims.nonce != back.nonce.expose() {
            return Err(odd("its statement is of another sign-in"));
        }
        let email = claims.email.filter(|_| claims.email_verified);
        Ok(Somebody { id: claims.sub, email, name: claims.name })
    }

    async fn endpoints(&self) -> Result<Endpoints, Problem> {
        let now = self.env.elapsed();
        if let Some((at, endpoints)) = &*self.lock()
            && now.saturating_sub(*at) < KNOWN_FOR
        {
            return Ok(endpoints.clone());
        }
        let url = format!("{}/.well-known/openid-configuration", self.settings.issuer);
        let found: Endpoints = self.calls.get(&url, None).await?;
        if found.issuer.trim_end_matches('/') != self.settings.issuer {
            return Err(self.calls.odd("it says it is somebody else"));
        }
        *self.lock() = Some((now, found.clone()));
        Ok(found)
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Option<(Duration, Endpoints)>> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
