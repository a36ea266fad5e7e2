//! The receiver's half: does this header belong to this body, and is it fresh?

use std::time::Duration;

use aws_lc_rs::constant_time::verify_slices_are_equal;
use aws_lc_rs::hmac;

use super::mac;
use crate::{Secret, Timestamp};

/// How far a sender's clock may be from ours, either way.
pub const TOLERANCE: Duration = Duration::from_secs(300);

/// A header with more signatures than this is not one of ours.
pub(super) const SIGNATURES_MAX: usize = 16;
const MAC_BYTES: usize = 32;

#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Unverified {
    #[error("the signature header is not of the form t=<seconds>,v1=<hex>")]
    Malformed,
    #[error("the signature is too old, or from the future")]
    Stale,
    #[error("no signature belongs to this body and secret")]
    Mismatch,
}

/// Checks an `X-Ferryhook-Signature` against every secret that may have made it.
///
/// How long this takes depends on the number of secrets and signatures, not on how much of a
/// guess was right.
pub fn verify<'a>(
    header: &str,
    secrets: impl Iterator<Item = &'a Secret>,
    body: &[u8],
    now: Timestamp,
    tolerance: Duration,
) -> Result<(), Unverified> {
    let (seconds, candidates) = parse(header).ok_or(Unverified::Malformed)?;
    let at = seconds.parse().map(Timestamp::from_seconds).map_err(|_| Unverified::Malformed)?;
    // The header has whole seconds, so compare with the second that now lies in.
    let now = Timestamp::from_seconds(now.as_seconds());
    if at.saturating_since(now).max(now.saturating_since(at)) > tolerance {
        return Err(Unverified::Stale);
    }
    let mut matches = false;
    for secret in secrets {
        let key = hmac::Key::new(hmac::HMAC_SHA256, secret.expose().as_bytes());
        let expected = mac(&key, &[seconds.as_bytes(), b".", body]);
        for candidate in &candidates {
            matches |= verify_slices_are_equal(expected.as_ref(), candidate).is_ok();
        }
    }
    if matches { Ok(()) } else { Err(Unverified::Mismatch) }
}

/// The time as it was written, because that is what was signed, and every `v1`. Fields with other
/// names are left to a future version.
fn parse(header: &str) -> Option<(&str, Vec<[u8; MAC_BYTES]>)> {
    let mut seconds = None;
    let mut candidates = Vec::new();
    for field in header.split(',') {
        match field.trim().split_once('=')? {
            ("t", text) if seconds.is_none() && is_number(text) => seconds = Some(text),
            ("t", _) => return None,
            ("v1", _) if candidates.len() == SIGNATURES_MAX => return None,
            ("v1", hex) => candidates.push(from_hex(hex)?),
            _ => {}
        }
    }
    (!candidates.is_empty()).then_some((seconds?, candidates))
}

fn is_number(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

fn from_hex(hex: &str) -> Option<[u8; MAC_BYTES]> {
    let hex: &[u8; 2 * MAC_BYTES] = hex.as_bytes().try_into().ok()?;
    let digit = |byte: u8| char::from(byte).to_digit(16);
    let mut bytes = [0; MAC_BYTES];
    for (byte, pair) in bytes.iter_mut().zip(hex.chunks_exact(2)) {
        *byte = u8::try_from(digit(pair[0])? << 4 | digit(pair[1])?).ok()?;
    }
    Some(bytes)
}
