//! Public keys, in the forms that people get them in.
//!
//! PEM, base64 or hex of `SubjectPublicKeyInfo` or of the bare key, a JWK, or a JWKS with several.

use aws_lc_rs::signature::{
    self, ParsedPublicKey, RsaParameters, RsaPublicKeyComponents, UnparsedPublicKey,
    VerificationAlgorithm,
};
use serde_json::Value;

use super::encoding::{base64, from_hex};
use super::reason::BadVerifier;
use super::scheme::{Algorithm, Digest};

/// Keys of one JWKS; providers publish two or three.
const KEYS_MAX: usize = 16;

const UNREADABLE: BadVerifier = BadVerifier::Secret(
    "it is no public key of the kind that this provider signs with (PEM, base64, hex or JWK)",
);

pub(super) fn parse(text: &str, algorithm: Algorithm) -> Result<Vec<ParsedPublicKey>, BadVerifier> {
    let with = verification(algorithm).ok_or(UNREADABLE)?;
    let text = text.trim();
    let keys: Vec<ParsedPublicKey> = if text.starts_with('{') {
        let value: Value = serde_json::from_str(text).map_err(|_| UNREADABLE)?;
        jwks(&value).filter_map(|key| of_jwk(key, algorithm)).collect()
    } else {
        candidates(text).iter().find_map(|bytes| parsed(with, bytes)).into_iter().collect()
    };
    if keys.is_empty() { Err(UNREADABLE) } else { Ok(keys) }
}

/// The keys of a JWKS, or the one key that the text is.
pub(super) fn jwks(value: &Value) -> impl Iterator<Item = &Value> {
    let inner = value.get("key").filter(|key| key.is_object()).unwrap_or(value);
    match inner.get("keys").and_then(Value::as_array) {
        Some(keys) => keys.iter().take(KEYS_MAX),
        None => std::slice::from_ref(inner).iter().take(1),
    }
}

pub(super) fn of_jwk(key: &Value, algorithm: Algorithm) -> Option<ParsedPublicKey> {
    let number = |name: &str| base64(key.get(name)?.as_str()?);
    let with = verification(algorithm)?;
    match (key.get("kty")?.as_str()?, algorithm) {
        ("EC", Algorithm::EcdsaP256(_)) if key.get("crv")?.as_str()? == "P-256" => {
            parsed(with, &[&[4], number("x")?.as_slice(), number("y")?.as_slice()].concat())
        }
        ("OKP", Algorithm::Ed25519) if key.get("crv")?.as_str()? == "Ed25519" => {
            parsed(with, &number("x")?)
        }
        ("RSA", Algorithm::Rsa(digest)) => {
            let components = RsaPublicKeyComponents { n: number("n")?, e: number("e")? };
            components.to_parsed_public_key(rsa(digest)).ok()
        }
        _ => None,
    }
}

pub(super) fn parsed(
    with: &'static dyn VerificationAlgorithm,
    bytes: &[u8],
) -> Option<ParsedPublicKey> {
    UnparsedPublicKey::new(with, bytes).parse().ok()
}

/// What the text may stand for; which of it is a key is found by trying.
fn candidates(text: &str) -> Vec<Vec<u8>> {
    if let Some(der) = pem(text) {
        return vec![super::certificate::public_key_of(&der).unwrap_or(der)];
    }
    let bare = text.strip_prefix("whpk_").unwrap_or(text);
    let compact: String = bare.split_whitespace().collect();
    [from_hex(&compact), base64(&compact)].into_iter().flatten().collect()
}

/// Whether this is a key that everybody may know, whoever can use it. As a shared secret it would
/// let anyone sign.
pub(super) fn is_public(text: &str) -> bool {
    let text = text.trim();
    let is_der = || {
        let bytes = base64(text).unwrap_or_default();
        // A sequence of more than 127 bytes with its length behind it, as every such key is.
        match bytes.as_slice() {
            [0x30, 0x81, length, rest @ ..] => rest.len() == usize::from(*length),
            [0x30, 0x82, high, low, rest @ ..] => {
                rest.len() == usize::from(u16::from_be_bytes([*high, *low]))
            }
            [0x30, length, rest @ ..] => rest.len() == usize::from(*length) && rest.len() > 32,
            _ => false,
        }
    };
    let is_jwk = || text.starts_with('{') && text.contains("\"kty\"");
    text.contains("-----BEGIN") || text.starts_with("whpk_") || is_jwk() || is_der()
}

/// The first block of a PEM text, also when its line breaks were written as `\n` or got lost.
pub(super) fn pem(text: &str) -> Option<Vec<u8>> {
    let behind = text.split_once("-----BEGIN ")?.1;
    let (label, behind) = behind.split_once("-----")?;
    let (inner, _) = behind.split_once("-----END ")?;
    if label.contains("PRIVATE") {
        return None;
    }
    let inner: String = inner.replace("\\r", "").replace("\\n", "").split_whitespace().collect();
    base64(&inner)
}

/// `None` for what is not a signature with a public key.
pub(super) fn verification(algorithm: Algorithm) -> Option<&'static dyn VerificationAlgorithm> {
    Some(match algorithm {
        Algorithm::Hmac(_) | Algorithm::Hash(_) => return None,
        Algorithm::Ed25519 => &signature::ED25519,
        Algorithm::EcdsaP256(Digest::Sha1) => &signature::ECDSA_P256_SHA1_ASN1,
        Algorithm::EcdsaP256(Digest::Sha256) => &signature::ECDSA_P256_SHA256_ASN1,
        Algorithm::EcdsaP256(Digest::Sha384) => &signature::ECDSA_P256_SHA384_ASN1,
        Algorithm::EcdsaP256(Digest::Sha512) => &signature::ECDSA_P256_SHA512_ASN1,
        Algorithm::Rsa(digest) => rsa(digest),
    })
}

fn rsa(digest: Digest) -> &'static RsaParameters {
    match digest {
        Digest::Sha1 => &signature::RSA_PKCS1_2048_8192_SHA1_FOR_LEGACY_USE_ONLY,
        Digest::Sha256 => &signature::RSA_PKCS1_2048_8192_SHA256,
        Digest::Sha384 => &signature::RSA_PKCS1_2048_8192_SHA384,
        Digest::Sha512 => &signature::RSA_PKCS1_2048_8192_SHA512,
    }
}
