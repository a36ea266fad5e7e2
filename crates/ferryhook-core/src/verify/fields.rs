//! Fields of the body that are signed, with the signature beside them.

use std::borrow::Cow;

use aws_lc_rs::constant_time::verify_slices_are_equal;
use aws_lc_rs::{digest, hmac};
use serde_json::Value;

use super::document::document;
use super::encoding::from_hex;
use super::keys::{Dated, Key};
use super::options::Options;
use super::reason::{BadVerifier, Reason};
use super::scheme::{Algorithm, Digest, Fields, SignedField, Unit};
use super::{Request, clock};
use crate::Timestamp;

/// Items of one request that are verified one by one.
const ITEMS_MAX: usize = 1000;
const SIGNATURES_MAX: usize = 16;

#[derive(Debug)]
pub(super) struct Checker {
    scheme: Fields<'static>,
    keys: Vec<Dated<Key>>,
    tolerance: Option<u32>,
}

impl Checker {
    pub(super) fn compile(
        scheme: Fields<'static>,
        secrets: &[Dated<&str>],
        options: &Options<'_>,
    ) -> Result<Self, BadVerifier> {
        let keys = Key::all(Algorithm::Hmac(Digest::Sha256), scheme.key, secrets)?;
        let own = scheme.time.map(|(_, seconds)| seconds);
        Ok(Self { scheme, keys, tolerance: options.tolerance()?.unwrap_or(own) })
    }

    pub(super) fn check(&self, request: &Request<'_>, now: Timestamp) -> Result<(), Reason> {
        let document = document(request.headers, request.body)
            .ok_or_else(|| Reason::Body("it has no fields".into()))?;
        let Some((list, inner)) = self.scheme.each else { return self.check_one(&document, now) };
        let items = match document.pointer(list) {
            Some(Value::Array(items)) => items,
            // An item beside it would say nothing about it.
            Some(_) => {
                let name = list.trim_start_matches('/');
                return Err(Reason::Body(format!("{name} is no list").into()));
            }
            // One item by itself, as some receivers pass it on.
            None => return self.check_one(document.pointer(inner).unwrap_or(&document), now),
        };
        if items.is_empty() || items.len() > ITEMS_MAX {
            return Err(Reason::Body("it has no items, or too many".into()));
        }
        for item in items {
            self.check_one(item.pointer(inner).unwrap_or(item), now)?;
        }
        Ok(())
    }

    fn check_one(&self, item: &Value, now: Timestamp) -> Result<(), Reason> {
        let missing = |name: &str| Reason::Body(format!("the field {name} is missing").into());
        let signed = self.scheme.bases.iter().filter_map(|base| {
            let base = item.pointer(base)?;
            let signature = base.pointer(self.scheme.signature)?.as_str()?;
            Some((base, signature)).filter(|_| !signature.is_empty())
        });
        let mut last = missing(self.scheme.signature.trim_start_matches('/'));
        for (base, signature) in signed.collect::<Vec<_>>() {
            match self.check_base(base, signature, now) {
                Ok(()) => return Ok(()),
                Err(reason) => last = reason,
            }
        }
        Err(last)
    }

    fn check_base(&self, base: &Value, signature: &str, now: Timestamp) -> Result<(), Reason> {
        let content = self.content(base)?;
        let Some(signature) = self.scheme.encoding.decode(signature) else {
            let why = format!("the signature is not {}", self.scheme.encoding.name());
            return Err(Reason::Body(why.into()));
        };
        let mut matches = false;
        for key in self.keys.iter().filter(|key| key.is_valid(now)) {
            if let Key::Hmac(key) = &key.value {
                let expected = hmac::sign(key, content.as_bytes());
                matches |= verify_slices_are_equal(expected.as_ref(), &signature).is_ok();
            }
        }
        if !matches {
            return Err(Reason::Mismatch);
        }
        match (self.scheme.time, self.tolerance) {
            (Some((name, _)), Some(tolerance)) => {
                let text = base.pointer(name).and_then(scalar).unwrap_or_default();
                clock::check(Unit::Seconds.parse(&text)?, Unit::Seconds, now, tolerance)
            }
            _ => Ok(()),
        }
    }

    fn content(&self, base: &Value) -> Result<String, Reason> {
        let mut content = String::new();
        for (at, name) in self.scheme.signed.iter().enumerate() {
            content.push_str(if at == 0 { "" } else { self.scheme.separator });
            match base.pointer(name).and_then(scalar) {
                Some(text) => content.push_str(&text),
                None if self.scheme.missing_is_empty => {}
                None => {
                    let name = name.trim_start_matches('/');
                    return Err(Reason::Body(format!("the field {name} is missing").into()));
                }
            }
        }
        Ok(content)
    }

