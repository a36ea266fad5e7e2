//! Keys of tokens, each with the algorithm that it is made for.

use aws_lc_rs::hmac;
use aws_lc_rs::signature::{ECDSA_P256_SHA256_FIXED, ParsedPublicKey, VerificationAlgorithm};
use serde_json::Value;

use crate::verify::public_key;
use crate::verify::reason::BadVerifier;
use crate::verify::scheme::{Algorithm, Digest, JwtKeys};

#[derive(Debug)]
pub(super) enum Key {
    /// With the key of HS256, which is nearly always the one.
    Shared { text: Box<str>, hs256: Box<hmac::Key> },
    /// For each algorithm that this key is made for, with the name of the key if it has one.
    Public { name: &'static str, id: Option<String>, key: ParsedPublicKey },
}

impl Key {
    pub(super) fn shared(text: &str) -> Result<Self, BadVerifier> {
        if public_key::is_public(text) {
            return Err(BadVerifier::Secret("it is a public key, which everybody may know"));
        }
        let hs256 = Box::new(hmac::Key::new(hmac::HMAC_SHA256, text.as_bytes()));
        Ok(Self::Shared { text: text.into(), hs256 })
    }

    pub(super) fn public(text: &str, keys: JwtKeys) -> Result<Vec<Self>, BadVerifier> {
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
    pub(super) fn made(
        &self,
        signed: &[u8],
        signature: &[u8],
        algorithm: &str,
        id: Option<&str>,
        keys: JwtKeys,
    ) -> Option<bool> {
        match self {
            Self::Shared { text, hs256 } => {
                let other = match (algorithm, keys) {
                    ("HS256", _) => return Some(hmac::verify(hs256, signed, signature).is_ok()),
                    ("HS384", JwtKeys::AnyShared) => Digest::Sha384,
                    ("HS512", JwtKeys::AnyShared) => Digest::Sha512,
                    _ => return None,
                };
                let key = hmac::Key::new(other.hmac(), text.as_bytes());
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
