//! A token (JWT) that says who sent it, until when it counts, and what the body hashes to.
//!
//! Which algorithms count is said by the row, never by the token: `none` is not among them, and a
//! public key is never taken for a shared secret.

use aws_lc_rs::constant_time::verify_slices_are_equal;
use aws_lc_rs::signature::{ECDSA_P256_SHA256_FIXED, ParsedPublicKey, VerificationAlgorithm};
use aws_lc_rs::{digest, hmac};
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde_json::{Map, Value};

use super::encoding::{base64, from_hex, to_hex};
use super::keys::Dated;
use super::options::{Options, Url};
use super::public_key;
use super::reason::{BadVerifier, Reason};
use super::scheme::{Algorithm, BodyHash, Digest, Issuer, Jwt, JwtKeys, UrlClaim};
use super::{Request, only_value};
use crate::{Headers, Timestamp};

/// A longer one is not read.
const TOKEN_BYTES_MAX: usize = 1024 * 1024;

#[derive(Debug)]
pub(super) struct Checker {
    scheme: Jwt<'static>,
    keys: Vec<Dated<Key>>,
    issuer: Option<String>,
    url: Url,
    leeway: i64,
}

#[derive(Debug)]
enum Key {
    Shared(Box<str>),
    /// For each algorithm that this key is made for, with the name of the key if it has one.
    Public {
        name: &'static str,
        id: Option<String>,
        key: ParsedPublicKey,
    },
}

impl Checker {
    pub(super) fn compile(
        scheme: Jwt<'static>,
        secrets: &[Dated<&str>],
        options: &Options<'_>,
    ) -> Result<Self, BadVerifier> {
        let is_public = !matches!(scheme.keys, JwtKeys::Shared | JwtKeys::AnyShared);
        let mut keys = Vec::new();
        if let Some(text) = options.public_key().filter(|_| is_public) {
            let found = Key::public(&text, scheme.keys)?.into_iter();
            keys.extend(found.map(|value| Dated { value, until: None }));
        } else {
            for secret in secrets {
                let found = match scheme.keys {
                    JwtKeys::Shared | JwtKeys::AnyShared => vec![Key::shared(secret.value)],
                    JwtKeys::P256 | JwtKeys::Rsa => Key::public(secret.value, scheme.keys)?,
                    JwtKeys::Either => Key::public(secret.value, scheme.keys)
                        .unwrap_or_else(|_| vec![Key::shared(secret.value)]),
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
        Ok(Self { scheme, keys, issuer, url: Url::of(options), leeway: leeway.into() })
    }

    pub(super) fn is_present(&self, headers: &Headers) -> bool {
        self.scheme.header.is_none_or(|name| headers.find(name).is_some())
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
        let text = match self.scheme.header {
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
        for key in self.keys.iter().filter(|key| key.is_valid(now)) {
            let own =
                key.value.made(signed.as_bytes(), &signature, algorithm, id, self.scheme.keys);
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
        let Some(Key::Shared(secret)) = self.keys.first().map(|key| &key.value) else {
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
        let key = hmac::Key::new(hmac::HMAC_SHA256, secret.as_bytes());
        let tag = hmac::sign(&key, signed.as_bytes());
        Ok(format!("{signed}.{}", URL_SAFE_NO_PAD.encode(tag.as_ref())))
    }

    pub(super) fn header(&self) -> Option<&'static str> {
        self.scheme.header
    }
}

impl Key {
    fn shared(text: &str) -> Self {
        Self::Shared(text.into())
    }

    fn public(text: &str, keys: JwtKeys) -> Result<Vec<Self>, BadVerifier> {
        type Parse = fn(&str) -> Result<Vec<(Option<String>, ParsedPublicKey)>, BadVerifier>;
        let kinds: &[(&'static str, Parse)] = match keys {
            JwtKeys::P256 => &[("ES256", p256)],
            JwtKeys::Rsa => &[("RS256", rsa)],
            JwtKeys::Shared | JwtKeys::AnyShared | JwtKeys::Either => {
                &[("RS256", rsa), ("ES256", p256)]
            }
        };
        let mut found = Vec::new();
        let mut why = None;
        for (name, parse) in kinds {
            match parse(text) {
                Ok(keys) => {
                    found.extend(keys.into_iter().map(|(id, key)| Self::Public { name, id, key }));
                }
                Err(error) => why = Some(error),
            }
        }
        match why {
            Some(error) if found.is_empty() => Err(error),
            _ => Ok(found),
        }
    }

    /// `None` where this key has nothing to do with the algorithm.
    fn made(
        &self,
        signed: &[u8],
        signature: &[u8],
        algorithm: &str,
        id: Option<&str>,
        keys: JwtKeys,
    ) -> Option<bool> {
        match self {
            Self::Shared(secret) => {
                let digest = match (algorithm, keys) {
                    ("HS256", _) => Digest::Sha256,
                    ("HS384", JwtKeys::AnyShared) => Digest::Sha384,
                    ("HS512", JwtKeys::AnyShared) => Digest::Sha512,
                    _ => return None,
                };
                let key = hmac::Key::new(digest.hmac(), secret.as_bytes());
                Some(hmac::verify(&key, signed, signature).is_ok())
            }
            Self::Public { name, id: own, key } => {
                let is_other = own.as_deref().zip(id).is_some_and(|(own, id)| own != id);
                if *name != algorithm || is_other {
                    return None;
                }
                Some(key.verify_sig(signed, signature).is_ok())
            }
        }
    }
}

fn rsa(text: &str) -> Result<Vec<(Option<String>, ParsedPublicKey)>, BadVerifier> {
    named(text, Algorithm::Rsa(Digest::Sha256), None)
}

/// In a token the two numbers of the signature stand side by side, not in DER.
fn p256(text: &str) -> Result<Vec<(Option<String>, ParsedPublicKey)>, BadVerifier> {
    named(text, Algorithm::EcdsaP256(Digest::Sha256), Some(&ECDSA_P256_SHA256_FIXED))
}

fn named(
    text: &str,
    algorithm: Algorithm,
    with: Option<&'static dyn VerificationAlgorithm>,
) -> Result<Vec<(Option<String>, ParsedPublicKey)>, BadVerifier> {
    let again = |key: ParsedPublicKey| match with {
        Some(with) => public_key::parsed(with, key.as_ref()),
        None => Some(key),
    };
    if let Ok(value) = serde_json::from_str::<Value>(text) {
        let keys = public_key::jwks(&value).filter_map(|jwk| {
            let id = jwk.get("kid").and_then(Value::as_str).map(str::to_owned);
            Some((id, again(public_key::of_jwk(jwk, algorithm)?)?))
        });
        let keys: Vec<_> = keys.collect();
        if !keys.is_empty() {
            return Ok(keys);
        }
    }
    let keys = public_key::parse(text, algorithm)?;
    Ok(keys.into_iter().filter_map(again).map(|key| (None, key)).collect())
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
