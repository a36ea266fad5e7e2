//! A token (JWT) that says who sent it, until when it counts, and what the body hashes to.
//!
//! Which algorithms count is said by the row, never by the token: `none` is not among them, and a
//! public key is never taken for a shared secret.

mod keys;

use std::borrow::Cow;

use aws_lc_rs::constant_time::verify_slices_are_equal;
use aws_lc_rs::{digest, hmac};
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde_json::{Map, Value};

use super::encoding::{base64, from_hex, to_hex};
use super::keys::Dated;
use super::options::{Options, Url};
use super::public_key::is_public;
use super::reason::{BadVerifier, Reason};
use super::scheme::{BodyHash, Issuer, Jwt, JwtKeys, UrlClaim};
use super::{Request, only_value};
use crate::{Headers, Timestamp};
use keys::Key;

/// A longer one is not read.
const TOKEN_BYTES_MAX: usize = 1024 * 1024;

#[derive(Debug)]
pub(super) struct Checker {
    scheme: Jwt<'static>,
    header: Option<Cow<'static, str>>,
    keys: Vec<Dated<Key>>,
    issuer: Option<String>,
    url: Url,
    leeway: i64,
}

impl Checker {
    pub(super) fn compile(
        scheme: Jwt<'static>,
        secrets: &[Dated<&str>],
        options: &Options<'_>,
    ) -> Result<Self, BadVerifier> {
        let may_be_public = !matches!(scheme.keys, JwtKeys::Shared | JwtKeys::AnyShared);
        let mut keys = Vec::new();
        if let Some(text) = options.public_key().filter(|_| may_be_public) {
            let found = Key::public(&text, scheme.keys)?.into_iter();
            keys.extend(found.map(|value| Dated { value, until: None }));
        } else {
            for secret in secrets {
                let found = match scheme.keys {
                    JwtKeys::Shared | JwtKeys::AnyShared => vec![Key::shared(secret.value)?],
                    JwtKeys::P256 | JwtKeys::Rsa => Key::public(secret.value, scheme.keys)?,
                    JwtKeys::Either if is_public(secret.value) => {
                        Key::public(secret.value, scheme.keys)?
                    }
                    JwtKeys::Either => vec![Key::shared(secret.value)?],
                };
                keys.extend(found.into_iter().map(|value| Dated { value, until: secret.until }));
            }
        }
        if keys.is_empty() {
            return Err(BadVerifier::NoSecret);
        }
        let issuer = match scheme.issuer {
            Issuer::Any => None,
            Issuer::Is(name) => Some(name.to_owned()),
            Issuer::Setting(names) => options.find(names).map(|name| name.into_owned()),
        };
        let leeway = options.tolerance()?.flatten().unwrap_or(scheme.leeway);
        let header = scheme.header.map(Cow::Borrowed);
        Ok(Self { scheme, header, keys, issuer, url: Url::of(options), leeway: leeway.into() })
    }

    /// With the token in another header.
    pub(super) fn in_header(mut self, name: &str) -> Self {
        self.header = Some(name.to_owned().into());
        self
    }

    pub(super) fn is_present(&self, headers: &Headers) -> bool {
        self.header.as_ref().is_none_or(|name| headers.find(name).is_some())
    }

    pub(super) fn check(&self, request: &Request<'_>, now: Timestamp) -> Result<(), Reason> {
        let token = self.token(request)?;
        let claims = self.claims(token, now)?;
        self.check_times(&claims, now)?;
        self.check_names(&claims)?;
        self.check_url(&claims, request)?;
        self.check_body(&claims, request)
    }

