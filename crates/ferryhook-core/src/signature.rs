//! Signature: how a destination knows that a request is ours and that nobody touched it.
//!
//! Every attempt is signed in two forms over the same bytes: our own header, and that of Standard
//! Webhooks, for which receivers have libraries. While a secret is being rotated there is one
//! signature per secret that is still valid. [`verify`] is the receiver's half of our own form.

mod verify;

use std::fmt::Write;

use aws_lc_rs::hmac;
use base64::Engine;
use base64::alphabet;
use base64::engine::DecodePaddingMode;
use base64::engine::general_purpose::{self, GeneralPurpose, GeneralPurposeConfig};

use crate::secret::Previous;
use crate::{Connection, Secret, Timestamp};

pub use verify::{TOLERANCE, Unverified, verify};

/// The current secret and those that are being replaced. More would make headers that receivers
/// refuse for their length.
pub const SECRETS_MAX: usize = 5;

/// What is sent with one attempt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Signed {
    /// Unix seconds; part of what is signed.
    pub timestamp: i64,
    /// `t=<seconds>,v1=<hex>`, with one more `,v1=<hex>` for each further secret.
    pub ferryhook: String,
    /// `v1,<base64>`, with one more behind a space for each further secret.
    pub standard: String,
}

/// A secret made ready: both forms derive their key from its text once, not with every attempt.
#[derive(Debug, Clone)]
pub struct Key {
    ferryhook: hmac::Key,
    standard: hmac::Key,
}

impl Key {
    pub fn new(secret: &Secret) -> Self {
        let text = secret.expose();
        let ferryhook = hmac::Key::new(hmac::HMAC_SHA256, text.as_bytes());
        let standard = match standard_key(text) {
            Some(bytes) => hmac::Key::new(hmac::HMAC_SHA256, &bytes),
            None => ferryhook.clone(),
        };
        Self { ferryhook, standard }
    }
}

/// Receivers' libraries are lenient about padding, so we are too.
const LENIENT: GeneralPurpose = GeneralPurpose::new(
    &alphabet::STANDARD,
    GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent),
);

/// The key behind `whsec_`. `None` when there is none, in which case the text itself is the key.
fn standard_key(text: &str) -> Option<Vec<u8>> {
    let bytes = LENIENT.decode(text.strip_prefix("whsec_")?).ok()?;
    (!bytes.is_empty()).then_some(bytes)
}

/// The keys of a connection, for whoever signs for it more than once.
#[derive(Debug, Clone)]
pub struct Keys(Vec<(Key, Option<Timestamp>)>);

impl Keys {
    /// Without those that have run out by `now`; the others are asked again with each signature.
    pub fn of(connection: &Connection, now: Timestamp) -> Self {
        let current = (Key::new(&connection.signing_secret), None);
        let previous = connection.valid_previous(now);
        let previous = previous.map(|old| (Key::new(&old.secret), Some(old.valid_until)));
        Self(std::iter::once(current).chain(previous).collect())
    }

    /// Signs with the current secret, then with the previous ones that are valid at `at`.
    pub fn sign(&self, message_id: &str, at: Timestamp, body: &[u8]) -> Signed {
        let valid = self.0.iter().filter(|(_, until)| until.is_none_or(|until| at < until));
        sign_with(valid.map(|(key, _)| key), message_id, at, body)
    }
}

impl Connection {
    /// The current secret, then the previous ones whose time has not run out.
    pub fn signing_secrets(&self, now: Timestamp) -> impl Iterator<Item = &Secret> {
        let previous = self.valid_previous(now).map(|old| &old.secret);
        std::iter::once(&self.signing_secret).chain(previous)
    }

    fn valid_previous(&self, now: Timestamp) -> impl Iterator<Item = &Previous> {
        let valid = self.previous_secrets.iter().filter(move |old| now < old.valid_until);
        valid.take(SECRETS_MAX - 1)
    }
}

/// Signs without keeping keys; [`Keys`] is for whoever does this often.
pub fn sign<'a>(
    secrets: impl Iterator<Item = &'a Secret>,
    message_id: &str,
    at: Timestamp,
    body: &[u8],
) -> Signed {
    let keys: Vec<Key> = secrets.take(SECRETS_MAX).map(Key::new).collect();
    sign_with(keys.iter(), message_id, at, body)
}

fn sign_with<'a>(
    keys: impl Iterator<Item = &'a Key>,
    message_id: &str,
    at: Timestamp,
    body: &[u8],
) -> Signed {
    let timestamp = at.as_seconds();
    let seconds = timestamp.to_string();
    let mut ferryhook = String::with_capacity(2 + 11 + 68);
    // Writing into a string cannot fail.
    let _ = write!(ferryhook, "t={seconds}");
    let mut standard = String::with_capacity(3 + 44);
    for key in keys {
        ferryhook.push_str(",v1=");
        let mac = mac(&key.ferryhook, &[seconds.as_bytes(), b".", body]);
        push_hex(&mut ferryhook, mac.as_ref());

        standard.push_str(if standard.is_empty() { "v1," } else { " v1," });
        let parts = [message_id.as_bytes(), b".", seconds.as_bytes(), b".", body];
        let mac = self::mac(&key.standard, &parts);
        general_purpose::STANDARD.encode_string(mac.as_ref(), &mut standard);
    }
    Signed { timestamp, ferryhook, standard }
}

/// Over the parts one after the other, so that a body is never copied for it.
fn mac(key: &hmac::Key, parts: &[&[u8]]) -> hmac::Tag {
    let mut context = hmac::Context::with_key(key);
    for part in parts {
        context.update(part);
    }
    context.sign()
}

pub(crate) fn push_hex(text: &mut String, bytes: &[u8]) {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    for byte in bytes {
        text.push(char::from(DIGITS[usize::from(byte >> 4)]));
        text.push(char::from(DIGITS[usize::from(byte & 15)]));
    }
}

#[cfg(test)]
mod tests;
