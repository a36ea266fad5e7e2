//! Secrets made ready: whatever can be derived once is derived once.

use aws_lc_rs::constant_time::verify_slices_are_equal;
use aws_lc_rs::signature::ParsedPublicKey;
use aws_lc_rs::{digest, hmac};

use super::encoding::{base64, from_hex};
use super::public_key;
use super::reason::{BadVerifier, Reason};
use super::scheme::{Algorithm, Digest, KeyForm};
use super::template::{Filling, Template};
use crate::{Secret, Timestamp};

/// The current secret and those that are being replaced.
pub const SECRETS_MAX: usize = 16;

/// A secret, and until when it counts (`None`: for ever).
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Dated<T> {
    pub(super) value: T,
    pub(super) until: Option<Timestamp>,
}

impl<T> Dated<T> {
    pub(super) fn is_valid(&self, now: Timestamp) -> bool {
        self.until.is_none_or(|until| now < until)
    }
}

/// One key of an algorithm that signs a template.
#[derive(Debug)]
pub(super) enum Key {
    Hmac(Box<hmac::Key>),
    Hash(&'static digest::Algorithm, Box<[u8]>),
    Public(ParsedPublicKey),
}

/// The secrets that are not empty, the newest first. An empty one is as if it were not there.
pub(super) fn present(secrets: &[Dated<Secret>]) -> Vec<Dated<&str>> {
    secrets
        .iter()
        .filter(|secret| !secret.value.expose().is_empty())
        .take(SECRETS_MAX)
        .map(|secret| Dated { value: secret.value.expose(), until: secret.until })
        .collect()
}

impl Key {
    pub(super) fn all(
        algorithm: Algorithm,
        form: KeyForm,
        secrets: &[Dated<&str>],
    ) -> Result<Vec<Dated<Self>>, BadVerifier> {
        let mut keys = Vec::new();
        for secret in secrets {
            let dated = |value| Dated { value, until: secret.until };
            match algorithm {
                Algorithm::Hmac(digest) => {
                    keys.extend(form.keys(secret.value)?.iter().map(|bytes| {
                        dated(Self::Hmac(Box::new(hmac::Key::new(digest.hmac(), bytes))))
                    }))
                }
                Algorithm::Hash(digest) => keys.extend(
                    form.keys(secret.value)?
                        .into_iter()
                        .map(|bytes| dated(Self::Hash(digest.digest(), bytes.into()))),
                ),
                _ if form == KeyForm::Whpk && !secret.value.starts_with("whpk_") => {}
                Algorithm::Ed25519 | Algorithm::EcdsaP256(_) | Algorithm::Rsa(_) => keys.extend(
                    public_key::parse(secret.value, algorithm)?
                        .into_iter()
                        .map(|key| dated(Self::Public(key))),
                ),
            }
        }
        if keys.is_empty() { Err(BadVerifier::NoSecret) } else { Ok(keys) }
    }

    /// Whether any of these signatures is this key's. How long it takes says nothing about how
    /// much of a guess was right.
    pub(super) fn made_any(
        &self,
        signatures: &[Vec<u8>],
        template: &Template,
        filling: &Filling<'_>,
    ) -> Result<bool, Reason> {
        if let Self::Public(key) = self {
            let content = template.filled(filling)?;
            return Ok(signatures.iter().any(|one| key.verify_sig(&content, one).is_ok()));
        }
        let expected = self.signature(template, filling)?;
        let same = |one: &Vec<u8>| verify_slices_are_equal(expected.as_ref(), one).is_ok();
        Ok(signatures.iter().fold(false, |matches, one| matches | same(one)))
    }

    /// What the sender would have written. A public key makes none.
    pub(super) fn signature(
        &self,
        template: &Template,
        filling: &Filling<'_>,
    ) -> Result<Tag, Reason> {
        match self {
            Self::Hmac(key) => {
                let mut context = hmac::Context::with_key(key);
                template.fill(filling, |piece| context.update(piece))?;
                Ok(Tag::Hmac(context.sign()))
            }
            Self::Hash(algorithm, secret) => {
                let mut context = digest::Context::new(algorithm);
                let filling = Filling { secret, ..*filling };
                template.fill(&filling, |piece| context.update(piece))?;
                Ok(Tag::Hash(context.finish()))
            }
            Self::Public(_) => Err(Reason::Mismatch),
        }
    }
}

#[derive(Debug)]
pub(super) enum Tag {
    Hmac(hmac::Tag),
    Hash(digest::Digest),
}

impl AsRef<[u8]> for Tag {
    fn as_ref(&self) -> &[u8] {
        match self {
            Self::Hmac(tag) => tag.as_ref(),
            Self::Hash(digest) => digest.as_ref(),
        }
    }
}

impl KeyForm {
    /// Usually one. An empty key is none, and neither is one that everybody may know.
    pub(super) fn keys(self, text: &str) -> Result<Vec<Vec<u8>>, BadVerifier> {
        const PREFIX: &str = "whsec_";
        if text.contains("-----BEGIN PUBLIC") || text.contains("-----BEGIN CERT") {
            return Err(BadVerifier::Secret("it is a public key, which everybody may know"));
        }
        let plain = || text.as_bytes().to_vec();
        let bare = text.strip_prefix(PREFIX);
        let mut keys = match self {
            // A public key is no secret, whatever it is written into.
            _ if ["whpk_", "whsk_"].iter().any(|other| text.starts_with(other)) => Vec::new(),
            Self::Text => vec![plain()],
            Self::Public | Self::Whpk => Vec::new(),
            Self::HtmlText => vec![html_decoded(text).into_bytes(), plain()],
            Self::Base64 => vec![base64(text).ok_or(BadVerifier::Secret("it is not base64"))?],
            Self::Hex => vec![from_hex(text).ok_or(BadVerifier::Secret("it is not hex"))?],
            Self::Whsec => vec![
                base64(bare.unwrap_or(text))
                    .ok_or(BadVerifier::Secret("it is not base64 behind whsec_"))?,
            ],
            Self::WhsecOrText => vec![match bare {
                Some(bare) => {
                    base64(bare).ok_or(BadVerifier::Secret("it is not base64 behind whsec_"))?
                }
                None => plain(),
            }],
            Self::TextOrWhsec => {
                std::iter::once(plain()).chain(base64(bare.unwrap_or(text))).collect()
            }
        };
        keys.retain(|key| !key.is_empty());
        Ok(keys)
    }
}

fn html_decoded(text: &str) -> String {
    const ENTITIES: [(&str, &str); 7] = [
        ("&lt;", "<"),
        ("&gt;", ">"),
        ("&quot;", "\""),
        ("&#039;", "'"),
        ("&#39;", "'"),
        ("&apos;", "'"),
        ("&amp;", "&"),
    ];
    ENTITIES.iter().fold(text.to_owned(), |text, (from, to)| text.replace(from, to))
}

impl Digest {
    pub(super) fn hmac(self) -> hmac::Algorithm {
        match self {
            Self::Sha1 => hmac::HMAC_SHA1_FOR_LEGACY_USE_ONLY,
            Self::Sha256 => hmac::HMAC_SHA256,
            Self::Sha384 => hmac::HMAC_SHA384,
            Self::Sha512 => hmac::HMAC_SHA512,
        }
    }

    pub(super) fn digest(self) -> &'static digest::Algorithm {
        match self {
            Self::Sha1 => &digest::SHA1_FOR_LEGACY_USE_ONLY,
            Self::Sha256 => &digest::SHA256,
            Self::Sha384 => &digest::SHA384,
            Self::Sha512 => &digest::SHA512,
        }
    }
}