    fn token<'r>(&self, request: &Request<'r>) -> Result<&'r str, Reason> {
        let text = match &self.header {
            Some(name) => only_value(request.headers, name)?,
            None => std::str::from_utf8(request.body)
                .map_err(|_| Reason::Body("it is not a token".into()))?
                .trim(),
        };
        if text.len() > TOKEN_BYTES_MAX {
            return Err(bad("it is too long"));
        }
        let bare = text.get(..7).filter(|head| head.eq_ignore_ascii_case("bearer "));
        Ok(bare.map_or(text, |head| text[head.len()..].trim()))
    }

    /// Those of a token whose signature holds.
    fn claims(&self, token: &str, now: Timestamp) -> Result<Map<String, Value>, Reason> {
        let keys = self.keys.iter().filter(|key| key.is_valid(now)).map(|key| &key.value);
        claims(token, keys, self.scheme.keys)
    }

    fn check_times(&self, claims: &Map<String, Value>, now: Timestamp) -> Result<(), Reason> {
        let now = now.as_seconds();
        let time = |name: &str| match claims.get(name) {
            None | Some(Value::Null) => Ok(None),
            Some(value) => match value.as_f64() {
                // Saturates, and no moment that matters is near the ends.
                Some(seconds) => Ok(Some(seconds as i64)),
                None => Err(bad("a time in it is not a number")),
            },
        };
        if time("exp")?.is_some_and(|exp| exp <= now.saturating_sub(self.leeway)) {
            return Err(bad("it has expired"));
        }
        if time("nbf")?.is_some_and(|nbf| nbf > now.saturating_add(self.leeway)) {
            return Err(bad("it is not valid yet"));
        }
        let Some(within) = self.scheme.issued_within else { return Ok(()) };
        let issued = time("iat")?.ok_or_else(|| bad("it does not say when it was issued"))?;
        if issued.abs_diff(now) > u64::from(within) {
            return Err(bad("it was issued too long ago, or in the future"));
        }
        Ok(())
    }

    fn check_names(&self, claims: &Map<String, Value>) -> Result<(), Reason> {
        if let Some(issuer) = &self.issuer
            && claims.get("iss").and_then(Value::as_str) != Some(issuer)
        {
            return Err(bad("it was issued by somebody else"));
        }
        match self.scheme.required.iter().find(|name| !claims.contains_key(**name)) {
            Some(name) => Err(Reason::Jwt(format!("the claim {name} is missing").into())),
            None => Ok(()),
        }
    }

    fn check_url(&self, claims: &Map<String, Value>, request: &Request<'_>) -> Result<(), Reason> {
        let text = |name: &str| claims.get(name).and_then(Value::as_str).unwrap_or_default();
        let url = self.url.of_request(request.url);
        let is_right = match self.scheme.url {
            UrlClaim::None => true,
            UrlClaim::Is(_) if url.is_empty() => true,
            UrlClaim::Is(name) => text(name) == url,
            UrlClaim::Hash(name) => {
                from_hex(text(name)).is_some_and(|own| own == sha256(url.as_bytes()))
            }
        };
        if is_right { Ok(()) } else { Err(Reason::Url("the token was made for another".into())) }
    }

    fn check_body(&self, claims: &Map<String, Value>, request: &Request<'_>) -> Result<(), Reason> {
        let (name, is_needed) = match self.scheme.body_hash {
            BodyHash::None => return Ok(()),
            BodyHash::Required(name) => (name, true),
            BodyHash::WithBody(name) => (name, !request.body.is_empty()),
            BodyHash::IfThere(name) => (name, false),
        };
        let hash = match claims.get(name) {
            Some(Value::String(hash)) => hash,
            None if !is_needed => return Ok(()),
            _ => return Err(Reason::Jwt(format!("the claim {name} is missing").into())),
        };
        let own = sha256(request.body);
        let hash = from_hex(hash).filter(|bytes| bytes.len() == own.len()).or_else(|| base64(hash));
        let is_same = |hash: Vec<u8>| verify_slices_are_equal(&own, &hash).is_ok();
        if hash.is_some_and(is_same) {
            return Ok(());
        }
        Err(Reason::Body("its hash is not the one in the token".into()))
    }

    /// A token that this checker accepts for five minutes from now.
    pub(super) fn sign(&self, request: &Request<'_>, now: Timestamp) -> Result<String, Reason> {
        let Some(Key::Shared { hs256, .. }) = self.keys.first().map(|key| &key.value) else {
            return Err(bad("only shared secrets sign"));
        };
        let mut claims = Map::new();
        claims.insert("iss".into(), self.issuer.as_deref().unwrap_or("ferryhook").into());
        claims.insert("iat".into(), now.as_seconds().into());
        claims.insert("nbf".into(), now.as_seconds().into());
        claims.insert("exp".into(), (now.as_seconds() + 300).into());
        claims.insert("jti".into(), to_hex(&sha256(request.body)[..8]).into());
        let url = self.url.of_request(request.url);
        match self.scheme.url {
            UrlClaim::None => {}
            UrlClaim::Is(name) => {
                claims.insert(name.into(), url.as_ref().into());
            }
            UrlClaim::Hash(name) => {
                claims.insert(name.into(), to_hex(&sha256(url.as_bytes())).into());
            }
        }
        if let BodyHash::Required(name) | BodyHash::WithBody(name) | BodyHash::IfThere(name) =
            self.scheme.body_hash
        {
            let hash = sha256(request.body);
            let text = match name {
                "sha256" => base64::engine::general_purpose::STANDARD.encode(&hash),
                "body" => URL_SAFE_NO_PAD.encode(&hash),
                _ => to_hex(&hash),
            };
            claims.insert(name.into(), text.into());
        }
        let part = |value: &str| URL_SAFE_NO_PAD.encode(value);
        let claims = Value::Object(claims).to_string();
        let signed = format!("{}.{}", part(r#"{"alg":"HS256","typ":"JWT"}"#), part(&claims));
        let tag = hmac::sign(hs256, signed.as_bytes());
        Ok(format!("{signed}.{}", URL_SAFE_NO_PAD.encode(tag.as_ref())))
    }

    pub(super) fn header(&self) -> Option<&str> {
        self.header.as_deref()
    }

    /// Whether its sender writes `Bearer` before it.
    pub(super) fn is_bearer(&self) -> bool {
        self.scheme.bearer && self.header() == Some("authorization")
    }
}

/// The claims of a token that one of these public keys (a JWKS) has signed, with RS256 or ES256.
/// What they say about times and names is for the caller to judge.
pub fn claims_signed_by(token: &str, jwks: &str) -> Result<Map<String, Value>, Reason> {
    if token.len() > TOKEN_BYTES_MAX {
        return Err(bad("it is too long"));
    }
    let keys = Key::public(jwks, JwtKeys::Either).map_err(|_| bad("the keys are not readable"))?;
    claims(token, keys.iter(), JwtKeys::Either)
}

fn claims<'a>(
    token: &str,
    keys: impl Iterator<Item = &'a Key>,
    kinds: JwtKeys,
) -> Result<Map<String, Value>, Reason> {
    let (signed, signature) = token.rsplit_once('.').ok_or_else(|| bad("it has no parts"))?;
    let (head, claims) = signed.split_once('.').ok_or_else(|| bad("it has no parts"))?;
    let head = object(head).ok_or_else(|| bad("its header is not readable"))?;
    let signature =
        URL_SAFE_NO_PAD.decode(signature).map_err(|_| bad("its signature is not base64url"))?;
    if head.contains_key("crit") {
        return Err(bad("it asks for something that we do not know"));
    }
    let algorithm = head.get("alg").and_then(Value::as_str).unwrap_or_default();
    let id = head.get("kid").and_then(Value::as_str);
    let mut is_known = false;
    let mut matches = false;
    for key in keys {
        let own = key.made(signed.as_bytes(), &signature, algorithm, id, kinds);
        is_known |= own.is_some();
        matches |= own.unwrap_or_default();
    }
    if !is_known {
        return Err(bad("no key of this source is of its algorithm"));
    }
    if !matches {
        return Err(Reason::Mismatch);
    }
    object(claims).ok_or_else(|| bad("its claims are not readable"))
}

fn object(part: &str) -> Option<Map<String, Value>> {
    serde_json::from_slice(&URL_SAFE_NO_PAD.decode(part).ok()?).ok()
}

fn sha256(bytes: &[u8]) -> Vec<u8> {
    digest::digest(&digest::SHA256, bytes).as_ref().to_vec()
}

fn bad(why: &'static str) -> Reason {
    Reason::Jwt(why.into())
}

#[cfg(test)]
mod tests;
