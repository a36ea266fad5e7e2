//! The sender's half: a request that a provider might have sent, for trying things out.
//!
//! Asked by `ferryhook signature sign`. What can be signed with a shared secret is; with a private
//! key only what is signed in a header. Certificates are the provider's own.

use aws_lc_rs::rand::SystemRandom;
use aws_lc_rs::rsa;
use aws_lc_rs::signature::{
    ECDSA_P256_SHA256_ASN1_SIGNING, EcdsaKeyPair, Ed25519KeyPair, KeyPair, RSA_PKCS1_SHA256,
};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Map, Value, json};

use super::encoding::{base64, from_hex, to_hex};
use super::scheme::{Algorithm, Digest, KeyForm, Scheme};
use super::token::Shown;
use super::{BadVerifier, Checker, Reason, Request, Verifier};
use crate::providers;
use crate::{Headers, Secret, Timestamp};

/// A request that is being made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Draft {
    pub method: String,
    pub url: String,
    pub headers: Vec<(String, String)>,
    pub body: Vec<u8>,
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CannotSign {
    #[error(transparent)]
    Verifier(#[from] BadVerifier),
    #[error("{0} signs with a certificate of its own")]
    Certificate(&'static str),
    #[error("{0} signs with a private key: give it as the secret, in PKCS #8")]
    PrivateKey(&'static str),
    #[error("the body has to be a JSON object here")]
    Body,
    #[error("it cannot be signed: {0}")]
    Reason(#[from] Reason),
}

impl Draft {
    fn set(&mut self, name: &str, value: &str) {
        self.headers.retain(|(own, _)| !own.eq_ignore_ascii_case(name));
        self.headers.push((name.to_owned(), value.to_owned()));
    }

    fn object(&self) -> Result<Map<String, Value>, CannotSign> {
        if self.body.is_empty() {
            return Ok(Map::new());
        }
        serde_json::from_slice(&self.body).map_err(|_| CannotSign::Body)
    }

    /// With the headers that it has so far.
    fn look<T>(&self, look: impl FnOnce(&Request<'_>) -> T) -> T {
        let headers = Headers::new(self.headers.clone());
        look(&Request { method: &self.method, url: &self.url, headers: &headers, body: &self.body })
    }
}

/// Signs as this provider does.
pub fn sign(
    provider: &str,
    secret: &Secret,
    config: &crate::Map,
    mut draft: Draft,
    now: Timestamp,
) -> Result<Draft, CannotSign> {
    let private = private_key(provider, secret);
    let public = private.as_ref().map(|(_, public)| Secret::new(public.clone()));
    let verifier = Verifier::new(provider, &[public.unwrap_or_else(|| secret.clone())], config);
    let name = providers::find(provider).map_or("", |provider| provider.name);
    let verifier = match verifier {
        Err(BadVerifier::Secret(_)) if wants_private(provider) => {
            return Err(CannotSign::PrivateKey(name));
        }
        other => other?,
    };
    let private = private.as_ref().map(|(key, _)| key);
    match verifier.checkers.first() {
        Some(checker) => checker.sign(&mut draft, now, private, name)?,
        None => return Err(Reason::NoValidSecret.into()),
    }
    Ok(draft)
}

impl Checker {
    fn sign(
        &self,
        draft: &mut Draft,
        now: Timestamp,
        private: Option<&Private>,
        name: &'static str,
    ) -> Result<(), CannotSign> {
        match self {
            Self::Signed(checker) => sign_header(checker, draft, now, private, name)?,
            Self::Form(checker) => {
                if let Some(nonce) = checker.nonce_header() {
                    draft.set(nonce, &now.as_millis().to_string());
                }
                let (name, value) = draft.look(|request| checker.sign(request))?;
                draft.set(name, &value);
            }
            Self::Fields(checker) => {
                draft.body = signed_fields(checker, draft.object()?, now)?.to_string().into_bytes();
            }
            Self::SignedField(checker) => {
                let fields = checker.sign(&STANDARD.encode(&draft.body))?;
                let escaped = |text: &str| text.replace('+', "%2B").replace('/', "%2F");
                let pairs = fields.map(|(name, value)| format!("{name}={}", escaped(&value)));
                draft.body = pairs.join("&").replace('|', "%7C").into_bytes();
                draft.set("content-type", "application/x-www-form-urlencoded");
            }
            Self::Certified(_) => return Err(CannotSign::Certificate(name)),
            Self::Jwt(checker) => {
                let token = draft.look(|request| checker.sign(request, now));
                let token = token.map_err(|_| CannotSign::PrivateKey(name))?;
                match checker.header() {
                    Some(header) if checker.is_bearer() => {
                        draft.set(header, &format!("Bearer {token}"));
                    }
                    Some(header) => draft.set(header, &token),
                    None => draft.body = token.into_bytes(),
                }
            }
            Self::Canonical(checker) => {
                for (name, value) in draft.look(|request| checker.sign(request, now))? {
                    draft.set(name, &value);
                }
            }
            Self::Token(checker) => match checker.sign().ok_or(Reason::NoValidSecret)? {
                Shown::Header(name, value) => draft.set(&name, &value),
                Shown::Query(name, value) => {
                    let mark = if draft.url.contains('?') { '&' } else { '?' };
                    draft.url = format!("{}{mark}{name}={value}", draft.url);
                }
                Shown::Each(list, name, value) => {
                    let mut body = draft.object()?;
                    let list = list.trim_start_matches('/');
                    body.insert(list.to_owned(), json!([{ name: value }]));
                    draft.body = Value::Object(body).to_string().into_bytes();
                }
            },
        }
        Ok(())
    }
}

fn sign_header(
    checker: &super::signed::Checker,
    draft: &mut Draft,
    now: Timestamp,
    private: Option<&Private>,
    name: &'static str,
) -> Result<(), CannotSign> {
    let time = checker.unit().write(now);
    if let Some(field) = checker.time_field() {
        let mut body = draft.object()?;
        body.insert(field.to_owned(), now.as_millis().into());
        draft.body = Value::Object(body).to_string().into_bytes();
    }
    let id = format!("test_{}", to_hex(&now.as_millis().to_be_bytes()[2..]));
    for (header, value) in checker.other_headers(&time, &id) {
        if !draft.headers.iter().any(|(own, _)| own.eq_ignore_ascii_case(&header)) {
            draft.set(&header, &value);
        }
    }
    let signature = draft.look(|request| match private {
        None => checker.tag(request, &time),
        Some(private) => Ok(private.sign(&checker.content(request, &time)?)),
    })?;
    if signature.is_empty() {
        return Err(CannotSign::PrivateKey(name));
    }
    let (header, value) = checker.header(&signature, &time);
    draft.set(&header, &value);
    Ok(())
}

/// The fields that are signed are made up where they are missing.
fn signed_fields(
    checker: &super::fields::Checker,
    mut body: Map<String, Value>,
    now: Timestamp,
) -> Result<Value, CannotSign> {
    let scheme = checker.scheme();
    let base_name = scheme.bases.first().map_or("", |base| base.trim_start_matches('/'));
    let mut base = match base_name {
        "" => Value::Object(std::mem::take(&mut body)),
        name => body.remove(name).filter(Value::is_object).unwrap_or_else(|| json!({})),
    };
    for pointer in scheme.signed {
        let is_time = pointer.contains("time");
        let value = if is_time { now.as_seconds().to_string() } else { "test".to_owned() };
        set(&mut base, pointer, value.into(), is_time);
    }
    let signature = checker.sign(&base)?;
    set(&mut base, scheme.signature, signature.into(), true);
    if let Some((list, inner)) = scheme.each {
        let (list, inner) = (list.trim_start_matches('/'), inner.trim_start_matches('/'));
        return Ok(json!({ list: [{ inner: base }] }));
    }
    match base_name {
        "" => Ok(base),
        name => {
            body.insert(name.to_owned(), base);
            Ok(Value::Object(body))
        }
    }
}

fn set(base: &mut Value, pointer: &str, value: Value, replace: bool) {
    let mut at = base;
    for name in pointer.trim_start_matches('/').split('/') {
        if !at.is_object() {
            *at = json!({});
        }
        let Value::Object(map) = at else { return };
        at = map.entry(name).or_insert(Value::Null);
    }
    if replace || at.is_null() {
        *at = value;
    }
}

#[derive(Debug)]
enum Private {
    Ed25519(Ed25519KeyPair),
    P256(EcdsaKeyPair),
    Rsa(rsa::KeyPair),
}

impl Private {
    /// Empty where it could not be signed.
    fn sign(&self, content: &[u8]) -> Vec<u8> {
        let random = SystemRandom::new();
        match self {
            Self::Ed25519(key) => key.sign(content).as_ref().to_vec(),
            Self::P256(key) => {
                key.sign(&random, content).map(|own| own.as_ref().to_vec()).unwrap_or_default()
            }
            Self::Rsa(key) => {
                let mut signature = vec![0; key.public_modulus_len()];
                match key.sign(&RSA_PKCS1_SHA256, &random, content, &mut signature) {
                    Ok(()) => signature,
                    Err(_) => Vec::new(),
                }
            }
        }
    }
}

fn algorithm_of(provider: &str) -> Option<Algorithm> {
    let (provider, _) = providers::resolve(provider)?;
    match provider.schemes.first()?.scheme {
        Scheme::Signed(scheme) if scheme.key == KeyForm::Public => Some(scheme.algorithm),
        _ => None,
    }
}

fn wants_private(provider: &str) -> bool {
    algorithm_of(provider).is_some()
}

/// With its public half, in hex.
fn private_key(provider: &str, secret: &Secret) -> Option<(Private, String)> {
    let algorithm = algorithm_of(provider)?;
    let text = secret.expose().trim();
    let der = match text.split_once("PRIVATE KEY-----") {
        Some((_, behind)) => {
            let inner = behind.split("-----END").next()?;
            base64(&inner.split_whitespace().collect::<String>())?
        }
        None => from_hex(text).or_else(|| base64(text))?,
    };
    Some(match algorithm {
        Algorithm::Ed25519 => {
            let key = Ed25519KeyPair::from_pkcs8(&der)
                .or_else(|_| Ed25519KeyPair::from_seed_unchecked(&der))
                .ok()?;
            let public = to_hex(key.public_key().as_ref());
            (Private::Ed25519(key), public)
        }
        Algorithm::EcdsaP256(Digest::Sha256) => {
            let key = EcdsaKeyPair::from_pkcs8(&ECDSA_P256_SHA256_ASN1_SIGNING, &der).ok()?;
            let public = to_hex(key.public_key().as_ref());
            (Private::P256(key), public)
        }
        Algorithm::Rsa(Digest::Sha256) => {
            let key = rsa::KeyPair::from_pkcs8(&der).ok()?;
            let public = to_hex(key.public_key().as_ref());
            (Private::Rsa(key), public)
        }
        _ => return None,
    })
}

#[cfg(test)]
mod tests;