    /// The signature that belongs beside these fields.
    pub(super) fn sign(&self, base: &Value) -> Result<String, Reason> {
        let content = self.content(base)?;
        match self.keys.first().map(|key| &key.value) {
            Some(Key::Hmac(key)) => {
                Ok(self.scheme.encoding.encode(hmac::sign(key, content.as_bytes()).as_ref()))
            }
            _ => Err(Reason::NoValidSecret),
        }
    }

    pub(super) fn scheme(&self) -> &Fields<'static> {
        &self.scheme
    }
}

fn scalar(value: &Value) -> Option<Cow<'_, str>> {
    match value {
        Value::String(text) => Some(text.into()),
        Value::Number(number) => Some(number.to_string().into()),
        Value::Bool(truth) => Some(truth.to_string().into()),
        Value::Null | Value::Array(_) | Value::Object(_) => None,
    }
}

/// A form with a signed field.
#[derive(Debug)]
pub(super) struct FieldChecker {
    scheme: SignedField<'static>,
    keys: Vec<Dated<hmac::Key>>,
    public_key: Option<String>,
}

impl FieldChecker {
    pub(super) fn compile(
        scheme: SignedField<'static>,
        secrets: &[Dated<&str>],
        options: &Options<'_>,
    ) -> Self {
        let key = |secret: &Dated<&str>| {
            let sha1 = &digest::SHA1_FOR_LEGACY_USE_ONLY;
            let hashed = digest::digest(sha1, secret.value.as_bytes());
            let value = hmac::Key::new(hmac::HMAC_SHA1_FOR_LEGACY_USE_ONLY, hashed.as_ref());
            Dated { value, until: secret.until }
        };
        let public_key = options.find(&["publicKey", "keyId"]).map(Cow::into_owned);
        Self { scheme, keys: secrets.iter().map(key).collect(), public_key }
    }

    pub(super) fn check(&self, request: &Request<'_>, now: Timestamp) -> Result<(), Reason> {
        let document = document(request.headers, request.body).unwrap_or_default();
        let field = |name: &str| match document.get(name).and_then(Value::as_str) {
            Some(text) if !text.is_empty() => Ok(text),
            _ => Err(Reason::Body(format!("the field {name} is missing").into())),
        };
        let (signatures, content) = (field(self.scheme.signatures)?, field(self.scheme.content)?);
        let is_fit = |byte: u8| byte.is_ascii_alphanumeric() || b"+=/\n".contains(&byte);
        if !content.bytes().all(is_fit) {
            let name = self.scheme.content;
            return Err(Reason::Body(format!("{name} has characters that do not belong").into()));
        }
        let own = |public: &str| self.public_key.as_deref().is_none_or(|own| own == public);
        let pairs = signatures.split('&').filter_map(|pair| pair.split_once('|'));
        let pairs: Vec<_> = pairs.filter(|(key, _)| own(key)).take(SIGNATURES_MAX).collect();
        if pairs.is_empty() {
            return Err(Reason::Body("there is no signature for this public key".into()));
        }
        let mut matches = false;
        for key in self.keys.iter().filter(|key| key.is_valid(now)) {
            // Some frameworks take the line break at the end of the field away.
            for end in ["", "\n"] {
                let mut context = hmac::Context::with_key(&key.value);
                context.update(content.as_bytes());
                context.update(end.as_bytes());
                let expected = context.sign();
                for signature in pairs.iter().filter_map(|(_, text)| from_hex(text)) {
                    matches |= verify_slices_are_equal(expected.as_ref(), &signature).is_ok();
                }
            }
        }
        if matches { Ok(()) } else { Err(Reason::Mismatch) }
    }

    /// The fields of a form that has this content.
    pub(super) fn sign(&self, content: &str) -> Result<[(&'static str, String); 2], Reason> {
        let key = self.keys.first().ok_or(Reason::NoValidSecret)?;
        let tag = hmac::sign(&key.value, content.as_bytes());
        let public_key = self.public_key.as_deref().unwrap_or("public_key");
        let signature = format!("{public_key}|{}", super::encoding::to_hex(tag.as_ref()));
        Ok([(self.scheme.signatures, signature), (self.scheme.content, content.to_owned())])
    }
}

#[cfg(test)]
mod tests;
