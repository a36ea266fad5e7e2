//! Codes of six digits that an app shows and we can compute too (RFC 6238): the second factor.
//!
//! SHA-1, thirty seconds, six digits: what every app knows, whatever else it is asked for. A code
//! counts once: the step it belongs to is remembered, and only later ones count from then on.
//! Whoever has lost the app has recovery codes, each good once and kept as a hash.

use aws_lc_rs::constant_time::verify_slices_are_equal;
use aws_lc_rs::{digest, hmac};
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;

use crate::{Env, Secret, Timestamp};

const STEP_SECONDS: u64 = 30;
/// Steps before and after: clocks differ, and people type slowly.
const STEPS_AROUND: u64 = 1;
const SECRET_BYTES: usize = 20;

pub const RECOVERY_CODES: usize = 10;
const RECOVERY_CHARACTERS: usize = 16;

/// RFC 4648.
const BASE32: &[u8; 32] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";

/// A new secret, in base32 as apps take it.
pub fn generate(env: &Env) -> Secret {
    let mut bytes = [0u8; SECRET_BYTES];
    env.fill(&mut bytes);
    Secret::new(base32(&bytes))
}

/// What an app reads from a picture. `account` is how the app calls it.
pub fn url(secret: &Secret, account: &str) -> String {
    const ISSUER: &str = "Ferryhook";
    let account = escaped(account);
    let secret = secret.expose();
    format!("otpauth://totp/{ISSUER}:{account}?secret={secret}&issuer={ISSUER}")
}

/// The step that the code belongs to, if it is a right one and none that late was used before.
pub fn check(secret: &Secret, code: &str, now: Timestamp, used: Option<u64>) -> Option<u64> {
    let key = from_base32(secret.expose())?;
    let key = hmac::Key::new(hmac::HMAC_SHA1_FOR_LEGACY_USE_ONLY, &key);
    let step = u64::try_from(now.as_seconds()).ok()? / STEP_SECONDS;
    let code = code.trim().as_bytes();
    // All of them, so that the time it takes does not tell which one it was.
    let mut found = None;
    for step in step.saturating_sub(STEPS_AROUND)..=step + STEPS_AROUND {
        let is_it = verify_slices_are_equal(code_at(&key, step).as_bytes(), code).is_ok();
        if is_it && used.is_none_or(|used| used < step) {
            found = Some(step);
        }
    }
    found
}

/// What an app with this secret shows at that moment.
pub fn code(secret: &Secret, now: Timestamp) -> Option<String> {
    let key = from_base32(secret.expose())?;
    let key = hmac::Key::new(hmac::HMAC_SHA1_FOR_LEGACY_USE_ONLY, &key);
    let step = u64::try_from(now.as_seconds()).ok()? / STEP_SECONDS;
    Some(code_at(&key, step))
}

fn code_at(key: &hmac::Key, step: u64) -> String {
    let tag = hmac::sign(key, &step.to_be_bytes());
    let tag = tag.as_ref();
    let start = usize::from(tag[tag.len() - 1] & 15);
    let number =
        tag[start..start + 4].iter().fold(0u32, |number, byte| number << 8 | u32::from(*byte));
    format!("{:06}", (number & 0x7fff_ffff) % 1_000_000)
}

/// New recovery codes, to be shown once.
pub fn recovery_codes(env: &Env) -> Vec<Secret> {
    let code = |_| {
        let mut bytes = [0u8; RECOVERY_CHARACTERS];
        env.fill(&mut bytes);
        let letters: String = bytes.iter().map(|byte| letter(*byte)).collect();
        let (first, second) = letters.split_at(RECOVERY_CHARACTERS / 2);
        Secret::new(format!("{first}-{second}"))
    };
    (0..RECOVERY_CODES).map(code).collect()
}

/// What is kept of a recovery code, however people type it.
pub fn recovery_hash(code: &str) -> Secret {
    let plain: String = code.chars().filter(char::is_ascii_alphanumeric).collect();
    let digest = digest::digest(&digest::SHA256, plain.to_ascii_uppercase().as_bytes());
    Secret::new(URL_SAFE_NO_PAD.encode(digest))
}

/// The codes that are left when this one is used; `None` if it is not among them.
pub fn without(code: &str, hashes: &[Secret]) -> Option<Vec<Secret>> {
    let own = recovery_hash(code);
    let is_it = |hash: &Secret| {
        verify_slices_are_equal(hash.expose().as_bytes(), own.expose().as_bytes()).is_ok()
    };
    let left: Vec<_> = hashes.iter().filter(|hash| !is_it(hash)).cloned().collect();
    (left.len() < hashes.len()).then_some(left)
}

fn letter(byte: u8) -> char {
    char::from(BASE32[usize::from(byte & 31)])
}

fn base32(bytes: &[u8]) -> String {
    let mut text = String::new();
    let (mut bits, mut count) = (0u32, 0);
    for byte in bytes {
        bits = bits << 8 | u32::from(*byte);
        count += 8;
        while count >= 5 {
            count -= 5;
            text.push(letter((bits >> count) as u8));
        }
    }
    if count > 0 {
        text.push(letter((bits << (5 - count)) as u8));
    }
    text
}

fn from_base32(text: &str) -> Option<Vec<u8>> {
    let mut bytes = Vec::new();
    let (mut bits, mut count) = (0u32, 0);
    for letter in text.bytes() {
        let digit = BASE32.iter().position(|known| *known == letter)?;
        bits = bits << 5 | u32::try_from(digit).ok()?;
        count += 5;
        if count >= 8 {
            count -= 8;
            bytes.push((bits >> count) as u8);
        }
    }
    Some(bytes)
}

fn escaped(text: &str) -> String {
    let escape = |byte: u8| match byte {
        b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' | b'@' => {
            char::from(byte).to_string()
        }
        _ => format!("%{byte:02X}"),
    };
    text.bytes().map(escape).collect()
}

#[cfg(test)]
mod tests;
